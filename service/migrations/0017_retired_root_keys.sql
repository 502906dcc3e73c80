-- The root keys that a rotation has retired. Nobody has to keep them any more, so no user
-- key may be wrapped under one again: a process that was started before the rotation and
-- still has one as its primary key, also of an earlier version, must not put it in use.
CREATE TABLE events.retired_root_key (
    root_key_id text        PRIMARY KEY,
    retired_at  timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT, INSERT ON events.retired_root_key TO agent_runtime_service;

-- A rotation locks root_key_canary against insertions, so that this sees what it does.
CREATE FUNCTION events.refuse_retired_root_key() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT FROM events.retired_root_key r
                WHERE r.root_key_id = NEW.root_key_id) THEN
        RAISE EXCEPTION 'root key % was retired', NEW.root_key_id
            USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER refuse_retired_root_key
    BEFORE INSERT ON events.root_key_canary
    FOR EACH ROW EXECUTE FUNCTION events.refuse_retired_root_key();
