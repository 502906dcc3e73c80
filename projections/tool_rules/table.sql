CREATE TABLE tool_rule (
    agent_id     uuid   NOT NULL,
    connector_id uuid   NOT NULL,
    -- Compared byte by byte, for patterns tell upper from lower case.
    pattern      text   COLLATE "C" NOT NULL,
    stance       text   NOT NULL,
    position     bigint NOT NULL,
    PRIMARY KEY (agent_id, connector_id, pattern)
);
CREATE INDEX ON tool_rule (connector_id, agent_id, pattern);
COMMENT ON COLUMN tool_rule.position IS
    'Of the event that last stated the connector''s rules for this agent.';
