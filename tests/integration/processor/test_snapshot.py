"""A day plan in bounded transactions: one truth, whatever is cut between them."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from msgx.domain.failure import Away
from msgx.domain.flight import FlightState
from tests.support.messages import adft, dnld, fdel, fltr, stand
from tests.support.processor import Line, refusing

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

SMALL: dict[str, Any] = {"batch": 2}
TOMORROW = "06JAN261200"


def plan(*, first: str = "CA1") -> str:
    """Three lone flights, a family of two, one that loses its codeshare (9), a new one."""
    return dnld(
        fltr("1", f"<FLNO>{first}</FLNO>"),
        fltr("2", "<FLNO>CA2</FLNO>"),
        fltr("3", "<FLNO>CA3</FLNO>"),
        fltr("4", "<FLNO>CA4</FLNO>"),
        fltr("5", "<FLNO>CA5</FLNO><MAID>4</MAID>"),
        fltr("6", "<FLNO>CA6</FLNO>"),
        fltr("7", "<FLNO>CA7</FLNO>"),
    )


def before(line: Line) -> None:
    """What stands when the plan arrives: 8 and 9 are not in it, 10 is of another day."""
    line.run(
        adft(
            fltr("3", "<FLNO>OLD</FLNO><STND>7</STND>"),
            fltr("6", "<FLNO>CA6</FLNO>"),
            fltr("8", "<FLNO>CA8</FLNO>"),
            fltr("9", "<FLNO>CA9</FLNO><MAID>6</MAID>"),
            fltr("10", "<FLNO>CA10</FLNO>", sodt=TOMORROW),
            fltr("7", "<FLNO>CA7</FLNO>"),
        )
    )


def outcome(line: Line, msg_id: int) -> Iterator[tuple[Any, ...]]:
    """Everything that a plan leaves, without ids and times."""
    yield line.end(msg_id)
    for row in line.rows("SELECT * FROM flight_schd ORDER BY flid"):
        yield row["flid"], row["state"], row["state_version"], row["flno"], row["stnd"]
    for row in line.rows(
        "SELECT * FROM flight_journal WHERE msg_id = %s ORDER BY flid", msg_id
    ):
        yield row["flid"], row["kind"], row["state_version"], str(row["changes"])
    for row in sorted(line.events(), key=lambda one: str(one["partition_key"])):
        yield row["partition_key"], row["event_type"], row["state_version"]


@pytest.mark.covers("INV-15b", "INV-31", "C-6", "R17", "R61", "US-07")
def test_a_plan_creates_changes_clears_and_deletes(line: Line) -> None:
    before(line)
    line.restart(schd=SMALL)

    (done,) = line.run(plan())

    assert line.end(done) == ("SUCCEEDED", None, None)
    states = {flid: line.flight(flid).state for flid in line.flids()}
    gone = {flid for flid, state in states.items() if state is FlightState.DELETED}
    assert gone == {"8", "9"}
    assert dict(line.flight("3").values).keys() == {"FLNO", "SODT"}
    assert set(line.shown()) == {"1", "2", "3", "4", "6", "7", "10"}
    assert line.shown()["4"]["MAFL"] == [{"FLID": "5", "FLNO": "CA5"}]
    assert "MAFL" not in line.shown()["6"]
    kinds = line.rows("SELECT flid, kind FROM flight_journal WHERE msg_id = %s", done)
    assert {row["flid"]: row["kind"] for row in kinds} == {
        "1": "CREATED",
        "2": "CREATED",
        "3": "CHANGED",
        "4": "CREATED",
        "5": "CREATED",
        "6": "SHARED",
        "8": "DELETED",
        "9": "DELETED",
    }
    tombstones = [e["partition_key"] for e in line.events() if e["event_type"] == "TOMBSTONE"]
    assert tombstones == ["8"], "none for a codeshare"
    (logged,) = line.rows("SELECT * FROM schd_snap_log")
    names = ("declared", "parsed", "created", "restored", "changed", "unchanged", "deleted")
    assert [logged[name] for name in names] == [7, 7, 4, 0, 2, 1, 2]
    line.agree()


@pytest.mark.covers("B101", "B102", "R12", "INV-20b", "R17")
@pytest.mark.parametrize("kill", [False, True], ids=["refused", "killed"])
def test_a_plan_that_is_cut_at_any_flight_ends_as_if_it_were_not(
    line: Line, kill: bool
) -> None:
    before(line)
    line.restart(schd=SMALL)
    (whole,) = line.run(plan())
    expected = list(outcome(line, whole))
    for flid in ("1", "3", "5", "9", "8"):
        line.empty()
        before(line)
        line.restart(schd=SMALL)
        msg_id = line.land(plan())
        with refusing(line, flid, table="flight_journal", kill=kill):
            if kill:
                with pytest.raises(Away):
                    line.worker.step()
            else:
                line.worker.step()
            assert line.end(msg_id)[0] in ("PENDING", "FAILED")
            if flid not in "89":
                left = {"8", "9"} & {
                    f for f in line.flids() if line.flight(f).state == "ACTIVE"
                }
                assert left == {"8", "9"}, (
                    "nobody is deleted before every told flight is written"
                )
            assert line.one("SELECT count(*) FROM flight_journal WHERE flid = %s", flid) < 2
        if kill:
            line.wait_for_no_leader()
        line.release_head()

        line.run()

        assert list(outcome(line, msg_id)) == expected, f"cut at {flid}"
        line.agree()


@pytest.mark.covers("B102", "R40")
def test_the_same_plan_again_under_another_number_changes_nothing(line: Line) -> None:
    line.run(plan())
    events = line.events()

    (again,) = line.run(plan())

    assert line.end(again) == ("SUCCEEDED", None, "no-change")
    assert line.events() == events
    line.agree()


@pytest.mark.covers("R48", "INV-29", "INV-15b")
def test_a_deleted_flight_in_the_plan_returns(line: Line) -> None:
    line.run(plan(), fdel("1"))

    line.run(plan())

    assert line.flight("1").state is FlightState.ACTIVE
    assert line.flight("1").state_version == 3
    assert line.one("SELECT restored FROM schd_snap_log ORDER BY snap_id DESC LIMIT 1") == 1
    line.agree()


@pytest.mark.covers("R18", "INV-19")
def test_a_plan_that_would_delete_too_much_is_refused_whole(line: Line) -> None:
    line.restart(schd={"max_removal_ratio": 0.5})
    line.run(dnld(fltr("1"), fltr("2"), fltr("3")))

    refused, allowed = line.run(
        dnld(fltr("1", "<STND>7</STND>")), dnld(fltr("1"), fltr("2", "<STND>8</STND>"))
    )

    assert line.end(refused)[:2] == ("DEAD", "PROTOCOL")
    assert "2 of 3" in str(line.end(refused)[2])
    assert line.rows("SELECT * FROM flight_journal WHERE msg_id = %s", refused) == []
    assert line.end(allowed)[0] == "SUCCEEDED"
    assert "STND" not in line.flight("1").values
    line.agree()


@pytest.mark.covers("R12", "R18")
def test_no_guard_is_taken_again_once_a_part_is_written(line: Line) -> None:
    line.run(dnld(fltr("1"), fltr("2"), fltr("3")))
    line.restart(schd={"batch": 1})
    msg_id = line.land(dnld(fltr("1", "<STND>7</STND>")))
    with refusing(line, "3", table="flight_journal"):
        line.worker.step()
    assert line.flight("1").values["STND"] == "7"
    line.release_head()

    line.restart(schd={"batch": 1, "max_removal_ratio": 0.1})
    line.run()

    assert line.end(msg_id)[0] == "SUCCEEDED"
    assert line.flight("3").state is FlightState.DELETED
    line.agree()


@pytest.mark.covers("R19", "INV-12", "INV-19")
def test_one_wrong_day_refuses_the_whole_plan(line: Line) -> None:
    line.run(plan())
    before_refusal = [line.flight(flid).state_version for flid in line.flids()]

    (refused,) = line.run(dnld(fltr("1", "<STND>7</STND>"), fltr("2", sodt=TOMORROW)))

    assert line.end(refused)[:2] == ("DEAD", "PROTOCOL")
    assert "operation-day-conflict: FLID 2" in str(line.end(refused)[2])
    assert [line.flight(flid).state_version for flid in line.flids()] == before_refusal
    line.agree()


@pytest.mark.covers("R17")
def test_a_flight_without_a_day_is_never_deleted_by_absence(line: Line) -> None:
    line.run(adft(fltr("1", "<FLNO>A</FLNO>", sodt=None)))

    line.run(dnld(fltr("2")))

    assert line.flight("1").state is FlightState.ACTIVE
    line.agree()


@pytest.mark.covers("G-MAFL", "R17", "R60")
def test_a_main_outside_the_plan_is_written_once_for_all_its_codeshares(line: Line) -> None:
    line.run(adft(fltr("1", sodt=TOMORROW)))
    line.restart(schd={"batch": 1})

    (done,) = line.run(
        dnld(*(fltr(str(flid), f"<FLNO>Z{flid}</FLNO><MAID>1</MAID>") for flid in (20, 9, 30)))
    )

    assert line.end(done)[0] == "SUCCEEDED"
    assert line.flight("1").state_version == 2
    assert [one["FLID"] for one in line.shown()["1"]["MAFL"]] == ["9", "20", "30"]
    line.agree()


@pytest.mark.covers("INV-31", "INV-15b")
@pytest.mark.slow
def test_a_plan_of_five_thousand_flights_works(line: Line) -> None:
    gates = "<GTDT GTNO='1'><GATE>12</GATE></GTDT><ROUT RTNO='1'><APCD>PEK</APCD></ROUT>"
    told = {
        str(flid): f"<FLNO>CA{flid}</FLNO><MVIN>A</MVIN><STND>{flid % 1000}</STND>{gates}"
        for flid in range(100_000, 105_000)
    }
    bare = dict.fromkeys(list(told)[:500], "")
    same = dict(list(told.items())[500:4500])

    (done,) = line.run(dnld(*map(fltr, told, told.values())))
    moved, later = line.run(
        stand("9", "100000"), dnld(*(fltr(*one) for one in (bare | same).items()))
    )

    assert {line.end(one)[0] for one in (done, moved, later)} == {"SUCCEEDED"}
    shown = line.shown()
    assert shown.keys() == bare.keys() | same.keys()
    active = line.one("SELECT count(*) FROM flight_schd WHERE state = 'ACTIVE'")
    assert active == 4500
    assert line.one("SELECT count(*) FROM flight_gtdt") == 4500, "kept by the deleted ones"
    assert line.one("SELECT max(state_version) FROM flight_schd") == 3
    seen = set(chain.from_iterable(shown[flid] for flid in bare))
    assert not seen & {"STND", "GTDT", "ROUT"}


@pytest.mark.covers("R12", "R11", "G-MAFL", "INV-20b")
@pytest.mark.parametrize("listed", [True, False], ids=["main in the plan", "main beside it"])
def test_a_main_whose_codeshares_change_while_a_plan_is_half_written_is_told_twice(
    line: Line, listed: bool
) -> None:
    """A late message gives a main a codeshare that the rest of the plan takes away again."""
    mains = [fltr("1", "<STND>7</STND>")] if listed else []
    others = fltr("4", "<MAID>1</MAID>"), fltr("2", "<STND>8</STND>"), fltr("3")
    line.run(adft(fltr("1", sodt="05JAN261200" if listed else TOMORROW), fltr("2"), fltr("3")))
    line.restart(schd={"batch": 1})
    late = line.land(adft(fltr("2", "<MAID>1</MAID>")), registered=False)
    with refusing(line, "2"):
        (half,) = line.run(dnld(*mains, *others))
    assert line.end(half)[:2] == ("FAILED", "PROCESSING")
    line.register(late)
    line.run()
    assert [one["FLID"] for one in line.shown()["1"]["MAFL"]] == ["2", "4"]
    line.release_head()

    line.run()

    assert line.end(half)[0] == "SUCCEEDED"
    assert line.flight("2").values["STND"] == "8"
    assert [one["FLID"] for one in line.shown()["1"]["MAFL"]] == ["4"]
    line.agree()
