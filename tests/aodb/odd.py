"""The odd share of the traffic: what a mailbox brings that no plan would write."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta

from tests.aodb.airport import Leg
from tests.aodb.draft import Draft, flop, flop_draft
from tests.aodb.schedule import fltr, known, package
from tests.aodb.sis import Layout, Node, el, other_layout, sis_time
from tests.aodb.stream import one_tag

_PLAIN = Layout()


def spoiled(rng: random.Random, leg: Leg, due: timedelta) -> Iterator[Draft]:
    """Makes one message of every kind that cannot be read: DEAD(MALFORMED)."""
    for label, mangle in _MANGLES.items():
        nodes = one_tag(rng, leg, "REMC")
        draft = flop_draft(leg, "REMC", nodes, due=due, label=f"malformed: {label}")
        draft.mangle = mangle
        draft.layout = _PLAIN
        yield draft
    for label, body in (("no payload", ()), ("payload of another type", package([known(leg)]))):
        yield Draft(due=due, type="FLOP", styp="ESTT", body=body, label=f"malformed: {label}")


def refused(rng: random.Random, leg: Leg, due: timedelta) -> Iterator[Draft]:
    """Makes one FLOP of every kind that breaks a rule of the interface: DEAD(PROTOCOL)."""
    for label, styp, nodes in _REFUSED:
        yield flop_draft(leg, styp, nodes, due=due, label=f"protocol: {label}")
    for label, text in _BAD_FLIDS.items():
        yield Draft(
            due=due,
            type="FLOP",
            styp="STND",
            body=(el("FLOP", "", el("FLID", text), el("FFID"), el("STND", "012")),),
            label=f"protocol: FLID {label}",
        )
    nodes = (el("FFID"), el("STND", "012"))
    yield Draft(
        due=due, type="FLOP", styp="STND", body=(el("FLOP", "", *nodes),),
        label="protocol: FLID missing",
    )  # fmt: skip


def bad_packages(rng: random.Random, legs: list[Leg], due: timedelta) -> Iterator[Draft]:
    """Makes SCHD packages that must not touch a flight; one of them nobody asked for."""
    one, two = legs[0], legs[1]
    moved = replace(one, sodt=one.sodt + timedelta(days=1))
    both = [fltr(rng, one), fltr(rng, two)]
    bodies = {
        ("DNLD", "protocol: cut package"): package(both, declared=9),
        ("DNLD", "protocol: RECS too small"): package(both, declared=1),
        ("DNLD", "protocol: empty package"): package([]),
        ("DNLD", "protocol: one FLID twice"): package([fltr(rng, one), fltr(rng, one)]),
        ("DNLD", "protocol: operation day moved"): package([fltr(rng, two), fltr(rng, moved)]),
        ("DNLD", "protocol: bad value inside"): package(
            [fltr(rng, two), known(one, el("SODT", sis_time(one.sodt)), el("MAXP", "many"))]
        ),
        ("ADFT", "protocol: ADFT moves the day"): package(
            [known(one, el("SODT", sis_time(moved.sodt)))]
        ),
        ("ADFT", "protocol: ADFT bad SODT"): package([known(one, el("SODT", "31JUN261000"))]),
        ("RESP", "no request"): package([fltr(rng, one)]),
    }
    for (styp, label), body in bodies.items():
        yield Draft(due=due, type="SCHD", styp=styp, body=body, label=label)


def unsupported(leg: Leg, due: timedelta) -> Iterator[Draft]:
    """Makes legal messages of kinds that are not ours: SKIPPED(unsupported)."""
    at = sis_time(leg.sodt)
    for styp, tag in (("APPT", "APPT"), ("EGSR", "EGSR"), ("EXSS", "EXSC"), ("XYZW", "XYZW")):
        yield flop_draft(leg, styp, (el(tag, at),), due=due, label=f"unsupported: FLOP {styp}")
    yield Draft(
        due=due, type="SCHD", styp="INIT", body=package([known(leg)]), label="unsupported: SCHD"
    )
    for type_ in _OTHER_TYPES:
        body = (el("RECS", "1"), el(type_, "", el("CODE", "01"), el("NAME", "名称")))
        label = f"unsupported: {type_}"
        yield Draft(due=due, type=type_, styp="UPD", body=body, label=label, sndr="AODBREF")


def layouts(rng: random.Random, leg: Leg, due: timedelta) -> Iterator[Draft]:
    """Makes ordinary events in extraordinary but legal clothes: SUCCEEDED."""
    for label, layout in _LAYOUTS.items():
        draft = flop_draft(leg, "REMC", (el("REMC", f"{label} {rng.random()}"),), due=due,
                           label=f"layout: {label}")  # fmt: skip
        draft.layout = layout
        yield draft
    for label, mangle in _DRESSES.items():
        draft = flop_draft(leg, "REMC", (el("REMC", f"{label} XX {rng.random()}"),), due=due,
                           label=f"layout: {label}")  # fmt: skip
        draft.mangle = mangle
        yield draft
    remark = (el("REMC", f"leading zeros {rng.random()}"),)
    padded = leg.flid.rjust(19, "0")
    yield flop_draft(leg, "REMC", remark, due=due, flid=padded, label="layout: FLID zeros")
    beside = (el("NEWTAG", "1"), el("ACTT", "not read"), el("STND", f"9{rng.randrange(1000)}"))
    yield flop_draft(leg, "STND", beside, due=due, label="layout: other tags beside")


def repeated(rng: random.Random, original: Draft, due: timedelta) -> Iterator[Draft]:
    """Sends an earlier message again: the same content, then another under its identity."""
    yield replace(
        original, due=due, repeats=original, label="duplicate", index=-1,
        layout=other_layout(original.layout or _PLAIN),
    )  # fmt: skip
    changed = replace(original.body[0], children=(*original.body[0].children, el("XTRA", "1")))
    yield replace(
        original, due=due, repeats=original, label="conflict", index=-1, body=(changed,)
    )


def without_effect(rng: random.Random, legs: list[Leg], due: timedelta) -> Iterator[Draft]:
    """Makes FLOP said twice, for unknown targets, and for two flights at once."""
    one, two = legs[0], legs[1]
    nodes = (el("REMC", f"said twice {rng.random()}"),)
    yield flop_draft(one, "REMC", nodes, due=due, label="changes")
    yield flop_draft(one, "REMC", nodes, due=due, label="no change")
    ghost = replace(one, flid="4040404040")
    yield flop_draft(ghost, "ESTT", one_tag(rng, ghost, "ESTT"), due=due, label="no flight")
    yield flop_draft(ghost, "FDEL", (el("FDEL"),), due=due, label="deletes no flight")
    for label, other in (("siblings", two), ("siblings: one unknown", ghost)):
        bodies = tuple(flop(leg, el("STND", f"7{rng.randrange(100)}")) for leg in (one, other))
        flids = (one.flid, other.flid)
        yield Draft(due=due, type="FLOP", styp="STND", body=bodies, flids=flids, label=label)


def _cut(text: str) -> str:
    return text[: len(text) * 2 // 3]


def _into_remark(piece: str) -> Callable[[str], str]:
    return lambda text: text.replace("<REMC>", f"<REMC>{piece}", 1)


def _without(tag: str) -> Callable[[str], str]:
    def mangle(text: str) -> str:
        start, end = text.index(f"<{tag}>"), text.index(f"</{tag}>") + len(tag) + 3
        return text[:start] + text[end:]

    return mangle


def _doctype(entity: str) -> Callable[[str], str]:
    return lambda text: text.replace("<MSG", f"<!DOCTYPE MSG [{entity}]>\n<MSG", 1)


_MANGLES: dict[str, Callable[[str], str]] = {
    "cut": _cut,
    "no text": lambda _: "",
    "not XML": lambda _: "ESTT 0815 15JUN26",
    "DOCTYPE": _doctype(""),
    "entity": lambda text: _into_remark("&host;")(
        _doctype('<!ENTITY host SYSTEM "file:///etc/hostname">')(text)
    ),
    "unknown entity": _into_remark("&nbsp;"),
    "control character": _into_remark("\x08"),
    "NUL": _into_remark("\x00"),
    "reference to a control character": _into_remark("&#8;"),
    "bare ampersand": _into_remark("A & B"),
    "two roots": lambda text: text + "<MSG/>",
    "no META": _without("META"),
    "no SEQN": _without("SEQN"),
    "no SNDR": _without("SNDR"),
}

_DRESSES: dict[str, Callable[[str], str]] = {
    "comment in the text": lambda text: text.replace(" XX ", " X<!-- no -->X ", 1),
    "CDATA in the text": lambda text: text.replace(" XX ", "<![CDATA[ <X> & ]]>", 1),
    "references": lambda text: text.replace(" XX ", " &#x4E2D;&#128516; &#38; ", 1),
    "processing instruction": lambda text: text.replace("<FLOP>", "<?page 1?><FLOP>", 1),
}

_LAYOUTS: dict[str, Layout] = {
    "BOM": replace(_PLAIN, lead="\ufeff"),
    "blanks first": replace(_PLAIN, lead=" \r\n\t "),
    "BOM and newline": replace(_PLAIN, lead="\ufeff\n"),
    "no declaration": replace(_PLAIN, declaration=""),
    "lower-case encoding": replace(
        _PLAIN, declaration="<?xml version='1.0' encoding='utf-8'?>"
    ),
    "another encoding named": replace(
        _PLAIN, declaration='<?xml version="1.0" encoding="gb18030"?>'
    ),
    "one line": replace(_PLAIN, newline="", indent=""),
}


_BAD_FLIDS = {"letters": "LEG1", "20 digits": "1" * 20, "zero": "000", "empty": ""}


def _stands(count: int) -> tuple[Node, ...]:
    return tuple(el("PSDT", "", el("PSST", "011"), PSNO=str(n)) for n in range(1, count + 1))


def _points(count: int) -> tuple[Node, ...]:
    return tuple(el("ROUT", "", el("APCD", "PEK"), RTNO=str(n)) for n in range(1, count + 1))


_BAD_TIMES = (
    "29FEB260800", "05XXX260800", "15JUN262500", "15JUN262408", "15JUN260860", "31JUN260800",
    "15JUN2608", "15-06-2026", "202606150800", "A5JUN260800", "15JUN26080a",
)  # fmt: skip
_BAD_GATE = el("GTDT", "", el("GATE", "1"), el("GOTM", "soon"), GTNO="1")

_REFUSED: tuple[tuple[str, str, tuple[Node, ...]], ...] = (
    *((f"time {text}", "ESTT", (el("ESTT", text),)) for text in _BAD_TIMES),
    ("letters in MAXP", "MAXP", (el("MAXP", "12O"),)),
    ("TAID letters", "TAOP", (el("TAOP", "MU"), el("TAFL", "MU2"), el("TAID", "MU2"))),
    ("DDIR", "FDIV", (el("FDIV", DDES="PEK", DDIR="SIDEWAYS"),)),
    ("7 points", "ROUT", _points(7)),
    ("10 stands", "PSDT", _stands(10)),
    ("nothing of its STYP", "LACL", (el("ESTT", "15JUN260800"),)),
    ("time inside a row", "GTDT", (_BAD_GATE,)),
    ("time of a delay", "DELY", (el("DELY", CODE="81", STRT="99JUN260800", DURA="0010"),)),
)

_OTHER_TYPES = ("ABDG", "CITY", "PLST", "SCHS", "VIPL")
