CREATE TABLE catalog_provider (
    id           uuid PRIMARY KEY,
    key          text NOT NULL,
    display_name text NOT NULL
);

CREATE TABLE catalog_model (
    id          uuid   PRIMARY KEY,
    number      bigint NOT NULL UNIQUE,
    provider_id uuid   NOT NULL,
    name        text   NOT NULL,
    version     bigint NOT NULL
);
COMMENT ON COLUMN catalog_model.number IS 'Position of its first event.';

-- Two times: when a price holds, and from which position to which the log said so.
CREATE TABLE model_price (
    model_id                    uuid        NOT NULL,
    model_number                bigint      NOT NULL,
    price_version               bigint      NOT NULL,
    effective_from              timestamptz NOT NULL,
    effective_until             timestamptz,
    known_from                  bigint      NOT NULL,
    known_until                 bigint,
    known_from_time             timestamptz NOT NULL,
    known_until_time            timestamptz,
    input_price_per_1m          numeric,
    output_price_per_1m         numeric,
    cache_creation_price_per_1m numeric,
    cache_read_price_per_1m     numeric,
    currency                    text        NOT NULL,
    notes                       text,
    structure                   jsonb,
    source_name                 text        NOT NULL,
    source_version              text,
    source_sha256               text,
    PRIMARY KEY (model_id, known_from, effective_from),
    -- One price at any moment, as known at any position. A range of one number
    -- stands for "=", which GiST has for uuid and bigint only with btree_gist;
    -- the embedded PostgreSQL has no such extension.
    CONSTRAINT one_price_at_a_time EXCLUDE USING gist (
        int8range(model_number, model_number, '[]') WITH &&,
        tstzrange(effective_from, effective_until) WITH &&,
        int8range(known_from, known_until) WITH &&
    )
);
CREATE INDEX ON model_price (model_id) WHERE known_until IS NULL;
COMMENT ON COLUMN model_price.effective_until IS
    'Exclusive; NULL while the price has no end.';
COMMENT ON COLUMN model_price.known_until IS
    'Position from which the log says otherwise; NULL while it holds.';

-- Contracts, in the same two times; of a model, or of all models of a provider.
CREATE TABLE contract_price (
    provider_id                 uuid        NOT NULL,
    model                       text        COLLATE "C",
    price_version               bigint      NOT NULL,
    effective_from              timestamptz NOT NULL,
    effective_until             timestamptz,
    known_from                  bigint      NOT NULL,
    known_until                 bigint,
    known_from_time             timestamptz NOT NULL,
    known_until_time            timestamptz,
    discount_percent            numeric,
    input_price_per_1m          numeric,
    output_price_per_1m         numeric,
    cache_creation_price_per_1m numeric,
    cache_read_price_per_1m     numeric,
    currency                    text,
    notes                       text,
    structure                   jsonb,
    UNIQUE NULLS NOT DISTINCT (provider_id, model, known_from, effective_from)
);
CREATE INDEX ON contract_price (provider_id) WHERE known_until IS NULL;
COMMENT ON COLUMN contract_price.model IS 'NULL for all models of the provider.';
COMMENT ON COLUMN contract_price.currency IS 'NULL where only a discount is stated.';

-- What readers look at to learn whether anything above has changed.
CREATE TABLE catalog_change (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    position bigint  NOT NULL DEFAULT 0
);
INSERT INTO catalog_change DEFAULT VALUES;
