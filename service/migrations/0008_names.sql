-- The audit trail shows present names beside ids: this finds the event that gave a
-- user, agent or connector its name, however many events came later.
CREATE INDEX stored_event_naming
    ON events.stored_event (originator_id, originator_version)
 WHERE topic IN ('user.created', 'agent.registered', 'agent.edited',
                 'connector.registered', 'connector.edited');
