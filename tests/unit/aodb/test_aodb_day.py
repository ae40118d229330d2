"""A simulated day: the same for a seed, full of what the interface brings, and judged alike
whenever its late messages arrive."""

import re
from collections import Counter, defaultdict
from functools import cache
from itertools import pairwise

import pytest

from tests.aodb import Day, Planned, build_day
from tests.aodb.oracle import Oracle
from tests.aodb.oracle.reference_tables import KEYS
from tests.aodb.oracle.tables import FLOP_TAGS
from tests.aodb.sis import Layout, Meta, el, other_layout, render

SEEDS = (1, 2, 3)

INTENDED = {
    "malformed": {("DEAD", "MALFORMED")},
    "protocol": {("DEAD", "PROTOCOL")},
    "unsupported": {("SKIPPED", "unsupported")},
    "no request": {("SKIPPED", "no-open-request")},
    "duplicate": {("SKIPPED", "duplicate-of")},
    "conflict": {("DEAD", "IDENTITY_CONFLICT")},
    "layout": {("SUCCEEDED", None)},
    "late": {("SUCCEEDED", None)},
    "changes": {("SUCCEEDED", None)},
    "no change": {("SUCCEEDED", "no-change")},
    "no flight": {("SKIPPED", "no-flight")},
    "too early": {("SKIPPED", "no-flight")},
    "siblings": {("SUCCEEDED", None), ("SKIPPED", "no-flight")},
    "plan": {("SUCCEEDED", None)},
    "plan repeated without a change": {("SUCCEEDED", "no-change")},
    "resync": {("SUCCEEDED", None)},
    "adft new": {("SUCCEEDED", None)},
    "adft restores": {("SUCCEEDED", None)},
    "adft without a change": {("SUCCEEDED", "no-change")},
    "fdel": {("SUCCEEDED", None)},
    "fdel repeated": {("SUCCEEDED", "")},
    "reference": {("SUCCEEDED", None)},
}


@cache
def a_day(seed: int, flights: int = 60) -> Day:
    return build_day(seed=seed, flights=flights)


def kind(message: Planned) -> str:
    return message.label if message.label in INTENDED else re.split(r"[: ]", message.label)[0]


def ends(message: Planned) -> tuple[str, str | None]:
    prefix = message.expected.reason_prefix
    return message.expected.state, prefix if prefix is None else prefix.split(":")[0]


def test_a_seed_gives_the_same_day_byte_for_byte() -> None:
    assert build_day(seed=5, flights=20) == build_day(seed=5, flights=20)
    assert build_day(seed=5, flights=20) != build_day(seed=6, flights=20)


def test_a_day_too_small_for_its_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 12"):
        build_day(seed=1, flights=11)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_day_has_at_least_the_asked_messages_per_flight(seed: int) -> None:
    day = a_day(seed)

    about_flights = sum(1 for message in day.messages if message.flids)
    assert len(day.messages) >= 60 * 20
    assert about_flights >= 60 * 18
    assert [message.index for message in day.messages] == list(range(len(day.messages)))
    assert [m.due for m in day.messages] == sorted(m.due for m in day.messages)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_odd_message_ends_as_it_was_meant(seed: int) -> None:
    found = defaultdict(set)
    for message in a_day(seed).messages:
        found[kind(message)].add(ends(message))

    for label, meant in INTENDED.items():
        if label != "too early":  # a small day may have none
            assert found[label] == meant, label


def test_every_flop_subtype_occurs_and_changes_something() -> None:
    changed = {
        match[1]
        for message in a_day(1, 150).messages
        if message.expected.state == "SUCCEEDED" and message.expected.reason_prefix is None
        if (match := re.search(r"<STYP>(\w+)</STYP>", message.xml))
    }

    assert changed >= FLOP_TAGS.keys() | {"FDEL", "DNLD", "ADFT"}


@pytest.mark.covers("C-3")
@pytest.mark.parametrize("seed", SEEDS)
def test_an_identity_repeats_only_where_it_is_meant_to(seed: int) -> None:
    seen: Counter[tuple[str, ...]] = Counter()
    for message in a_day(seed).messages:
        if not message.label.startswith(("malformed", "duplicate", "conflict")):
            parts = (re.search(f"<{tag}>(.*?)</{tag}>", message.xml)
                     for tag in ("SNDR", "TYPE", "STYP", "SEQN"))  # fmt: skip
            seen[tuple(part[1] if part else "" for part in parts)] += 1

    assert set(seen.values()) == {1}
    assert all(all(identity) for identity in seen)


@pytest.mark.covers("B13", "R11")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("delay", [1, 100, 10_000])
def test_the_end_does_not_depend_on_when_late_rows_are_seen(seed: int, delay: int) -> None:
    day = a_day(seed)
    assert sum(message.late for message in day.messages) >= 3
    seen = sorted(
        day.messages, key=lambda m: (m.commits_after + delay if m.late else m.index, m.late)
    )
    oracle = Oracle()

    verdicts = {message.index: oracle.judge(message.index, message.xml) for message in seen}

    assert verdicts == {message.index: message.expected for message in day.messages}
    assert oracle.flights() == day.flights


def test_only_one_row_is_late_at_a_time() -> None:
    windows = [(m.index, m.commits_after) for m in a_day(1, 150).messages if m.late]

    assert all(end < start for (_, end), (start, _) in pairwise(windows))


@pytest.mark.covers("US-13")
@pytest.mark.parametrize("seed", SEEDS)
def test_reference_data_comes_before_the_plan_in_full_and_changes_no_flight(seed: int) -> None:
    day, flights_only = a_day(seed), build_day(seed=seed, flights=60, reference=False)
    plan = next(m.index for m in day.messages if m.label == "plan")
    first = {
        match[1]
        for message in day.messages[:plan]
        if (match := re.fullmatch(r"reference (\w+) DNLD", message.label))
    }
    later = {m.label for m in day.messages[plan:] if m.label.startswith("reference ")}

    assert first | {"RSTA"} == set(KEYS)
    assert {category for category, _ in day.reference} == set(KEYS)
    assert later >= {
        f"reference {category} {action}" for category in first for action in ("UPD", "DEL")
    }
    assert day.flights == flights_only.flights
    assert flights_only.reference == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_end_holds_every_sort_of_flight(seed: int) -> None:
    flights = a_day(seed).flights.values()

    assert {flight["STATE"] for flight in flights} == {"ACTIVE", "DELETED"}
    assert {flight.get("OPERATION_DAY") for flight in flights} == {
        "2026-06-14",
        "2026-06-15",
        None,
    }
    assert any("MAFL" in flight for flight in flights)
    assert any("MAID" in flight for flight in flights)
    assert any(len(flight.get("ROUT", ())) == 4 for flight in flights)
    assert max(len(flight["FLID"]) for flight in flights) == 19


@pytest.mark.covers("R59")
def test_another_layout_is_another_text_of_the_same_content() -> None:
    meta = Meta("AODB", "FLOP", "GTDT", "1", "20260615080000")
    body = (el("FLOP", "", el("FLID", "1"), el("GTDT", "", el("GATE", 'a"<&'), GTNO="1")),)
    plain = render(meta, body, Layout())
    other = render(meta, body, other_layout(Layout()))
    oracle = Oracle()
    oracle.judge(1, plain)

    verdict = oracle.judge(2, other)

    assert plain != other
    assert verdict.reason_prefix == "duplicate-of:"
