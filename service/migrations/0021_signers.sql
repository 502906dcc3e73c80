-- What keeps a process from signing checkpoints, by its key; a problem that it hasn't
-- confirmed for a minute is one of a process that has ended.
CREATE TABLE read.signer (
    public_key text        COLLATE "C" PRIMARY KEY,
    problem    text,
    noticed_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN read.signer.problem IS 'Null while checkpoints are signed.';
GRANT SELECT, INSERT, UPDATE ON read.signer TO agent_runtime_service;
GRANT SELECT ON read.signer TO agent_runtime_reader;
