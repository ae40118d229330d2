-- What operators do, and what they see of delivery (R29, R35, R55).

-- A part of a service that an operator lets rest: a row says so, no row: it works.
CREATE TABLE service_control (
    service   text        NOT NULL REFERENCES service_term (service),
    part      text        NOT NULL CHECK (part <> ''),           -- of the dispatcher: msg, schd
    paused_at timestamptz NOT NULL,
    operator  text        NOT NULL,
    reason    text        NOT NULL,
    PRIMARY KEY (service, part)
);

-- Every act of an operator, written in the transaction that did it.
CREATE TABLE admin_audit (
    audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       timestamptz NOT NULL,
    service  text        NOT NULL REFERENCES service_term (service),
    operator text        NOT NULL CHECK (operator <> ''),
    reason   text        NOT NULL CHECK (reason <> ''),
    action   text        NOT NULL,
    target   jsonb       NOT NULL,                                -- what was asked for
    affected integer     NOT NULL CHECK (affected >= 0)           -- rows it changed
);
CREATE INDEX admin_audit_at ON admin_audit (at);

-- When the failure that an event still has began; null: it has none.
ALTER TABLE msg_event ADD failed_at timestamptz;

-- Order units whose first open event is dead, refused, or unreleased in front of others. A dead event holds those behind
-- it unless msgx.dispatch.after-dead is continue.
CREATE VIEW held_unit AS
SELECT first.target, first.partition_key AS flid, first.event_id, first.state_version, first.cause, first.since,
       first.attempts, first.next_attempt_at, first.error_class, first.last_error, queue.behind
  FROM (SELECT DISTINCT ON (target, partition_key)
               target, partition_key, event_id, state_version, attempts, next_attempt_at, error_class, last_error,
               coalesce(failed_at, created_at) AS since,
               CASE WHEN state = 'DEAD' THEN 'DEAD' WHEN released_at IS NULL THEN 'UNRELEASED' ELSE 'WAITING' END AS cause
          FROM (SELECT * FROM msg_event WHERE state = 'DEAD'
                 UNION ALL
                SELECT * FROM msg_event
                 WHERE state = 'PENDING' AND (released_at IS NULL OR next_attempt_at IS NOT NULL)) stopping
         ORDER BY target, partition_key, event_id) first
 CROSS JOIN LATERAL (SELECT count(*) AS behind FROM msg_event b
                      WHERE b.target = first.target AND b.partition_key = first.partition_key
                        AND b.event_id > first.event_id AND b.state = 'PENDING' OFFSET 0) queue
 WHERE first.cause <> 'UNRELEASED' OR queue.behind > 0;

-- A service writes its own rows only.
ALTER TABLE service_control ENABLE ROW LEVEL SECURITY;
CREATE POLICY service_control_read ON service_control FOR SELECT USING (true);
CREATE POLICY service_control_insert ON service_control FOR INSERT WITH CHECK ('msgx_' || service = current_user);
CREATE POLICY service_control_update ON service_control FOR UPDATE USING ('msgx_' || service = current_user);
CREATE POLICY service_control_delete ON service_control FOR DELETE USING ('msgx_' || service = current_user);
ALTER TABLE admin_audit ENABLE ROW LEVEL SECURITY;
CREATE POLICY admin_audit_read ON admin_audit FOR SELECT USING (true);
CREATE POLICY admin_audit_insert ON admin_audit FOR INSERT WITH CHECK ('msgx_' || service = current_user);
CREATE POLICY admin_audit_delete ON admin_audit FOR DELETE USING (true);

GRANT SELECT, INSERT, UPDATE, DELETE ON service_control TO msgx_intake, msgx_processor, msgx_refdata, msgx_dispatcher;
GRANT SELECT ON service_control TO msgx_api;
GRANT INSERT ON admin_audit TO msgx_intake, msgx_processor, msgx_refdata, msgx_dispatcher, msgx_api;
GRANT SELECT, DELETE ON admin_audit TO msgx_processor;
GRANT SELECT ON admin_audit TO msgx_api;

GRANT SELECT ON held_unit TO msgx_dispatcher, msgx_api;
GRANT UPDATE (failed_at) ON msg_event TO msgx_dispatcher, msgx_processor;
-- Retention asks whether the message of an event is finished now.
GRANT SELECT (msg_id, state) ON proc_state TO msgx_dispatcher;
