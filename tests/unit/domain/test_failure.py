"""The table of error classes, and what failures of one cause have in common."""

import pytest

from msgx.domain.failure import REFUSED, RULES, ErrorClass, fingerprint, replayable


@pytest.mark.covers("R46")
def test_every_class_has_its_rule() -> None:
    assert set(RULES) == set(ErrorClass)


@pytest.mark.covers("R35")
def test_what_would_fail_the_same_way_is_replayed_with_force_only() -> None:
    assert set(replayable(force=False)) == {
        ErrorClass.CODEC_ERROR,
        ErrorClass.PROCESSING,
        ErrorClass.INFRA,
    }
    assert set(replayable(force=True)) - set(replayable(force=False)) == REFUSED


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "FLID 4711 has 2026-01-05, SODT gives 2026-01-06",
            "FLID 9 has 2025-12-31, SODT gives 2026-01-01",
        ),
        ("ESTT 'x y' is no time", "ESTT 'z' is no time"),
        ('STND "A\'1" is too long', 'STND "" is too long'),
        ("line 3, column 14: not closed", "line 12, column 1: not closed"),
        ("conflicts-with:12", "conflicts-with:13"),
        ("trace 0b0e2c1a-1f3a-4b1c-9d2e-aabbccddeeff is odd", "trace 7 is odd"),
    ],
)
def test_ids_numbers_and_quoted_values_do_not_matter(one: str, other: str) -> None:
    assert fingerprint(ErrorClass.PROTOCOL, one) == fingerprint(ErrorClass.PROTOCOL, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ESTT 'x' is no time", "ETDT 'x' is no time"),
        ("PostgreSQL refused a write (23505)", "PostgreSQL refused a write (22001)"),
    ],
)
def test_tags_and_states_of_the_server_do(one: str, other: str) -> None:
    assert fingerprint(ErrorClass.PROTOCOL, one) != fingerprint(ErrorClass.PROTOCOL, other)


def test_the_class_does() -> None:
    text = "KeyError while processing"

    told = {fingerprint(error_class, text) for error_class in ErrorClass}

    assert len(told) == len(ErrorClass)


def test_a_hostile_text_has_a_short_fingerprint_too() -> None:
    assert len(fingerprint(ErrorClass.MALFORMED, "'\0\ud800" * 9000)) == 12
