"""Every terminal state and its reason, in the order of verdicts (R58)."""

from datetime import timedelta

import pytest

from tests.support.intake import move_time
from tests.support.messages import adft, dnld, fdel, flop, fltr, message, resp, stand
from tests.support.processor import Line

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


@pytest.mark.covers("US-03", "US-04", "INV-8", "R06")
def test_a_flight_comes_and_changes(line: Line) -> None:
    line.run(adft(fltr("1", "<FLNO>CA1</FLNO>")))

    (changed,) = line.run(stand("101", "1"))

    assert line.end(changed) == ("SUCCEEDED", None, None)
    row = line.row(changed)
    assert (row["sndr"], row["type"], row["styp"]) == ("AODB", "FLOP", "STND")
    assert (row["flid"], row["attempts"]) == ("1", 0)
    assert row["finished_at"] == row["backfill_next_at"]
    assert row["identity_key"] == f"AODB|FLOP|STND|{row['seqn']}"
    assert line.flight().values["STND"] == "101"
    assert line.flight().state_version == 2
    assert line.shown()["1"]["STND"] == "101"
    line.agree()


@pytest.mark.covers("R40")
def test_a_message_without_news_succeeds_and_leaves_nothing(line: Line) -> None:
    line.run(adft(fltr("1", "<STND>101</STND>")))
    before = len(line.events())

    (same,) = line.run(stand("101", "1"))

    assert line.end(same) == ("SUCCEEDED", None, "no-change")
    assert len(line.events()) == before
    assert line.flight().state_version == 1
    assert line.rows("SELECT * FROM flight_journal WHERE msg_id = %s", same) == []


@pytest.mark.covers("R20", "R60")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (stand("7", "404"), "no-flight:404"),
        (stand("7", "2"), "flight-deleted:2"),
        (stand("7", "1", "404"), "no-flight:404"),
        (flop("WHAT", "<WHAT>1</WHAT>", "1"), "unsupported"),
        (message("CITY", "DNLD", "<RECS>0</RECS>"), "unsupported"),
        (resp(fltr("1")), "no-open-request"),
    ],
)
def test_a_message_without_a_target_is_skipped(line: Line, text: str, reason: str) -> None:
    line.run(adft(fltr("1"), fltr("2")), fdel("2"))

    (skipped,) = line.run(text)

    assert line.end(skipped) == ("SKIPPED", None, reason)
    assert line.row(skipped)["identity_key"] is not None
    assert line.row(skipped)["backfill_next_at"] is not None
    assert "STND" not in line.flight("1").values
    line.agree()


@pytest.mark.covers("R20")
@pytest.mark.parametrize("flid", ["404", "2"])
def test_deleting_what_is_not_there_succeeds_without_an_event(line: Line, flid: str) -> None:
    line.run(adft(fltr("2")), fdel("2"))
    before = line.events()

    (again,) = line.run(fdel(flid))

    assert line.end(again)[0] == "SUCCEEDED"
    assert line.events() == before


@pytest.mark.covers("INV-9", "R01", "R59")
def test_the_same_content_again_is_a_duplicate(line: Line) -> None:
    first, *_ = line.run(adft(fltr("1")))
    text = stand("7", "1", seqn="000042")
    first, second, third = line.run(text, text.replace("><STND", ">\n <STND"), text)

    assert line.end(first)[0] == "SUCCEEDED"
    for duplicate in (second, third):
        assert line.end(duplicate) == ("SKIPPED", None, f"duplicate-of:{first}")
        assert line.row(duplicate)["identity_key"] is None
        assert line.row(duplicate)["seqn"] == "000042"
    assert line.flight().state_version == 2


@pytest.mark.covers("INV-9", "R01", "R38")
def test_another_content_under_a_known_identity_is_a_conflict(line: Line) -> None:
    line.run(adft(fltr("1")))

    first, other = line.run(stand("7", "1", seqn="42"), stand("8", "1", seqn="42"))

    assert line.end(other) == ("DEAD", "IDENTITY_CONFLICT", f"conflicts-with:{first}")
    assert line.one("SELECT raw FROM dead_letter") == stand("8", "1", seqn="42")
    assert line.flight().values["STND"] == "7"
    ledger = line.rows("SELECT msg_id FROM identity_ledger WHERE identity_key LIKE '%%|42'")
    assert ledger == [{"msg_id": first}]


@pytest.mark.covers("R59")
def test_leading_zeros_make_another_identity(line: Line) -> None:
    line.run(adft(fltr("1")))

    _, other = line.run(stand("7", "1", seqn="42"), stand("8", "1", seqn="042"))

    assert line.end(other)[0] == "SUCCEEDED"


