"""Codeshares and the MAFL of their mains, whatever moves."""

import pytest

from msgx.domain.flight import EntryKind, Sharer
from services.processor.decide.world import Commit, Emission
from tests.support.flights import a_flight, a_world, decided_adft, only, told, writes


@pytest.mark.covers("G-MAFL", "INV-22", "R41")
def test_a_new_codeshare_stands_in_the_mafl_of_its_main() -> None:
    world = a_world(a_flight("1", version=7))

    found = writes(decided_adft(world, told("2", MAID="1", FLNO="ZH2")))

    assert found["2"].emission is Emission.NOTHING
    main = found["1"]
    assert main.kind is EntryKind.SHARED
    assert main.flight.state_version == 8
    assert main.mafl == (Sharer("2", "ZH2"),)
    assert main.mafl_changed
    assert main.changed == {}
    assert main.changes == {"MAFL": ([], [{"FLID": "2", "FLNO": "ZH2"}])}


@pytest.mark.covers("G-MAFL", "R60")
def test_a_codeshare_that_moves_changes_both_mains_once() -> None:
    world = a_world(a_flight("1"), a_flight("5"), a_flight("2", MAID="1", FLNO="ZH2"))

    found = writes(decided_adft(world, told("2", MAID="5")))

    assert found["1"].mafl == ()
    assert found["5"].mafl == (Sharer("2", "ZH2"),)
    assert {found["1"].kind, found["5"].kind} == {EntryKind.SHARED}


@pytest.mark.covers("G-MAFL")
def test_a_new_flight_number_of_a_codeshare_reaches_its_main() -> None:
    world = a_world(a_flight("1"), a_flight("2", MAID="1", FLNO="ZH2"))

    found = writes(decided_adft(world, told("2", FLNO="ZH3")))

    assert found["1"].mafl == (Sharer("2", "ZH3"),)


@pytest.mark.covers("R40", "R41")
def test_a_codeshare_that_changes_something_else_leaves_its_main_alone() -> None:
    world = a_world(a_flight("1"), a_flight("2", MAID="1", FLNO="ZH2"))

    assert set(writes(decided_adft(world, told("2", STND="7")))) == {"2"}


@pytest.mark.covers("G-MAFL", "R60")
def test_a_main_that_changes_with_its_codeshare_is_written_once() -> None:
    world = a_world(a_flight("1", version=7, STND="7"))

    found = writes(decided_adft(world, told("1", STND="8"), told("2", MAID="1", FLNO="ZH2")))

    assert found["1"].flight.state_version == 8
    assert found["1"].kind is EntryKind.CHANGED
    assert set(found["1"].changes) == {"STND", "MAFL"}
    assert found["1"].changed == {"STND": "8"}


@pytest.mark.covers("G-MAFL", "INV-21")
@pytest.mark.parametrize("order", [("1", "2"), ("2", "1")])
def test_a_main_told_before_or_after_its_codeshare_comes_out_the_same(
    order: tuple[str, str],
) -> None:
    records = {"1": told("1", FLNO="CA1"), "2": told("2", MAID="1", FLNO="ZH2")}

    found = writes(decided_adft(a_world(), *(records[flid] for flid in order)))

    assert found["1"].mafl == (Sharer("2", "ZH2"),)
    assert found["1"].kind is EntryKind.CREATED
    assert found["2"].emission is Emission.NOTHING


@pytest.mark.covers("G-MAFL", "INV-21")
def test_a_main_that_comes_after_its_codeshares_shows_them_at_once() -> None:
    world = a_world(a_flight("10", MAID="1", FLNO="A"), a_flight("9", MAID="1", FLNO="B"))

    write = only(decided_adft(world, told("1", FLNO="CA1")))

    assert write.mafl == (Sharer("9", "B"), Sharer("10", "A"))


@pytest.mark.covers("R60")
def test_mafl_is_ordered_by_flid_as_a_number() -> None:
    world = a_world(a_flight("1"), a_flight("9", MAID="1"), a_flight("100", MAID="1"))

    found = writes(decided_adft(world, told("20", MAID="1")))

    assert [sharer.flid for sharer in found["1"].mafl] == ["9", "20", "100"]


@pytest.mark.covers("INV-21", "R31")
def test_a_dangling_main_is_no_fault_and_the_codeshare_is_not_shown() -> None:
    write = only(decided_adft(a_world(), told("2", MAID="404", FLNO="ZH2")))

    assert write.flight.main_flid == "404"
    assert write.emission is Emission.NOTHING


@pytest.mark.covers("R31")
def test_a_flight_that_names_itself_is_a_main_flight() -> None:
    write = only(decided_adft(a_world(), told("2", MAID="2", FLNO="ZH2")))

    assert write.flight.main_flid is None
    assert write.mafl == ()
    assert write.emission is Emission.UPSERT


@pytest.mark.covers("R31", "R61")
def test_a_main_that_turns_codeshare_leaves_a_tombstone() -> None:
    world = a_world(a_flight("1"), a_flight("2", FLNO="ZH2"))

    found = writes(decided_adft(world, told("2", MAID="1")))

    assert found["2"].emission is Emission.TOMBSTONE
    assert found["1"].mafl == (Sharer("2", "ZH2"),)


@pytest.mark.covers("R31")
@pytest.mark.parametrize("main", [None, "2"])
def test_a_codeshare_that_turns_main_is_shown_and_leaves_its_main(main: str | None) -> None:
    world = a_world(a_flight("1"), a_flight("2", MAID="1", FLNO="ZH2"))

    found = writes(decided_adft(world, told("2", MAID=main)))

    assert found["2"].emission is Emission.UPSERT
    assert found["1"].mafl == ()


@pytest.mark.covers("R61", "R41")
def test_a_main_with_codeshares_that_turns_codeshare_shows_them_no_more() -> None:
    world = a_world(a_flight("1"), a_flight("2"), a_flight("3", MAID="2", FLNO="X"))

    found = writes(decided_adft(world, told("2", MAID="1")))

    assert found["2"].emission is Emission.TOMBSTONE
    assert found["2"].mafl == ()
    assert "MAFL" not in found["2"].changes


@pytest.mark.covers("R03", "G-MAFL")
def test_a_restored_main_shows_its_codeshares_again() -> None:
    world = a_world(a_flight("1", deleted=True), a_flight("2", MAID="1", FLNO="ZH2"))

    write = only(decided_adft(world, told("1", STND="7")))

    assert write.kind is EntryKind.RESTORED
    assert write.mafl == (Sharer("2", "ZH2"),)


@pytest.mark.covers("R41", "R40")
def test_a_deleted_main_is_not_written_when_its_codeshares_change() -> None:
    world = a_world(a_flight("1", deleted=True), a_flight("2", MAID="1", FLNO="ZH2"))

    assert set(writes(decided_adft(world, told("2", FLNO="ZH3")))) == {"2"}


@pytest.mark.covers("R40", "G-MAFL")
def test_a_codeshare_told_again_changes_no_main() -> None:
    world = a_world(a_flight("1"), a_flight("2", MAID="1", FLNO="ZH2"))

    assert decided_adft(world, told("2", MAID="1", FLNO="ZH2")) == Commit(())
