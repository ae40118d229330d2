-- The flights: one table for the scalars, one for each collection, one for both kinds of route points (G-FLOP-UNMAPPED:
-- every tag of the registry has its column). Names are SIS tags in lower case.

CREATE TABLE flight_schd (
    flid          text COLLATE "C" PRIMARY KEY CHECK (flid ~ '^[1-9][0-9]{0,18}$'),   -- text: above bigint too (R58)
    state         text        NOT NULL CHECK (state IN ('ACTIVE', 'DELETED')),
    state_version bigint      NOT NULL CHECK (state_version > 0),
    life          integer     NOT NULL DEFAULT 1 CHECK (life > 0),
    operation_day date,                                                             -- once set, never changed (INV-12)
    last_msg_id   bigint      NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    alcd          text,
    alsc          text,
    flno          text,
    mvin          text CHECK (mvin IN ('A', 'D')),
    sodt          timestamptz,
    flty          text,
    flin          text CHECK (flin IN ('D', 'I', 'M')),
    acft          text,
    reno          text,
    taop          text,
    tafl          text,
    taid          text COLLATE "C",
    trml          text,
    csop          text,
    csft          text,
    maid          text COLLATE "C",
    estt          timestamptz,
    actt          timestamptz,
    botm          timestamptz,
    lacl          timestamptz,
    fint          timestamptz,
    appt          timestamptz,
    egsr          timestamptz,
    egst          timestamptz,
    padt          timestamptz,
    naat          timestamptz,
    neat          timestamptz,
    pedt          timestamptz,
    ftss          timestamptz,
    stnd          text,
    phag          text,
    fhag          text,
    mhag          text,
    cncl          timestamptz,
    remc          text,
    maxp          bigint,
    vipp          text,
    vipr          text,
    lbno          text,
    lbwt          text,
    paxc          text,
    exsc          text,
    exsr          text,
    bdpb          text,
    fdiv          jsonb,
    fret          jsonb,
    flab          jsonb
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX flight_schd_maid ON flight_schd (maid) WHERE maid IS NOT NULL;
CREATE INDEX flight_schd_day ON flight_schd (operation_day) WHERE state = 'ACTIVE';

CREATE FUNCTION flight_keeps_its_day() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.operation_day IS NOT NULL AND NEW.operation_day IS DISTINCT FROM OLD.operation_day THEN
        RAISE EXCEPTION 'flight % keeps its operation day (INV-12)', OLD.flid USING ERRCODE = 'check_violation';
    END IF;
    IF NEW.state_version < OLD.state_version THEN
        RAISE EXCEPTION 'flight % cannot go back to an older version (INV-13)', OLD.flid USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER flight_keeps_its_day BEFORE UPDATE OF operation_day, state_version ON flight_schd
    FOR EACH ROW EXECUTE FUNCTION flight_keeps_its_day();

CREATE TABLE flight_gtdt (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    source_seq text,
    gate       text,
    pgot       timestamptz,
    pgct       timestamptz,
    gotm       timestamptz,
    gctm       timestamptz,
    gtyp       text,
    PRIMARY KEY (flid, ordinal)
);

CREATE TABLE flight_ckdt (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    source_seq text,
    chkc       text,
    ccls       text,
    pcot       timestamptz,
    pcct       timestamptz,
    cotm       timestamptz,
    cctm       timestamptz,
    ctyp       text,
    PRIMARY KEY (flid, ordinal)
);

CREATE TABLE flight_cldt (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    source_seq text,
    belt       text,
    bcls       text,
    pcot       timestamptz,
    pcct       timestamptz,
    fbag       timestamptz,
    lbag       timestamptz,
    btyp       text,
    PRIMARY KEY (flid, ordinal)
);

CREATE TABLE flight_chdt (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    source_seq text,
    chut       text,
    ccls       text,
    pcbt       timestamptz,
    pcet       timestamptz,
    cbtm       timestamptz,
    cetm       timestamptz,
    ctyp       text,
    PRIMARY KEY (flid, ordinal)
);

CREATE TABLE flight_psdt (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    source_seq text,
    psst       text,
    stst       timestamptz,
    stet       timestamptz,
    PRIMARY KEY (flid, ordinal)
);

CREATE TABLE flight_chot (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    source_seq text,
    chtm       timestamptz,
    chid       text,
    chst       text,
    PRIMARY KEY (flid, ordinal)
);

CREATE TABLE flight_dely (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    code       text,
    strt       timestamptz,
    dura       text,
    text       text,
    PRIMARY KEY (flid, ordinal)
);

CREATE TABLE flight_abtm (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    source_seq text,
    abdg       text,
    abop       text,
    aotm       timestamptz,
    PRIMARY KEY (flid, ordinal)
);

CREATE TABLE flight_route_point (
    flid       text COLLATE "C" NOT NULL REFERENCES flight_schd ON DELETE CASCADE,
    route_kind text    NOT NULL CHECK (route_kind IN ('ROUT', 'ERUT')),
    ordinal    integer NOT NULL CHECK (ordinal > 0),
    source_seq text,
    apcd       text,
    scat       timestamptz,
    scdt       timestamptz,
    PRIMARY KEY (flid, route_kind, ordinal)
);

-- Occurrences outside merge, JSON and topics: written once, never changed (G-SRVT-VIPF, R47).
CREATE TABLE flight_srvt (
    flid    text COLLATE "C" NOT NULL,
    msg_id  bigint  NOT NULL,
    ordinal integer NOT NULL CHECK (ordinal > 0),
    raw     text    NOT NULL,
    PRIMARY KEY (flid, msg_id, ordinal)
);
CREATE TABLE flight_vipf (
    flid    text COLLATE "C" NOT NULL,
    msg_id  bigint  NOT NULL,
    ordinal integer NOT NULL CHECK (ordinal > 0),
    raw     text    NOT NULL,
    PRIMARY KEY (flid, msg_id, ordinal)
);

-- The event source: append-only; folding it rebuilds flight_schd and its details (R12).
CREATE TABLE flight_journal (
    journal_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    flid          text COLLATE "C" NOT NULL,
    state_version bigint      NOT NULL,
    life          integer     NOT NULL,
    msg_id        bigint      NOT NULL,
    kind          text        NOT NULL CHECK (kind IN ('CREATED', 'CHANGED', 'DELETED', 'RESTORED', 'SHARED')),
    changes       jsonb       NOT NULL,
    at            timestamptz NOT NULL,
    UNIQUE (msg_id, flid),
    UNIQUE (flid, state_version)
);

-- What a physically deleted FLID leaves: a returning one starts above it (R45).
CREATE TABLE flight_version_floor (
    flid          text COLLATE "C" PRIMARY KEY,
    state_version bigint  NOT NULL,
    life          integer NOT NULL
);

-- One row for each treatment of a day plan; rebuilt from nothing, decides nothing.
CREATE TABLE schd_snap_log (
    snap_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    msg_id      bigint      NOT NULL,
    kind        text        NOT NULL,
    recv_at     timestamptz,
    scope_begin date,
    scope_end   date,
    declared    integer     NOT NULL,
    parsed      integer     NOT NULL,
    created     integer     NOT NULL,
    restored    integer     NOT NULL,
    changed     integer     NOT NULL,
    unchanged   integer     NOT NULL,
    deleted     integer     NOT NULL,
    duration_seconds double precision NOT NULL,
    at          timestamptz NOT NULL
);
CREATE INDEX schd_snap_log_age ON schd_snap_log (scope_end, recv_at);