@pytest.mark.covers("R58", "R01")
def test_identity_is_judged_before_everything_that_follows_it(line: Line) -> None:
    line.run(adft(fltr("1")))
    unsupported = flop("WHAT", "<WHAT/>", "1", seqn="1")
    broken = flop("ESTT", "<ESTT>never</ESTT>", "1", seqn="2")
    lost = stand("7", "404", seqn="3")
    firsts = line.run(unsupported, broken, lost)

    again = line.run(unsupported, broken, lost)
    conflicts = line.run(
        flop("WHAT", "<WHAT>x</WHAT>", "1", seqn="1"),
        flop("ESTT", "<ESTT>05JAN261200</ESTT>", "1", seqn="2"),
        stand("8", "1", seqn="3"),
    )

    assert [line.end(one)[0] for one in firsts] == ["SKIPPED", "DEAD", "SKIPPED"]
    for before, duplicate, conflict in zip(firsts, again, conflicts, strict=True):
        assert line.end(duplicate) == ("SKIPPED", None, f"duplicate-of:{before}")
        assert line.end(conflict)[1:] == ("IDENTITY_CONFLICT", f"conflicts-with:{before}")


@pytest.mark.covers("R58")
def test_a_value_is_judged_before_the_flight_is_looked_up(line: Line) -> None:
    (dead,) = line.run(flop("ESTT", "<ESTT>never</ESTT>", "404"))

    assert line.end(dead)[:2] == ("DEAD", "PROTOCOL")


@pytest.mark.covers("INV-25", "R51", "US-05")
def test_tags_that_nobody_reads_are_counted_with_the_outcome(line: Line) -> None:
    first, second = line.run(
        adft(fltr("1", "<NEWT>a</NEWT><NEWT>b</NEWT>")), adft(fltr("1", "<NEWT>c</NEWT>"))
    )

    assert line.rows("SELECT * FROM unmapped_field") == [
        {
            "type": "SCHD",
            "styp": "ADFT",
            "tag": "NEWT",
            "first_msg_id": first,
            "last_msg_id": second,
            "occurrences": 3,
            "sample": "c",
        }
    ]


@pytest.mark.covers("R47", "G-SRVT-VIPF")
def test_occurrences_are_kept_apart_and_once(line: Line) -> None:
    srvt = "<SRVT><SRTC>W</SRTC></SRVT><SRVT><SRTC>X</SRTC></SRVT><VIPF><VPCD>V</VPCD></VIPF>"

    (kept, _) = line.run(adft(fltr("1", srvt)), dnld(fltr("1")))

    rows = line.rows("SELECT flid, msg_id, ordinal, raw FROM flight_srvt ORDER BY ordinal")
    assert [(row["flid"], row["msg_id"], row["ordinal"]) for row in rows] == [
        ("1", kept, 1),
        ("1", kept, 2),
    ]
    assert "<SRTC>X</SRTC>" in rows[1]["raw"]
    assert line.one("SELECT count(*) FROM flight_vipf") == 1
    assert not {"SRVT", "VIPF"} & set(line.shown()["1"])


@pytest.mark.covers("B76", "R26")
@pytest.mark.parametrize(
    "value",
    ["'; DROP TABLE flight_schd; --", "%s %(x)s {0}", "\\x00\\u0000", "𠜎备注", "null", "007"],
)
def test_hostile_text_is_only_text(line: Line, value: str) -> None:
    (done,) = line.run(adft(fltr("1", f"<FLNO>{value}</FLNO><STND><![CDATA[{value}]]></STND>")))

    assert line.end(done)[0] == "SUCCEEDED"
    assert line.flight().values["FLNO"] == value
    assert line.shown()["1"]["STND"] == value
    line.agree()


@pytest.mark.covers("R58")
def test_a_flid_above_bigint_is_a_key_like_any_other(line: Line) -> None:
    (done,) = line.run(adft(fltr("0009999999999999999999"[-19:], "<FLNO>A</FLNO>")))

    assert line.end(done)[0] == "SUCCEEDED"
    assert line.flids() == ["9999999999999999999"]
    line.agree()


@pytest.mark.covers("R45", "INV-13")
def test_a_flid_that_was_removed_for_good_returns_above_its_floor(line: Line) -> None:
    line.pg.execute("INSERT INTO flight_version_floor VALUES ('1', 41, 2)")

    line.run(adft(fltr("1")))

    assert (line.flight().state_version, line.flight().life) == (42, 3)


@pytest.mark.covers("R36", "R52")
def test_times_are_those_of_the_database(line: Line) -> None:
    move_time(line.pg, timedelta(days=400))

    (done,) = line.run(adft(fltr("1")))

    ahead = line.one("SELECT finished_at - now() FROM proc_state WHERE msg_id = %s", done)
    assert ahead > timedelta(days=399)
    assert line.one("SELECT min(updated_at) - now() FROM flight_schd") > timedelta(days=399)
