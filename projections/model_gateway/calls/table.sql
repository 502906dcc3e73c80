CREATE TABLE model_call (
    sort_key       bigint      PRIMARY KEY,
    id             uuid        NOT NULL,
    position       bigint      NOT NULL,
    at             timestamptz NOT NULL,
    agent_id       uuid        NOT NULL,
    token_id       uuid        NOT NULL,
    user_id        uuid,
    dialect        text        NOT NULL,
    counts_only    boolean,
    asked_for      text,
    decision       text        NOT NULL,
    reason         text,
    times          bigint      NOT NULL,
    record_mode    text        NOT NULL,
    route          text,
    tier           text,
    preset_id      uuid,
    preset_version bigint,
    connection_id  uuid,
    model          text,
    chosen_by      text,
    session_id     text,
    trace_id       text,
    outcome        text,
    status         integer,
    duration_ms    bigint,
    first_byte_ms  bigint,
    request_bytes  bigint,
    answer_bytes   bigint,
    attempts       text,
    response_id    text,
    usage          text
);
CREATE UNIQUE INDEX ON model_call (id);
CREATE INDEX ON model_call (agent_id, sort_key);
CREATE INDEX ON model_call (connection_id, sort_key) WHERE connection_id IS NOT NULL;
CREATE INDEX ON model_call (preset_id, sort_key) WHERE preset_id IS NOT NULL;
CREATE INDEX ON model_call (user_id, sort_key) WHERE user_id IS NOT NULL;
CREATE INDEX ON model_call (session_id, sort_key) WHERE session_id IS NOT NULL;
CREATE INDEX ON model_call (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX ON model_call (response_id) WHERE response_id IS NOT NULL;
COMMENT ON COLUMN model_call.sort_key IS
    'Order of lists: position of the event, times a million, plus number of the call in it.';
COMMENT ON COLUMN model_call.model IS 'What the connection was asked for last.';
COMMENT ON COLUMN model_call.times IS 'Refusals that one event stands for; 1 for a call.';
COMMENT ON COLUMN model_call.attempts IS 'JSON of service.model_gateway.calls.recorded.CallAttempt.';
COMMENT ON COLUMN model_call.usage IS 'JSON of service.model_gateway.calls.recorded.CallUsage.';
