CREATE TABLE agent (
    id          uuid        PRIMARY KEY,
    name        text        NOT NULL,
    description text        NOT NULL,
    is_retired  boolean     NOT NULL,
    version     bigint      NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL
);

-- Joined by the lists of other areas, to limit them to what a caller manages.
CREATE TABLE agent_manager (
    agent_id uuid NOT NULL,
    user_id  uuid NOT NULL,
    PRIMARY KEY (agent_id, user_id)
);
CREATE INDEX ON agent_manager (user_id, agent_id);

CREATE TABLE agent_reader (
    agent_id uuid NOT NULL,
    user_id  uuid NOT NULL,
    PRIMARY KEY (agent_id, user_id)
);
CREATE INDEX ON agent_reader (user_id, agent_id);
