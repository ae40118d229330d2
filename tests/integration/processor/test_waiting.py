"""The head that cannot go on: it stays, it climbs its ladder, and nobody passes it (INV-3)."""

from datetime import timedelta

import psycopg
import pytest

from msgx.settings import Pipeline
from services.processor.process import Progress
from tests.support.intake import move_time, stop_time
from tests.support.messages import adft, fltr, stand
from tests.support.processor import Line, refusing
from tests.support.relay import relayed

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

LADDER = [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600)]
RARELY = timedelta(hours=1)
NOWHERE = "redis://127.0.0.1:9/0"


@pytest.mark.covers("B24", "US-03", "R05", "R38", "R37")
def test_attempts_are_persisted_and_end_exhausted_across_restarts(line: Line) -> None:
    head, after = line.land(adft(fltr("1"))), line.land(adft(fltr("2")))
    stop_time(line.pg)
    with refusing(line, "1"):
        for attempt, wait in enumerate(LADDER, start=1):
            line.restart(pipeline={"ladder": Pipeline().ladder})
            line.run()
            row = line.row(head)
            assert (row["state"], row["attempts"]) == ("FAILED", attempt)
            assert row["next_attempt_at"] - row["updated_at"] == wait
            line.run()
            assert line.row(head)["attempts"] == attempt, "not before it is due"
            stop_time(line.pg, after=wait)
        line.run()

    state, error_class, reason = line.end(head)
    assert (state, error_class) == ("DEAD", "PROCESSING")
    assert reason is not None
    assert reason.startswith("exhausted after 5 tries")
    tries = line.rows("SELECT attempt, error_class FROM proc_attempt ORDER BY attempt")
    assert tries == [{"attempt": n, "error_class": "PROCESSING"} for n in range(1, 6)]
    assert line.one("SELECT raw FROM dead_letter WHERE msg_id = %s", head)
    assert line.end(after)[0] == "SUCCEEDED"
    assert line.flids() == ["2"]


@pytest.mark.covers("B29", "R05", "R04")
def test_exhausted_keeps_the_first_and_the_last_class(line: Line) -> None:
    line.run(adft(fltr("1")))
    line.restart(
        database={"lock_timeout": timedelta(milliseconds=200)},
        pipeline={"ladder": (timedelta(microseconds=1),) * 4},
    )
    head = line.land(stand("7", "1"))
    with psycopg.connect(line.places.dsn) as other:
        other.execute("SELECT 1 FROM flight_schd WHERE flid = '1' FOR UPDATE")
        line.worker.step()
    assert line.end(head)[:2] == ("FAILED", "INFRA")
    assert (line.row(head)["attempts"], line.row(head)["infra_attempts"]) == (0, 1)

    move_time(line.pg, timedelta(minutes=1))
    with refusing(line, "1"):
        line.run()

    row = line.row(head)
    assert (row["state"], row["first_error_class"]) == ("DEAD", "INFRA")
    assert row["error_class"] == "PROCESSING"
    assert (row["attempts"], row["infra_attempts"]) == (5, 1)
    classes = line.rows("SELECT error_class FROM proc_attempt ORDER BY attempt")
    assert [one["error_class"] for one in classes] == ["INFRA", *["PROCESSING"] * 5]


