-- Only ever added to: full subtrees don't change.
CREATE TABLE merkle_hash (
    index bigint PRIMARY KEY,
    hash  bytea  NOT NULL
);
COMMENT ON COLUMN merkle_hash.index IS
    'Place in the order of becoming full: each leaf is followed by the nodes that it completes.';
