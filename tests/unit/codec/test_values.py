"""Single values: SIS times in any zone, keys, counts, codes."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx.codec.values import BadValue, count, head_time, key, readers, sis_time
from msgx.domain.fields import Kind
from tests.unit.codec.messages import SHANGHAI, YEAR, flop, record, refusal

BERLIN = ZoneInfo("Europe/Berlin")
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


def utc(*at: int) -> datetime:
    return datetime(*at, tzinfo=UTC)  # type: ignore[misc,arg-type]


@pytest.mark.covers("B84", "R25")
@pytest.mark.parametrize("month", ["JAN", "Jan", "jan", "jAn"])
def test_a_month_is_read_in_any_case(month: str) -> None:
    assert sis_time(f"05{month}261200", SHANGHAI, YEAR) == utc(2026, 1, 5, 4)


@pytest.mark.covers("B84")
@pytest.mark.parametrize("month", ["一月1", "1月", "ſep", "JÄN", "MAI", "  1"])
def test_a_month_of_another_locale_is_refused(month: str) -> None:
    with pytest.raises(BadValue, match="DDMMMYYhhmm"):
        sis_time(f"05{month}261200", SHANGHAI, YEAR)


@pytest.mark.covers("B85", "R25")
def test_24_00_is_midnight_of_the_next_day() -> None:
    assert sis_time("14NOV262400", SHANGHAI, YEAR) == sis_time("15NOV260000", SHANGHAI, YEAR)
    assert sis_time("31DEC262400", SHANGHAI, YEAR) == sis_time("01JAN270000", SHANGHAI, YEAR)


@pytest.mark.covers("B85", "R25")
@pytest.mark.parametrize(
    "text",
    ["14NOV262408", "14NOV262500", "14NOV261260", "29FEB261200", "31APR261200", "00JAN261200",
     "32JAN261200"],
)  # fmt: skip
def test_a_time_out_of_range_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="out of range"):
        sis_time(text, SHANGHAI, YEAR)


@pytest.mark.parametrize(
    "text",
    ["", "05JAN26", "05JAN26120", "05JAN2612000", "05XXX261200", "5JAN2601200", "0５JAN261200",
     "05-01-2612", "20260105120", "05JAN26 1200", "05JAN26+100", "05JAN261200\n"],
)  # fmt: skip
def test_another_form_of_time_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="DDMMMYYhhmm"):
        sis_time(text, SHANGHAI, YEAR)


@pytest.mark.covers("R25")
def test_29_february_exists_in_a_leap_year_only() -> None:
    assert sis_time("29FEB281200", SHANGHAI, YEAR) == utc(2028, 2, 29, 4)


@pytest.mark.covers("B87", "R25")
def test_an_ambiguous_hour_is_the_first() -> None:
    assert sis_time("25OCT260230", BERLIN, YEAR) == utc(2026, 10, 25, 0, 30)


@pytest.mark.covers("B87", "R25")
def test_a_missing_hour_is_shifted_forward() -> None:
    at = sis_time("29MAR260230", BERLIN, YEAR)

    assert at == utc(2026, 3, 29, 1, 30)
    assert at.astimezone(BERLIN).strftime("%H:%M") == "03:30"


@pytest.mark.covers("B85", "B87")
def test_24_00_of_a_day_with_25_hours_is_still_midnight() -> None:
    assert sis_time("25OCT262400", BERLIN, YEAR) == utc(2026, 10, 25, 23)


@pytest.mark.covers("B87")
def test_the_summer_time_that_shanghai_once_had_is_known() -> None:
    assert sis_time("01JUL881200", SHANGHAI, 1990) == utc(1988, 7, 1, 3)
    assert sis_time("01JUL931200", SHANGHAI, 1990) == utc(1993, 7, 1, 4)


@pytest.mark.covers("R25")
@pytest.mark.parametrize(
    ("two_digits", "year", "read"),
    [(46, 2026, 2046), (47, 2026, 1947), (26, 2026, 2026), (99, 2026, 1999), (0, 2026, 2000),
     (5, 1990, 2005), (19, 2099, 2119), (20, 2099, 2020)],
)  # fmt: skip
def test_two_digit_years_reach_80_back_and_20_forward(
    two_digits: int, year: int, read: int
) -> None:
    at = sis_time(f"01JUL{two_digits:02d}1200", SHANGHAI, year)

    assert at.astimezone(SHANGHAI).year == read


@given(
    st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2040, 1, 1)),  # noqa: DTZ001
    st.sampled_from(["Asia/Shanghai", "Europe/Berlin", "UTC", "America/New_York"]),
)
def test_a_time_that_is_written_is_read_back(local: datetime, name: str) -> None:
    zone = ZoneInfo(name)
    at = local.replace(second=0, microsecond=0, tzinfo=zone).astimezone(UTC)
    shown = at.astimezone(zone)
    text = f"{shown.day:02d}{MONTHS[shown.month - 1]}{shown.year % 100:02d}{shown:%H%M}"

    back = sis_time(text, zone, YEAR)

    assert back in (
        at,
        at - timedelta(hours=1),
    )  # the second of two equal hours reads as the first
    assert back.tzinfo is UTC


@given(st.text(max_size=14))
def test_no_text_makes_a_reader_fail_in_another_way(text: str) -> None:
    for read in readers(SHANGHAI, YEAR).values():
        with suppress(BadValue):
            assert read(text) is not None


@pytest.mark.covers("R58")
@given(st.integers(min_value=1, max_value=10**19 - 1))
def test_a_key_is_text_without_leading_zeros(number: int) -> None:
    assert key(str(number)) == str(number)
    assert key(str(number).zfill(19)) == str(number)


@pytest.mark.covers("R58")
@pytest.mark.parametrize(
    "text", ["0", "000", "1" * 20, "0" * 19 + "1", "12a", "-1", "+1", "1.0", "1 2", "１２", "x"]
)
def test_what_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="1 to 19 digits"):
        key(text)


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("9" * 18, 10**18 - 1)])
def test_a_count_is_decimal_digits(text: str, number: int) -> None:
    assert count(text) == number


@pytest.mark.parametrize("text", ["", "-1", "1e3", "９", "1" * 19, "1,000", "0x1"])
def test_what_is_no_count_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="number"):
        count(text)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [(Kind.MOVEMENT, "AD", ["a", "X", "AD"]), (Kind.NATURE, "DIM", ["d", "R", "DI"])],
)
def test_a_code_is_one_of_its_few_values(kind: Kind, good: str, bad: list[str]) -> None:
    read = readers(SHANGHAI, YEAR)[kind]

    assert [read(code) for code in good] == list(good)
    for code in bad:
        with pytest.raises(BadValue, match="is not one of"):
            read(code)


def test_a_duration_keeps_its_text() -> None:
    read = readers(SHANGHAI, YEAR)[Kind.DURATION]

    assert read("0045") == "0045"
    for text in ("45", "00:45", "0060", "00045"):
        with pytest.raises(BadValue, match="HHMM"):
            read(text)


def test_the_time_of_the_head_is_read_or_left_out() -> None:
    assert head_time("20260105083000", SHANGHAI) == utc(2026, 1, 5, 0, 30)
    for text in ("", "2026-01-05", "20261305083000", "20260105083060", "00000000000000"):
        assert head_time(text, SHANGHAI) is None


@pytest.mark.covers("R25", "R58")
@pytest.mark.parametrize(
    ("styp", "content", "words"),
    [
        ("ESTT", "<ESTT>14NOV262408</ESTT>", "ESTT '14NOV262408' is out of range"),
        ("ESTT", "<ESTT>05XIII261200</ESTT>", "ESTT '05XIII261200' is not a time"),
        ("MAXP", "<MAXP>many</MAXP>", "MAXP 'many' is not a number"),
        ("FLIN", "<FLIN>X</FLIN>", "FLIN 'X' is not one of D, I, M"),
        ("TAOP", "<TAID>0</TAID>", "TAID '0' is not a key"),
        ("GTDT", "<GTDT GTNO='1'><PGOT>soon</PGOT></GTDT>", "GTDT/PGOT 'soon' is not a time"),
        ("DELY", "<DELY DURA='45'/>", "DELY@DURA '45' is not a duration"),
        ("FDIV", "<FDIV DDES='ZGGG' DDIR='VIA'/>", "FDIV@DDIR 'VIA' is not one of FROM, TO"),
        ("FDIV", "<FDIV DDES='' DDIR='VIA'/>", "FDIV@DDIR 'VIA'"),
        ("FRET", "<FRET REID='X'/>", "FRET@REID 'X' is not one of A, G"),
        ("ROUT", "<ROUT RTNO='1'><SCAT>soon</SCAT></ROUT>", "ROUT/SCAT 'soon'"),
    ],
)
def test_a_wrong_value_is_named_with_flight_tag_and_value(
    styp: str, content: str, words: str
) -> None:
    text = refusal(flop(styp, content))

    assert words in text
    assert "(FLID 700001)" in text


def test_a_long_or_hostile_value_is_cut_and_cleaned_in_the_reason() -> None:
    text = refusal(flop("MAXP", f"<MAXP>\u202e\u0085{'9' * 5000}</MAXP>"))

    assert len(text) < 200
    assert text.isprintable()


def test_values_are_trimmed_of_xml_blanks_and_codes_keep_their_zeros() -> None:
    told = record(flop("STND", "<STND>\r\n\t 007 \n</STND>")).told

    assert told == {"STND": "007"}
