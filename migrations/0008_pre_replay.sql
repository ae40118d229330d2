-- What operators do about messages that failed (R35, R38, R46, R55).

-- Groups failures of one cause: class and text without ids, numbers and quoted values. Null: of a version before.
ALTER TABLE proc_state ADD error_fingerprint text;
-- The table of classes is msgx/domain/failure.py; docs/failures.md is made from it.
ALTER TABLE proc_state ADD CONSTRAINT error_class_known CHECK (error_class IN
    ('MALFORMED', 'PROTOCOL', 'IDENTITY_CONFLICT', 'CODEC_ERROR', 'PROCESSING', 'INFRA')) NOT VALID;
-- Of no hot path: only a death and its replay touch it.
CREATE INDEX proc_state_dead ON proc_state (error_class, error_fingerprint, msg_id) WHERE state = 'DEAD';

-- The operator's text, which is read instead of the one that was sent, and the order of the last replay. An order is
-- read only while its message is the head, so it stays as evidence and is never cleared.
ALTER TABLE dead_letter
    ADD corrected        text,
    ADD corrected_at     timestamptz,
    ADD corrected_by     text,
    ADD replays          integer NOT NULL DEFAULT 0 CHECK (replays >= 0),
    ADD replayed_at      timestamptz,
    ADD force            boolean,
    ADD allow_stale      boolean,
    ADD approve_removals integer CHECK (approve_removals > 0),
    ADD CONSTRAINT correction_is_whole CHECK (num_nonnulls(corrected, corrected_at, corrected_by) IN (0, 3)),
    ADD CONSTRAINT order_is_whole CHECK (num_nonnulls(replayed_at, force, allow_stale) IN (0, 3)
        AND (replays > 0) = (replayed_at IS NOT NULL));
CREATE INDEX dead_letter_age ON dead_letter (dead_at);

GRANT UPDATE (error_fingerprint) ON proc_state TO msgx_processor, msgx_refdata;
