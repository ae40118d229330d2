-- One role a service; grants go down to columns ("Who may touch what" in docs/tables.md). A role belongs to the whole
-- cluster, so another database of it may have made it already. No passwords here: deployment sets them.

DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['msgx_intake', 'msgx_processor', 'msgx_refdata', 'msgx_dispatcher', 'msgx_api', 'msgx_admin_api'] LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS', name);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END LOOP;
END $$;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO msgx_intake, msgx_processor, msgx_refdata, msgx_dispatcher, msgx_api, msgx_admin_api;

GRANT SELECT ON schema_version TO msgx_intake, msgx_processor, msgx_refdata, msgx_dispatcher, msgx_api;

-- service_term: read by all, written in the own row only.
ALTER TABLE service_term ENABLE ROW LEVEL SECURITY;
CREATE POLICY service_term_read ON service_term FOR SELECT USING (true);
CREATE POLICY service_term_own ON service_term FOR UPDATE USING ('msgx_' || service = current_user);
-- FOR SHARE needs UPDATE on a column; the policy above keeps it to the own row.
GRANT SELECT, UPDATE (term, instance, since) ON service_term
    TO msgx_intake, msgx_processor, msgx_refdata, msgx_dispatcher, msgx_api;

-- intake
GRANT SELECT, INSERT, DELETE ON proc_state TO msgx_intake;
GRANT UPDATE (backfill_next_at, backfill_attempts, backfill_at, backfill_abandoned_at, backfill_abandoned_reason,
              reopened_at, updated_at) ON proc_state TO msgx_intake;
GRANT SELECT, DELETE ON proc_attempt TO msgx_intake;
GRANT SELECT ON msg_event TO msgx_intake;

-- processor
GRANT SELECT ON proc_state TO msgx_processor;
GRANT UPDATE (state, identity_key, sndr, type, styp, seqn, dttm, flid, route, attempts, infra_attempts, next_attempt_at,
              first_error_class, error_class, last_error, finished_at, updated_at, backfill_next_at,
              backfill_abandoned_at, backfill_abandoned_reason) ON proc_state TO msgx_processor;
GRANT SELECT, INSERT ON proc_attempt TO msgx_processor;
GRANT SELECT, INSERT, UPDATE, DELETE ON identity_ledger, dead_letter, unmapped_field, flight_schd, flight_gtdt,
    flight_ckdt, flight_cldt, flight_chdt, flight_psdt, flight_chot, flight_dely, flight_abtm, flight_route_point,
    flight_srvt, flight_vipf, schd_snap_log TO msgx_processor;
GRANT SELECT, INSERT, DELETE ON flight_journal, flight_version_floor TO msgx_processor;
GRANT USAGE ON SEQUENCE event_id_seq TO msgx_processor;
GRANT SELECT, INSERT ON msg_event TO msgx_processor;
-- schd is replaced in place; msg rows are only released.
GRANT UPDATE (event_id, event_type, payload_version, payload, state_version, msg_id, state, created_at, released_at,
              attempts, next_attempt_at, sent_at, error_class, last_error, traceparent) ON msg_event TO msgx_processor;

-- dispatcher
GRANT SELECT, DELETE ON msg_event TO msgx_dispatcher;
GRANT UPDATE (state, attempts, next_attempt_at, sent_at, error_class, last_error) ON msg_event TO msgx_dispatcher;
GRANT SELECT (flid, state, state_version) ON flight_schd TO msgx_dispatcher;

-- api: reads
GRANT SELECT ON proc_state, proc_attempt, identity_ledger, dead_letter, unmapped_field, flight_schd, flight_gtdt,
    flight_ckdt, flight_cldt, flight_chdt, flight_psdt, flight_chot, flight_dely, flight_abtm, flight_route_point,
    flight_srvt, flight_vipf, flight_journal, flight_version_floor, msg_event, schd_snap_log TO msgx_api;

-- admin-api: the committed flight state, read-only (C-10)
GRANT SELECT ON flight_schd, flight_gtdt, flight_ckdt, flight_cldt, flight_chdt, flight_psdt, flight_chot, flight_dely,
    flight_abtm, flight_route_point TO msgx_admin_api;
