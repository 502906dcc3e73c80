-- The session of a turn whose exports are put together, since their order is lost then:
-- a span that arrived later may name another one.

-- If a backup reads the table, exporters would wait behind this.
SET LOCAL lock_timeout = '5s';
ALTER TABLE events.reported_trace ADD COLUMN session_id text COLLATE "C";
COMMENT ON COLUMN events.reported_trace.session_id IS
    'In which it was a turn when its parts were last put into its row; else NULL.';
