"""The reference data of a day: every category before the plan, and what changes of it later."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

from tests.aodb.airport import ABROAD, AGENTS, AIRLINES, DOMESTIC, FLIGHT_TYPES, HOME, TYPES
from tests.aodb.cast import TRAFFIC_FROM, TRAFFIC_TO, Cast
from tests.aodb.draft import Draft
from tests.aodb.reference_odd import refused_drafts
from tests.aodb.reference_records import KEY_TAGS, record, state
from tests.aodb.sis import Node, el, sis_time

SENDER = "AODBREF"
_MIN = timedelta(minutes=1)
_FIRST_AT = 5 * _MIN
RESOURCES = (("GATE", "01"), ("STND", "011"), ("BELT", "03"), ("CNTR", "A01"), ("GATE", "02"))
SOME_KEYS: dict[str, list[str]] = {
    "COUL": ["CN", "KR", "SG", "AE", "FR", "JP", "TH"],
    "ARPT": [HOME, *DOMESTIC, *ABROAD],
    "AIRL": [two for two, _ in AIRLINES],
    "AIRC": list(TYPES),
    "REGN": ["B1001", "B1002"],
    "ORGN": [*AGENTS, "SHOP1"],
    "FLTL": list(FLIGHT_TYPES),
    "TLST": ["T2", "T3", "T5"],
    "GLST": [f"{n:02d}" for n in range(1, 60)],
    "SLST": [f"{n:03d}" for n in range(1, 90)],
    "CLST": [f"A{n:02d}" for n in range(1, 21)],
    "BLST": [f"{n:02d}" for n in range(1, 16)],
    "CHLT": [f"A{n:02d}" for n in range(1, 6)],
}


def reference_drafts(rng: random.Random, made: Cast) -> list[Draft]:
    """Makes every reference message of a day."""
    keys = _keys(made)
    whole = {
        category: draft(category, "DNLD", [record(rng, category, key) for key in found])
        for category, found in keys.items()
    }
    for place, one in enumerate(whole.values()):
        one.due = _FIRST_AT + place * _MIN / 2
    later = [*_increments(rng, keys), *_replacements(rng, keys)]
    later += refused_drafts(rng, draft)
    later += _unanswered(rng)
    for one in later:
        one.due = TRAFFIC_FROM + rng.random() * (TRAFFIC_TO - TRAFFIC_FROM)
    drafts = [*whole.values(), *later, *_states(rng, made)]
    return [*drafts, *_repeats(rng, whole["GLST"], later)]


def draft(
    category: str, action: str, records: list[Node], *, recs: str | None = None, label: str = ""
) -> Draft:
    """Makes the draft of one reference message; RECS is right unless given, empty: absent."""
    number = str(len(records)) if recs is None else recs
    return Draft(
        due=timedelta(),
        type=category,
        styp=action,
        body=(*((el("RECS", number),) if number else ()), *records),
        label=label or f"reference {category} {action}",
        sndr=SENDER,
    )


def _keys(made: Cast) -> dict[str, list[str]]:
    """Lists the keys of each category; of registrations those of the day's flights."""
    return SOME_KEYS | {"REGN": sorted({life.leg.reno for life in made.lives})}


def _increments(rng: random.Random, keys: dict[str, list[str]]) -> Iterator[Draft]:
    """Makes ADD, UPD and DEL of every category: known and unknown keys, one and several."""
    for category, known in keys.items():
        some = rng.sample(known, 2)
        yield draft(category, "ADD", [record(rng, category, f"N{rng.randrange(100)}")])
        yield draft(category, "UPD", [record(rng, category, key) for key in some])
        bare = [el(category, "", el(KEY_TAGS[category], key)) for key in (some[0], "GHOST")]
        yield draft(category, "DEL", bare)
        again = record(rng, category, some[0])
        yield draft(category, rng.choice(("ADD", "UPD")), [again], recs=rng.choice(("", "7")))
        yield draft(category, "DEL", [record(rng, category, "N1")], recs=rng.choice(("1", "3")))


def _replacements(rng: random.Random, keys: dict[str, list[str]]) -> Iterator[Draft]:
    """Makes new whole packages of some categories; what they lack is gone."""
    for category in ("GLST", "SLST", "CLST", "CHLT", "ORGN"):
        kept = keys[category][: len(keys[category]) // 2 + 1]
        yield draft(category, "DNLD", [record(rng, category, key) for key in kept])


def _states(rng: random.Random, made: Cast) -> Iterator[Draft]:
    """Makes what happens to resources: windows, ends that are open, events in pairs."""
    for hours in range(5, 23, 3):
        now = made.midnight + timedelta(hours=hours)
        begin, end = sis_time(now, rng), sis_time(now + timedelta(hours=2), rng)
        windows = (
            {"stat": "D", "begin": begin, "end": end},
            {"stat": "D", "begin": begin, "end": rng.choice(("", None))},
            {"stat": "D", "end": end},
            {"stat": "D"},
            {"stat": "E", "begin": begin, "end": rng.choice(("", None))},
        )
        for place, at in enumerate(rng.sample(RESOURCES, 3)):
            one = draft(
                "RSTA", "DNLD", [state(*at, **rng.choice(windows))], recs=("", "1")[hours % 2]
            )
            one.due = timedelta(hours=hours, minutes=place)
            yield one
        pair = [state("GATE", "01", **rng.choice(windows)), state("GATE", "01", stat="E")]
        several = draft("RSTA", "DNLD", [*pair, state("CNTR", f"A{hours:02d}", stat="D")])
        several.due = timedelta(hours=hours, minutes=30)
        yield several


def _unanswered(rng: random.Random) -> Iterator[Draft]:
    """Makes answers that nobody asked for, and what RSTA does not know."""
    for category in ("GLST", "AIRL"):
        yield draft(category, "RESP", [record(rng, category, "R1")], label="no request")
    yield draft("RSTA", "RESP", [state("GATE", "09", stat="D")], label="no request")
    for action in ("ADD", "UPD", "DEL"):
        body = [state("GATE", "01", stat="D")]
        yield draft("RSTA", action, body, label="unsupported: RSTA")


def _repeats(rng: random.Random, whole: Draft, later: list[Draft]) -> Iterator[Draft]:
    """Sends some again: the same content, then another under its identity."""
    increments = [one for one in later if one.label.endswith(("UPD", "DEL"))]
    for original in (whole, *rng.sample(increments, 3)):
        due = max(original.due, TRAFFIC_FROM) + _MIN
        yield replace(original, due=due, repeats=original, label="duplicate", index=-1)
        more = (*original.body, el("XTRA", "1"))
        yield replace(
            original, due=due + _MIN, repeats=original, label="conflict", index=-1, body=more
        )
