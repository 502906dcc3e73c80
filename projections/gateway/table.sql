CREATE TABLE tool_call (
    sort_key      bigint      PRIMARY KEY,
    id            uuid        NOT NULL,
    position      bigint      NOT NULL,
    at            timestamptz NOT NULL,
    agent_id      uuid        NOT NULL,
    token_id      uuid        NOT NULL,
    user_id       uuid,
    connector_id  uuid,
    tool          text,
    asked_for     text,
    decision      text        NOT NULL,
    reason        text,
    times         bigint      NOT NULL,
    record_mode   text        NOT NULL,
    stance        text,
    rule          text,
    definition    text,
    approval_id   uuid,
    session_id    text,
    trace_id      text,
    outcome       text,
    duration_ms   bigint,
    upstream_ms   bigint,
    request_bytes bigint,
    answer_bytes  bigint
);
CREATE UNIQUE INDEX ON tool_call (id);
CREATE INDEX ON tool_call (agent_id, sort_key);
CREATE INDEX ON tool_call (connector_id, sort_key);
CREATE INDEX ON tool_call (user_id, sort_key) WHERE user_id IS NOT NULL;
CREATE INDEX ON tool_call (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX ON tool_call (session_id, sort_key) WHERE session_id IS NOT NULL;
COMMENT ON COLUMN tool_call.sort_key IS
    'Order of lists: position of the event, times a million, plus number of the call in it.';
COMMENT ON COLUMN tool_call.asked_for IS 'The name that the agent gave, of an unknown tool.';
COMMENT ON COLUMN tool_call.times IS 'Refusals that one event stands for; 1 for a call.';

CREATE TABLE tool_call_count (
    agent_id   uuid   NOT NULL,
    session_id text   COLLATE "C" NOT NULL,
    trace_id   text   COLLATE "C" NOT NULL,
    calls      bigint NOT NULL,
    errors     bigint NOT NULL,
    PRIMARY KEY (agent_id, session_id, trace_id)
);
COMMENT ON TABLE tool_call_count IS
    'Calls that name a session, also refused ones: a row for each of its traces, and one for all.';
COMMENT ON COLUMN tool_call_count.trace_id IS 'Empty in the row for the whole session.';
COMMENT ON COLUMN tool_call_count.errors IS 'Refused calls, and those that ended neither ok nor cancelled.';

-- One row for each time that a person was asked.
CREATE TABLE approval (
    sort_key     bigint      PRIMARY KEY,
    id           uuid        NOT NULL,
    agent_id     uuid        NOT NULL,
    token_id     uuid        NOT NULL,
    user_id      uuid,
    connector_id uuid        NOT NULL,
    tool         text        NOT NULL,
    definition   text        NOT NULL,
    state        text        NOT NULL,
    requested_at timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    decided_by   uuid,
    decided_at   timestamptz,
    reason       text,
    call_id      uuid,
    version      bigint      NOT NULL
);
CREATE INDEX ON approval (agent_id, id, sort_key);
CREATE INDEX ON approval (connector_id, sort_key);
CREATE INDEX ON approval (expires_at) WHERE state IN ('pending', 'approved');
COMMENT ON COLUMN approval.sort_key IS 'Order of lists: position of the request.';
COMMENT ON COLUMN approval.version IS 'Of the event that changed it last: for If-Match.';
