"""What a reference message does to its category, and what a replay leaves alone."""

import pytest

from msgx.domain.message import Reference, ReferenceRecord
from msgx.domain.refdata import Action, Category
from services.refdata.decide import (
    Change,
    Put,
    Records,
    Remove,
    Replace,
    decide,
    lacking,
    overwritten,
    sparing,
    told,
)

RECORDS: Records = {"1": {"GCOD": "1"}, "2": {"GCOD": None}}


def reference(category: Category, action: Action) -> Reference:
    gone = action is Action.DEL
    records = (
        ReferenceRecord(key, None if gone else payload) for key, payload in RECORDS.items()
    )
    return Reference(category=category, action=action, declared=2, records=tuple(records))


@pytest.mark.covers("INV-26", "R54", "R62", "R23")
@pytest.mark.parametrize("category", Category)
@pytest.mark.parametrize("action", Action)
def test_an_action_is_a_change_of_its_category(category: Category, action: Action) -> None:
    events = category is Category.RSTA
    whole: Change = Put(RECORDS) if events else Replace(RECORDS)
    expected = {
        Action.DNLD: whole,
        Action.RESP: whole,
        Action.ADD: Put(RECORDS),
        Action.UPD: Put(RECORDS),
        Action.DEL: Remove(("1", "2")),
    }

    assert decide(reference(category, action)) == expected[action]


@pytest.mark.covers("R35", "B30")
@pytest.mark.parametrize(
    ("change", "stale", "spared"),
    [
        (Put(RECORDS), {"2": 9}, Put({"1": {"GCOD": "1"}})),
        (Remove(("1", "2")), {"2": 9}, Remove(("1",))),
        (
            Replace(RECORDS),
            {"2": 9, "3": 8},
            Replace({"1": {"GCOD": "1"}}, spared=frozenset({"2", "3"})),
        ),
        (Put({"7": {}}), {}, Put({"7": {}})),
    ],
)
def test_newer_records_are_named_and_can_be_left_alone(
    change: Change, stale: dict[str, int], spared: Change
) -> None:
    newer = {"2": 9, "3": 8}

    assert overwritten(change, newer) == stale
    assert sparing(change, newer) == spared


@pytest.mark.covers("R35", "INV-26")
def test_what_a_newer_whole_package_lacks_is_newer_too() -> None:
    newer = {"2": 9, "3": 8}

    assert lacking(Put(RECORDS), newer, 7) == {"1": 7, "2": 9, "3": 8}
    assert lacking(Replace(RECORDS), newer, 7) == {"1": 7, "2": 9, "3": 8}
    assert lacking(Remove(("1",)), newer, 7) == newer
    assert lacking(Put(RECORDS), newer, None) == newer


@pytest.mark.covers("R35")
def test_many_newer_records_are_told_in_a_line() -> None:
    assert told({"2": 9}) == "2 by 9"
    assert told({str(n): 9 for n in range(8)}).endswith("4 by 9 and 3 more records")
