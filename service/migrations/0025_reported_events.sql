-- To which trace each log event went: one that is sent again goes there again, whatever
-- has become known since.
CREATE TABLE events.reported_event (
    agent_id uuid        NOT NULL,
    event    bytea       NOT NULL,
    trace_id bytea       NOT NULL,
    kept_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (agent_id, event)
);
CREATE INDEX reported_event_kept_at ON events.reported_event (kept_at);
COMMENT ON TABLE events.reported_event IS 'Deleted after a day.';
COMMENT ON COLUMN events.reported_event.event IS 'A digest of all that it says.';
GRANT SELECT, INSERT, UPDATE, DELETE ON events.reported_event TO agent_runtime_service;
REVOKE ALL ON events.reported_event FROM agent_runtime_reader;
-- To lock those that are deleted.
GRANT UPDATE ON events.reported_prompt TO agent_runtime_service;
