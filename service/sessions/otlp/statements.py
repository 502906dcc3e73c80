"""Statements on open traces: tables ``reported_trace`` and ``reported_trace_part``.

The first export of a trace is in its row, each later one is a part of its own. A span
that arrives twice is the same span: the first one stays. Of two texts the one that is
first in order stays. Rows of traces are locked in order, so that two requests with the
same traces don't deadlock.
"""

from typing import Final

# About as long as a span is in JSON, without texts.
SPAN_BYTES: Final = 200
INSERT: Final = """
    INSERT INTO events.reported_trace AS known
           (agent_id, trace_id, spans, span_count, has_entry, names_session,
            first_input, last_output, kept_since)
    SELECT agent_id, trace_id, spans, span_count, has_entry, names_session,
           first_input, last_output, (SELECT position FROM events.head)
      FROM unnest(%(agents)b::uuid[], %(traces)b::text[], %(spans)b::jsonb[],
                  %(counts)b::int[], %(have_entry)b::bool[], %(name_session)b::bool[],
                  %(inputs)b::jsonb[], %(outputs)b::jsonb[])
           AS given (agent_id, trace_id, spans, span_count, has_entry, names_session,
                     first_input, last_output)
     ORDER BY agent_id, trace_id
    ON CONFLICT (agent_id, trace_id) DO UPDATE
       SET touched_at = now(),
           first_input = CASE WHEN known.first_input->>'order' COLLATE "C"
                <= excluded.first_input->>'order' THEN known.first_input
                ELSE coalesce(excluded.first_input, known.first_input) END,
           last_output = CASE WHEN known.last_output->>'order' COLLATE "C"
                >= excluded.last_output->>'order' THEN known.last_output
                ELSE coalesce(excluded.last_output, known.last_output) END,
"""
# How long a trace is in JSON: texts are sealed, so they don't get shorter in the table,
# other values do.
_SIZE: Final = f"""
    greatest(pg_column_size(spans) + part_bytes, span_count::bigint * {SPAN_BYTES})
"""
_IS_WHOLE: Final = "parts > 0 AND has_entry AND names_session"
_IS_SHORT: Final = f"{_IS_WHOLE} AND {_SIZE} <= %(bytes_shown)s"
# Returns nothing for a trace that may be past its bounds, or whose spans a process of
# an earlier version didn't count. The whole trace is of use only where a turn needs it;
# of a long one its size is returned alone.
MERGE: Final = f"""{INSERT}
           parts = events.add_reported_trace_part(
               known.agent_id, known.trace_id, known.parts + 1, excluded.spans),
           part_bytes = known.part_bytes + pg_column_size(excluded.spans),
           span_count = known.span_count + excluded.span_count,
           has_entry = known.has_entry OR excluded.has_entry,
           names_session = known.names_session OR excluded.names_session
     WHERE known.span_count + excluded.span_count <= %(spans_max)s
       AND pg_column_size(known.spans) + known.part_bytes <= %(bytes_max)s
    RETURNING agent_id, trace_id, CASE WHEN {_IS_WHOLE} THEN {_SIZE} END,
              CASE WHEN {_IS_SHORT} THEN spans::text END,
              CASE WHEN {_IS_SHORT} THEN first_input END,
              CASE WHEN {_IS_SHORT} THEN last_output END,
              CASE WHEN {_IS_SHORT} AND parts > 1
                   THEN events.reported_trace_parts(agent_id, trace_id, parts) END,
              session_id, kept_since
"""  # of constants
# As MERGE returns it.
WHOLE: Final = f"""
    SELECT agent_id, trace_id, {_SIZE}, spans::text, first_input, last_output,
           CASE WHEN parts > 0
                THEN events.reported_trace_parts(agent_id, trace_id, parts + 1) END,
           session_id, kept_since
      FROM unnest(%(agents)b::uuid[], %(traces)b::text[]) AS given (agent_id, trace_id)
      JOIN events.reported_trace USING (agent_id, trace_id)
"""  # noqa: S608 # of constants
# And say of which the session is to be kept: of turns whose session isn't yet.
LOCK: Final = """
    SELECT found.agent_id, found.trace_id,
           found.session_id IS NULL AND coalesce(has_entry AND names_session, true)
      FROM unnest(%(agents)b::uuid[], %(traces)b::text[]) AS given (agent_id, trace_id)
      JOIN events.reported_trace found USING (agent_id, trace_id)
     ORDER BY agent_id, trace_id
       FOR UPDATE OF found
"""
# All exports of a trace, in their order.
EXPORTS: Final = """
    SELECT spans::text, events.reported_trace_parts(agent_id, trace_id, parts + 1)
      FROM events.reported_trace
     WHERE agent_id = %(agent)s AND trace_id = %(trace)s
"""
KEEP_SESSION: Final = """
    UPDATE events.reported_trace SET session_id = %(session)s
     WHERE agent_id = %(agent)s AND trace_id = %(trace)s
"""
# A trigger puts the parts of a trace into its row when its spans are set.
PUT_TOGETHER: Final = """
    UPDATE events.reported_trace t
       SET spans = t.spans
      FROM unnest(%(agents)b::uuid[], %(traces)b::text[]) AS given (agent_id, trace_id)
     WHERE t.agent_id = given.agent_id AND t.trace_id = given.trace_id
       AND t.part_bytes > 0
"""
# By exact bounds, for traces whose parts have been put together. What is known takes
# no room.
MERGE_INTO_ROW: Final = f"""{INSERT}
           spans = excluded.spans || known.spans
     WHERE (SELECT count(*) FROM jsonb_object_keys(excluded.spans || known.spans))
           <= %(spans_max)s
       AND (pg_column_size(known.spans) <= %(bytes_max)s
            OR known.spans ?& ARRAY(SELECT jsonb_object_keys(excluded.spans)))
    RETURNING agent_id, trace_id, {_SIZE}, NULL, NULL, NULL, NULL, session_id,
              kept_since
"""  # noqa: S608 # of constants
COUNT: Final = """
    SELECT count(*)
      FROM (SELECT FROM events.reported_trace
             WHERE agent_id = %(agent)s LIMIT %(limit)s) AS begun
"""
