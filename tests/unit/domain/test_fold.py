"""Folding a journal: the state it tells, and what contradicts itself."""

from datetime import UTC, date, datetime
from typing import Any

import pytest

from msgx.domain.flight import EntryKind, FlightState, Sharer
from msgx.domain.journal import Entry, Told, Unfoldable, fold

AT = datetime(2026, 1, 5, 4, tzinfo=UTC)


def entry(version: int, kind: str = "CHANGED", *, life: int = 1, **changes: Any) -> Entry:
    return Entry(
        kind=EntryKind(kind),
        state_version=version,
        life=life,
        msg_id=version,
        at=AT,
        changes=changes,
    )


CREATED = entry(1, "CREATED", STATE=[None, "ACTIVE"], OPERATION_DAY=[None, "2026-01-05"])


@pytest.mark.covers("R12")
def test_entries_fold_to_the_state_that_they_tell() -> None:
    gates = [{"GTNO": "1", "GOTM": "2026-01-05T04:00:00Z"}]

    folded = fold(
        "7",
        [CREATED, entry(2, STND=[None, "1"]), entry(3, STND=["1", None], GTDT=[None, gates])],
    )

    assert folded.state is FlightState.ACTIVE
    assert (folded.state_version, folded.life) == (3, 1)
    assert folded.operation_day == date(2026, 1, 5)
    assert folded.values == {"GTDT": ({"GTNO": "1", "GOTM": AT},)}


@pytest.mark.covers("R31", "R41", "R61")
def test_each_entry_tells_the_outside_what_it_must() -> None:
    shared = [{"FLID": "9", "FLNO": None}]
    folded = fold(
        "7",
        [
            CREATED,
            entry(2, "SHARED", MAFL=[[], shared]),
            entry(3, MAID=[None, "8"]),
            entry(4, STND=[None, "1"]),
            entry(5, MAID=["8", "7"], MAFL=[[], shared]),
            entry(6, "DELETED", STATE=["ACTIVE", "DELETED"]),
        ],
    )

    assert list(folded.told.values()) == [
        Told.UPSERT, Told.UPSERT, Told.TOMBSTONE, Told.NOTHING, Told.UPSERT, Told.TOMBSTONE,
    ]  # fmt: skip
    assert folded.mafl == ()


@pytest.mark.covers("G-MAFL")
def test_a_main_has_the_codeshares_that_were_told_last() -> None:
    folded = fold("7", [CREATED, entry(2, "SHARED", MAFL=[[], [{"FLID": "9", "FLNO": "ZH9"}]])])

    assert folded.mafl == (Sharer("9", "ZH9"),)


@pytest.mark.covers("R45")
def test_a_new_life_begins_anew_above_the_old_one() -> None:
    again = entry(42, "CREATED", life=2, STATE=[None, "ACTIVE"], STND=[None, "2"])

    folded = fold("7", [CREATED, entry(2, STND=[None, "1"]), again])

    assert (folded.state_version, folded.life) == (42, 2)
    assert folded.values == {"STND": "2"}
    assert folded.operation_day is None
    assert fold("7", [again]) == folded


@pytest.mark.covers("R12", "INV-13")
@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([], "FLID 7 has no entry"),
        ([CREATED, entry(3)], "version 2 has no entry"),
        ([entry(2, "CREATED", STATE=[None, "ACTIVE"])], "the first version is 2"),
        ([entry(1)], "life 1 begins with CHANGED"),
        ([CREATED, entry(2, STND=["9", "1"])], "version 2 does not follow in STND"),
        (
            [CREATED, entry(1, "CREATED", life=2, STATE=[None, "ACTIVE"])],
            "life 2 begins below an earlier one",
        ),
    ],
)
def test_entries_that_contradict_each_other_are_refused(
    entries: list[Entry], says: str
) -> None:
    with pytest.raises(Unfoldable, match=says):
        fold("7", entries)
