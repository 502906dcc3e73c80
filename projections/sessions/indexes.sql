-- Each list is walked in its order from one of these, newest first.
CREATE INDEX session_newest ON session (started_at, id);
CREATE INDEX session_of_agent ON session (agent_id, started_at, id);
CREATE INDEX session_of_user ON session (user_id, started_at, id);
CREATE INDEX session_with_error ON session (started_at, id) WHERE has_error;
CREATE INDEX session_of_agent_with_error ON session (agent_id, started_at, id) WHERE has_error;
CREATE INDEX session_id_prefix ON session (session_id);
-- Finds the sessions that were under way at a moment.
CREATE INDEX session_activity ON session USING gist (tstzrange(started_at, last_active_at, '[]'));
-- Finds the turns of a period, to reprice them.
CREATE INDEX session_turn_start ON session_turn (started_at, session, version);
