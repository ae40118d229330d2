-- Marks that were given up are listed and counted without a look at all records (R55).

CREATE INDEX proc_state_abandoned ON proc_state (msg_id) WHERE backfill_abandoned_at IS NOT NULL;
