CREATE TABLE usage_of_day (
    day             date    NOT NULL,
    agent_id        uuid    NOT NULL,
    user_id         uuid    NOT NULL,
    provider        text    COLLATE "C",
    model           text    COLLATE "C",
    currency        text    COLLATE "C",
    turns           bigint  NOT NULL,
    turns_with_error      bigint NOT NULL,
    turns_without_price   bigint NOT NULL,
    prompt_tokens         bigint,
    completion_tokens     bigint,
    cache_read_tokens     bigint,
    cache_creation_tokens bigint,
    cost            numeric,
    UNIQUE NULLS NOT DISTINCT (day, agent_id, user_id, provider, model, currency)
);
CREATE INDEX ON usage_of_day (agent_id, day);
CREATE INDEX ON usage_of_day (user_id, day);
COMMENT ON COLUMN usage_of_day.day IS 'The day in UTC on which turns started.';
COMMENT ON COLUMN usage_of_day.currency IS 'Null for turns without a cost.';
COMMENT ON COLUMN usage_of_day.turns_without_price IS 'Turns that took tokens, but whose cost is unknown.';

-- Turns made from spans are amended when more of these come: what such a turn has
-- added is kept, to be taken back.
CREATE TABLE usage_of_amendable_turn (
    session uuid NOT NULL,
    turn_id text COLLATE "C" NOT NULL,
    parts   text NOT NULL,
    PRIMARY KEY (session, turn_id)
);
