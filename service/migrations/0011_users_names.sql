-- Users can be renamed and erased: their present names come from these events, too.
DROP INDEX events.stored_event_naming;
CREATE INDEX stored_event_naming
    ON events.stored_event (originator_id, originator_version)
 WHERE topic IN ('user.created', 'user.renamed', 'user.erased',
                 'agent.registered', 'agent.edited',
                 'connector.registered', 'connector.edited');
