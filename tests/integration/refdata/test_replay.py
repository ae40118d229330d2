"""A message of reference data that died and is put back: corrected, or refused by newer ones
(R35, R16)."""

import pytest

from msgx.domain.replay import Order
from msgx.store import dead_letter, dead_message
from tests.support.messages import message
from tests.support.processor import Line
from tests.support.refdata import Desk, gates, package, record, state

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


def put_back(line: Line, msg_id: int, *, allow_stale: bool = False) -> None:
    order = Order(force=True, allow_stale=allow_stale)
    with line.pg.transaction():
        assert dead_message.put_back(line.pg, [msg_id], died_by=None) == [msg_id]
        dead_letter.order(line.pg, [msg_id], order)


@pytest.mark.covers("R35", "R16", "INV-27")
def test_a_corrected_package_is_handed_over_again_and_applied(line: Line, desk: Desk) -> None:
    text = gates("DNLD", "1", "2", recs=3, seqn="1")
    (head,) = desk.run(text)
    assert line.end(head)[0] == "DEAD"
    dead_letter.correct(line.pg, head, text.replace("<RECS>3<", "<RECS>2<"), operator="ops")

    put_back(line, head)
    assert line.row(head)["route"] is None
    desk.run()

    assert line.end(head) == ("SUCCEEDED", None, None)
    assert line.row(head)["route"] == "REFDATA"
    assert desk.records("GLST").keys() == {"1", "2"}
    assert desk.sources("GLST")["1"][:2] == (head, "AODB|GLST|DNLD|1")
    assert line.one("SELECT raw FROM dead_letter WHERE msg_id = %s", head) == text


@pytest.mark.covers("R35", "B30")
def test_a_replay_overwrites_no_newer_record_unless_it_spares_them(
    line: Line, desk: Desk
) -> None:
    desk.run(gates("DNLD", "1", "2"))
    bad = gates("DNLD", "1", "3", recs=9)
    (head,) = desk.run(bad)
    (newer,) = desk.run(package("GLST", "UPD", record("GLST", GCOD="1", TERM="T9")))
    desk.run(gates("DNLD", "9", recs=8), gates("RESP", "9"))  # newer, and without an effect
    dead_letter.correct(line.pg, head, bad.replace("<RECS>9<", "<RECS>2<"), operator="ops")
    stood = desk.sources("GLST")

    put_back(line, head)
    desk.run()

    assert line.end(head) == ("DEAD", "PROCESSING", f"newer values stand: 1 by {newer}")
    assert desk.sources("GLST") == stood

    put_back(line, head, allow_stale=True)
    desk.run()

    assert line.end(head) == ("SUCCEEDED", None, None)
    assert desk.records("GLST") == {
        "1": {"GCOD": "1", "TERM": "T9"},
        "3": {"GCOD": "3", "TERM": "T2"},
    }
    assert desk.sources("GLST")["1"] == stood["1"]


@pytest.mark.covers("R35", "INV-26", "B30")
def test_a_replay_brings_back_nothing_that_a_newer_whole_package_lacks(
    line: Line, desk: Desk
) -> None:
    bad = package("GLST", "ADD", record("GLST", TERM="T2"), seqn="1")
    (head,) = desk.run(bad)
    assert line.end(head)[:2] == ("DEAD", "PROTOCOL")
    newer, _ = desk.run(gates("DNLD", "1"), gates("ADD", "2"))
    dead_letter.correct(line.pg, head, gates("ADD", "3", seqn="1"), operator="ops")

    put_back(line, head)
    desk.run()

    assert line.end(head) == ("DEAD", "PROCESSING", f"newer values stand: 3 by {newer}")

    put_back(line, head, allow_stale=True)
    desk.run()

    assert line.end(head) == ("SUCCEEDED", None, None)
    assert desk.records("GLST").keys() == {"1", "2"}


@pytest.mark.covers("R35", "R54", "INV-26")
def test_a_replayed_event_lacks_in_no_newer_package(line: Line, desk: Desk) -> None:
    """Packages of RSTA are not whole: that one does not name a resource says nothing."""
    bad = package("RSTA", "DNLD", state("1", "D"), recs=2, seqn="1")
    (head,) = desk.run(bad)
    (newer,) = desk.run(package("RSTA", "DNLD", state("2", "D")))
    dead_letter.correct(line.pg, head, bad.replace("<RECS>2<", "<RECS>1<"), operator="ops")

    put_back(line, head)
    desk.run()

    assert line.end(head) == ("SUCCEEDED", None, None)
    sources = {key: source for key, (source, _, _) in desk.sources("RSTA").items()}
    assert sources == {"GATE:1": head, "GATE:2": newer}


@pytest.mark.covers("R35", "R01", "R16")
def test_a_conflict_that_is_forced_is_bound_apart_and_handed_over(
    line: Line, desk: Desk
) -> None:
    (first,) = desk.run(gates("ADD", "1", seqn="5"))
    (conflict,) = desk.run(gates("ADD", "2", seqn="5"))
    assert line.end(conflict)[:2] == ("DEAD", "IDENTITY_CONFLICT")

    put_back(line, conflict)
    desk.run()

    assert line.end(conflict) == ("SUCCEEDED", None, None)
    assert line.row(conflict)["identity_key"] == f"AODB|GLST|ADD|5#{conflict}"
    assert line.row(first)["identity_key"] == "AODB|GLST|ADD|5"
    assert desk.records("GLST").keys() == {"1", "2"}


@pytest.mark.covers("R35", "R58")
def test_a_correction_without_a_record_dies_again(line: Line, desk: Desk) -> None:
    (head,) = desk.run(gates("DNLD", "1", recs=2, seqn="8"))
    dead_letter.correct(line.pg, head, message("GLST", "DNLD", "", seqn="8"), operator="ops")

    put_back(line, head)
    desk.run()

    assert line.end(head)[:2] == ("DEAD", "MALFORMED")
    assert desk.records("GLST") == {}
