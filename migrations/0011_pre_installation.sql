-- Whose database this is, and who may end a session that stands still.

-- The one installation that works here (R50): the first service that leads writes it; only the owner may change it.
CREATE TABLE installation (
    single      boolean     PRIMARY KEY DEFAULT true CHECK (single),
    environment text        NOT NULL CHECK (environment <> ''),
    since       timestamptz NOT NULL
);
GRANT SELECT, INSERT ON installation TO msgx_intake, msgx_processor, msgx_refdata, msgx_dispatcher;
GRANT SELECT ON installation TO msgx_api;

-- Ends the session that holds PIPELINE_LOCK if its client has said nothing for so long: the server's own time-outs do
-- not run inside a pipeline, and a service may not end another one's session. It acts as the owner of the schema, who
-- must be a superuser or a member of pg_signal_backend and pg_read_all_stats; else it is refused or finds none.
CREATE FUNCTION end_silent_pipeline(silent double precision) RETURNS integer
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
    AS $$
        SELECT count(*) FILTER (WHERE pg_terminate_backend(silent_one.pid))::integer
          FROM (SELECT holder.pid
                  FROM pg_locks AS held JOIN pg_stat_activity AS holder USING (pid)
                 WHERE held.locktype = 'advisory' AND held.granted
                   AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                   AND (held.classid, held.objid, held.objsubid) = (1836279672::oid, 100::oid, 2)
                   AND holder.wait_event = 'ClientRead'
                   AND holder.state_change < clock_timestamp() - make_interval(secs => greatest(silent, 3.0))
                OFFSET 0) AS silent_one
    $$;
REVOKE ALL ON FUNCTION end_silent_pipeline(double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION end_silent_pipeline(double precision) TO msgx_processor, msgx_refdata;
