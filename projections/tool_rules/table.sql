-- What decides about tools, each from the position of one event until that of another;
-- null while it lasts.
CREATE TABLE tool_rule (
    agent_id     uuid   NOT NULL,
    connector_id uuid   NOT NULL,
    -- Compared byte by byte, for patterns tell upper from lower case.
    pattern      text   COLLATE "C" NOT NULL,
    stance       text   NOT NULL,
    search_key   bigint NOT NULL,
    since        bigint NOT NULL,
    until        bigint,
    PRIMARY KEY (agent_id, connector_id, search_key, pattern, since)
);
CREATE INDEX ON tool_rule (connector_id, agent_id, pattern) WHERE until IS NULL;
CREATE INDEX ON tool_rule (agent_id, connector_id, search_key, until)
 WHERE until IS NOT NULL;
COMMENT ON COLUMN tool_rule.search_key IS
    'Of the pattern: all of its matches have this key among theirs.';

CREATE TABLE tool_rules_change (
    agent_id     uuid   NOT NULL,
    connector_id uuid   NOT NULL,
    position     bigint NOT NULL,
    PRIMARY KEY (agent_id, connector_id, position)
);
COMMENT ON TABLE tool_rules_change IS
    'The events that stated an agent''s rules for a connector.';

CREATE TABLE holding (
    connector_id uuid   NOT NULL,
    agent_id     uuid   NOT NULL,
    since        bigint NOT NULL,
    until        bigint,
    PRIMARY KEY (connector_id, agent_id, since)
);
CREATE INDEX ON holding (connector_id, agent_id) WHERE until IS NULL;
COMMENT ON TABLE holding IS
    'Grants of connectors; that of a retired agent goes on here, without effect.';

-- A row for each event that names the tool.
CREATE TABLE tool_definition (
    connector_id    uuid    NOT NULL,
    tool            text    COLLATE "C" NOT NULL,
    observed        text,
    accepted        text,
    first_seen      text,
    is_unacceptable boolean NOT NULL,
    since           bigint  NOT NULL,
    until           bigint,
    PRIMARY KEY (connector_id, tool, since)
);
CREATE INDEX ON tool_definition (connector_id, tool) WHERE until IS NULL;
COMMENT ON COLUMN tool_definition.observed IS
    'A digest as those of the next two; null for a tool that isn''t listed.';
