"""Builds a whole day: drafts in order of time, sealed into messages, judged one by one."""

import random
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from tests.aodb import odd
from tests.aodb.cast import RESYNC_AT, TRAFFIC_FROM, TRAFFIC_TO, Cast, Life, cast
from tests.aodb.draft import Draft, flop_draft, offset
from tests.aodb.model import Day, Planned
from tests.aodb.oracle import Oracle
from tests.aodb.packages import announcements, plans, remnants, sharing, updates
from tests.aodb.reference import reference_drafts
from tests.aodb.sis import Meta, any_layout, other_layout, render
from tests.aodb.stream import Event, one_tag, padding, story

SMALLEST = 12
_FIRST_SEQN = 100_001
_REPEATED = 0.008
_MOST_LATE_BY = 60


def build_day(
    *,
    seed: int,
    flights: int = 300,
    day: date = date(2026, 6, 15),
    messages_per_flight: int = 20,
    reference: bool = True,
) -> Day:
    """Builds the day of a seed: the same arguments give the same day, byte for byte.

    Without `reference` it has no message that refdata must execute; the flights are the same.

    Raises:
        ValueError: too few flights to deal out the parts.
    """
    if flights < SMALLEST:
        raise ValueError(f"a day needs at least {SMALLEST} flights")
    rng = random.Random(f"{seed} {flights} {day.isoformat()} {messages_per_flight}")
    made = cast(rng, flights, day)
    drafts = _regular(rng, made, flights * messages_per_flight)
    drafts += _repeats(rng, made, drafts)
    if reference:  # dice of its own: the flights do not depend on it
        drafts += reference_drafts(random.Random(f"reference {seed}"), made)
    drafts.sort(key=lambda draft: draft.due)
    return _judged(seed, day, _sealed(rng, made.midnight, drafts), drafts)


def _regular(rng: random.Random, made: Cast, wanted: int) -> list[Draft]:
    before, yesterday = remnants(rng, made)
    drafts = [*before, *plans(rng, made), *announcements(rng, made), *updates(rng, made)]
    drafts += sharing(rng, made)
    drafts += _odd(rng, made)
    for leg in yesterday:
        late_life = Life(leg=leg)
        drafts += _events(rng, made, late_life, story(rng, leg, None)[-6:])
    most = round(wanted / len(made.lives) * 1.3)
    for life in made.lives:
        events = story(rng, life.leg, life.reserved)
        drafts += _events(rng, made, life, events[-most:] if most else [])
        if life.reserved is not None:
            drafts.append(_late(rng, made, life, life.reserved))
    while len(drafts) < wanted:
        life = rng.choice(made.lives)
        drafts += _events(rng, made, life, [padding(rng, life.leg, life.reserved)])
    return drafts


def _events(rng: random.Random, made: Cast, life: Life, events: list[Event]) -> Iterator[Draft]:
    """Makes the drafts of a flight's events; few of those that would meet it deleted remain."""
    floor = max(TRAFFIC_FROM, (life.born or timedelta()) + timedelta(minutes=1))
    if life.born is not None and events and rng.random() < 0.1:
        first, due = events[0], life.born - timedelta(minutes=3)
        yield flop_draft(life.leg, first.styp, first.nodes, due=due, label="too early")
    for event in events:
        due = offset(event.at, made.midnight, floor)
        if not life.gone_at(due) or rng.random() < 0.15:
            flid = life.leg.flid.rjust(12, "0") if rng.random() < 0.01 else None
            yield flop_draft(life.leg, event.styp, event.nodes, due=due, flid=flid)


def _late(rng: random.Random, made: Cast, life: Life, styp: str) -> Draft:
    at = life.leg.sodt - timedelta(minutes=rng.randrange(10, 200))
    due = offset(at, made.midnight, TRAFFIC_FROM)
    nodes = one_tag(rng, life.leg, styp)
    draft = flop_draft(life.leg, styp, nodes, due=due, label=f"late {styp}")
    draft.late_by = rng.choice((1, 1, 1, 2, 5, 20, _MOST_LATE_BY))
    return draft


def _odd(rng: random.Random, made: Cast) -> Iterator[Draft]:
    legs = [life.leg for life in made.quiet()]
    for make in (odd.spoiled, odd.refused, odd.layouts):
        for draft in make(rng, rng.choice(legs), timedelta()):
            draft.due = _some_time(rng)
            yield draft
    for drafts in (
        odd.bad_packages(rng, rng.sample(legs, 2), timedelta()),
        odd.unsupported(rng.choice(legs), timedelta()),
    ):
        for draft in drafts:
            draft.due = _some_time(rng)
            yield draft
    yield from odd.without_effect(rng, rng.sample(legs, 2), _some_time(rng))


def _some_time(rng: random.Random) -> timedelta:
    return TRAFFIC_FROM + rng.random() * (TRAFFIC_TO - TRAFFIC_FROM)


def _repeats(rng: random.Random, made: Cast, drafts: list[Draft]) -> Iterator[Draft]:
    """Repeats a share of the plain events, each later than the first time."""
    plain = [
        draft
        for draft in drafts
        if draft.label.startswith("flop ") and draft.due > RESYNC_AT and draft.styp != "FDEL"
    ]
    for original in rng.sample(plain, min(len(plain), max(3, round(len(plain) * _REPEATED)))):
        later = original.due + timedelta(seconds=rng.randrange(1, 3600))
        yield from odd.repeated(rng, original, later)


def _sealed(rng: random.Random, midnight: datetime, drafts: list[Draft]) -> list[str]:
    """Gives each draft its index, SEQN and layout, and writes it."""
    texts = []
    for index, draft in enumerate(drafts):
        draft.index = index
        first = draft.repeats
        draft.seqn = first.seqn if first else f"{_FIRST_SEQN + index:06d}"
        if draft.layout is None:
            known = first.layout if first else None
            draft.layout = other_layout(known) if known else any_layout(rng)
        dttm = f"{midnight + draft.due:%Y%m%d%H%M%S}"
        meta = Meta(draft.sndr, draft.type, draft.styp, draft.seqn, dttm)
        text = render(meta, draft.body, draft.layout)
        texts.append(draft.mangle(text) if draft.mangle else text)
    return texts


def _judged(seed: int, day: date, texts: list[str], drafts: list[Draft]) -> Day:
    """Lets the oracle judge in landing order; only one row at a time is late."""
    oracle = Oracle()
    messages = []
    free = 0
    for index, (text, draft) in enumerate(zip(texts, drafts, strict=True)):
        commits_after = index
        if draft.late_by and index >= free:
            commits_after = min(index + draft.late_by, len(drafts) - 1)
            free = commits_after + 1
        messages.append(
            Planned(
                index,
                text,
                due=draft.due,
                expected=oracle.judge(index, text),
                flids=draft.flids,
                label=draft.label,
                commits_after=commits_after,
            )
        )
    return Day(
        seed,
        day,
        messages=tuple(messages),
        flights=oracle.flights(),
        reference=oracle.reference(),
    )
