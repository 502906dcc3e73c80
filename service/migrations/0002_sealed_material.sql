-- What is sealed, and the keys that it is sealed under. Unlike the log, these rows
-- are changed and deleted: that is how a value is destroyed.

-- The root keys in use. A user key can't be wrapped under one that is not here, and
-- a root key can't leave while a user key needs it.
CREATE TABLE events.root_key_canary (
    root_key_id text        PRIMARY KEY,
    sealed      bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN events.root_key_canary.sealed IS
    'Wrapped under the root key; a process that can''t open it doesn''t start.';

-- One key for each user. Destroyed: no wrapped key, and never another one.
CREATE TABLE events.user_key (
    user_id      uuid        PRIMARY KEY,
    key_id       uuid        NOT NULL UNIQUE,
    wrapped      bytea,
    root_key_id  text        REFERENCES events.root_key_canary,
    created_at   timestamptz NOT NULL DEFAULT now(),
    destroyed_at timestamptz,
    CONSTRAINT wrapped_or_destroyed CHECK (
        (wrapped IS NULL) = (destroyed_at IS NOT NULL)
        AND (root_key_id IS NULL) = (destroyed_at IS NOT NULL))
);
CREATE INDEX user_key_root_key_id ON events.user_key (root_key_id);
COMMENT ON COLUMN events.user_key.key_id IS 'Named in the header of every value sealed under this key.';

-- Secret values. Their events name them; no event holds one.
CREATE TABLE events.sealed_value (
    sealed_id  uuid        PRIMARY KEY,
    owner_id   uuid        NOT NULL,
    sealed     bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX sealed_value_owner_id ON events.sealed_value (owner_id);

GRANT SELECT, INSERT, UPDATE, DELETE
    ON events.root_key_canary, events.user_key, events.sealed_value
    TO agent_runtime_service;
REVOKE ALL
    ON events.root_key_canary, events.user_key, events.sealed_value
    FROM agent_runtime_reader;