@pytest.mark.covers("R04", "INV-17b", "INV-23", "INV-3", "B91", "R06")
def test_redis_away_after_the_commit_keeps_the_head_and_consumes_no_attempt(
    line: Line,
) -> None:
    with relayed(line.places.redis) as (relay, url):
        line.start(redis_url=url, epoch_check=RARELY)
        line.run(adft(fltr("1")))
        line.worker.step()  # the projection is looked at, and then for long not again
        head, after = line.land(stand("7", "1")), line.land(stand("8", "1"))
        relay.cut()
        for tries in range(1, 8):
            line.worker.step()
            row = line.row(head)
            assert (row["state"], row["error_class"]) == ("FAILED", "INFRA")
            assert (row["attempts"], row["infra_attempts"]) == (0, tries)
            move_time(line.pg, timedelta(minutes=tries))
        assert line.row(after)["state"] == "PENDING"
        assert line.flight().values["STND"] == "7", "committed once"
        assert [event["released_at"] is None for event in line.events()] == [False, True]
        assert line.shown()["1"].get("STND") is None

        relay.restore()
        line.run()

    assert [line.end(one)[0] for one in (head, after)] == ["SUCCEEDED", "SUCCEEDED"]
    assert line.flight().state_version == 3
    assert len(line.events()) == 3
    line.agree()


@pytest.mark.covers("R04", "INV-23")
def test_no_redis_at_all_is_a_failure_of_the_head_without_an_end(line: Line) -> None:
    line.restart(redis_url=NOWHERE)
    head, after = line.land(adft(fltr("1"))), line.land(adft(fltr("2")))

    for tries in range(1, 8):
        line.worker.step()
        assert line.end(head)[:2] == ("FAILED", "INFRA")
        assert (line.row(head)["attempts"], line.row(head)["infra_attempts"]) == (0, tries)
        move_time(line.pg, timedelta(minutes=tries))

    assert line.flids() == [], "nothing is committed that cannot be shown"
    assert line.row(after)["state"] == "PENDING"
    line.restart()
    line.run()
    assert line.end(head)[0] == "SUCCEEDED"


@pytest.mark.covers("R04", "B25")
def test_a_mailbox_that_is_away_is_a_failure_of_the_head_without_an_end(line: Line) -> None:
    with relayed(line.places.mailbox) as (relay, url):
        line.restart(mailbox_url=url)
        relay.cut()
        head = line.land(adft(fltr("1")))

        for tries in range(1, 8):
            line.worker.step()
            assert line.end(head)[:2] == ("FAILED", "INFRA")
            assert (line.row(head)["attempts"], line.row(head)["infra_attempts"]) == (0, tries)
            move_time(line.pg, timedelta(minutes=tries))

        relay.restore()
        line.run()
    assert line.end(head)[0] == "SUCCEEDED"


@pytest.mark.covers("INV-3", "US-03")
def test_nothing_passes_a_head_that_waits(line: Line) -> None:
    head = line.land(adft(fltr("1")))
    later = [line.land(adft(fltr(str(flid)))) for flid in range(2, 30)]

    with refusing(line, "1"):
        line.run()
        for _ in range(5):
            line.worker.step()

    assert line.end(head)[0] == "FAILED"
    assert {line.end(one)[0] for one in later} == {"PENDING"}
    assert line.flids() == []
    assert line.shown() == {}


@pytest.mark.covers("INV-3", "R11", "B13", "B24")
def test_a_late_lower_id_goes_first_and_the_waiting_one_keeps_its_due_time(line: Line) -> None:
    waiting = line.land(adft(fltr("1")), msg_id=10)
    with refusing(line, "1"):
        line.run()
        late = line.land(adft(fltr("2")), msg_id=5)
        line.run()

        assert line.end(late)[0] == "SUCCEEDED"
        assert line.row(waiting)["attempts"] == 1, "tried before it was due"

    move_time(line.pg, timedelta(hours=1))
    line.run()
    assert line.end(waiting)[0] == "SUCCEEDED"


@pytest.mark.covers("INV-3", "INV-9", "R11", "B13")
def test_an_identity_belongs_to_the_lower_id_even_if_the_higher_was_fetched_first(
    line: Line,
) -> None:
    line.run(adft(fltr("1")))
    text = stand("7", "1", seqn="42")
    higher = line.land(text, msg_id=20)
    conn, term = line.worker.leadership.hold(), line.worker.leadership.require()
    (fetched,) = line.worker.fetcher.window(higher, lambda: None)
    lower = line.land(text, msg_id=15)

    progress = line.worker.processor.process(conn, fetched, term)

    assert progress is Progress.MOVED
    assert line.one("SELECT count(*) FROM identity_ledger WHERE identity_key LIKE '%%|42'") == 0
    line.run()
    assert line.end(lower)[0] == "SUCCEEDED"
    assert line.end(higher) == ("SKIPPED", None, f"duplicate-of:{lower}")


