"""How the AODB tells of a flight in SCHD: one FLTR, and the package around it."""

import random
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from tests.aodb.airport import HOME, Leg
from tests.aodb.sis import Node, el, sis_time

_REMARKS = ("备降待定", "机组 𠮷野 换班", "<to be checked> 'A' \"B\"")


def package(records: Iterable[Node], declared: int | None = None) -> tuple[Node, ...]:
    """Wraps FLTR elements; RECS counts them unless `declared` says another number."""
    found = tuple(records)
    recs = str(len(found) if declared is None else declared)
    return (el("SCHD", "", el("RECS", recs), *found),)


def fltr(rng: random.Random, leg: Leg, *, without: Collection[str | None] = ()) -> Node:
    """Writes all that a daily plan knows of a flight, apart from the tags in `without`."""
    children = [
        *_identity(rng, leg),
        *_operation(leg),
        *_agents(rng, leg),
        *_routes(rng, leg),
        *_resources(rng, leg),
        *_occurrences(rng, leg),
    ]
    return el("FLTR", "", *(node for node in children if node.tag not in without))


def known(leg: Leg, *nodes: Node) -> Node:
    """Writes a FLTR that tells only `nodes`, as ADFT does for a small change."""
    return el("FLTR", "", el("FLID", leg.flid), *nodes)


def _identity(rng: random.Random, leg: Leg) -> list[Node]:
    return [
        el("FLID", leg.flid),
        el("ALCD", leg.airline[0]),
        el("ALSC", leg.airline[1]),
        el("FLNO", leg.flno),
        el("MVIN", leg.mvin),
        el("SODT", sis_time(leg.sodt, rng)),
        el("FLTY", leg.flty),
        el("FLIN", leg.flin),
        el("ACFT", leg.acft),
    ]


def _operation(leg: Leg) -> list[Node]:
    nodes = [el("RENO", leg.reno) if leg.link else el("RENO"), el("TRML", leg.terminal)]
    if leg.link:
        taop, tafl, taid = leg.link
        nodes += [el("TAOP", taop), el("TAFL", tafl), el("TAID", taid)]
    if leg.main:
        csop, csft, maid = leg.main
        nodes += [el("CSOP", csop), el("CSFT", csft), el("MAID", maid)]
    return nodes


def _agents(rng: random.Random, leg: Leg) -> list[Node]:
    nodes = [el("PHAG", leg.agents[0]), el("FHAG", leg.agents[1])]
    if rng.random() < 0.7:
        nodes.append(el("MHAG", leg.agents[2]))
    if rng.random() < 0.3:
        nodes.append(el("MAXP", rng.choice(("180", "0162", "299"))))
    if rng.random() < 0.2:
        nodes += [el("LBNO", "45"), el("LBWT", "00720"), el("PAXC", "131")]
    if rng.random() < 0.05:
        nodes += [el("EXSC", "WCHR"), el("EXSR", "轮椅 & 担架")]
    if rng.random() < 0.1:
        nodes.append(el("REMC", rng.choice(_REMARKS)))
    return nodes


def _routes(rng: random.Random, leg: Leg) -> list[Node]:
    nodes = [
        el("ROUT", "", el("APCD", port), *_point_time(leg, place), RTNO=str(place))
        for place, port in enumerate(leg.route, start=1)
    ]
    if rng.random() < 0.3:
        ports = (HOME, *leg.route) if leg.departs else (*leg.route, HOME)
        last = len(ports)
        for place, port in enumerate(ports, start=1):
            at = leg.sodt + timedelta(hours=2 * (place - (1 if leg.departs else last)))
            times = [el("SCAT", sis_time(at))] if place > 1 else []
            times += [el("SCDT", sis_time(at + timedelta(minutes=40)))] if place < last else []
            nodes.append(el("ERUT", "", el("APCD", port), *times, RTNO=str(place)))
    return nodes


