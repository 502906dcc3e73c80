-- Where the log's entries are found by who caused them, what they are, and in which
-- request. What they say stands in the log alone.
CREATE TABLE audit_entry (
    position   bigint PRIMARY KEY,
    kind       text   COLLATE "C" NOT NULL,
    aggregate  text   COLLATE "C" NOT NULL,
    actor      text   COLLATE "C",
    request_id text   COLLATE "C"
);
CREATE INDEX ON audit_entry (kind, position);
CREATE INDEX ON audit_entry (aggregate, position);
CREATE INDEX ON audit_entry (actor, position);
CREATE INDEX ON audit_entry (request_id, position);
COMMENT ON COLUMN audit_entry.actor IS 'The user''s id, or "system".';

-- Everything that an entry is about: its aggregate, and each id that it names.
CREATE TABLE audit_mention (
    resource_id uuid   NOT NULL,
    position    bigint NOT NULL,
    PRIMARY KEY (resource_id, position)
);
