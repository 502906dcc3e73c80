-- Receipts are deleted a day at a time: they are kept in two tables, which change places
-- once a day, when all receipts in the older one have expired and it has been emptied. A
-- key is looked up in both, behind the lock of the log's end, so it is unique across a
-- change, too. A receipt counts for 24 hours, whether it has been deleted or not.
--
-- Processes of earlier versions, which still run during an upgrade, use the first table
-- alone. So the tables change places a day after this migration at the earliest.

-- If a backup reads the table, appends would wait behind this.
SET LOCAL lock_timeout = '5s';
DROP INDEX events.receipt_recorded_at;
CREATE TABLE events.receipt_previous (LIKE events.receipt INCLUDING ALL);
GRANT SELECT ON events.receipt_previous TO agent_runtime_service;

CREATE TABLE events.receipt_rotation (
    only_row   boolean     PRIMARY KEY DEFAULT true CHECK (only_row),
    rotated_at timestamptz NOT NULL
);
COMMENT ON COLUMN events.receipt_rotation.rotated_at IS
    'Everything in receipt_previous was recorded before, everything in receipt since then.';
INSERT INTO events.receipt_rotation (rotated_at)
SELECT greatest(clock_timestamp(), h.recorded_at) FROM events.head h;

-- The receipts that count, by the log's time, which doesn't go back.
CREATE VIEW events.valid_receipt AS
SELECT r.key, r.request, r.answer, r.position, r.recorded_at
  FROM (SELECT * FROM events.receipt
         UNION ALL
        SELECT * FROM events.receipt_previous) AS r
 WHERE r.recorded_at > (SELECT greatest(statement_timestamp(), h.recorded_at)
                          FROM events.head h) - interval '24 hours';
GRANT SELECT ON events.valid_receipt TO agent_runtime_service;

-- Empty the table of the previous receipts and let both change places, if a day has
-- passed; return whether it has. Gives up soon where a table is being read, since appends
-- would wait behind.
CREATE FUNCTION events.rotate_receipts() RETURNS boolean LANGUAGE plpgsql
-- With the rights of the schema's owner: the service may not empty or rename tables.
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET lock_timeout = '100ms'
AS $$
DECLARE
    is_due CONSTANT text := $due$
        SELECT greatest(clock_timestamp(), h.recorded_at)
               >= r.rotated_at + interval '24 hours'
          FROM events.receipt_rotation r, events.head h $due$;
    due boolean;
BEGIN
    EXECUTE is_due INTO due;
    IF NOT due THEN
        RETURN false;
    END IF;
    LOCK TABLE events.receipt, events.receipt_previous IN ACCESS EXCLUSIVE MODE;
    -- Another process may have done it meanwhile.
    EXECUTE is_due INTO due;
    IF NOT due THEN
        RETURN false;
    END IF;
    TRUNCATE events.receipt_previous;
    ALTER TABLE events.receipt_previous RENAME TO receipt_next;
    ALTER TABLE events.receipt RENAME TO receipt_previous;
    ALTER TABLE events.receipt_next RENAME TO receipt;
    UPDATE events.receipt_rotation r
       SET rotated_at = greatest(clock_timestamp(), h.recorded_at)
      FROM events.head h;
    RETURN true;
END $$;
REVOKE EXECUTE ON FUNCTION events.rotate_receipts() FROM public;
GRANT EXECUTE ON FUNCTION events.rotate_receipts() TO agent_runtime_service;

-- As before, except for the receipts; processes of the version before call it, too.
CREATE OR REPLACE FUNCTION events.append(
    expected_epoch   uuid,
    read_id          uuid[], read_version bigint[],
    reader_command   int[], reader_read int[],
    event_command    int[], event_id uuid[], event_version bigint[],
    event_topic      text[], event_state bytea[],
    command_ids      uuid[], command_metadata text[],
    receipt_command  int[], receipt_key bytea[], receipt_request bytea[], receipt_answer bytea[],
    sealed_command   int[], sealed_ids uuid[], sealed_owner uuid[], sealed_bytes bytea[],
    resting_command  int[], rests_on int[],
    OUT log_epoch          uuid,
    OUT base_position      bigint,
    OUT batch_recorded_at  timestamptz,
    OUT conflicted         int[],
    OUT replayed           int[],
    OUT replayed_requests  bytea[],
    OUT replayed_answers   bytea[],
    OUT replayed_positions bigint[]
) LANGUAGE plpgsql
-- With the rights of the schema's owner, as the function before it.
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
-- For an empty table a sequential scan would be planned, and kept while it grows.
SET enable_seqscan = off
AS $$
DECLARE
    microsecond CONSTANT interval := interval '1 microsecond';
    retention   CONSTANT interval := interval '24 hours';
    lasts       CONSTANT interval := cardinality(command_ids) * microsecond;
    events      CONSTANT bigint   := cardinality(event_id);
    refused     int[] := '{}';
    expired     bytea[];
    standing    bigint;
    appended    bigint;
