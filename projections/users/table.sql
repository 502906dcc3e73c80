CREATE TABLE user_account (
    id           uuid        PRIMARY KEY,
    name         text,
    sealed_name  text,
    name_version bigint      NOT NULL,
    roles        text[]      NOT NULL,
    is_disabled  boolean     NOT NULL,
    is_erased    boolean     NOT NULL,
    created      bigint      NOT NULL UNIQUE,
    version      bigint      NOT NULL,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL
);
COMMENT ON COLUMN user_account.name IS 'In plain text only for admin and users of earlier versions.';
COMMENT ON COLUMN user_account.name_version IS 'Version of the event that sealed_name is bound to.';
COMMENT ON COLUMN user_account.created IS 'Position of the creation; the order of the list.';

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
