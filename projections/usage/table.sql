CREATE TABLE usage_of_quarter (
    quarter         timestamptz NOT NULL,
    agent_id        uuid    NOT NULL,
    user_id         uuid    NOT NULL,
    provider        text    COLLATE "C",
    model           text    COLLATE "C",
    currency        text    COLLATE "C",
    priced_as       text    COLLATE "C",
    pricing_rule    text    COLLATE "C",
    unpriced        text    COLLATE "C",
    turns           bigint  NOT NULL,
    turns_with_error      bigint NOT NULL,
    turns_without_price   bigint NOT NULL,
    turns_without_usage   bigint NOT NULL,
    model_uses            bigint NOT NULL,
    uses_without_usage    bigint NOT NULL,
    turns_with_differing_cost bigint NOT NULL,
    uses_estimated        bigint NOT NULL,
    uses_with_prompt_tokens bigint NOT NULL,
    uses_with_completion_tokens bigint NOT NULL,
    uses_with_cache_read_tokens bigint NOT NULL,
    uses_with_cache_creation_tokens bigint NOT NULL,
    uses_with_reported_cost bigint NOT NULL,
    uses_with_difference bigint NOT NULL,
    prompt_tokens         numeric,
    completion_tokens     numeric,
    cache_read_tokens     numeric,
    cache_creation_tokens numeric,
    cost            numeric,
    reported_cost   numeric,
    difference      numeric,
    estimated_cost  numeric,
    differing_cost  numeric,
    differing_reported_cost numeric,
    UNIQUE NULLS NOT DISTINCT (quarter, agent_id, user_id, provider, model, currency,
                               priced_as, pricing_rule, unpriced)
);
CREATE INDEX ON usage_of_quarter (agent_id, quarter);
CREATE INDEX ON usage_of_quarter (user_id, quarter);
COMMENT ON COLUMN usage_of_quarter.quarter IS 'The quarter of an hour in which turns started: days of all time zones are made of them.';
COMMENT ON COLUMN usage_of_quarter.prompt_tokens IS 'Sums of tokens have no bound, so that none stops the follower.';
COMMENT ON COLUMN usage_of_quarter.currency IS 'Null for turns without a cost.';
COMMENT ON COLUMN usage_of_quarter.unpriced IS 'Why there is no cost.';
COMMENT ON COLUMN usage_of_quarter.turns_without_price IS 'Turns that called a model, but whose cost is unknown.';
COMMENT ON COLUMN usage_of_quarter.turns_without_usage IS 'Turns that called a model, but whose tokens are not all known.';
COMMENT ON COLUMN usage_of_quarter.model_uses IS 'Turns that called this model; a turn may call several.';
COMMENT ON COLUMN usage_of_quarter.uses_without_usage IS 'Of model_uses, those whose tokens are not all known.';
COMMENT ON COLUMN usage_of_quarter.difference IS 'Reported costs minus ours, of uses that have both in US dollars.';
COMMENT ON COLUMN usage_of_quarter.uses_estimated IS 'Of model_uses, those whose cost is an estimate.';
COMMENT ON COLUMN usage_of_quarter.uses_with_prompt_tokens IS 'Of model_uses, those that tell the sum of this name, which is unknown without any.';
COMMENT ON COLUMN usage_of_quarter.estimated_cost IS 'Of the cost, the part of these uses.';
COMMENT ON COLUMN usage_of_quarter.differing_cost IS 'Of turns whose cost differs from what is reported, all their models together.';

-- Turns made from spans are amended when more of these come: what such a turn has
-- added is kept, to be taken back, for as long as its spans are. Later the log tells it.
CREATE TABLE usage_of_amendable_turn (
    session     uuid        NOT NULL,
    turn_id     text        COLLATE "C" NOT NULL,
    recorded_at timestamptz NOT NULL,
    parts       text        NOT NULL,
    PRIMARY KEY (session, turn_id)
);
CREATE INDEX ON usage_of_amendable_turn (recorded_at);
COMMENT ON COLUMN usage_of_amendable_turn.recorded_at IS 'When the turn was recorded, or last amended.';
