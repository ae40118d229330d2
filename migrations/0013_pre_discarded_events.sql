-- What an operator gave up leaves too, after the time of what was delivered; the act stays in admin_audit.
ALTER TABLE msg_event ADD discarded_at timestamptz;
UPDATE msg_event SET discarded_at = msgx_now() WHERE state = 'DISCARDED';

-- By when it was over, only what may leave: the latest state of a flight stays with the flight. (The former index had those
-- too, so each batch walked over every flight that had not changed for long.)
CREATE INDEX msg_event_over ON msg_event (coalesce(sent_at, discarded_at))
    WHERE state IN ('SENT', 'DISCARDED') AND (target <> 'KAFKA:schd' OR event_type = 'TOMBSTONE');
DROP INDEX msg_event_sent;

GRANT UPDATE (discarded_at) ON msg_event TO msgx_dispatcher, msgx_processor;
