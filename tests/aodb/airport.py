"""The world behind a day: airlines, turnarounds, codeshares, and the flights they make."""

import random
from dataclasses import KW_ONLY, dataclass, replace
from datetime import date, datetime, time, timedelta

HOME = "XIY"
AIRLINES = (
    ("MU", "CES"), ("CZ", "CSN"), ("CA", "CCA"), ("HU", "CHH"), ("3U", "CSC"), ("9C", "CQH"),
    ("ZH", "CSZ"), ("GS", "GCR"), ("KE", "KAL"), ("SQ", "SIA"), ("EK", "UAE"), ("AF", "AFR"),
)  # fmt: skip
DOMESTIC = ("PEK", "PKX", "SHA", "PVG", "CAN", "SZX", "CTU", "KMG", "URC", "HAK", "LHW", "INC")
ABROAD = ("ICN", "SIN", "DXB", "CDG", "NRT", "BKK", "HKG", "TPE")
TYPES = ("320", "321", "738", "73H", "332", "333", "789", "E90", "077", "772")
AGENTS = ("XAGS", "MUGS", "CZGS", "HUGS")
FLIGHT_TYPES = ("J", "C", "G", "H", "F")

_SHARE_OF_CODESHARES = 0.1
_BUSY = (2, 4, 6, 6, 5, 4, 4, 4, 5, 5, 5, 6, 6, 5, 4, 3, 2)


@dataclass(frozen=True, slots=True)
class Leg:
    """One flight as planned; `main` and `link` name the flight it shares or is linked to."""

    flid: str
    mvin: str
    _: KW_ONLY
    airline: tuple[str, str]
    flno: str
    sodt: datetime
    flin: str
    flty: str
    acft: str
    reno: str
    terminal: str
    stand: str
    gate: str
    route: tuple[str, ...]
    agents: tuple[str, str, str]
    link: "tuple[str, str, str] | None" = None
    main: "tuple[str, str, str] | None" = None

    @property
    def departs(self) -> bool:
        """Says whether this is a departure."""
        return self.mvin == "D"


def plan_legs(rng: random.Random, flights: int, day: date) -> tuple[Leg, ...]:
    """Plans a day: turnarounds, single legs, and one flight in ten a codeshare."""
    shared = round(flights * _SHARE_OF_CODESHARES) if flights > 1 else 0
    flids = _flids(rng, flights)
    own: list[Leg] = []
    while len(own) < flights - shared:
        first = _leg(rng, flids[len(own)], "A", _busy_time(rng, day))
        if len(own) + 1 < flights - shared and rng.random() < 0.85:
            own.extend(_turnaround(rng, first, flids[len(own) + 1]))
        else:
            own.append(first if rng.random() < 0.5 else replace(first, mvin="D"))
    mains = [rng.choice(own[: max(1, len(own) // 2)]) for _ in range(shared)]
    legs = own + [_codeshare(rng, main, flids[len(own) + n]) for n, main in enumerate(mains)]
    return tuple(sorted(legs, key=lambda leg: (leg.sodt, int(leg.flid))))


def extra_leg(rng: random.Random, flid: str, sodt: datetime) -> Leg:
    """Plans one single leg, for flights that are announced apart from the plan."""
    return _leg(rng, flid, rng.choice("AD"), sodt)


def share(rng: random.Random, main: Leg, flid: str) -> Leg:
    """Plans one codeshare of `main`."""
    return _codeshare(rng, main, flid)


def _flids(rng: random.Random, count: int) -> list[str]:
    numbers = rng.sample(range(count * 7), count)
    flids = [str(2_600_100_000 + number) for number in numbers]
    flids[0] = str(7)
    flids[-1] = str(9_800_000_000_000_000_001)
    return flids


def _busy_time(rng: random.Random, day: date) -> datetime:
    hour = rng.choices(range(6, 23), weights=_BUSY)[0]
    return datetime.combine(day, time(hour, 5 * rng.randrange(12)))


def _leg(rng: random.Random, flid: str, mvin: str, sodt: datetime) -> Leg:
    airline = rng.choice(AIRLINES)
    abroad = rng.random() < 0.2
    stops = rng.choices((1, 2, 3, 5), weights=(80, 14, 4, 2))[0]
    route = rng.sample(DOMESTIC, stops)
    if abroad:
        route[0] = rng.choice(ABROAD)
    return Leg(
        flid,
        mvin,
        airline=airline,
        flno=f"{airline[0]}{rng.randrange(100, 9999)}",
        sodt=sodt,
        flin=rng.choice("IM") if abroad else "D",
        flty=rng.choices(FLIGHT_TYPES, weights=(85, 5, 4, 3, 3))[0],
        acft=rng.choice(TYPES),
        reno=f"B{rng.randrange(1000, 9999)}",
        terminal=rng.choice(("T2", "T3", "T5")),
        stand=f"{rng.randrange(1, 90):03d}",
        gate=f"{rng.randrange(1, 60):02d}",
        route=tuple(route),
        agents=(rng.choice(AGENTS), rng.choice(AGENTS), rng.choice(AGENTS)),
    )


def _turnaround(rng: random.Random, arrival: Leg, flid: str) -> tuple[Leg, Leg]:
    leaves = arrival.sodt + timedelta(minutes=5 * rng.randrange(9, 30))
    if leaves.date() != arrival.sodt.date():
        leaves = datetime.combine(arrival.sodt.date(), time(23, 55))
    number = int(arrival.flno[2:]) + 1
    departure = replace(
        _leg(rng, flid, "D", leaves),
        airline=arrival.airline,
        flno=f"{arrival.airline[0]}{number}",
        flin=arrival.flin,
        acft=arrival.acft,
        reno=arrival.reno,
        stand=arrival.stand,
        link=(arrival.airline[0], arrival.flno, arrival.flid),
    )
    return replace(arrival, link=(departure.airline[0], departure.flno, flid)), departure


def _codeshare(rng: random.Random, main: Leg, flid: str) -> Leg:
    airline = rng.choice([one for one in AIRLINES if one != main.airline])
    return replace(
        main,
        flid=flid,
        airline=airline,
        flno=f"{airline[0]}{rng.randrange(5000, 9999)}",
        link=None,
        main=(main.airline[0], main.flno, main.flid),
    )
