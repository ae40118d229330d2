"""The oracle's own rules, each as one small case: a referee must be tested before it judges."""

import pytest

from tests.aodb.model import Expected
from tests.aodb.oracle import Oracle

MALFORMED = Expected("DEAD", "MALFORMED")
PROTOCOL = Expected("DEAD", "PROTOCOL")
CHANGED = Expected("SUCCEEDED", None)
UNCHANGED = Expected("SUCCEEDED", "no-change")
BASE = "<MVIN>D</MVIN><FLNO>MU1</FLNO><SODT>15JUN260800</SODT>"


class Desk:
    """Sends numbered messages to an oracle."""

    def __init__(self) -> None:
        self.oracle = Oracle()
        self._count = 0

    def send(self, text: str) -> Expected:
        self._count += 1
        return self.oracle.judge(self._count, text)

    def message(self, type_: str, styp: str, body: str, seqn: str = "") -> Expected:
        return self.send(envelope(type_, styp, body, seqn or str(5000 + self._count)))

    def flop(self, styp: str, content: str, flid: str = "1") -> Expected:
        return self.message("FLOP", styp, f"<FLOP><FLID>{flid}</FLID>{content}</FLOP>")

    def schedule(self, styp: str, *records: str, recs: int | None = None) -> Expected:
        flights = "".join(f"<FLTR>{record}</FLTR>" for record in records)
        count = len(records) if recs is None else recs
        return self.message("SCHD", styp, f"<SCHD><RECS>{count}</RECS>{flights}</SCHD>")

    def flight(self, flid: str = "1") -> dict[str, object]:
        return self.oracle.flights()[flid]


def envelope(type_: str, styp: str, body: str, seqn: str) -> str:
    meta = f"<SNDR>AODB</SNDR><SEQN>{seqn}</SEQN><TYPE>{type_}</TYPE><STYP>{styp}</STYP>"
    return f"<MSG><META>{meta}</META>{body}</MSG>"


@pytest.fixture
def desk() -> Desk:
    """A desk that knows the departure 1 of 15 June."""
    made = Desk()
    made.schedule("ADFT", f"<FLID>1</FLID>{BASE}")
    return made


@pytest.mark.covers("R25", "B84", "B85")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("15JUN260805", "2026-06-15T08:05:00+08:00"),
        ("15jun260805", "2026-06-15T08:05:00+08:00"),
        ("15Jun262400", "2026-06-16T00:00:00+08:00"),
        ("29FEB282359", "2028-02-29T23:59:00+08:00"),
    ],
)
def test_a_time_is_read_in_the_airports_zone(desk: Desk, text: str, shown: str) -> None:
    verdict = desk.flop("ESTT", f"<ESTT>{text}</ESTT>")

    assert verdict == CHANGED
    assert desk.flight()["ESTT"] == shown


@pytest.mark.covers("R25", "B85")
@pytest.mark.parametrize(
    "text",
    ["29FEB260800", "15XXX260800", "15ANF260800", "15JUN262401", "15JUN260860", "15JUN26"],
)
def test_a_time_out_of_range_is_protocol_and_leaves_the_flight(desk: Desk, text: str) -> None:
    before = desk.flight()

    verdict = desk.flop("ESTT", f"<ESTT>{text}</ESTT>")

    assert verdict == PROTOCOL
    assert desk.flight() == before


@pytest.mark.covers("INV-14b", "R47")
def test_a_flop_sets_clears_and_keeps(desk: Desk) -> None:
    desk.flop("VIPP", "<VIPP>Y</VIPP><VIPR>two</VIPR>")

    verdict = desk.flop("VIPP", "<VIPP/>")

    assert verdict == CHANGED
    assert "VIPP" not in desk.flight()
    assert desk.flight()["VIPR"] == "two"


@pytest.mark.covers("R60")
@pytest.mark.parametrize("empty", ['<GTDT GTNO="0"/>', "<GTDT></GTDT>"])
def test_one_empty_element_clears_a_collection(desk: Desk, empty: str) -> None:
    desk.flop("GTDT", '<GTDT GTNO="1"><GATE>07</GATE><GOTM/></GTDT>')
    assert desk.flight()["GTDT"] == [{"GTNO": "1", "GATE": "07"}]

    verdict = desk.flop("GTDT", empty)

    assert verdict == CHANGED
    assert "GTDT" not in desk.flight()


