-- The outbox. EVENT_ID order is commit order because one locked writer adds events (R28, R29, B04).

CREATE SEQUENCE event_id_seq;

CREATE TABLE msg_event (
    event_id        bigint PRIMARY KEY DEFAULT nextval('event_id_seq'),
    target          text        NOT NULL CHECK (target IN ('KAFKA:msg', 'KAFKA:schd')),
    partition_key   text        NOT NULL CHECK (partition_key <> ''),      -- FLID
    event_type      text        NOT NULL CHECK (event_type IN ('UPSERT', 'TOMBSTONE')),
    payload_version integer     NOT NULL DEFAULT 1,
    payload         text,                                                -- JSON, frozen at commit; null: tombstone
    state_version   bigint      NOT NULL,
    msg_id          bigint,                                              -- null: not from a message (history)
    state           text        NOT NULL DEFAULT 'PENDING'
        CHECK (state IN ('PENDING', 'SENT', 'DEAD', 'DISCARDED')),
    created_at      timestamptz NOT NULL,
    released_at     timestamptz,                                         -- null: its message is not finished (R06)
    attempts        integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    next_attempt_at timestamptz,
    sent_at         timestamptz,
    error_class     text,
    last_error      text,
    traceparent     text,
    CONSTRAINT tombstone_has_no_value CHECK ((event_type = 'TOMBSTONE') = (payload IS NULL)),
    CONSTRAINT sent_has_its_time CHECK ((state = 'SENT') = (sent_at IS NOT NULL)),
    CONSTRAINT only_released_leaves CHECK (state <> 'SENT' OR released_at IS NOT NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);

-- One row a flight for schd: the latest state, replaced in place.
CREATE UNIQUE INDEX msg_event_schd ON msg_event (partition_key) WHERE target = 'KAFKA:schd';
CREATE INDEX msg_event_claim ON msg_event (target, event_id) WHERE state = 'PENDING';
-- The few pending rows that may hold what is behind them: unreleased, or waiting for another try.
CREATE INDEX msg_event_waiting ON msg_event (target, partition_key, event_id)
    WHERE state = 'PENDING' AND (released_at IS NULL OR next_attempt_at IS NOT NULL);
CREATE INDEX msg_event_unit ON msg_event (target, partition_key, event_id) WHERE state = 'PENDING';
CREATE INDEX msg_event_dead ON msg_event (target, partition_key, event_id) WHERE state = 'DEAD';
CREATE INDEX msg_event_unreleased ON msg_event (msg_id) WHERE released_at IS NULL;
CREATE INDEX msg_event_sent ON msg_event (sent_at) WHERE state = 'SENT';
