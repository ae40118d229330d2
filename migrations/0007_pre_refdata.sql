-- Reference data: one row a record of the 13 categories and of RSTA (INV-26, R24, R54, R62). Names are SIS tags.

CREATE TABLE ref_master (
    rtype         text        NOT NULL CHECK (rtype IN ('COUL', 'ARPT', 'AIRL', 'AIRC', 'REGN', 'ORGN', 'FLTL', 'TLST',
                                                        'GLST', 'SLST', 'CLST', 'BLST', 'CHLT', 'RSTA')),
    rkey          text COLLATE "C" NOT NULL CHECK (rkey <> ''),     -- of RSTA: <RTYP>:<RSID>
    payload       jsonb       NOT NULL CHECK (jsonb_typeof(payload) = 'object'),    -- null in it: no value now
    source_msg_id bigint      NOT NULL,                             -- the message that said it last
    batch         text        NOT NULL,                             -- that message's identity
    refreshed_at  timestamptz NOT NULL,                             -- when that message was applied
    PRIMARY KEY (rtype, rkey)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- A resource is available unless the last event says otherwise: disabled from its begin (none: from ever) until its end
-- (none: until the next event). An enabling has only a begin, and what it ends lasts until then. A window holds its
-- begin, not its end.
CREATE FUNCTION availability(rtyp text, rsid text, at timestamptz) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce((
        SELECT CASE payload ->> 'STAT'
                    WHEN 'D' THEN at < (payload ->> 'BEGIN')::timestamptz OR at >= (payload ->> 'END')::timestamptz
                    ELSE at >= coalesce((payload ->> 'BEGIN')::timestamptz, '-infinity')
               END IS TRUE
          FROM ref_master WHERE ref_master.rtype = 'RSTA' AND ref_master.rkey = $1 || ':' || $2), true)
$$;

-- refdata: its own table, and the heads that the processor hands over (R16)
GRANT SELECT ON proc_state TO msgx_refdata;
GRANT UPDATE (state, attempts, infra_attempts, next_attempt_at, first_error_class, error_class, last_error, finished_at,
              updated_at, backfill_next_at) ON proc_state TO msgx_refdata;
GRANT SELECT, INSERT ON proc_attempt TO msgx_refdata;
GRANT SELECT, INSERT, UPDATE ON dead_letter, unmapped_field TO msgx_refdata;
GRANT SELECT, INSERT, UPDATE, DELETE ON ref_master TO msgx_refdata;

-- api, and admin-api: reads (C-10)
GRANT SELECT ON ref_master TO msgx_api, msgx_admin_api;