@pytest.mark.covers("R47")
@pytest.mark.parametrize(("mvin", "kept"), [("D", "ABCD"), ("A", "BCDE")])
def test_four_route_points_are_kept(mvin: str, kept: str) -> None:
    desk = Desk()
    points = "".join(f'<ROUT RTNO="{n}"><APCD>{p}</APCD></ROUT>' for n, p in enumerate("ABCDE"))

    desk.schedule("ADFT", f"<FLID>1</FLID><MVIN>{mvin}</MVIN>{points}")

    route = desk.flight()["ROUT"]
    assert isinstance(route, list)
    assert "".join(point["APCD"] for point in route) == kept


@pytest.mark.covers("R21")
def test_an_empty_tag_of_a_turnaround_breaks_the_whole_link(desk: Desk) -> None:
    desk.flop("TAOP", "<TAOP>MU</TAOP><TAFL>MU2</TAFL><TAID>0022</TAID>")
    assert desk.flight()["TAID"] == "22"

    desk.flop("TAOP", "<TAOP>MU</TAOP><TAFL>MU3</TAFL><TAID/>")

    assert desk.flight().keys() & {"TAOP", "TAFL", "TAID"} == set()


def test_an_empty_destination_clears_a_diversion_whatever_else_it_says(desk: Desk) -> None:
    desk.flop("FDIV", '<FDIV DDES="PEK" DDIR="TO">fog</FDIV>')
    assert desk.flight()["FDIV"] == {"DDES": "PEK", "DDIR": "TO", "TEXT": "fog"}

    desk.flop("FDIV", '<FDIV DDES="" DDIR="TO">back</FDIV>')

    assert "FDIV" not in desk.flight()


@pytest.mark.covers("R22")
def test_the_boarding_status_falls_back(desk: Desk) -> None:
    desk.flop("BOTM", "<BOTM>15JUN260730</BOTM>")
    desk.flop("LACL", "<LACL>15JUN260745</LACL>")
    assert desk.flight()["BOARDING_STATUS"] == "LAST_CALL"

    desk.flop("LACL", "<LACL/>")

    assert desk.flight()["BOARDING_STATUS"] == "BOARDING"


@pytest.mark.covers("R40")
def test_the_same_value_again_changes_nothing(desk: Desk) -> None:
    desk.flop("MAXP", "<MAXP>0180</MAXP>")

    verdict = desk.flop("MAXP", "<MAXP>180</MAXP>")

    assert verdict == UNCHANGED
    assert desk.flight()["MAXP"] == 180


@pytest.mark.covers("C-6", "INV-15b")
def test_a_snapshot_clears_what_it_does_not_tell(desk: Desk) -> None:
    desk.flop("REMC", "<REMC>x</REMC>")
    desk.flop("FRET", '<FRET REID="A"/>')

    verdict = desk.schedule("DNLD", f"<FLID>1</FLID>{BASE}")

    assert verdict == CHANGED
    assert desk.flight().keys() == {"FLID", "STATE", "OPERATION_DAY", "MVIN", "FLNO", "SODT"}


@pytest.mark.covers("INV-15b", "R17")
def test_a_snapshot_deletes_the_absent_of_its_days_only(desk: Desk) -> None:
    desk.schedule("ADFT", "<FLID>2</FLID><SODT>14JUN262300</SODT>")
    desk.schedule("ADFT", "<FLID>3</FLID><FLNO>MU3</FLNO>")

    desk.schedule("DNLD", "<FLID>4</FLID><SODT>15JUN261000</SODT>")

    states = {flid: flight["STATE"] for flid, flight in desk.oracle.flights().items()}
    assert states == {"1": "DELETED", "2": "ACTIVE", "3": "ACTIVE", "4": "ACTIVE"}


@pytest.mark.covers("R18", "R19", "R48", "B99")
@pytest.mark.parametrize(
    ("records", "recs"),
    [
        ([f"<FLID>1</FLID>{BASE}"], 2),
        ([], 0),
        ([f"<FLID>1</FLID>{BASE}", f"<FLID>01</FLID>{BASE}"], 2),
        (["<FLID>1</FLID><SODT>16JUN260800</SODT>"], 1),
    ],
)
def test_a_package_that_breaks_a_rule_changes_nothing(
    desk: Desk, records: list[str], recs: int
) -> None:
    before = desk.oracle.flights()

    verdict = desk.schedule("DNLD", *records, recs=recs)

    assert verdict == PROTOCOL
    assert desk.oracle.flights() == before


@pytest.mark.covers("INV-29", "R20", "R60")
def test_an_adft_restores_from_the_values_kept_at_deletion(desk: Desk) -> None:
    desk.flop("FDEL", "<FDEL/>")
    assert desk.flop("ESTT", "<ESTT/>") == Expected("SKIPPED", "flight-deleted:1")

    verdict = desk.schedule("ADFT", "<FLID>1</FLID><REMC>back</REMC>")

    assert verdict == CHANGED
    assert desk.flight()["STATE"] == "ACTIVE"
    assert desk.flight()["FLNO"] == "MU1"


