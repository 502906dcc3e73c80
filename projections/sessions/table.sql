CREATE TABLE session (
    id                  uuid        PRIMARY KEY,
    session_id          text        COLLATE "C" NOT NULL,
    agent_id            uuid        NOT NULL,
    user_id             uuid        NOT NULL,
    opened_at           timestamptz NOT NULL,
    opened_position     bigint      NOT NULL,
    ended_at            timestamptz,
    started_at          timestamptz NOT NULL,
    last_active_at      timestamptz NOT NULL,
    has_error           boolean     NOT NULL,
    first_input_version bigint,
    last_output_version bigint,
    version             bigint      NOT NULL DEFAULT 1,
    rendered            text        NOT NULL
) WITH (fillfactor = 85);
COMMENT ON COLUMN session.opened_at IS 'As the start was reported; a turn may have been earlier.';
COMMENT ON COLUMN session.opened_position IS 'Where the log first names the session: a cursor shows none that are newer.';
COMMENT ON COLUMN session.last_active_at IS 'The latest of start, end, and the ends of turns.';
COMMENT ON COLUMN session.first_input_version IS 'The turn that the first input stands in; its text is sealed.';
COMMENT ON COLUMN session.version IS 'Version of the last event that this row reflects.';
COMMENT ON COLUMN session.rendered IS 'JSON of projections.sessions.resource.StoredSession.';

CREATE TABLE session_turn (
    session          uuid        NOT NULL,
    version          bigint      NOT NULL,
    turn_id          text        COLLATE "C" NOT NULL,
    trace_id         text,
    started_at       timestamptz NOT NULL,
    ended_at         timestamptz NOT NULL,
    latency_us       bigint      NOT NULL,
    provider         text,
    model            text,
    prompt_tokens         bigint,
    completion_tokens     bigint,
    cache_read_tokens     bigint,
    cache_creation_tokens bigint,
    cost             numeric,
    currency         text        COLLATE "C",
    price_id         text,
    priced_as        text,
    pricing_rule     text,
    unpriced         text,
    contract_id      text,
    list_cost        numeric,
    list_currency    text        COLLATE "C",
    reported_cost    numeric,
    estimated        text        NOT NULL,
    priced_at        timestamptz NOT NULL,
    spans            bigint,
    shares           text,
    calls            text,
    lacks_usage      boolean     NOT NULL,
    is_error         boolean     NOT NULL,
    input_truncated  boolean     NOT NULL,
    output_truncated boolean     NOT NULL,
    sealed_error     text,
    sealed_input     text,
    sealed_output    text,
    PRIMARY KEY (session, version)
);
COMMENT ON COLUMN session_turn.version IS 'Version of the event in its aggregate; the texts are bound to it.';
COMMENT ON COLUMN session_turn.priced_at IS 'When its cost was computed, by the price catalog of that time.';
COMMENT ON COLUMN session_turn.list_cost IS 'The cost by list prices, without contracts.';
COMMENT ON COLUMN session_turn.estimated IS 'What the telemetry did not tell for certain though the price depends on it, separated by commas.';
COMMENT ON COLUMN session_turn.calls IS 'JSON of service.sessions.recorded_calls.RecordedCall, to price them again.';
COMMENT ON COLUMN session_turn.lacks_usage IS 'A model was called, but its tokens are not all known.';
-- Ciphertext doesn't compress.
ALTER TABLE session_turn
    ALTER COLUMN sealed_error SET STORAGE EXTERNAL,
    ALTER COLUMN sealed_input SET STORAGE EXTERNAL,
    ALTER COLUMN sealed_output SET STORAGE EXTERNAL;
