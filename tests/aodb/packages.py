"""The packages and single announcements of a day: what comes before the plan, the plan, the
resync, and the changes after it."""

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta

from tests.aodb.airport import Leg, extra_leg, share
from tests.aodb.cast import PLAN_AT, RESYNC_AT, TRAFFIC_FROM, Cast, Life
from tests.aodb.draft import Draft, flop_draft
from tests.aodb.schedule import fltr, gate_row, known, package
from tests.aodb.sis import Node, el, sis_time

_MIN = timedelta(minutes=1)
_FOREIGN = 5_500_000_000


def schedule_draft(
    styp: str, legs: Iterable[Leg], records: Iterable[Node], *, due: timedelta, label: str
) -> Draft:
    """Makes the draft of one SCHD package."""
    return Draft(
        due=due,
        type="SCHD",
        styp=styp,
        body=package(records),
        flids=tuple(leg.flid for leg in legs),
        label=label,
    )


def remnants(rng: random.Random, made: Cast) -> tuple[list[Draft], list[Leg]]:
    """Makes what stands before the plan: yesterday's late flights, which stay; flights that the
    plan lacks (deleted by absence); flights that it knows otherwise (cleared by C-6)."""
    few = max(2, len(made.lives) // 40)
    yesterday = [
        extra_leg(rng, str(_FOREIGN + n), made.midnight - rng.randrange(30, 300) * _MIN)
        for n in range(few)
    ]
    noon = made.midnight + timedelta(hours=12)
    stale = [
        extra_leg(rng, str(_FOREIGN + 1000 + n), noon + rng.randrange(-300, 600) * _MIN)
        for n in range(few)
    ]
    known_before = [life.leg for life in made.quiet()[:few]]
    drafts = [
        schedule_draft("DNLD", yesterday, [fltr(rng, leg) for leg in yesterday],
                       due=_MIN, label="plan of yesterday"),
        *(_told(leg, fltr(rng, leg), 2 * _MIN, "adft before the plan") for leg in stale),
        *(_told_before(rng, leg) for leg in known_before),
    ]  # fmt: skip
    dayless = extra_leg(rng, str(_FOREIGN + 2000), made.midnight)
    drafts.append(
        schedule_draft("ADFT", [dayless], [fltr(rng, dayless, without=("SODT",))],
                       due=4 * _MIN, label="adft without a day")
    )  # fmt: skip
    return drafts, yesterday


def plans(rng: random.Random, made: Cast) -> list[Draft]:
    """Makes the plan of the day, and the resync that lacks some flights."""
    planned = [life for life in made.lives if life.born is None]
    kept = [life for life in planned if not life.lost]
    plan = _plan(rng, planned, PLAN_AT, "plan", without=("SRVT", "VIPF"))
    again = replace(plan, due=RESYNC_AT + _MIN, repeats=plan, label="duplicate", index=-1)
    same = replace(plan, due=PLAN_AT, label="plan repeated without a change", index=-1)
    return [plan, same, _plan(rng, kept, RESYNC_AT, "resync"), again]


def announcements(rng: random.Random, made: Cast) -> Iterator[Draft]:
    """Makes the ADFT and FDEL of the day that follow from each flight's part."""
    for life in made.lives:
        leg = life.leg
        if life.born is not None:
            yield _told(leg, fltr(rng, leg), life.born, "adft new")
        if life.dies is not None:
            yield _fdel(leg, life.dies, "fdel")
            if rng.random() < 0.6:
                yield _fdel(leg, life.dies + 5 * _MIN, "fdel repeated")
        if life.reborn is not None:
            told = known(leg, el("REMC", "恢复"), el("GTDT", "", GTNO="0"), el("VIPR"))
            yield schedule_draft("ADFT", [leg], [told], due=life.reborn, label="adft restores")


def updates(rng: random.Random, made: Cast) -> Iterator[Draft]:
    """Makes the ADFT that change flights, alone and in pairs, and one that changes nothing."""
    quiet = [life.leg for life in made.quiet() if life.leg.flid not in made.shared]
    for leg in rng.sample(quiet, max(1, len(quiet) // 15)):
        due = _due(rng, leg, made)
        told = (
            el("ESTT", sis_time(leg.sodt + 20 * _MIN, rng)),
            el("VIPP"),
            el("STND", f"{rng.randrange(1, 90):03d}"),
            gate_row(1, "88", leg.sodt),
            gate_row(2, "88", leg.sodt),
        )
        yield schedule_draft("ADFT", [leg], [known(leg, *told)], due=due, label="adft update")
        same = known(leg, el("FLNO", leg.flno), el("MVIN", leg.mvin))
        yield schedule_draft("ADFT", [leg], [same], due=due, label="adft without a change")
    pair = rng.sample(quiet, 2)
    told_pair = [known(leg, el("REMC", "航站楼变更"), el("TRML", "T9")) for leg in pair]
    due = TRAFFIC_FROM + 20 * _MIN
    yield schedule_draft("ADFT", pair, told_pair, due=due, label="adft update")


def sharing(rng: random.Random, made: Cast) -> Iterator[Draft]:
    """Makes the changes of who shares whose flight; MAFL must follow (R31, R41, G-MAFL)."""
    mains = [life.leg for life in made.quiet()]
    main, other = mains[0], mains[1]
    due = TRAFFIC_FROM + 30 * _MIN
    fresh = [share(rng, main, str(_FOREIGN + 3000 + n)) for n in range(3)]
    for n, leg in enumerate(fresh):
        yield _told(leg, fltr(rng, leg), due + n * _MIN, "adft shares")
    renamed = known(fresh[0], el("FLNO", "XX7777"))
    yield _told(fresh[0], renamed, due + 5 * _MIN, "adft renames a codeshare")
    moved = known(fresh[1], el("CSFT", other.flno), el("MAID", other.flid.rjust(19, "0")))
    yield _told(fresh[1], moved, due + 6 * _MIN, "adft moves a codeshare")
    freed = known(fresh[2], el("MAID"), el("CSOP"), el("CSFT"))
    yield _told(fresh[2], freed, due + 7 * _MIN, "adft makes a main")
    single = extra_leg(rng, str(_FOREIGN + 3100), main.sodt)
    yield _told(single, fltr(rng, single), due + 8 * _MIN, "adft new")
    bound = known(single, el("CSFT", main.flno), el("MAID", main.flid))
    yield _told(single, bound, due + 9 * _MIN, "adft makes a codeshare")
    late_main = extra_leg(rng, str(_FOREIGN + 3200), main.sodt)
    early = share(rng, late_main, str(_FOREIGN + 3201))
    yield _told(early, fltr(rng, early), due + 10 * _MIN, "adft shares what is not there")
    yield _told(late_main, fltr(rng, late_main), due + 15 * _MIN, "adft new")
    lost = share(rng, replace(late_main, flid=str(_FOREIGN + 3999)), str(_FOREIGN + 3202))
    yield _told(lost, fltr(rng, lost), due + 16 * _MIN, "adft shares what is not there")
    yield _fdel(fresh[0], due + 20 * _MIN, "fdel")


def _told(leg: Leg, record: Node, due: timedelta, label: str) -> Draft:
    return schedule_draft("ADFT", [leg], [record], due=due, label=label)


def _told_before(rng: random.Random, leg: Leg) -> Draft:
    more = (el("FINT", sis_time(leg.sodt)), el("FRET", "x", REID="G"), el("BDPB", "1"))
    record = fltr(rng, leg)
    record = replace(record, children=(*record.children, *more))
    return _told(leg, record, 3 * _MIN, "adft before the plan")


def _plan(
    rng: random.Random,
    lives: list[Life],
    due: timedelta,
    label: str,
    without: tuple[str, ...] = (),
) -> Draft:
    legs = [life.leg for life in lives]
    records = [fltr(rng, life.leg, without=(*without, life.reserved)) for life in lives]
    return schedule_draft("DNLD", legs, records, due=due, label=label)


def _fdel(leg: Leg, due: timedelta, label: str) -> Draft:
    return flop_draft(leg, "FDEL", (el("FDEL"),), due=due, label=label)


def _due(rng: random.Random, leg: Leg, made: Cast) -> timedelta:
    return max(leg.sodt - made.midnight - rng.randrange(30, 240) * _MIN, TRAFFIC_FROM)