@pytest.mark.covers("R20")
def test_deleting_twice_or_nobody_succeeds(desk: Desk) -> None:
    desk.flop("FDEL", "<FDEL/>")

    assert desk.flop("FDEL", "<FDEL/>").state == "SUCCEEDED"
    assert desk.flop("FDEL", "<FDEL/>", flid="9").state == "SUCCEEDED"
    assert desk.flop("ESTT", "<ESTT/>", flid="9") == Expected("SKIPPED", "no-flight:9")


@pytest.mark.covers("G-MAFL", "R60", "R31")
def test_a_main_shows_its_living_codeshares_in_order_of_number(desk: Desk) -> None:
    for flid in ("100", "20", "3"):
        desk.schedule("ADFT", f"<FLID>{flid}</FLID><FLNO>X{flid}</FLNO><MAID>1</MAID>")

    desk.flop("FDEL", "<FDEL/>", flid="20")

    assert desk.flight()["MAFL"] == [
        {"FLID": "3", "FLNO": "X3"},
        {"FLID": "100", "FLNO": "X100"},
    ]
    assert "MAFL" not in desk.flight("3")


@pytest.mark.covers("R01", "R59", "INV-9")
def test_a_repeated_identity_is_a_duplicate_or_a_conflict(desk: Desk) -> None:
    first = "<FLOP><FLID>1</FLID><REMC>a &amp; b</REMC><VIPP/></FLOP>"
    again = (
        "<!-- x --><FLOP>\n <FLID>1</FLID>\n<REMC><![CDATA[a & b]]></REMC><VIPP></VIPP></FLOP>"
    )
    other = "<FLOP><FLID>1</FLID><REMC>a &amp; c</REMC><VIPP/></FLOP>"
    assert desk.message("FLOP", "REMC", first, "77") == CHANGED

    assert desk.message("FLOP", "REMC", again, "77") == Expected(
        "SKIPPED", "duplicate-of:", other=2
    )
    assert desk.message("FLOP", "REMC", other, "77") == Expected(
        "DEAD", "IDENTITY_CONFLICT", other=2
    )
    assert desk.message("FLOP", "REMC", first, "077") == UNCHANGED


@pytest.mark.covers("R58")
def test_identity_comes_before_kind_and_values(desk: Desk) -> None:
    bad = "<FLOP><FLID>1</FLID><ESTT>never</ESTT></FLOP>"
    assert desk.message("FLOP", "ESTT", bad, "88") == PROTOCOL

    verdict = desk.message("FLOP", "ESTT", bad, "88")

    assert verdict.reason_prefix == "duplicate-of:"


@pytest.mark.covers("R58", "R46", "B25", "B76")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "no xml",
        "<MSG/>",
        "<!DOCTYPE MSG>" + envelope("FLOP", "ESTT", "<FLOP/>", "1"),
        envelope("FLOP", "ESTT", "<FLOP><FLID>1</FLID><REMC>\x08</REMC></FLOP>", "1"),
        envelope("FLOP", "ESTT", "", "1"),
        envelope("FLOP", "ESTT", "<SCHD/>", "1"),
        envelope("FLOP", "ESTT", "<FLOP/>", ""),
    ],
)
def test_what_cannot_be_read_is_malformed(desk: Desk, text: str) -> None:
    assert desk.send(text) == MALFORMED


@pytest.mark.covers("R26", "B81")
@pytest.mark.parametrize(
    "lead",
    ["\ufeff", " \n", '<?xml version="1.0" encoding="gbk"?>', '\ufeff<?xml version="1.0"?>'],
)
def test_what_stands_before_the_root_does_not_matter(desk: Desk, lead: str) -> None:
    body = "<FLOP><FLID>0001</FLID><REMC>𠮷 😀</REMC></FLOP>"

    verdict = desk.send(lead + envelope("FLOP", "REMC", body, "9"))

    assert verdict == CHANGED
    assert desk.flight()["REMC"] == "𠮷 😀"


@pytest.mark.covers("R21")
@pytest.mark.parametrize(
    ("type_", "styp"), [("FLOP", "APPT"), ("SCHD", "INIT"), ("CITY", "UPD")]
)
def test_legal_but_foreign_kinds_are_unsupported(desk: Desk, type_: str, styp: str) -> None:
    assert desk.message(type_, styp, "<X/>") == Expected("SKIPPED", "unsupported")


