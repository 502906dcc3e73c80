-- Traces whose spans may still come: spans are reported one by one, late, twice and
-- in any order, and only all of them together are a turn. Unlike the log, these rows
-- are changed, and deleted some hours after the last of their spans.
CREATE TABLE events.reported_trace (
    agent_id   uuid        NOT NULL,
    trace_id   text        COLLATE "C" NOT NULL,
    spans      jsonb       NOT NULL,
    touched_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (agent_id, trace_id)
);
CREATE INDEX reported_trace_touched_at ON events.reported_trace (touched_at);
COMMENT ON COLUMN events.reported_trace.spans IS
    'By span id; texts are sealed, with the key of the user they will be recorded for.';
-- Ciphertext doesn't compress.
ALTER TABLE events.reported_trace ALTER COLUMN spans SET STORAGE EXTERNAL;

GRANT SELECT, INSERT, UPDATE, DELETE ON events.reported_trace TO agent_runtime_service;
REVOKE ALL ON events.reported_trace FROM agent_runtime_reader;
