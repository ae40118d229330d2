"""SCHD packages that break the interface: refused as a whole, before the first write."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.conformance.cell import (
    NO_CHANGE,
    Cell,
    End,
    Entry,
    NotApplicable,
    Text,
    refused,
    skipped,
)
from tests.conformance.parts import PLAN, adft, element, fltr, schd

SECTION: Final = "SCHD refused"
KINDS: Final = ("DNLD", "RESP", "ADFT")
NO_REQUEST: Final = skipped("no-open-request")
_CHANGED: Final = "<STND>7</STND>"
_GOOD: Final = fltr("A", _CHANGED)
_EACH_ALONE: Final = {"schd": {"batch": 1}}


def entries() -> Iterator[Entry]:
    """Yield each broken rule for each kind of package."""
    many = "".join(element("GTDT", str(n)).xml for n in range(100))
    for row, flights, recs, says in (
        ("RECS larger", (_GOOD,), 2, ("RECS says 2", "1 FLTR")),
        ("RECS smaller", (_GOOD, fltr("B")), 1, ("RECS says 1", "2 FLTR")),
        ("RECS is no number", (_GOOD,), "one", ("RECS", "'one'")),
        ("RECS is empty", (_GOOD,), "", ("RECS", "1 FLTR")),
        ("RECS twice", (_GOOD,), "1</RECS><RECS>1", ("RECS is there twice",)),
        ("one FLID twice", (_GOOD, fltr("B"), fltr("A")), None, ("FLID {A} stands twice",)),
        ("a FLID of 20 digits", (_GOOD, _other("12345678901234567890")), None,
         ("FLTR 2 of 2", "FLID")),
        ("a FLID is missing", (_GOOD, "<FLTR/>"), None, ("FLTR 2 of 2", "FLID is missing")),
        ("SODT is no time", (_GOOD, fltr("B", sodt="31NOV261200")), None,
         ("FLTR 2 of 2", "SODT", "'31NOV261200'")),
        ("SODT at 25:00", (_GOOD, fltr("B", sodt="{DAY}2500")), None, ("SODT", "{DAY}2500")),
        ("SODT twice", (_GOOD, fltr("B", "<SODT/>")), None, ("SODT stands twice",)),
        ("100 gates", (_GOOD, fltr("B", many)), None, ("FLTR 2 of 2", "GTDT stands 100 times")),
        ("letters in MAXP", (_GOOD, fltr("B", "<MAXP>18O</MAXP>")), None, ("MAXP", "'18O'")),
        ("MVIN of no kind", (_GOOD, fltr("B", "<MVIN>X</MVIN>")), None, ("MVIN", "'X'")),
        ("MAID with letters", (_GOOD, fltr("B", "<MAID>12A</MAID>")), None, ("MAID", "'12A'")),
    ):  # fmt: skip
        for kind in KINDS:
            yield _cell(row, kind, schd(kind, *flights, recs=recs, shown=_short(row)), *says)
    yield from _whole()
    yield from _days()
    yield from _removals()


def _short(row: str) -> str | None:
    return "FLTR with 100 × `<GTDT …/>`" if row == "100 gates" else None


def _other(flid: str) -> str:
    return f"<FLTR><FLID>{flid}</FLID></FLTR>"


def _cell(row: str, kind: str, when: Text, *says: str, **rest: Any) -> Cell:
    case: dict[str, Any] = {
        "given": (adft(fltr("A")),),
        "when": when,
        "end": refused(*says),
        "before": {"A": PLAN},
        "after": {"A": PLAN},
    }
    return Cell(section=SECTION, row=row, column=kind, **case | rest)


def _malformed(says: str) -> End:
    return End(state="DEAD", error_class="MALFORMED", says=(says,))


def _whole() -> Iterator[Entry]:
    ends: Mapping[str, tuple[End, tuple[str, ...]]] = {
        "DNLD": (refused("an empty package names no operation day"), ()),
        "RESP": (NO_REQUEST, ()),
        "ADFT": (NO_CHANGE, ()),
    }
    for kind in KINDS:
        none = Text(type="SCHD", styp=kind, body="<OTHR/>")
        twice = schd(kind, _GOOD)
        yield _cell("no SCHD", kind, none, end=_malformed("MSG holds no SCHD"))
        yield _cell(
            "SCHD twice", kind, Text(type="SCHD", styp=kind, body=twice.body * 2),
            "SCHD stands 2 times",
        )  # fmt: skip
        yield _cell("no flight at all", kind, schd(kind), end=ends[kind][0])


def _days() -> Iterator[Entry]:
    row = "operation-day conflict"
    moved = (_GOOD, fltr("B", sodt="+1200"))
    says = ("operation-day-conflict", "FLID {B}")
    both = {
        "given": (adft(fltr("A"), fltr("B")),),
        "before": {"A": PLAN, "B": PLAN},
        "after": {"A": PLAN, "B": PLAN},
        "settings": _EACH_ALONE,
    }
    yield _cell(row, "DNLD", schd("DNLD", *moved), *says, **both)
    yield _cell(row, "RESP", schd("RESP", *moved), **both | {"end": NO_REQUEST})
    yield _cell(row, "ADFT", schd("ADFT", *moved), *says, **both)


def _removals() -> Iterator[Entry]:
    row = "more removals than allowed"
    before = dict.fromkeys("ABCD", PLAN)
    given = (adft(*(fltr(letter) for letter in "ABCD")),)
    yield _cell(
        row, "DNLD", schd("DNLD", fltr("A")), "would delete 3 of 4 flights",
        given=given, before=before, after=before, settings={"schd": {"max_removal_ratio": 0.5}},
    )  # fmt: skip
    yield _cell(
        row, "RESP", schd("RESP", fltr("A")), given=given, before=before, after=before,
        end=NO_REQUEST, settings={"schd": {"max_removal_ratio": 0.5}},
    )  # fmt: skip
    why = "an ADFT deletes nothing by absence"
    yield NotApplicable(section=SECTION, row=row, column="ADFT", why=why)
