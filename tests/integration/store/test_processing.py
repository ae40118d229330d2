"""PROC_STATE and what stands beside it: guards, debts, attempts, identities, texts."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from msgx.domain.failure import RULES, ErrorClass, Replay, fingerprint
from msgx.domain.message import Meta, Unmapped
from msgx.domain.processing import ProcState, Trigger
from msgx.store import attempt, dead_letter, dead_message, proc_state, unmapped_field
from msgx.store.attempt import Beginning
from msgx.store.connect import Connection
from msgx.store.proc_state import Outcome, StaleState
from msgx.store.service_term import Deposed

pytestmark = [pytest.mark.pg]

META = Meta(sndr="AODB", type="FLOP", styp="STND", seqn="1", dttm=None)
WAIT = timedelta(seconds=30)


def register(conn: Connection, *msg_ids: int, **columns: object) -> None:
    names = "".join(f", {name}" for name in columns)
    places = ", %s" * len(columns)
    for msg_id in msg_ids:
        conn.execute(
            f"INSERT INTO proc_state (msg_id, enqueued_at, updated_at{names})"
            f" VALUES (%s, msgx_now(), msgx_now(){places})",
            (msg_id, *columns.values()),
        )


def row(conn: Connection, msg_id: int, columns: str) -> Any:
    return conn.execute(
        f"SELECT {columns} FROM proc_state WHERE msg_id = %s", (msg_id,)
    ).fetchone()


def begin(
    conn: Connection, msg_id: int, digest: bytes | None = None, *, term: int = 0
) -> Beginning:
    identity = None if digest is None else "k"
    sent = attempt.begin(conn, msg_id, identity=identity, body_digest=digest)
    return attempt.begun(sent, term)


def bind(conn: Connection, msg_id: int, digest: bytes) -> tuple[int, bytes] | None:
    return begin(conn, msg_id, digest).holder


@pytest.mark.covers("INV-3")
def test_the_head_is_the_lowest_open_message_whatever_its_state(db: Connection) -> None:
    register(db, 9, 5, 7)
    attempt.end(db, 5, Outcome(trigger=Trigger.SUCCEED), term=0)
    proc_state.fail(db, 7, ErrorClass.PROCESSING, "why", wait=WAIT)

    head = proc_state.head(db)

    assert head is not None
    assert (head.msg_id, head.state, head.attempts) == (7, ProcState.FAILED, 1)
    assert head.wait == WAIT
    assert proc_state.upcoming(db, 0, 10) == [(7, None), (9, None)]
    assert proc_state.upcoming(db, 7, 10) == [(9, None)]


@pytest.mark.covers("INV-3")
def test_an_empty_queue_has_no_head(db: Connection) -> None:
    assert proc_state.head(db) is None


@pytest.mark.covers("INV-5", "INV-8")
@pytest.mark.parametrize("trigger", [Trigger.SUCCEED, Trigger.SKIP, Trigger.REJECT])
def test_a_finished_message_accepts_nothing_more(db: Connection, trigger: Trigger) -> None:
    register(db, 5)
    error_class = ErrorClass.PROTOCOL if trigger is Trigger.REJECT else None
    attempt.end(db, 5, Outcome(trigger=trigger, reason="r", error_class=error_class), term=0)
    before = row(db, 5, "proc_state")

    for again in (Trigger.SUCCEED, Trigger.SKIP, Trigger.EXHAUST):
        with pytest.raises(StaleState), db.transaction():
            attempt.end(db, 5, Outcome(trigger=again), term=0)
    with pytest.raises(StaleState), db.transaction():
        proc_state.fail(db, 5, ErrorClass.INFRA, "why", wait=WAIT)

    assert row(db, 5, "proc_state") == before


@pytest.mark.covers("INV-8", "R44")
def test_a_message_that_has_its_mark_owes_none_again(db: Connection) -> None:
    register(db, 5)
    register(db, 6, backfill_at="2026-01-01")

    for msg_id in (5, 6):
        attempt.end(db, msg_id, Outcome(trigger=Trigger.SUCCEED), term=0)

    assert row(db, 5, "backfill_next_at = finished_at") == (True,)
    assert row(db, 6, "backfill_next_at") == (None,)


@pytest.mark.covers("R04", "R05", "B24", "B29")
def test_tries_are_counted_by_kind_and_listed_one_by_one(db: Connection) -> None:
    register(db, 5, traceparent="00-abc-def-01")
    proc_state.fail(db, 5, ErrorClass.INFRA, "away", wait=WAIT)
    proc_state.fail(db, 5, ErrorClass.CODEC_ERROR, "codec", wait=WAIT)
    over = Outcome(trigger=Trigger.EXHAUST, reason="over", error_class=ErrorClass.PROCESSING)
    attempt.end(db, 5, over, term=0)

    columns = "attempts, infra_attempts, first_error_class, error_class, last_error"
    assert row(db, 5, columns) == (2, 1, "INFRA", "PROCESSING", "over")
    tries = db.execute("SELECT attempt, error_class, error, trace_id FROM proc_attempt")
    assert tries.fetchall() == [
        (1, "INFRA", "away", "abc"),
        (2, "CODEC_ERROR", "codec", "abc"),
        (3, "PROCESSING", "over", "abc"),
    ]


@pytest.mark.covers("R46", "B76")
def test_error_texts_are_cleaned_and_cut_before_they_are_stored(db: Connection) -> None:
    register(db, 5)

    proc_state.fail(db, 5, ErrorClass.PROCESSING, "a\0b\ud800c\n" + "x" * 10_000, wait=WAIT)

    (text,) = row(db, 5, "last_error")
    assert text.startswith("a b")
    assert len(text) == 2000


@pytest.mark.covers("INV-9", "R01", "R02")
def test_an_identity_is_bound_once_and_tells_its_holder(db: Connection) -> None:
    register(db, 5)
    assert bind(db, 5, b"one") == (5, b"one")
    assert bind(db, 5, b"one") == (5, b"one"), "its own identity is no duplicate"
    attempt.end(db, 5, Outcome(trigger=Trigger.SUCCEED), term=0)
    register(db, 6)

    assert bind(db, 6, b"two") == (5, b"one")


@pytest.mark.covers("INV-9", "INV-3")
def test_only_the_head_binds(db: Connection) -> None:
    register(db, 5, 6)

    assert bind(db, 6, b"two") is None

    assert db.execute("SELECT count(*) FROM identity_ledger").fetchone() == (0,)


@pytest.mark.covers("R38")
def test_a_dead_text_is_kept_even_if_no_column_takes_it(db: Connection) -> None:
    dead_letter.keep(db, 5, "plain 备注𠜎")
    dead_letter.keep(db, 6, "a\0b\ud800")
    dead_letter.keep(db, 7, None)

    rows = db.execute("SELECT msg_id, raw, raw_altered FROM dead_letter ORDER BY 1").fetchall()

    assert rows == [
        (5, "plain 备注𠜎", False),
        (6, "a\N{SYMBOL FOR NULL}b?", True),
        (7, None, False),
    ]


@pytest.mark.covers("INV-25", "R51")
def test_unmapped_tags_add_up_over_messages_in_any_order(db: Connection) -> None:
    unmapped_field.count(db, 8, META, [Unmapped(tag="NEWT", occurrences=2, sample="b")])
    unmapped_field.count(db, 5, META, [Unmapped(tag="NEWT", occurrences=1, sample="a")])

    columns = "type, styp, tag, first_msg_id, last_msg_id, occurrences, sample"
    (one,) = db.execute(f"SELECT {columns} FROM unmapped_field").fetchall()
    assert one == ("FLOP", "STND", "NEWT", 5, 8, 3, "a")


@pytest.mark.covers("R13")
@pytest.mark.parametrize("term", [-1, 7])
def test_an_attempt_of_another_term_is_refused(db: Connection, term: int) -> None:
    register(db, 5)

    with pytest.raises(Deposed):
        begin(db, 5, b"one", term=term)

    begun = begin(db, 5)
    assert begun.head is not None
    assert begun.head.msg_id == 5
    assert begun.entries == {}


@pytest.mark.covers("INV-8", "US-03")
@pytest.mark.parametrize(
    "change",
    [
        "state = 'SUCCEEDED', finished_at = now()",
        "state = 'SUCCEEDED', backfill_next_at = now()",
        "backfill_next_at = now()",
        "finished_at = now()",
        "state = 'DONE'",
        "attempts = -1",
    ],
)
def test_the_database_itself_refuses_a_row_that_contradicts_itself(
    db: Connection, change: str
) -> None:
    register(db, 5)

    with pytest.raises(psycopg.errors.CheckViolation):
        db.execute(f"UPDATE proc_state SET {change}".encode())


@pytest.mark.covers("R46")
def test_the_database_knows_the_classes_that_the_code_knows(db: Connection) -> None:
    for error_class, rule in RULES.items():
        register(db, list(ErrorClass).index(error_class), error_class=None)
        known = rule.replay is not Replay.NONE
        try:
            with db.transaction():
                db.execute(
                    "UPDATE proc_state SET error_class = %s WHERE msg_id = %s",
                    (error_class, list(ErrorClass).index(error_class)),
                )
        except psycopg.errors.CheckViolation:
            assert not known, error_class
        else:
            assert known, error_class


@pytest.mark.covers("R05")
def test_a_failure_is_kept_with_what_groups_it_and_an_end_without_one_clears_it(
    db: Connection,
) -> None:
    register(db, 1)
    proc_state.fail(db, 1, ErrorClass.CODEC_ERROR, "FLID 7 is odd", wait=WAIT)
    kept = row(db, 1, "error_fingerprint")

    attempt.end(db, 1, Outcome(trigger=Trigger.SUCCEED), term=0)

    assert kept == (fingerprint(ErrorClass.CODEC_ERROR, "FLID 8 is odd"),)
    assert row(db, 1, "error_fingerprint, first_error_class") == (None, "CODEC_ERROR")


@pytest.mark.covers("R35", "R44", "B35")
def test_what_is_put_back_begins_anew_and_one_that_died_since_is_left(db: Connection) -> None:
    """Between the forecast and the update a message may have died again."""
    register(db, 5, 6)
    for msg_id in (5, 6):
        over = Outcome(trigger=Trigger.REJECT, reason="why", error_class=ErrorClass.PROTOCOL)
        attempt.end(db, msg_id, over, term=0)
    found: Any = db.execute("SELECT msgx_now()").fetchone()
    db.execute(
        "UPDATE proc_state SET finished_at = finished_at + interval '1 s' WHERE msg_id = 6"
    )

    back = dead_message.put_back(db, [5, 6], died_by=found[0])

    assert back == [5]
    left = "state, error_class, error_fingerprint, last_error, finished_at, backfill_next_at"
    assert row(db, 5, left) == ("PENDING", None, None, None, None, None)
    assert row(db, 5, "attempts, first_error_class") == (0, "PROTOCOL")
    assert row(db, 6, "state, error_class") == ("DEAD", "PROTOCOL")
