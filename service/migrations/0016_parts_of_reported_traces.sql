-- Spans of an export that isn't the first one of its trace are a row of their own: a
-- trace with many exports was rewritten by each of them. The first export, which most
-- traces have alone, stays in the trace's row.
--
-- Processes of the version before, which still run during an upgrade, set the column
-- "spans", as does a trace at its bounds: then its parts are put into it.

-- If a backup reads the table, exporters would wait behind this.
SET LOCAL lock_timeout = '5s';
ALTER TABLE events.reported_trace
    ADD COLUMN parts         integer NOT NULL DEFAULT 0,
    ADD COLUMN part_bytes    integer NOT NULL DEFAULT 0,
    ADD COLUMN span_count    integer,
    ADD COLUMN has_entry     boolean,
    ADD COLUMN names_session boolean;
COMMENT ON COLUMN events.reported_trace.parts IS
    'Number of the last export after the first one.';
COMMENT ON COLUMN events.reported_trace.part_bytes IS
    'Of all parts; 0 if there are none.';
COMMENT ON COLUMN events.reported_trace.span_count IS
    'With its parts; a span that came twice may count twice. NULL: not counted yet.';
COMMENT ON COLUMN events.reported_trace.has_entry IS
    'Whether a turn can begin with one of its spans.';

CREATE TABLE events.reported_trace_part (
    agent_id uuid    NOT NULL,
    trace_id text    COLLATE "C" NOT NULL,
    part     integer NOT NULL,
    spans    jsonb   NOT NULL,
    PRIMARY KEY (agent_id, trace_id, part)
);
COMMENT ON TABLE events.reported_trace_part IS
    'Written and deleted only by who has locked the row of the trace.';
-- Ciphertext doesn't compress.
ALTER TABLE events.reported_trace_part ALTER COLUMN spans SET STORAGE EXTERNAL;
GRANT SELECT, INSERT, DELETE ON events.reported_trace_part TO agent_runtime_service;
REVOKE ALL ON events.reported_trace_part FROM agent_runtime_reader;

-- Called by the statement that has locked the row of the trace.
CREATE FUNCTION events.add_reported_trace_part(agent uuid, trace text, number integer, given jsonb)
RETURNS integer LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO events.reported_trace_part (agent_id, trace_id, part, spans)
    VALUES (agent, trace, number, given);
    RETURN number;
END $$;
-- The parts before one, as the statement that has locked the row of the trace sees them:
-- volatile, so that these are also those that it waited for.
CREATE FUNCTION events.reported_trace_parts(agent uuid, trace text, before integer)
RETURNS text[] LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN array(SELECT p.spans::text
                   FROM events.reported_trace_part p
                  WHERE p.agent_id = agent AND p.trace_id = trace AND p.part < before
                  ORDER BY p.part);
END $$;

CREATE FUNCTION events.put_parts_into_reported_trace() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    later jsonb;
BEGIN
    IF OLD.part_bytes > 0 THEN
        -- Of a span that came twice, the first one stays.
        SELECT jsonb_object_agg(span.key, span.value ORDER BY p.part DESC)
          INTO later
          FROM events.reported_trace_part p, jsonb_each(p.spans) AS span
         WHERE p.agent_id = OLD.agent_id AND p.trace_id = OLD.trace_id;
        NEW.spans := NEW.spans || later || OLD.spans;
        NEW.part_bytes := 0;
        DELETE FROM events.reported_trace_part p
         WHERE p.agent_id = OLD.agent_id AND p.trace_id = OLD.trace_id;
    END IF;
    SELECT count(*), bool_or(span.value->'entry' <> 'null'),
           bool_or(span.value->>'session_id' IS NOT NULL)
      INTO NEW.span_count, NEW.has_entry, NEW.names_session
      FROM jsonb_each(NEW.spans) AS span;
    RETURN NEW;
END $$;
CREATE TRIGGER put_parts_into_reported_trace
    BEFORE UPDATE OF spans ON events.reported_trace
    FOR EACH ROW EXECUTE FUNCTION events.put_parts_into_reported_trace();

CREATE FUNCTION events.delete_parts_of_reported_trace() RETURNS trigger LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    DELETE FROM events.reported_trace_part p
     WHERE p.agent_id = OLD.agent_id AND p.trace_id = OLD.trace_id;
    RETURN NULL;
END $$;
CREATE TRIGGER delete_parts_of_reported_trace
    AFTER DELETE ON events.reported_trace
    FOR EACH ROW WHEN (OLD.part_bytes > 0)
    EXECUTE FUNCTION events.delete_parts_of_reported_trace();