@pytest.mark.covers("INV-3", "R16")
def test_heads_are_taken_in_order_of_their_id_over_many_windows(line: Line) -> None:
    line.run(adft(fltr("1")))
    ids = [100 + 3 * at for at in range(40)]
    for msg_id in reversed(ids):
        line.land(stand(str(msg_id), "1"), msg_id=msg_id)

    line.run()

    journal = line.rows("SELECT msg_id FROM flight_journal ORDER BY journal_id")
    assert [row["msg_id"] for row in journal][1:] == ids
    versions = [event["state_version"] for event in line.events()]
    assert versions == list(range(1, 42))
    line.agree()


@pytest.mark.covers("B104", "B112")
def test_a_stop_waits_for_one_message_and_not_for_the_window(line: Line) -> None:
    first, second = line.land(adft(fltr("1"))), line.land(stand("7", "1"))
    line.worker.stopping = True

    line.worker.step()

    assert line.end(first)[0] == "SUCCEEDED"
    assert line.end(second)[0] == "PENDING"


LIMITED = {"infra_max_attempts": 2}


@pytest.mark.covers("R04", "R38")
def test_a_limit_of_tries_buries_no_message_whose_text_was_never_read(line: Line) -> None:
    with relayed(line.places.mailbox) as (relay, url):
        line.restart(mailbox_url=url, pipeline=LIMITED)
        relay.cut()
        head = line.land(adft(fltr("1")))

        for tries in range(1, 6):
            line.worker.step()
            assert line.end(head)[:2] == ("FAILED", "INFRA")
            assert line.row(head)["infra_attempts"] == tries
            line.release_head()

        relay.restore()
        line.run()
    assert line.end(head)[0] == "SUCCEEDED"


@pytest.mark.covers("R04", "R38")
def test_a_limit_of_tries_buries_with_the_text_what_redis_does_not_let_through(
    line: Line,
) -> None:
    line.restart(redis_url=NOWHERE, pipeline=LIMITED)
    text = adft(fltr("1"))
    head = line.land(text)

    for _ in range(2):
        line.worker.step()
        line.release_head()

    assert line.end(head)[:2] == ("DEAD", "INFRA")
    assert line.one("SELECT raw FROM dead_letter WHERE msg_id = %s", head) == text
    assert line.flids() == []


@pytest.mark.covers("R04", "R36", "R55", "INV-23", "INV-3")
def test_half_an_hour_without_redis_is_no_death_and_ends_by_itself(line: Line) -> None:
    """Each try counts, but only so many are listed."""
    with relayed(line.places.redis) as (relay, url):
        line.restart(redis_url=url)
        line.run(adft(fltr("1")))
        relay.cut()
        head, after = line.land(stand("7", "1")), line.land(stand("8", "1"))
        for quarter_minutes in range(1, 121):
            line.worker.step()
            move_time(line.pg, quarter_minutes * timedelta(seconds=15))

        row = line.row(head)
        assert (row["state"], row["error_class"], row["attempts"]) == ("FAILED", "INFRA", 0)
        assert row["infra_attempts"] == 120
        assert line.one("SELECT count(*) FROM proc_attempt WHERE msg_id = %s", head) == 100
        assert line.row(after)["state"] == "PENDING"
        relay.restore()
        line.run()

    assert [line.end(one)[0] for one in (head, after)] == ["SUCCEEDED", "SUCCEEDED"]
    assert line.one("SELECT count(*) FROM dead_letter") == 0
    line.agree()
