CREATE TABLE secret (
    id         uuid        PRIMARY KEY,
    owner_id   uuid        NOT NULL,
    name       text        NOT NULL COLLATE "C",
    version    bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    is_deleted boolean     NOT NULL,
    UNIQUE (owner_id, name)
);
COMMENT ON COLUMN secret.created_at IS 'Of its present life: a deleted secret can be created again.';

CREATE TABLE secret_version (
    secret_id        uuid        NOT NULL,
    version          bigint      NOT NULL,
    fingerprint      text        NOT NULL,
    restored_version bigint,
    created_at       timestamptz NOT NULL,
    created_by       uuid        NOT NULL,
    destroyed_at     timestamptz,
    PRIMARY KEY (secret_id, version)
);
COMMENT ON COLUMN secret_version.destroyed_at IS 'When the value was given up; null while it can be opened.';
