-- A server that was promoted, or restored from a backup, may lack the end of the log and
-- use positions again. That it is another server than before shows in its timeline.
ALTER TABLE events.head ADD COLUMN server text;
COMMENT ON COLUMN events.head.server IS
    'System identifier and timeline of the server that this epoch is known to continue on.';

CREATE FUNCTION events.server() RETURNS text LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
    -- The control file says the new timeline only after the next checkpoint.
    SELECT system_identifier || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)
      FROM pg_control_system()
$$;

-- Why each epoch began, for the event that says so: whichever statement began it.
CREATE TABLE events.epoch_change (
    epoch      uuid        PRIMARY KEY,
    old_epoch  uuid        NOT NULL,
    position   bigint      NOT NULL,
    reason     text        NOT NULL DEFAULT 'restore'
               CHECK (reason IN ('restore', 'fail_over')),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON COLUMN events.epoch_change.position IS 'The last position that both epochs share.';
GRANT SELECT ON events.epoch_change TO agent_runtime_service, agent_runtime_reader;

CREATE FUNCTION events.keep_epoch_change() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO events.epoch_change (epoch, old_epoch, position)
    VALUES (new.epoch, old.epoch, new.position);
    RETURN NULL;
END $$;
CREATE TRIGGER keep_epoch_change AFTER UPDATE OF epoch ON events.head
   FOR EACH ROW WHEN (new.epoch <> old.epoch)
   EXECUTE FUNCTION events.keep_epoch_change();

-- Give the log a new epoch, after its end was lost. Read tables that are built from
-- events which the log still has are taken over, except two: the relay's topic is outside
-- of the database, so an operator decides on it, and the Merkle tree starts over, in the
-- batches of a rebuild.
CREATE FUNCTION events.begin_epoch() RETURNS uuid LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    old_epoch uuid;
    new_epoch CONSTANT uuid := gen_random_uuid();
BEGIN
    SELECT h.epoch INTO old_epoch FROM events.head h FOR UPDATE;
    UPDATE events.head SET epoch = new_epoch, server = events.server();
    UPDATE read.position p
       SET epoch = new_epoch
     WHERE p.epoch = old_epoch AND p.follower NOT IN ('relay', 'merkle_tree')
       AND EXISTS (SELECT FROM events.stored_event e
                    WHERE e.notification_id = p.position AND e.command_id = p.command_id);
    RETURN new_epoch;
END $$;
REVOKE EXECUTE ON FUNCTION events.begin_epoch FROM public;

-- Continue the log on this server: in its epoch, if the caller knows an event of this
-- epoch that no fail-over should have undone, and the log has it; otherwise in a new one.
CREATE FUNCTION events.continue_on_server(
    known_epoch uuid, known_position bigint, known_command uuid
) RETURNS uuid LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    log events.head%ROWTYPE;
    is_known boolean;
    is_whole boolean;
    new_epoch uuid;
BEGIN
    SELECT * INTO log FROM events.head FOR UPDATE;
    is_known := coalesce(known_epoch = log.epoch, false);
    is_whole := is_known AND EXISTS (
        SELECT FROM events.stored_event e
         WHERE e.notification_id = known_position AND e.command_id = known_command);
    IF (is_known OR log.server <> events.server()) AND NOT is_whole THEN
        new_epoch := events.begin_epoch();
        UPDATE events.epoch_change SET reason = 'fail_over' WHERE epoch = new_epoch;
        RETURN new_epoch;
    END IF;
    UPDATE events.head SET server = events.server()
     WHERE server IS DISTINCT FROM events.server();
    RETURN log.epoch;
END $$;
REVOKE EXECUTE ON FUNCTION events.continue_on_server FROM public;
GRANT EXECUTE ON FUNCTION events.continue_on_server TO agent_runtime_service;
