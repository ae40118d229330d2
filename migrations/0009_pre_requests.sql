-- Requests to the AODB and what became of them (G-REQ-TRACK, R08, R34, R56). The states and which of them follow which
-- stand in msgx/domain/requests.py.

CREATE SEQUENCE req_seqn_seq AS integer MINVALUE 1 MAXVALUE 999999 CYCLE;   -- SEQN, six digits

CREATE TABLE req_track (
    req_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    req_type       text        NOT NULL CHECK (req_type IN ('RQFD', 'RQRD')),
    req_styp       text        NOT NULL CHECK (req_styp ~ '^[A-Z]{4}$'),      -- NONE, or the category
    rtyp           text        CHECK (rtyp IN ('BELT', 'CNTR', 'GATE', 'STND')),
    begin_at       timestamptz,                        -- of a day plan: first and last minute, both included
    end_at         timestamptz,
    registered_at  timestamptz NOT NULL,
    registered_by  text        NOT NULL CHECK (registered_by <> ''),
    state          text        NOT NULL DEFAULT 'PENDING'
        CHECK (state IN ('PENDING', 'SENDING', 'SENT', 'UNKNOWN', 'DONE', 'EXPIRED')),
    state_since    timestamptz NOT NULL,
    attempts       integer     NOT NULL DEFAULT 0 CHECK (attempts >= 0),       -- of writing it
    last_error     text,                               -- why it is not written yet, or not known to be
    seqn           text        CHECK (seqn ~ '^[0-9]{6}$'),
    sending_at     timestamptz,                        -- when the write began
    out_id_floor   bigint,                             -- its COUTMSGS_ID is above
    expires_at     timestamptz,                        -- later answers are refused
    sent_at        timestamptz,                        -- when the row was known
    out_id         bigint,                             -- COUTMSGS_ID
    matched_msg_id bigint,                             -- the answer
    matched_at     timestamptz,
    matched_by     text        CHECK (matched_by IN ('EXACT', 'TYPE')),
    matched_lag    interval,                           -- from sending_at to the answer's DTTM; null: it has none
    closed_at      timestamptz,
    CONSTRAINT day_plan_has_its_span CHECK ((req_type = 'RQFD') = (num_nonnulls(begin_at, end_at) = 2)),
    CONSTRAINT span_is_forward CHECK (begin_at <= end_at),
    CONSTRAINT only_rsta_has_rtyp CHECK (rtyp IS NULL OR (req_type = 'RQRD' AND req_styp = 'RSTA')),
    CONSTRAINT written_or_not CHECK (num_nonnulls(seqn, sending_at, out_id_floor, expires_at)
        = CASE WHEN state = 'PENDING' THEN 0 ELSE 4 END),
    CONSTRAINT row_has_its_time CHECK ((out_id IS NULL) = (sent_at IS NULL)),
    CONSTRAINT sent_has_its_row CHECK (state <> 'SENT' OR out_id IS NOT NULL),
    CONSTRAINT no_row_yet CHECK (state NOT IN ('PENDING', 'SENDING', 'UNKNOWN') OR out_id IS NULL),
    CONSTRAINT match_is_whole CHECK (num_nonnulls(matched_msg_id, matched_at, matched_by) IN (0, 3)),
    CONSTRAINT pending_has_no_answer CHECK (state <> 'PENDING' OR matched_msg_id IS NULL),
    CONSTRAINT done_has_its_answer CHECK (state <> 'DONE' OR matched_msg_id IS NOT NULL),
    CONSTRAINT closed_has_its_time CHECK ((state IN ('DONE', 'EXPIRED')) = (closed_at IS NOT NULL))
);
-- One open request of a kind (G-REQ-OPEN-UNIQUE); what only waits takes no place.
CREATE UNIQUE INDEX req_track_open ON req_track (req_type, req_styp) WHERE state IN ('SENDING', 'SENT', 'UNKNOWN');
CREATE INDEX req_track_pending ON req_track (req_id) WHERE state = 'PENDING';
CREATE INDEX req_track_kind ON req_track (req_type, req_styp, req_id);
CREATE INDEX req_track_answer ON req_track (matched_msg_id) WHERE matched_msg_id IS NOT NULL;
CREATE INDEX req_track_closed ON req_track (closed_at) WHERE closed_at IS NOT NULL;

GRANT USAGE ON SEQUENCE req_seqn_seq TO msgx_dispatcher;
GRANT SELECT, INSERT, UPDATE, DELETE ON req_track TO msgx_dispatcher;
GRANT SELECT, INSERT ON req_track TO msgx_api;
GRANT SELECT ON req_track TO msgx_processor, msgx_refdata;
GRANT UPDATE (state, state_since, matched_msg_id, matched_at, matched_by, matched_lag, closed_at) ON req_track
    TO msgx_processor, msgx_refdata;