BEGIN
    -- This locks the log, and nearly always it is right: every command passes.
    UPDATE events.head h
       SET position = h.position + events,
           recorded_at = greatest(clock_timestamp(), h.recorded_at + microsecond) + lasts
     WHERE h.epoch = expected_epoch
    RETURNING h.epoch, h.position - events, h.recorded_at - lasts
         INTO log_epoch, base_position, batch_recorded_at;
    IF NOT FOUND THEN
        SELECT h.epoch, h.position, h.recorded_at
          INTO log_epoch, base_position, batch_recorded_at
          FROM events.head h;
        RETURN;
    END IF;

    -- LATERAL or a scalar subquery, with LIMIT 1, keeps these an index probe for each
    -- key and aggregate, whatever the statistics say.
    IF cardinality(receipt_key) > 0 THEN
        SELECT array_agg(given.command) FILTER (WHERE kept.counts),
               array_agg(kept.request) FILTER (WHERE kept.counts),
               array_agg(kept.answer) FILTER (WHERE kept.counts),
               array_agg(kept.position) FILTER (WHERE kept.counts),
               array_agg(given.key) FILTER (WHERE NOT kept.counts)
          INTO replayed, replayed_requests, replayed_answers, replayed_positions, expired
          FROM unnest(receipt_command, receipt_key) AS given (command, key)
         CROSS JOIN LATERAL (
               SELECT r.request, r.answer, r.position,
                      r.recorded_at > batch_recorded_at - retention AS counts
                 FROM events.receipt r
                WHERE r.key = given.key
                UNION ALL
               SELECT r.request, r.answer, r.position, true
                 FROM events.receipt_previous r
                WHERE r.key = given.key AND r.recorded_at > batch_recorded_at - retention
                LIMIT 1) AS kept;
        refused := coalesce(replayed, refused);
        IF expired IS NOT NULL THEN
            DELETE FROM events.receipt r WHERE r.key = ANY (expired);
        END IF;
    END IF;

    SELECT count(*)
      INTO standing
      FROM unnest(read_id, read_version) AS given (id, version)
     WHERE given.version = coalesce((
           SELECT e.originator_version
             FROM events.stored_event e
            WHERE e.originator_id = given.id
            ORDER BY e.originator_version DESC
            LIMIT 1), 0);
    IF standing < cardinality(read_id) THEN
        -- Every command that read one of those that have moved.
        SELECT array_agg(DISTINCT reader.command)
          INTO conflicted
          FROM unnest(read_id, read_version) WITH ORDINALITY AS given (id, version, number)
          JOIN unnest(reader_command, reader_read) AS reader (command, number)
               ON reader.number = given.number
         WHERE given.version <> coalesce((
               SELECT e.originator_version
                 FROM events.stored_event e
                WHERE e.originator_id = given.id
                ORDER BY e.originator_version DESC
                LIMIT 1), 0)
           AND reader.command <> ALL (refused);
        refused := refused || coalesce(conflicted, '{}');
    END IF;

    IF cardinality(refused) > 0 THEN
        -- In the order of the commands, so that one pass finds them all.
        FOR number IN 1 .. coalesce(cardinality(resting_command), 0) LOOP
            IF rests_on[number] = ANY (refused)
               AND resting_command[number] <> ALL (refused)
            THEN
                conflicted := array_append(conflicted, resting_command[number]);
                refused := array_append(refused, resting_command[number]);
            END IF;
        END LOOP;
    END IF;

    IF cardinality(refused) = 0 THEN
        INSERT INTO events.stored_event (
               originator_id, originator_version, topic, state,
               notification_id, recorded_at, command_id, metadata)
        SELECT given.id, given.version, given.topic, given.state,
               base_position + given.place,
               batch_recorded_at + (given.command - 1) * microsecond,
               command_ids[given.command], command_metadata[given.command]::json
          FROM unnest(event_command, event_id, event_version, event_topic, event_state)
               WITH ORDINALITY AS given (command, id, version, topic, state, place);
    ELSE
        INSERT INTO events.stored_event (
               originator_id, originator_version, topic, state,
               notification_id, recorded_at, command_id, metadata)
        SELECT given.id, given.version, given.topic, given.state,
               base_position + row_number() OVER (ORDER BY given.place),
               batch_recorded_at + (given.command - 1) * microsecond,
               command_ids[given.command], command_metadata[given.command]::json
          FROM unnest(event_command, event_id, event_version, event_topic, event_state)
               WITH ORDINALITY AS given (command, id, version, topic, state, place)
         WHERE given.command <> ALL (refused);
        GET DIAGNOSTICS appended = ROW_COUNT;
        UPDATE events.head SET position = base_position + appended;
    END IF;

    IF cardinality(sealed_ids) > 0 THEN
        INSERT INTO events.sealed_value (sealed_id, owner_id, sealed)
        SELECT given.id, given.owner, given.sealed
          FROM unnest(sealed_command, sealed_ids, sealed_owner, sealed_bytes)
               AS given (command, id, owner, sealed)
         WHERE given.command <> ALL (refused);
    END IF;

    IF cardinality(receipt_key) > 0 THEN
        INSERT INTO events.receipt (key, request, answer, position, recorded_at)
        SELECT given.key, given.request, given.answer, base_position + last.place,
               batch_recorded_at + (given.command - 1) * microsecond
          FROM unnest(receipt_command, receipt_key, receipt_request, receipt_answer)
               AS given (command, key, request, answer)
          LEFT JOIN (
               SELECT counted.command, max(counted.place) AS place
                 FROM (SELECT each.command, row_number() OVER (ORDER BY each.place) AS place
                         FROM unnest(event_command) WITH ORDINALITY AS each (command, place)
                        WHERE each.command <> ALL (refused)) AS counted
                GROUP BY counted.command) AS last ON last.command = given.command
         WHERE given.command <> ALL (refused);
    END IF;
END $$;
