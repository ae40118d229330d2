-- The pipeline: registration, identity, terms. One clock for all (R36).

CREATE FUNCTION msgx_now() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT now()';

CREATE TABLE service_term (
    service  text PRIMARY KEY,
    term     bigint      NOT NULL DEFAULT 0,
    instance text        NOT NULL DEFAULT '',
    since    timestamptz NOT NULL DEFAULT now()
);
INSERT INTO service_term (service) VALUES ('intake'), ('processor'), ('refdata'), ('dispatcher'), ('api');

CREATE TABLE proc_state (
    msg_id                    bigint PRIMARY KEY,              -- CMINMSGS_ID (INV-9)
    state                     text        NOT NULL DEFAULT 'PENDING'
        CHECK (state IN ('PENDING', 'FAILED', 'SUCCEEDED', 'SKIPPED', 'DEAD')),
    identity_key              text UNIQUE,
    received_at               timestamptz,                     -- the mailbox's own, for display only
    enqueued_at               timestamptz NOT NULL,
    late_after                bigint,                          -- highest id known when it was registered late (R11)
    route                     text CHECK (route IN ('REFDATA')),
    sndr                      text,
    type                      text,
    styp                      text,
    seqn                      text,
    dttm                      timestamptz,
    flid                      text,
    attempts                  integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    infra_attempts            integer     NOT NULL DEFAULT 0 CHECK (infra_attempts >= 0),
    next_attempt_at           timestamptz,
    first_error_class         text,
    error_class               text,
    last_error                text,                            -- also the reason of SKIPPED
    finished_at               timestamptz,
    updated_at                timestamptz NOT NULL,
    traceparent               text,
    backfill_next_at          timestamptz,
    backfill_attempts         integer     NOT NULL DEFAULT 0,
    backfill_at               timestamptz,
    backfill_abandoned_at     timestamptz,
    backfill_abandoned_reason text,
    reopened_at               timestamptz,
    -- A finished message owes its mark, has it, or gave up: never none of them (INV-8). An open one owes none; it
    -- may have its mark from an earlier life (R44).
    CONSTRAINT finished_owes_a_mark CHECK (state IN ('PENDING', 'FAILED')
        OR num_nonnulls(backfill_next_at, backfill_at, backfill_abandoned_at) > 0),
    CONSTRAINT open_owes_no_mark CHECK (state NOT IN ('PENDING', 'FAILED')
        OR num_nonnulls(backfill_next_at, backfill_abandoned_at) = 0),
    CONSTRAINT finished_has_its_time CHECK ((state IN ('PENDING', 'FAILED')) = (finished_at IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
CREATE INDEX proc_state_head ON proc_state (msg_id) WHERE state IN ('PENDING', 'FAILED');
CREATE INDEX proc_state_owed ON proc_state (backfill_attempts, msg_id)
    WHERE backfill_at IS NULL AND backfill_abandoned_at IS NULL
      AND state IN ('SUCCEEDED', 'SKIPPED', 'DEAD');

CREATE TABLE proc_attempt (
    msg_id      bigint      NOT NULL,
    attempt     integer     NOT NULL,
    at          timestamptz NOT NULL,
    error_class text        NOT NULL,
    error       text        NOT NULL,
    trace_id    text,
    PRIMARY KEY (msg_id, attempt)
);

CREATE TABLE identity_ledger (
    identity_key text PRIMARY KEY,
    body_digest  bytea       NOT NULL,
    msg_id       bigint      NOT NULL,
    bound_at     timestamptz NOT NULL
);
CREATE INDEX identity_ledger_msg ON identity_ledger (msg_id);

-- Raw text of DEAD messages only (R38).
CREATE TABLE dead_letter (
    msg_id  bigint PRIMARY KEY,
    raw     text,                    -- NUL cannot be stored: it is replaced, see raw_altered
    raw_altered boolean NOT NULL DEFAULT false,
    dead_at timestamptz NOT NULL
);

-- Tags that no registry entry reads; kept beyond the message's own record (INV-25, R51).
CREATE TABLE unmapped_field (
    type         text   NOT NULL,
    styp         text   NOT NULL,
    tag          text   NOT NULL,
    first_msg_id bigint NOT NULL,
    last_msg_id  bigint NOT NULL,
    occurrences  bigint NOT NULL,
    sample       text   NOT NULL,
    PRIMARY KEY (type, styp, tag)
);
