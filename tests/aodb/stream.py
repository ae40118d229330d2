"""The operational life of one flight as FLOP events, in the order an airport sends them."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

from tests.aodb.airport import AGENTS, DOMESTIC, TYPES, Leg
from tests.aodb.schedule import belt_row, counter_rows, gate_row, stand_row
from tests.aodb.sis import Node, el, sis_time

_MIN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Event:
    """One event: when, which STYP, and its content."""

    at: datetime
    styp: str
    nodes: tuple[Node, ...]


def story(rng: random.Random, leg: Leg, reserved: str | None) -> list[Event]:
    """Tells the usual events of a flight with some of the rare ones, in order of time."""
    delay = rng.choices((-5, 0, 10, 35, 120), weights=(2, 4, 4, 2, 1))[0] * _MIN
    real = leg.sodt + delay
    events = [*_forecast(rng, leg, real), *_rare(rng, leg, real)]
    events += _departure(rng, leg, real) if leg.departs else _arrival(rng, leg, real)
    if delay >= 35 * _MIN:
        events.append(Event(real - 20 * _MIN, "DELY", _delays(rng, leg, delay)))
    return sorted((e for e in events if e.styp != reserved), key=lambda event: event.at)


def padding(rng: random.Random, leg: Leg, reserved: str | None) -> Event:
    """Makes one more plausible event at some time before the flight."""
    at = leg.sodt - timedelta(minutes=rng.randrange(15, 300), seconds=rng.randrange(60))
    soon = leg.sodt + rng.randrange(-10, 60) * _MIN
    kinds = (*_PADDING, "GTDT" if leg.departs else "CLDT")
    styp = rng.choice([kind for kind in kinds if kind != reserved])
    nodes: tuple[Node, ...]
    match styp:
        case "ESTT":
            nodes = (el("ESTT", sis_time(soon, rng)),)
        case "STND":
            nodes = (el("STND", f"{rng.randrange(1, 90):03d}"),)
        case "PSDT":
            nodes = (stand_row(1, f"{rng.randrange(1, 90):03d}", soon, None),)
        case "GTDT":
            nodes = (gate_row(1, f"{rng.randrange(1, 60):02d}", soon),)
        case "CLDT":
            nodes = (belt_row(1, f"{rng.randrange(1, 16):02d}", soon),)
        case "HNAG":
            nodes = (el("MHAG", rng.choice(AGENTS)), el("PHAG", rng.choice(AGENTS)))
        case _:
            nodes = (el(styp, _word(rng, styp, soon)),)
    return Event(at, styp, nodes)


def one_tag(rng: random.Random, leg: Leg, styp: str) -> tuple[Node, ...]:
    """Writes a value for a scalar STYP, for the events that come late."""
    return (el(styp, _word(rng, styp, leg.sodt - rng.randrange(90) * _MIN)),)


_PADDING = (
    "ESTT", "ESTT", "STND", "PSDT", "MAXP", "REMC", "FTSS", "PADT", "BDPB", "HNAG", "VIPP",
)  # fmt: skip
_REMARKS = (
    "旅客晚到", "除冰", "AOG 待件", "𠮷祥 😀 boarding slow", "等待机组 <2>",
    "A&B \"stand\" 'x'",
)  # fmt: skip


def _word(rng: random.Random, styp: str, at: datetime) -> str:
    match styp:
        case "MAXP":
            return rng.choice((f"{rng.randrange(50, 420)}", f"0{rng.randrange(50, 420)}"))
        case "REMC":
            return f"{rng.choice(_REMARKS)} {rng.randrange(1000)}"
        case "BDPB" | "VIPP":
            return rng.choice(("Y", "1", f"V{rng.randrange(9)}"))
        case "TRML":
            return rng.choice(("T2", "T3", "T5"))
        case _:
            return sis_time(at, rng)


def _forecast(rng: random.Random, leg: Leg, real: datetime) -> list[Event]:
    """What is known or changes hours before."""
    t = leg.sodt
    events = [
        Event(t - timedelta(hours=6), "RENO", (el("RENO", leg.reno),)),
        Event(t - timedelta(hours=5), "STND", (el("STND", leg.stand),)),
        Event(t - timedelta(hours=4), "HNAG", _agents(rng, leg)),
    ]
    for hours in (3, 2, 1):
        guess = real + rng.randrange(-8, 9) * _MIN
        at = t - timedelta(hours=hours) + rng.randrange(30) * _MIN
        events.append(Event(at, "ESTT", (el("ESTT", sis_time(guess, rng)),)))
    return events


def _agents(rng: random.Random, leg: Leg) -> tuple[Node, ...]:
    ramp = leg.agents[1] if rng.random() < 0.8 else ""
    agents = [el("FHAG", ramp), el("PHAG", leg.agents[0])]
    if rng.random() < 0.5:
        agents.append(el("MHAG", rng.choice(AGENTS)))
    return tuple(agents)


def _chock(leg: Leg, number: int, at: datetime | None, kind: str) -> Node:
    time = el("CHTM", sis_time(at)) if at else el("CHTM")
    return el("CHOT", "", time, el("CHID", kind), el("CHST", leg.stand), CSNO=str(number))


def _bridge(number: int, at: datetime, kind: str) -> Node:
    dock = (el("ABDG", f"0{number}"), el("ABOP", kind), el("AOTM", sis_time(at)))
    return el("ABTM", "", *dock, ASNO=str(number))


def _arrival(rng: random.Random, leg: Leg, real: datetime) -> list[Event]:
    belt = f"{rng.randrange(1, 16):02d}"
    first, last = real + 18 * _MIN, real + 40 * _MIN
    events = [
        Event(real - 90 * _MIN, "CLDT", (belt_row(1, belt, real),)),
        Event(real - 30 * _MIN, "PADT", (el("PADT", sis_time(real - 100 * _MIN)),)),
        Event(real + 6 * _MIN, "CHOT", (_chock(leg, 1, real + 5 * _MIN, "ON"),)),
        Event(real + 7 * _MIN, "ACTT", (el("ACTT", sis_time(real, rng)),)),
        Event(real + 9 * _MIN, "ABTM", (_bridge(1, real + 8 * _MIN, "A"),)),
        Event(first, "CLDT", (belt_row(1, belt, real, first=first),)),
        Event(last, "CLDT", (belt_row(1, belt, real, first=first, last=last),)),
        Event(last + 15 * _MIN, "CLDT", (el("CLDT", "", CLNO="0"),)),
    ]
    if rng.random() < 0.5:
        events.append(Event(real + 10 * _MIN, "FINT", (el("FINT", sis_time(real)),)))
    return events


def _departure(rng: random.Random, leg: Leg, real: datetime) -> list[Event]:
    opened = real - 42 * _MIN
    chute = el("CHUT", f"{rng.randrange(1, 30):02d}")
    began = (el("PCBT", sis_time(real - 150 * _MIN)), el("PCET", sis_time(real - 30 * _MIN)))
    events = [
        Event(real - 185 * _MIN, "CKDT", tuple(counter_rows(rng, leg))),
        Event(real - 178 * _MIN, "CKDT", tuple(counter_rows(rng, leg, real - 180 * _MIN))),
        Event(real - 150 * _MIN, "CHDT",
              (el("CHDT", "", chute, el("CCLS", "Y"), *began, el("CTYP", "D"), CHNO="1"),)),
        Event(real - 110 * _MIN, "GTDT", (gate_row(1, leg.gate, real),)),
        Event(real - 44 * _MIN, "CKDT", (el("CKDT", "", CKNO="0"),)),
        Event(opened, "GTDT", (gate_row(1, leg.gate, real, opened=opened),)),
        Event(real - 35 * _MIN, "BOTM", (el("BOTM", sis_time(real - 35 * _MIN, rng)),)),
        Event(real - 15 * _MIN, "LACL", (el("LACL", sis_time(real - 15 * _MIN)),)),
        Event(real - 9 * _MIN, "GTDT",
              (gate_row(1, leg.gate, real, opened=opened, closed=real - 9 * _MIN),)),
        Event(real - 8 * _MIN, "ABTM",
              (_bridge(1, real - 40 * _MIN, "A"), _bridge(2, real - 8 * _MIN, "D"))),
        Event(real - 4 * _MIN, "CHOT",
              (_chock(leg, 1, None, "ON"), _chock(leg, 2, real - 5 * _MIN, "OFF"))),
        Event(real + _MIN, "ACTT", (el("ACTT", sis_time(real)),)),
        Event(real + 5 * _MIN, "CHDT", (el("CHDT", "", CHNO="0"),)),
    ]  # fmt: skip
    if rng.random() < 0.1:
        events.append(Event(real - 12 * _MIN, "LACL", (el("LACL"),)))
    if rng.random() < 0.1:
        events.append(Event(real - 30 * _MIN, "BOTM", (el("BOTM"),)))
    return events


def _delays(rng: random.Random, leg: Leg, delay: timedelta) -> tuple[Node, ...]:
    minutes = int(delay / _MIN)
    dura = f"{minutes // 60:02d}{minutes % 60:02d}"
    start = sis_time(leg.sodt)
    rows = [el("DELY", "流量控制", CODE="081", STRT=start, DURA=dura)]
    if rng.random() < 0.4:
        rows.append(el("DELY", CODE="93", STRT=start, DURA="0015"))
    return tuple(rows)


def _rare(rng: random.Random, leg: Leg, real: datetime) -> list[Event]:
    """What few flights meet: each entry is a chance and the events that go together."""
    t = leg.sodt
    points = rng.sample(DOMESTIC, rng.choice((1, 2, 5, 6)))
    route = tuple(
        el("ROUT", "", el("APCD", port), RTNO=str(place))
        for place, port in enumerate(points, 1)
    )
    midnight = real.replace(hour=0, minute=0)
    chances: tuple[tuple[float, list[Event]], ...] = (
        (0.05, [Event(t - 200 * _MIN, "CNCL", (el("CNCL", sis_time(t - 200 * _MIN)),)),
                Event(t - 160 * _MIN, "CNCL", (el("CNCL"),))]),
        (0.03, [Event(t - 40 * _MIN, "CNCL", (el("CNCL", sis_time(t - 41 * _MIN)),))]),
        (0.05, [Event(t - 25 * _MIN, "FDIV", (el("FDIV", "天气", DDES="CTU", DDIR="TO"),))]),
        (0.04, [Event(t - 28 * _MIN, "FDIV", (el("FDIV", DDES="PEK", DDIR="FROM"),)),
                Event(t - 21 * _MIN, "FDIV", (el("FDIV", "改回", DDES="", DDIR="TO"),))]),
        (0.04, [Event(real + 8 * _MIN, "FRET", (el("FRET", "返航", REID="A"),))]),
        (0.03, [Event(real - 8 * _MIN, "FRET", (el("FRET", REID="G"),)),
                Event(real + 12 * _MIN, "FRET", (el("FRET"),))]),
        (0.10, [Event(t - 170 * _MIN, "ROUT", route)]),
        (0.10, [Event(t - 210 * _MIN, "ACFT", (el("ACFT", rng.choice(TYPES)),))]),
        (0.02, [Event(t - 205 * _MIN, "ACFT", (el("ACFT"),))]),
        (0.04, [Event(t - 190 * _MIN, "FLTY", (el("FLTY", "Z"),))]),
        (0.04, [Event(t - 188 * _MIN, "FLIN", (el("FLIN", "M"),))]),
        (0.10, [Event(t - 150 * _MIN, "TRML", (el("TRML", "T1"),))]),
        (0.03, [Event(t - 140 * _MIN, "TRML", (el("TRML"),))]),
        (0.05, [Event(t - 130 * _MIN, "TAOP", (el("TAOP"), el("TAFL"), el("TAID")))]),
        (0.05, [Event(t - 120 * _MIN, "TAOP",
                      (el("TAOP", "MU"), el("TAFL", "MU2150"), el("TAID", "0002600100999")))]),
        (0.06, [Event(t - 115 * _MIN, "VIPP", (el("VIPP", "Y"), el("VIPR", "首长 + 2")))]),
        (0.03, [Event(t - 80 * _MIN, "VIPP", (el("VIPP"), el("VIPR")))]),
        (0.04, [Event(t - 95 * _MIN, "MAXP", (el("MAXP"),))]),
        (0.04, [Event(t - 85 * _MIN, "RENO", (el("RENO"),)),
                Event(t - 75 * _MIN, "RENO", (el("RENO", f"B{rng.randrange(1000, 9999)}"),))]),
        (0.05, [Event(t - 65 * _MIN, "ESTT", (el("ESTT"),))]),
        (0.03, [Event(t - 62 * _MIN, "ESTT", (el("ESTT", sis_time(midnight)[:7] + "2400"),))]),
        (0.05, [Event(real + 15 * _MIN, "DELY", (el("DELY"),))]),
        (0.05, [Event(t - 55 * _MIN, "REMC", (el("REMC"),))]),
        (0.05, [Event(t - 100 * _MIN, "PSDT",
                      (stand_row(1, "011", t, t + 30 * _MIN), stand_row(2, "011", t, None)))]),
        (0.03, [Event(t - 98 * _MIN, "PSDT", (el("PSDT", "", PSNO="0"),))]),
        (0.03, [Event(t - 96 * _MIN, "GTDT", (el("GTDT", "", GTNO="0"),))]),
        (0.02, [Event(t - 94 * _MIN, "CLDT", (el("CLDT"),))]),
    )  # fmt: skip
    return [event for chance, events in chances if rng.random() < chance for event in events]
