-- Prompts of sessions whose log events don't say to which turn they belong: those that
-- follow a prompt do, also in a later request.
CREATE TABLE events.reported_prompt (
    agent_id   uuid        NOT NULL,
    session    bytea       NOT NULL,
    started_at timestamptz NOT NULL,
    trace_id   bytea       NOT NULL,
    kept_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (agent_id, session, started_at)
);
CREATE INDEX reported_prompt_kept_at ON events.reported_prompt (kept_at);
COMMENT ON TABLE events.reported_prompt IS
    'Deleted after a day: a later event is a turn of its own.';
COMMENT ON COLUMN events.reported_prompt.session IS
    'A digest of its id, which isn''t checked yet.';
GRANT SELECT, INSERT, DELETE ON events.reported_prompt TO agent_runtime_service;
REVOKE ALL ON events.reported_prompt FROM agent_runtime_reader;
