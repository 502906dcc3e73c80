CREATE TABLE user_account (
    id          uuid        PRIMARY KEY,
    name        text        NOT NULL UNIQUE,
    roles       text[]      NOT NULL,
    is_disabled boolean     NOT NULL,
    version     bigint      NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL
);

-- What is known of tokens; the id is part of a keyed hash, the token stands nowhere.
CREATE TABLE user_token (
    id         uuid        PRIMARY KEY,
    user_id    uuid        NOT NULL,
    label      text        NOT NULL,
    issued     bigint      NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE UNIQUE INDEX ON user_token (user_id, issued);
COMMENT ON COLUMN user_token.issued IS 'Position of the issue; the order of the list.';
