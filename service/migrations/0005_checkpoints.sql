-- Signed heads of the Merkle tree over the log. That they are here convinces nobody:
-- copies of them outside of this database do.
CREATE TABLE events.checkpoint (
    epoch      uuid        NOT NULL,
    size       bigint      NOT NULL,
    note       text        NOT NULL,
    public_key text        NOT NULL,
    signed_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (epoch, size)
);
COMMENT ON COLUMN events.checkpoint.note IS 'A C2SP checkpoint: a signed note.';
GRANT SELECT, INSERT, DELETE ON events.checkpoint TO agent_runtime_service;
GRANT SELECT ON events.checkpoint TO agent_runtime_reader;
