"""Gives each flight of a day its part: when it is announced, deleted and restored, and which
tag is kept free for a late message."""

import random
from dataclasses import KW_ONLY, dataclass
from datetime import date, datetime, timedelta

from tests.aodb.airport import Leg, plan_legs

PLAN_AT = timedelta(minutes=30)
RESYNC_AT = timedelta(hours=4)
TRAFFIC_FROM = RESYNC_AT + timedelta(minutes=10)
TRAFFIC_TO = timedelta(hours=23, minutes=30)

_LATE_TAGS = ("FINT", "BDPB", "PADT", "FTSS", "VIPP", "REMC", "MAXP")


@dataclass(slots=True, kw_only=True, eq=False)
class Life:
    """A flight and its fate, as offsets of the day.

    `born` None: the plan brings it. `lost`: the resync lacks it. `reserved`: the STYP that only
    one late message of this flight uses.
    """

    leg: Leg
    born: timedelta | None = None
    lost: bool = False
    dies: timedelta | None = None
    reborn: timedelta | None = None
    reserved: str | None = None

    @property
    def quiet(self) -> bool:
        """Says whether nothing unusual happens to this flight."""
        return (
            self.born is None and not self.lost and self.dies is None and self.reserved is None
            and self.leg.main is None
        )  # fmt: skip

    def gone_at(self, at: timedelta) -> bool:
        """Says whether the flight is deleted at `at`."""
        gone = RESYNC_AT if self.lost else self.dies
        return gone is not None and at >= gone and (self.reborn is None or at < self.reborn)


@dataclass(frozen=True, slots=True)
class Cast:
    """All flights of the day with their parts."""

    day: date
    lives: tuple[Life, ...]
    _: KW_ONLY
    shared: frozenset[str]

    @property
    def midnight(self) -> datetime:
        """Returns the beginning of the day, airport-local."""
        return datetime.combine(self.day, datetime.min.time())

    def quiet(self) -> list[Life]:
        """Returns the flights that the odd messages may use."""
        return [life for life in self.lives if life.quiet]


def cast(rng: random.Random, flights: int, day: date) -> Cast:
    """Plans the flights of a day and deals out the parts."""
    legs = plan_legs(rng, flights, day)
    lives = [Life(leg=leg) for leg in legs]
    mains = frozenset(leg.main[2] for leg in legs if leg.main)
    made = Cast(day, tuple(lives), shared=mains)
    plain = [life for life in lives if life.leg.main is None and life.leg.flid not in mains]
    codeshares = [life for life in lives if life.leg.main is not None]
    busy_mains = [life for life in lives if life.leg.flid in mains]
    rng.shuffle(plain)
    deck = iter(plain)
    share = max(1, flights // 20)
    for life, _ in zip(deck, range(share), strict=False):
        life.born = _before(rng, made, life, 3)
    for n, (life, _) in enumerate(zip(deck, range(max(2, share // 2)), strict=False)):
        life.lost = True
        life.reborn = _before(rng, made, life, 1) if n % 2 == 0 else None
    dying = [life for life, _ in zip(deck, range(share), strict=False)]
    for n, life in enumerate([*dying, *codeshares[: max(1, share // 3)], *busy_mains[:1]]):
        life.dies = _before(rng, made, life, 2)
        if n % 3 == 1:
            life.reborn = life.dies + timedelta(minutes=rng.randrange(10, 60))
    for life, _ in zip(deck, range(max(2, flights // 12)), strict=False):
        life.reserved = rng.choice(_LATE_TAGS)
    return made


def _before(rng: random.Random, made: Cast, life: Life, hours: int) -> timedelta:
    """Picks a moment in the two hours that end `hours` before the flight."""
    at = life.leg.sodt - made.midnight - timedelta(hours=hours, minutes=rng.randrange(120))
    return max(at, TRAFFIC_FROM + timedelta(seconds=rng.randrange(1800)))