@pytest.mark.covers("R60")
def test_siblings_are_all_or_nothing(desk: Desk) -> None:
    one, two = (f"<FLOP><FLID>{n}</FLID><STND>9</STND></FLOP>" for n in (1, 2))

    verdict = desk.message("FLOP", "STND", one + two)

    assert verdict == Expected("SKIPPED", "no-flight:2")
    assert "STND" not in desk.flight()


@pytest.mark.covers("INV-26", "INV-27", "R23", "R24", "R54", "R62", "US-13")
def test_reference_data_is_kept_by_category_and_key() -> None:
    desk = Desk()
    gate = "<RECS>1</RECS><GLST><GCOD>{}</GCOD><OGRP>1</OGRP>{}</GLST>"
    assert desk.message("GLST", "DNLD", gate.format("7", "<GTML/><NEWF>x</NEWF>")) == CHANGED
    assert desk.message("GLST", "ADD", gate.format("8", "")) == CHANGED
    assert desk.message("GLST", "UPD", gate.format("9", "").replace("1<", "4<", 1)) == CHANGED
    assert desk.message("GLST", "DEL", "<RECS>1</RECS><GLST><GCOD>8</GCOD></GLST>") == CHANGED
    assert desk.message("GLST", "UPD", gate.format("7", "<GCOD>7</GCOD>")) == PROTOCOL
    assert desk.message("GLST", "DNLD", gate.format("7", "").replace("1<", "4<", 1)) == PROTOCOL
    assert desk.message("GLST", "DNLD", "<RECS>0</RECS>") == PROTOCOL
    assert desk.message("GLST", "DNLD", "<RECS>1</RECS>") == MALFORMED
    skipped = desk.message("GLST", "RESP", gate.format("1", ""))
    assert skipped == Expected("SKIPPED", "no-open-request")
    two = "<RECS>1</RECS><COUL><COUC>CN</COUC><COUN>x</COUN><REGC>B</REGC><REGC/></COUL>"
    assert desk.message("COUL", "DNLD", two) == CHANGED

    assert desk.oracle.reference() == {
        ("COUL", "CN"): {"COUC": "CN", "REGC": "B"},
        ("GLST", "7"): {"GCOD": "7", "OGRP": ["1"], "GTML": None, "NEWF": "x"},
        ("GLST", "9"): {"GCOD": "9", "OGRP": ["1"]},
    }


@pytest.mark.covers("US-13", "R54")
def test_states_of_resources_are_events() -> None:
    desk = Desk()
    state = "<RSTA><RTYP>GATE</RTYP><RSID>{}</RSID><STAT>{}</STAT>{}</RSTA>"
    begins, ends = "<BGTM>15JUN260800</BGTM>", "<EDTM>15JUN262400</EDTM>"
    assert desk.message("RSTA", "DNLD", state.format("7", "D", begins + ends)) == CHANGED
    assert desk.message("RSTA", "DNLD", state.format("8", "D", "<EDTM/>")) == CHANGED
    assert desk.message("RSTA", "DNLD", state.format("8", "E", ends)) == PROTOCOL
    assert desk.message("RSTA", "DNLD", state.format("8", "X", "")) == PROTOCOL
    assert desk.message("RSTA", "UPD", state.format("8", "E", "")) == (
        Expected("SKIPPED", "unsupported")
    )

    assert desk.oracle.reference() == {
        ("RSTA", "GATE:7"): {
            "RTYP": "GATE", "RSID": "7", "STAT": "D",
            "BEGIN": "2026-06-15T08:00:00+08:00", "END": "2026-06-16T00:00:00+08:00",
        },
        ("RSTA", "GATE:8"): {"RTYP": "GATE", "RSID": "8", "STAT": "D", "END": None},
    }  # fmt: skip


RESP_DAY = "2026-06-15"


@pytest.mark.covers("US-09", "R17", "R48", "INV-15b")
def test_an_answer_speaks_for_the_asked_days_once(desk: Desk) -> None:
    other = "<FLID>2</FLID><SODT>15JUN260900</SODT>"
    assert desk.schedule("RESP", other) == Expected("SKIPPED", "no-open-request")
    desk.oracle.ask_plan(RESP_DAY)
    assert desk.schedule("RESP", "<FLID>3</FLID><SODT>16JUN260900</SODT>") == PROTOCOL

    assert desk.schedule("RESP", other) == CHANGED

    assert desk.oracle.state_of("1") == "DELETED"
    assert desk.oracle.state_of("2") == "ACTIVE"
    assert desk.schedule("RESP", other) == Expected("SKIPPED", "no-open-request")
