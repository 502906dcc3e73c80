CREATE TABLE model_connection (
    id         uuid        PRIMARY KEY,
    owner_id   uuid        NOT NULL,
    settings   text        NOT NULL,
    is_retired boolean     NOT NULL,
    version    bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE INDEX ON model_connection (owner_id);
COMMENT ON COLUMN model_connection.settings IS
    'JSON with its members in the order of the answers, which jsonb doesn''t keep.';

CREATE TABLE model_preset (
    id         uuid        PRIMARY KEY,
    owner_id   uuid        NOT NULL,
    terms      text        NOT NULL,
    is_public  boolean     NOT NULL,
    is_retired boolean     NOT NULL,
    version    bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
);
CREATE INDEX ON model_preset (owner_id);
CREATE INDEX ON model_preset (id) WHERE is_public;

CREATE TABLE model_preset_target (
    preset_id     uuid NOT NULL,
    connection_id uuid NOT NULL,
    PRIMARY KEY (preset_id, connection_id)
);
CREATE INDEX ON model_preset_target (connection_id);

CREATE TABLE model_preset_grant (
    preset_id uuid NOT NULL,
    agent_id  uuid NOT NULL,
    PRIMARY KEY (preset_id, agent_id)
);
CREATE INDEX ON model_preset_grant (agent_id);

CREATE TABLE model_tier (
    tier      text COLLATE "C" PRIMARY KEY,
    preset_id uuid NOT NULL
);
COMMENT ON TABLE model_tier IS 'The registry, for all agents.';

CREATE TABLE model_route (
    agent_id  uuid    NOT NULL,
    number    integer NOT NULL,
    model     text    COLLATE "C" NOT NULL,
    preset_id uuid,
    tier      text    COLLATE "C",
    is_own    boolean NOT NULL,
    PRIMARY KEY (agent_id, number)
);
CREATE INDEX ON model_route (preset_id) WHERE preset_id IS NOT NULL;
CREATE INDEX ON model_route (tier) WHERE tier IS NOT NULL AND NOT is_own;
COMMENT ON COLUMN model_route.preset_id IS
    'Of the route, or of the agent''s own tier; null where the registry says it.';
COMMENT ON COLUMN model_route.is_own IS
    'The tier is one of the agent''s own.';
