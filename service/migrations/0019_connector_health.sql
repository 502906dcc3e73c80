-- When the tools of each connector were last listed, or why they can't be. It changes with
-- every observation and decides nothing, so that it is no event: what is observed is one.
CREATE TABLE events.connector_health (
    connector_id   uuid        PRIMARY KEY,
    -- Of the attempt: at another one, nothing of this is known.
    url            text        NOT NULL,
    -- When somebody last asked for an observation.
    asked_at       timestamptz,
    attempted_at   timestamptz,
    succeeded_at   timestamptz,
    -- Of the last success: how many tools are kept, how many are left out, and some of
    -- the latter's names.
    tools          integer,
    left_out       integer,
    left_out_names text[],
    failing_since  timestamptz,
    failures       integer     NOT NULL DEFAULT 0,
    cause          text,
    error          text,
    next_at        timestamptz
);
GRANT SELECT, INSERT, UPDATE ON events.connector_health TO agent_runtime_service;
