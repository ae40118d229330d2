"""Reference data: single rules of the interface, one case each."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any, Final

from tests.conformance.cell import SUCCEEDED, End, Text, refused, skipped
from tests.conformance.reference import package
from tests.conformance.reference_cell import Records, RefCell
from tests.conformance.reference_table import record, stored
from tests.support.asked import JUST_BEFORE

SECTION: Final = "Reference rules"
LATER: Final = JUST_BEFORE + timedelta(hours=1)

_NO_RECORD: Final = End(
    state="DEAD", error_class="MALFORMED", says=("TYPE is GLST, but MSG holds no GLST",)
)
_A: Final = {"A": stored("GLST", "A")}
_B: Final = {"B": stored("GLST", "B")}
_N: Final = {"N": stored("GLST", "N")}
_BEGIN, _END = "<BGTM>05jan260800</BGTM>", "<EDTM>05JAN261000</EDTM>"
_EIGHT, _TEN = "2026-01-05T08:00:00+08:00", "2026-01-05T10:00:00+08:00"
_DOWN: Final = "<STAT>D</STAT>"


def entries() -> Iterator[RefCell]:
    """Yield the section."""
    yield from _counts()
    yield from _records()
    yield from _fields()
    yield from _keys()
    yield from _states()
    yield from _windows()
    yield from _answers()


def _rule(
    row: str,
    when: Text,
    after: Records,
    *wrote: str,
    given: tuple[Text, ...] = (),
    before: Records | None = None,
    end: End = SUCCEEDED,
    **rest: Any,
) -> RefCell:
    return RefCell(
        section=SECTION,
        row=row,
        column="case",
        category=when.type,
        given=given,
        when=when,
        end=end,
        before=before or {},
        after=after,
        wrote=wrote,
        **rest,
    )


def _field(row: str, category: str, xml: str, fields: dict[str, Any], **rest: Any) -> RefCell:
    when = package(category, "ADD", record(category, "N", xml))
    return _rule(row, when, {"N": stored(category, "N", **fields)}, "N", **rest)


def _text(category: str, action: str, body: str) -> Text:
    return Text(type=category, styp=action, body=body)


def _counts() -> Iterator[RefCell]:
    rule = partial(_rule, given=(package("GLST", "DNLD", record("GLST", "A")),), before=_A)
    zero, none = package("GLST", "DNLD"), _text("GLST", "DNLD", "<RECS>1</RECS>")
    one = record("GLST", "N")
    yield rule("RECS 0 in a whole package", zero, _A, end=refused("RECS says 0"))
    for recs, name, says in (
        ("", "no RECS", "RECS is missing"),
        ("<RECS/>", "an empty RECS", "RECS is missing"),
        ("<RECS>1</RECS><RECS>1</RECS>", "RECS twice", "RECS is there twice"),
    ):
        whole, update = (_text("GLST", action, recs + one) for action in ("DNLD", "UPD"))
        yield rule(f"{name} in a whole package", whole, _A, end=refused(says))
        yield rule(f"{name} in an increment", update, _A | _N, "N")
    letters = _text("GLST", "ADD", f"<RECS>one</RECS>{one}")
    yield rule("RECS is no number", letters, _A, end=refused("RECS 'one'"))
    yield rule("no record", none, _A, end=_NO_RECORD)
    other = _text("GLST", "UPD", record("SLST", "N"))
    yield rule("records of another category", other, _A, end=_NO_RECORD)


def _records() -> Iterator[RefCell]:
    gates = package("GLST", "DNLD", record("GLST", "A"), record("GLST", "B"))
    rule = partial(_rule, given=(gates,), before=_A | _B)
    yield rule("DEL of what is not there", package("GLST", "DEL", record("GLST", "N")), _A | _B)
    odd = record("GLST", "A", "<OGRP><X/></OGRP>")
    yield rule("DEL reads nothing but the key", package("GLST", "DEL", odd), _B)
    old = package("GLST", "UPD", record("GLST", "A", "<OLD>1</OLD>"))
    bare = package("GLST", "UPD", record("GLST", "A"))
    yield _rule(
        "what an update does not tell is gone", bare, _A | _B, "A",
        given=(gates, old), before={"A": stored("GLST", "A", OLD="1")} | _B,
    )  # fmt: skip


def _fields() -> Iterator[RefCell]:
    same = "<CNMC>A</CNMC><CTML/><CCAT>D</CCAT>"
    counter = {"CNMC": "A", "CTML": None}
    roles = "<OCAT>SHP</OCAT><OCAT>PHA</OCAT><OCAT>RHA</OCAT>"
    wide = "<STGP>一二三四五六七八九</STGP>"
    gap = "<OGRP>A</OGRP><OGRP/><OGRP>C</OGRP>"
    new = {"unmapped": ("NEW",)}
    yield _field(
        "eight characters of STGP are kept", "SLST", wide, {"STGP": "一二三四五六七八"}
    )
    yield _field(
        "an empty REGC may be the first", "COUL", "<REGC/><REGC>B</REGC>", {"REGC": None}
    )
    yield _field("CHLT keeps its tags", "CHLT", same, counter | {"CCAT": "D"})
    yield _field("CLST means something else by them", "CLST", same, counter)
    yield _field("all of OCAT is kept", "ORGN", roles, {"OCAT": ["SHP", "PHA", "RHA"]})
    yield _field(
        "OCAT keeps the codes of a parameter", "ORGN", roles, {"OCAT": ["PHA", "RHA"]},
        settings={"ocat": frozenset({"PHA", "RHA"})},
    )  # fmt: skip
    yield _field("an empty element among others", "GLST", gap, {"OGRP": ["A", None, "C"]})
    yield _field("an unknown tag", "GLST", "<NEW>07</NEW>", {"NEW": "07"}, **new)
    yield _field(
        "an unknown tag that repeats", "GLST", "<NEW/><NEW>1</NEW>", {"NEW": [None, "1"]}, **new
    )
    yield _field("an unknown tag with elements", "GLST", "<NEW><IN>1</IN></NEW>", {}, **new)
    twice = package("SLST", "ADD", record("SLST", "A", "<STGP>1</STGP><STGP>2</STGP>"))
    yield _rule("a field twice that stands once", twice, {}, end=refused("(A): STGP stands 2"))


def _keys() -> Iterator[RefCell]:
    zeros = package("GLST", "DNLD", record("GLST", "07"), record("GLST", "7"))
    both = {key: stored("GLST", key) for key in ("07", "7")}
    yield _rule("leading zeros of a key count", zeros, both, "07", "7")
    long = package("GLST", "ADD", record("GLST", "x" * 65))
    yield _rule("a key of 65 characters", long, {}, end=refused("no key of 1 to 64 characters"))


def _disabled(content: str = _DOWN + _BEGIN + _END) -> Text:
    return _text("RSTA", "DNLD", record("RSTA", "A", content))


def _gate(**fields: Any) -> Records:
    return {"GATE:A": stored("RSTA", "A", **fields)}


def _states() -> Iterator[RefCell]:
    stood = _gate(STAT="D", BEGIN=_EIGHT, END=_TEN)
    rule = partial(_rule, given=(_disabled(),), before=stood)
    yield rule("disabled until the next event", _disabled(_DOWN), _gate(STAT="D"), "GATE:A")
    enabled = _disabled("<STAT>E</STAT>" + _BEGIN)
    yield rule("enabled again, with a begin", enabled, _gate(BEGIN=_EIGHT), "GATE:A")
    belt = _text("RSTA", "DNLD", record("RSTA", "A").replace("GATE", "BELT"))
    told = {"BELT:A": {**stored("RSTA", "A"), "RTYP": "BELT"}}
    yield rule("the same id of another type", belt, {**stood, **told}, "BELT:A")
    counted = _text("RSTA", "DNLD", f"<RECS>2</RECS>{record('RSTA', 'A')}")
    yield rule("RECS of RSTA agrees if it is there", counted, stood, end=refused("RECS says 2"))
    yield _rule(
        "the tags of the ends are parameters", _disabled(f"{_DOWN}<FROM>05JAN260800</FROM>"),
        _gate(STAT="D", BEGIN=_EIGHT), "GATE:A", settings={"begin_tag": "FROM"},
    )  # fmt: skip


def _windows() -> Iterator[RefCell]:
    stood = _gate(STAT="D", BEGIN=_EIGHT, END=_TEN)
    for row, content, says in (
        ("an end beside STAT E", f"<STAT>E</STAT>{_END}", "STAT E"),
        ("an end twice", _DOWN + _END + _END, "EDTM stands 2 times"),
        ("an end at its begin", f"{_DOWN}<BGTM>05JAN261000</BGTM>{_END}", "window"),
        ("an end before its begin", f"{_DOWN}<BGTM>05JAN261001</BGTM>{_END}", "window"),
        (
            "a time of a resource that is none",
            f"{_DOWN}<BGTM>05JAN262408</BGTM>",
            "'05JAN262408'",
        ),
        ("an unknown STAT", "<STAT>X</STAT>", "STAT 'X'"),
        ("an empty STAT", "<STAT/>", "STAT is empty"),
    ):
        yield _rule(
            row,
            _disabled(content),
            stood,
            given=(_disabled(),),
            before=stood,
            end=refused(says),
        )


def _answers() -> Iterator[RefCell]:
    rule = partial(_rule, given=(package("GLST", "DNLD", record("GLST", "A")),), before=_A)
    answer = package("GLST", "RESP", record("GLST", "N"))
    over = {"left": -timedelta(minutes=1)}
    for row, asked, left, reason in (
        ("an answer that nobody asked for", None, None, "no-open-request"),
        ("an answer to an expired request", {"state": "EXPIRED"}, "EXPIRED", "expired-request"),
        ("an answer after the time", over, "SENT", "expired-request"),
        ("an answer older than its request", {"at": LATER}, "SENT", "early-response"),
    ):
        yield rule(row, answer, _A, end=skipped(reason), asked=asked, request=left)
    for state in ("UNKNOWN", "SENDING"):
        yield rule(
            f"an answer proves that a request in {state} was written", answer, _N, "N",
            asked={"state": state}, request="DONE",
        )  # fmt: skip
    gate = _disabled("<STAT>E</STAT>")
    told = Text(type="RSTA", styp="RESP", body=f"<RECS>1</RECS>{gate.body}")
    yield _rule(
        "an answer of RSTA about the resources that were asked for", told, _gate(), "GATE:A",
        asked={"rtyp": "GATE"}, request="DONE",
    )  # fmt: skip
    yield _rule(
        "an answer of RSTA about others", told, {}, end=skipped("no-open-request"),
        asked={"rtyp": "BELT"}, request="SENT",
    )  # fmt: skip
