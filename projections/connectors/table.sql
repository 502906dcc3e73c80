CREATE TABLE connector (
    id             uuid        PRIMARY KEY,
    owner_id       uuid        NOT NULL,
    name           text        NOT NULL,
    url            text        NOT NULL,
    description    text        NOT NULL,
    offered_owner_id uuid,
    public_since   timestamptz,
    made_public_by uuid,
    is_retired     boolean     NOT NULL,
    slug           text        NOT NULL,
    has_chosen_slug boolean    NOT NULL,
    record_mode    text        NOT NULL,
    protocol_revision text,
    credential     jsonb,
    version        bigint      NOT NULL,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL
);
CREATE INDEX ON connector (owner_id);
CREATE INDEX ON connector (offered_owner_id) WHERE offered_owner_id IS NOT NULL;
CREATE INDEX ON connector (id) WHERE public_since IS NOT NULL;

CREATE TABLE connector_grant (
    connector_id uuid NOT NULL,
    agent_id     uuid NOT NULL,
    state        text NOT NULL,
    PRIMARY KEY (connector_id, agent_id)
);
CREATE INDEX ON connector_grant (agent_id);
COMMENT ON COLUMN connector_grant.state IS
    'granted, or the side that has consented so far: connector or agent';
