"""FLOP: what single STYPs do beyond setting and clearing."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.conformance.cell import (
    Cell,
    End,
    Entry,
    Text,
    skipped,
    wrote,
)
from tests.conformance.flop import changed
from tests.conformance.parts import (
    PLAN,
    Element,
    adft,
    element,
    fdel,
    flop,
    fltr,
    scalar,
    scalars,
)

RULES: Final = "FLOP rules"
_CASE: Final = "case"
_A1 = element("GTDT", "1", GATE="A1")
_LINK: Final = {"TAOP": "CA", "TAFL": "CA12", "TAID": "900001"}
_AGENTS: Final = {"FHAG": "F1", "PHAG": "P1", "MHAG": "M1"}


def entries() -> Iterator[Entry]:
    """Yield the section."""
    yield from _boarding()
    yield from _collections()
    yield from _marks()
    yield from _links()
    yield from _routes()
    yield from _siblings()
    yield from _beyond()


def _cell(
    row: str,
    styp: str,
    had: str,
    state: Mapping[str, Any],
    told: str,
    state_after: Mapping[str, Any],
    **rest: Any,
) -> Cell:
    before, then = {**PLAN, **state}, {**PLAN, **state_after}
    case: dict[str, Any] = {
        "given": (adft(fltr("A", had)),),
        "when": flop(styp, told),
        "before": {"A": before},
        "after": {"A": then},
        "wrote": changed(before, then),
    }
    return Cell(section=RULES, row=row, column=_CASE, **case | rest)


def _boarding() -> Iterator[Entry]:
    both = {"BOTM": "@1100", "LACL": "@1130", "BOARDING_STATUS": "LAST_CALL"}
    boarding = {"BOTM": "@1100", "BOARDING_STATUS": "BOARDING"}
    last = {"LACL": "@1130", "BOARDING_STATUS": "LAST_CALL"}
    botm, lacl = scalar("BOTM", "@1100"), scalar("LACL", "@1130")
    yield _cell("last call after boarding", "LACL", botm, boarding, lacl, both)
    yield _cell("last call cleared falls back", "LACL", botm + lacl, both, "<LACL/>", boarding)
    yield _cell(
        "boarding cleared under a last call", "BOTM", botm + lacl, both, "<BOTM/>", last
    )
    yield _cell("boarding set under a last call", "BOTM", lacl, last, botm, both)
    yield _cell(
        "CNCL again after a withdrawal", "CNCL", "<CNCL/>", {}, scalar("CNCL", "@0900"),
        {"CNCL": "@0900"},
    )  # fmt: skip


def _collections() -> Iterator[Entry]:
    had, state = _A1.xml, {"GTDT": [_A1.state]}
    a2 = element("GTDT", "2", GATE="A2")
    same = element("GTDT", "1", GATE="A2")
    bare = Element(tag="GTDT", children={"GATE": "A3"})
    timeless = Element(
        tag="CHOT", attributes={"CSNO": "1"}, children={"CHTM": "", "CHID": "C1"}
    )
    full = element("CHOT", "1", CHTM="@0810", CHID="C1")
    yield _cell(
        "CHOT element with an empty CHTM", "CHOT", full.xml, {"CHOT": [full.state]},
        timeless.xml, {"CHOT": [timeless.state]},
    )  # fmt: skip
    for tag, number in (
        ("CKDT", "CKNO"), ("CLDT", "CLNO"), ("CHDT", "CHNO"), ("GTDT", "GTNO"),
        ("PSDT", "PSNO"),
    ):  # fmt: skip
        one = element(tag, "1")
        yield _cell(f"{tag} bare and empty", tag, one.xml, {tag: [one.state]}, f"<{tag}/>", {})
        yield _cell(
            f"{tag} sequence 00", tag, one.xml, {tag: [one.state]},
            f'<{tag} {number}="00"></{tag}>', {},
        )  # fmt: skip
    yield _cell(
        "sequence 0 with content assigns", "GTDT", had, state,
        '<GTDT GTNO="0"><GATE>A9</GATE></GTDT>', {"GTDT": [{"GTNO": "0", "GATE": "A9"}]},
    )  # fmt: skip
    yield _cell(
        "one of two with sequence 0", "GTDT", had, state,
        a2.xml + '<GTDT GTNO="0"/>', {"GTDT": [a2.state, {"GTNO": "0"}]},
    )  # fmt: skip
    yield _cell(
        "message order, not sequence order", "GTDT", had, state,
        a2.xml + _A1.xml, {"GTDT": [a2.state, _A1.state]},
    )  # fmt: skip
    yield _cell(
        "the same resource twice is kept twice", "GTDT", had, state,
        _A1.xml * 2, {"GTDT": [_A1.state] * 2},
    )  # fmt: skip
    yield _cell(
        "one sequence number twice", "GTDT", had, state,
        _A1.xml + same.xml, {"GTDT": [_A1.state, same.state]},
    )  # fmt: skip
    yield _cell(
        "without a sequence number", "GTDT", had, state, bare.xml, {"GTDT": [bare.state]}
    )
    yield _cell(
        "DELY list replaces the list", "DELY", '<DELY CODE="81"/><DELY CODE="93"/>',
        {"DELY": [{"CODE": "81"}, {"CODE": "93"}]}, '<DELY CODE="93"/>',
        {"DELY": [{"CODE": "93"}]},
    )  # fmt: skip
    most = element("PSDT", "1").xml * 9
    yield _cell("as many as the limit", "PSDT", "", {}, most, {"PSDT": [{"PSNO": "1"}] * 9})


def _marks() -> Iterator[Entry]:
    had = '<FDIV DDES="ZSNJ" DDIR="TO">fog</FDIV>'
    state = {"FDIV": {"DDES": "ZSNJ", "DDIR": "TO", "TEXT": "fog"}}
    yield _cell("FDIV without DDES", "FDIV", had, state, "<FDIV>words</FDIV>", {})
    yield _cell("FDIV bare and empty", "FDIV", had, state, "<FDIV/>", {})
    yield _cell(
        "FDIV from", "FDIV", had, state, '<FDIV DDES="ZGGG" DDIR="FROM"/>',
        {"FDIV": {"DDES": "ZGGG", "DDIR": "FROM"}},
    )  # fmt: skip
    ret = {"FRET": {"REID": "G"}}
    yield _cell(
        "FRET without attribute and text", "FRET", '<FRET REID="G"/>', ret,
        '<FRET REID=""> </FRET>', {},
    )  # fmt: skip
    yield _cell(
        "FRET text without attribute", "FRET", '<FRET REID="G"/>', ret, "<FRET>bird</FRET>",
        {"FRET": {"TEXT": "bird"}},
    )  # fmt: skip


def _links() -> Iterator[Entry]:
    for tag in _LINK:
        told = scalars(_LINK | {tag: ""})
        yield _cell(
            f"TAOP: empty {tag} breaks the link", "TAOP", scalars(_LINK), _LINK, told, {}
        )
    yield _cell("TAOP: a lone empty TAID", "TAOP", scalars(_LINK), _LINK, "<TAID/>", {})
    yield _cell(
        "TAOP: TAID without leading zeros", "TAOP", "", {}, "<TAID>000900003</TAID>",
        {"TAID": "900003"},
    )  # fmt: skip
    two = {tag: text for tag, text in _AGENTS.items() if tag != "FHAG"}
    yield _cell("HNAG: empty FHAG", "HNAG", scalars(_AGENTS), _AGENTS, "<FHAG/>", two)
    yield _cell(
        "HNAG: MHAG absent, order changed", "HNAG", scalars(_AGENTS), _AGENTS,
        "<PHAG>P2</PHAG><FHAG>F2</FHAG>", {"FHAG": "F2", "PHAG": "P2", "MHAG": "M1"},
    )  # fmt: skip
    vip = {"VIPP": "Y", "VIPR": "mayor"}
    yield _cell(
        "VIPP: indicator cleared alone", "VIPP", scalars(vip), vip, "<VIPP/>", {"VIPR": "mayor"}
    )
    yield _cell(
        "VIPP: remark cleared alone", "VIPP", scalars(vip), vip, "<VIPR/>", {"VIPP": "Y"}
    )


def _routes() -> Iterator[Entry]:
    names = ("ZAAA", "ZBBB", "ZCCC", "ZDDD", "ZEEE", "ZFFF")
    points = [element("ROUT", str(n), APCD=name) for n, name in enumerate(names, 1)]
    told = "".join(point.xml for point in points)
    kept = [point.state for point in points]
    for row, movement, left in (
        ("ROUT of a departure keeps the first four", {"MVIN": "D"}, kept[:4]),
        ("ROUT of an arrival keeps the last four", {"MVIN": "A"}, kept[2:]),
        ("ROUT without a movement keeps the first four", {}, kept[:4]),
    ):
        had = scalars(movement)
        yield _cell(row, "ROUT", had, movement, told, movement | {"ROUT": left})


def _siblings() -> Iterator[Entry]:
    plain = {"A": PLAN, "B": PLAN}
    given = (adft(fltr("A"), fltr("B")),)
    stand = "<STND>7</STND>"
    yield _cell(
        "siblings: all are applied", "STND", "", {}, "", {}, given=given,
        when=flop("STND", stand, "A", "B"), before=plain,
        after={letter: PLAN | {"STND": "7"} for letter in "AB"},
        wrote=(wrote("A CHANGED STND"), wrote("B CHANGED STND")),
    )  # fmt: skip
    yield _cell(
        "siblings: one unknown, none is applied", "STND", "", {}, "", {}, given=given,
        when=flop("STND", stand, "A", "C"), end=skipped("no-flight:{C}"), before=plain,
        after=plain, wrote=(),
    )  # fmt: skip
    half = {"A": PLAN, "B": PLAN | {"STATE": "DELETED"}}
    yield _cell(
        "siblings: one deleted, none is applied", "STND", "", {}, "", {},
        given=(*given, fdel("B")), when=flop("STND", stand, "A", "B"),
        end=skipped("flight-deleted:{B}"), before=half, after=half, wrote=(),
    )  # fmt: skip
    both = Text(
        type="FLOP", styp="STND",
        body="<FLOP><FLID>{A}</FLID><STND>7</STND></FLOP><FLOP><FLID>0{A}</FLID><STND>8</STND></FLOP>",
    )  # fmt: skip
    yield _cell(
        "siblings: one flight twice is one write", "STND", "", {}, "", {"STND": "8"}, when=both
    )


def _beyond() -> Iterator[Entry]:
    yield _cell(
        "tags that the STYP does not name", "STND", "<ESTT/>", {},
        "<STND>7</STND><ESTT>{DAY}0900</ESTT><NEWT>1</NEWT>", {"STND": "7"},
        unmapped=("ESTT", "NEWT"),
    )  # fmt: skip
    yield _cell(
        "FFID of another flight is not used", "STND", "", {},
        "<FFID>MU-1-A-01JAN200000-D</FFID><STND>7</STND>", {"STND": "7"},
    )  # fmt: skip
    yield _cell(
        "SRVT and VIPF are not named by any STYP", "STND", "", {},
        "<STND>7</STND><SRVT><SRTC>W</SRTC></SRVT><VIPF/>", {"STND": "7"},
        unmapped=("SRVT", "VIPF"), kept={"SRVT": 0, "VIPF": 0},
    )  # fmt: skip
    yield _cell("a STYP of nobody", "SRVT", "", {}, "<SRVT/>", {}, end=skipped("unsupported"))
    yield _cell(
        "nothing new", "STND", "<STND>7</STND>", {"STND": "7"}, "<STND> 7 </STND>",
        {"STND": "7"}, end=End(state="SUCCEEDED", reason="no-change"),
    )  # fmt: skip
    yield _cell(
        "clearing what is not there", "GTDT", "", {}, '<GTDT GTNO="0"/>', {},
        end=End(state="SUCCEEDED", reason="no-change"),
    )  # fmt: skip
