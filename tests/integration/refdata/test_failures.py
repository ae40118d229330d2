"""A category that fails stops only itself; a head that fails climbs its ladder (INV-27,
R16)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest

from msgx.domain.failure import Away
from msgx.runtime.leadership import Standby
from msgx.settings import Pipeline
from msgx.store import service_term
from msgx.telemetry import metrics
from tests.support.intake import move_time, stop_time
from tests.support.messages import adft, fltr
from tests.support.processor import Line
from tests.support.refdata import Desk, gates, package, record
from tests.support.relay import relayed

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

LADDER = [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600)]
STANDS = package("SLST", "DNLD", record("SLST", SCOD="1"))


@contextmanager
def refusing(line: Line, *, kill: bool = False, table: str = "ref_master") -> Iterator[None]:
    """Let PostgreSQL refuse what refdata writes to a table, or end its session there."""
    act = (
        "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5)"
        if kill
        else "RAISE EXCEPTION 'refused by the test'"
    )
    line.pg.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF current_user = 'msgx_refdata' THEN {act}; END IF; RETURN NEW; END $$"
    )
    line.pg.execute(
        f"CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON {table}"
        " FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    try:
        yield
    finally:
        line.pg.execute("DROP FUNCTION refuse CASCADE")


@pytest.mark.covers("INV-27", "INV-19", "INV-30", "R38", "R05")
@pytest.mark.parametrize(
    "bad",
    [
        gates("DNLD", "7", "8", recs=3),
        gates("DNLD", "7", "7"),
        package("GLST", "DNLD", record("GLST", GCOD="7"), record("GLST", GCOD=None)),
        package("GLST", "UPD", record("GLST", GCOD="7"), record("GLST", TERM="T1")),
    ],
    ids=["count", "key twice", "empty key", "no key in an update"],
)
def test_a_refused_package_leaves_its_category_and_others_go_on(
    line: Line, desk: Desk, bad: str
) -> None:
    desk.run(gates("DNLD", "1"))
    stood = desk.sources("GLST")

    refused, other, flight = desk.run(bad, STANDS, adft(fltr("1")))

    state, error_class, reason = line.end(refused)
    assert (state, error_class) == ("DEAD", "PROTOCOL")
    assert reason
    assert desk.sources("GLST") == stood
    assert [line.end(one)[0] for one in (other, flight)] == ["SUCCEEDED", "SUCCEEDED"]
    assert desk.records("SLST").keys() == {"1"}
    row = line.row(refused)
    assert row["backfill_next_at"] is not None
    assert (row["attempts"], row["first_error_class"]) == (1, "PROTOCOL")
    assert line.one("SELECT raw FROM dead_letter WHERE msg_id = %s", refused) == bad
    tries = line.rows("SELECT error_class FROM proc_attempt WHERE msg_id = %s", refused)
    assert tries == [{"error_class": "PROTOCOL"}]


@pytest.mark.covers("R16", "R05", "R04", "US-03", "INV-3")
def test_a_defect_climbs_the_ladder_and_ends_exhausted(line: Line, desk: Desk) -> None:
    head, after = line.land(gates("DNLD", "1")), line.land(STANDS)
    stop_time(line.pg)
    with refusing(line):
        for attempt, wait in enumerate(LADDER, start=1):
            desk.restart(pipeline={"ladder": Pipeline().ladder})
            desk.run()
            row = line.row(head)
            assert (row["state"], row["attempts"]) == ("FAILED", attempt)
            assert row["next_attempt_at"] - row["updated_at"] == wait
            desk.run()
            assert line.row(head)["attempts"] == attempt, "not before it is due"
            assert line.end(after)[0] == "PENDING"
            stop_time(line.pg, after=wait)
        desk.line.worker.step()
        desk.keeper.step()

    state, error_class, reason = line.end(head)
    assert (state, error_class) == ("DEAD", "PROCESSING")
    assert reason is not None
    assert reason.startswith("exhausted after 5 tries")
    assert line.row(head)["type"] == "GLST", "META stays as the processor wrote it"
    desk.run()
    assert line.end(after)[0] == "SUCCEEDED"
    assert desk.records("GLST") == {}


@pytest.mark.covers("R04", "R16", "B25")
def test_a_mailbox_that_is_away_keeps_the_head_and_consumes_no_attempt(
    line: Line, desk: Desk
) -> None:
    with relayed(line.places.mailbox) as (relay, url):
        desk.restart(mailbox_url=url)
        head = desk.route(gates("DNLD", "1"))
        relay.cut()
        for tries in range(1, 8):
            desk.keeper.step()
            row = line.row(head)
            assert (row["state"], row["error_class"]) == ("FAILED", "INFRA")
            assert (row["attempts"], row["infra_attempts"]) == (0, tries)
            move_time(line.pg, timedelta(minutes=tries))

        relay.restore()
        desk.run()
    assert line.end(head)[0] == "SUCCEEDED"
    board = desk.keeper.board
    assert board.read(metrics.FAILURES)["INFRA",] == tries
    assert board.read(metrics.FINISHED)["SUCCEEDED", "GLST"] == 1


@pytest.mark.covers("R38")
def test_the_text_of_a_dead_package_is_not_kept_where_nobody_wants_it(
    line: Line, desk: Desk
) -> None:
    desk.restart(keep_raw=False)

    (dead,) = desk.run(gates("DNLD", "1", recs=2))

    assert line.end(dead)[0] == "DEAD"
    assert line.one("SELECT raw FROM dead_letter WHERE msg_id = %s", dead) is None


@pytest.mark.covers("R38", "R16")
def test_a_text_that_is_gone_after_the_hand_off_is_dead_and_keeps_its_meta(
    line: Line, desk: Desk
) -> None:
    head = desk.route(gates("DNLD", "1", seqn="5"))
    line.forget(head)

    desk.keeper.step()

    assert line.end(head) == ("DEAD", "MALFORMED", "raw-missing")
    row = line.row(head)
    assert (row["type"], row["seqn"], row["identity_key"]) == ("GLST", "5", "AODB|GLST|DNLD|5")


@pytest.mark.covers("R16")
def test_a_text_that_was_exchanged_for_a_flight_is_refused(line: Line, desk: Desk) -> None:
    head = desk.route(gates("DNLD", "1"))
    with line.upstream.cursor() as cursor:
        cursor.execute("UPDATE CMINMSGS SET CMINMSGS_CLOB_MSG = %s", (adft(fltr("1")),))

    desk.keeper.step()

    assert line.end(head)[:2] == ("DEAD", "PROTOCOL")


@pytest.mark.covers("R13", "R14", "R16")
@pytest.mark.parametrize("fails", [False, True], ids=["a package", "a failure"])
def test_a_deposed_instance_writes_nothing(line: Line, desk: Desk, fails: bool) -> None:
    head = desk.route(gates("DNLD", "1"))
    with relayed(line.places.mailbox) as (relay, url):
        desk.restart(mailbox_url=url)
        desk.keeper.leadership.hold()
        line.pg.execute("UPDATE service_term SET term = term + 1 WHERE service = 'refdata'")
        if fails:
            relay.cut()

        with pytest.raises(Standby):
            desk.keeper.step()

    assert line.row(head)["state"] == "PENDING"
    assert line.row(head)["infra_attempts"] == 0
    assert desk.records("GLST") == {}
    desk.restart()
    desk.run()
    assert line.end(head)[0] == "SUCCEEDED"


@pytest.mark.covers("R14", "R16")
def test_a_second_instance_waits_and_takes_over(line: Line, desk: Desk) -> None:
    first = desk.keeper
    first.step()
    head = desk.route(gates("DNLD", "1"))
    second = desk.start()

    with pytest.raises(Standby):
        second.step()
    assert line.end(head)[0] == "PENDING"

    first.leadership.lose()
    line.wait_for_no_leader(second.leadership.service)
    desk.run()
    assert line.end(head)[0] == "SUCCEEDED"


@pytest.mark.covers("R16", "INV-18")
def test_refdata_waits_for_the_lock_of_the_pipeline(line: Line, desk: Desk) -> None:
    desk.restart(database={"lock_timeout": timedelta(milliseconds=200)})
    head = desk.route(gates("DNLD", "1"))
    with psycopg.connect(line.places.dsn) as other:
        other.execute(service_term.LOCK_PIPELINE)

        desk.keeper.step()

        assert line.end(head)[:2] == ("FAILED", "INFRA")
        assert line.row(head)["attempts"] == 0
        assert desk.records("GLST") == {}
    move_time(line.pg, timedelta(minutes=1))
    desk.run()
    assert line.end(head)[0] == "SUCCEEDED"


@pytest.mark.covers("R16", "R55", "B39")
def test_a_defect_while_the_text_is_read_gives_the_pipeline_back(
    line: Line, desk: Desk
) -> None:
    """Else nobody could skip the head."""
    head = desk.route(gates("DNLD", "1"))
    desk.keeper.fetcher.close()

    with pytest.raises(RuntimeError):
        desk.keeper.step()

    with psycopg.connect(line.places.dsn) as other:
        other.execute("SET lock_timeout = '30s'")
        other.execute(service_term.LOCK_PIPELINE)
    desk.restart()
    desk.run()
    assert line.end(head)[0] == "SUCCEEDED"


@pytest.mark.covers("B117", "R23", "INV-19")
def test_a_package_that_comes_in_parts_applies_and_deletes_nothing(
    line: Line, desk: Desk
) -> None:
    desk.run(gates("DNLD", "1", "2", "3", "4"))
    stood = desk.sources("GLST")
    parts = [gates("DNLD", "1", "2", recs=4), gates("DNLD", "3", "4", recs=4)]

    ids = desk.run(*parts, parts[0])

    assert [line.end(one)[:2] for one in ids[:2]] == [("DEAD", "PROTOCOL")] * 2
    assert line.end(ids[2]) == ("SKIPPED", None, f"duplicate-of:{ids[0]}")
    assert desk.sources("GLST") == stood


CRASHES = ["ref_master", "unmapped_field", "proc_state"]


@pytest.mark.covers("R16", "INV-20b", "INV-26")
@pytest.mark.parametrize("table", CRASHES)
def test_a_crash_inside_the_transaction_leaves_nothing_and_the_next_run_everything(
    line: Line, desk: Desk, table: str
) -> None:
    desk.run(gates("DNLD", "1", "2"))
    stood = desk.sources("GLST")
    head = desk.route(gates("DNLD", "2", "3"))

    with refusing(line, kill=True, table=table), pytest.raises(Away):
        desk.keeper.step()

    assert desk.sources("GLST") == stood
    assert (line.end(head)[0], line.row(head)["attempts"]) == ("PENDING", 0)
    line.wait_for_no_leader(desk.keeper.leadership.service)
    desk.run()
    assert line.end(head) == ("SUCCEEDED", None, None)
    assert desk.records("GLST").keys() == {"2", "3"}
    assert {source[0] for source in desk.sources("GLST").values()} == {head}


@pytest.mark.covers("R16", "INV-3")
def test_a_crash_of_both_between_route_and_end_changes_nothing(line: Line, desk: Desk) -> None:
    head = desk.route(gates("DNLD", "1"))

    line.restart()
    desk.restart()
    desk.run()

    assert line.end(head) == ("SUCCEEDED", None, None)
    assert line.one("SELECT count(*) FROM identity_ledger") == 1
    assert desk.records("GLST").keys() == {"1"}


@pytest.mark.covers("R16", "INV-6")
def test_a_crash_after_the_end_repeats_nothing(line: Line, desk: Desk) -> None:
    (head,) = desk.run(gates("DNLD", "1"))
    stood, ended = desk.sources("GLST"), line.row(head)

    desk.restart()
    for _ in range(3):
        desk.keeper.step()

    assert desk.sources("GLST") == stood
    assert line.row(head) == ended