def _point_time(leg: Leg, place: int) -> list[Node]:
    if leg.departs:
        return [el("SCAT", sis_time(leg.sodt + timedelta(hours=2 * place)))]
    back = len(leg.route) - place + 1
    return [el("SCDT", sis_time(leg.sodt - timedelta(hours=2 * back)))]


def _resources(rng: random.Random, leg: Leg) -> list[Node]:
    start = leg.sodt - timedelta(minutes=20)
    nodes = [stand_row(1, leg.stand, start, start + timedelta(hours=1))]
    if leg.departs:
        nodes += [gate_row(1, leg.gate, leg.sodt), *counter_rows(rng, leg)]
    elif rng.random() < 0.6:
        nodes.append(belt_row(1, f"{rng.randrange(1, 16):02d}", leg.sodt))
    if rng.random() < 0.1:
        nodes.append(el("CHDT", "", CHNO="0"))
    if rng.random() < 0.02:
        nodes.append(el("FLAB", "crew", ARES="TEC"))
    return nodes


def _occurrences(rng: random.Random, leg: Leg) -> list[Node]:
    nodes: list[Node] = []
    if rng.random() < 0.05:
        asked = el("SRQT", sis_time(leg.sodt))
        nodes.append(el("SRVT", "", el("SRTC", "CLN"), asked, OPER="A"))
    if rng.random() < 0.03:
        guest = el("VIPT", "", el("VSCD", "CAR"), el("VTQY", "2"), OPER="A")
        nodes.append(el("VIPF", "", el("VPCD", "V1"), guest, OPER="A"))
    return nodes


def stand_row(number: int, stand: str, start: datetime, end: datetime | None) -> Node:
    """Writes one PSDT; an unknown end is an empty tag."""
    until = el("STET", sis_time(end)) if end else el("STET")
    since = el("STST", sis_time(start))
    return el("PSDT", "", el("PSST", stand), since, until, PSNO=str(number))


def gate_row(
    number: int, gate: str, sodt: datetime, *, opened: datetime | None = None,
    closed: datetime | None = None,
) -> Node:  # fmt: skip
    """Writes one GTDT with its plan and, where they are known, the real times."""
    real = [el("GOTM", sis_time(opened))] if opened else []
    real += [el("GCTM", sis_time(closed))] if closed else []
    return el(
        "GTDT",
        "",
        el("GATE", gate),
        el("PGOT", sis_time(sodt - timedelta(minutes=45))),
        el("PGCT", sis_time(sodt - timedelta(minutes=10))),
        *real,
        el("GTYP", "D" if number == 1 else "I"),
        GTNO=str(number),
    )


def counter_rows(rng: random.Random, leg: Leg, opened: datetime | None = None) -> list[Node]:
    """Writes the CKDT of a departure; two rows may name the same counter."""
    first = rng.randrange(1, 70)
    return [
        el(
            "CKDT",
            "",
            el("CHKC", f"{first + place // 2:03d}"),
            el("CCLS", "F" if place == 0 else "Y"),
            el("PCOT", sis_time(leg.sodt - timedelta(hours=3))),
            el("PCCT", sis_time(leg.sodt - timedelta(minutes=45))),
            *([el("COTM", sis_time(opened))] if opened else []),
            el("CTYP", "J"),
            CKNO=str(place + 1),
        )
        for place in range(rng.randrange(1, 4))
    ]


def belt_row(
    number: int, belt: str, sodt: datetime, *, first: datetime | None = None,
    last: datetime | None = None,
) -> Node:  # fmt: skip
    """Writes one CLDT, with the first and last bag once they have come."""
    real = [el("FBAG", sis_time(first))] if first else []
    real += [el("LBAG", sis_time(last))] if last else []
    return el(
        "CLDT",
        "",
        el("BELT", belt),
        el("BCLS", "Y"),
        el("PCOT", sis_time(sodt + timedelta(minutes=10))),
        el("PCCT", sis_time(sodt + timedelta(minutes=50))),
        *real,
        el("BTYP", "D"),
        CLNO=str(number),
    )
