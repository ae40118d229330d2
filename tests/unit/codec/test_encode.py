"""Requests as XML: golden files beside the test's support, hostile values, formats (R34,
Q25)."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pytest

from msgx.codec.encode import Form, encode, head, local
from msgx.codec.wellformed import parse
from msgx.domain.requests import RequestType, Wish

GOLDEN: Final = Path(__file__).parents[2] / "support" / "outbound"
SHANGHAI: Final = ZoneInfo("Asia/Shanghai")
AT: Final = datetime(2026, 6, 15, 4, 5, 6, tzinfo=UTC)
FORM: Final = Form(
    zone=SHANGHAI,
    sender="OSH5",
    begin_tag="BGTM",
    end_tag="EDTM",
    time_format="DDMMMYYhhmm",
    category_tag="RTYP",
)
PLAN: Final = Wish(
    type=RequestType.RQFD,
    styp="NONE",
    begin=datetime(2026, 6, 14, 16, 0, tzinfo=UTC),
    end=datetime(2026, 6, 15, 15, 59, tzinfo=UTC),
)


@pytest.mark.covers("US-09", "R34", "C-4")
@pytest.mark.parametrize(
    ("name", "wish"),
    [
        ("rqfd", PLAN),
        ("rqrd-glst", Wish.reference("GLST")),
        ("rqrd-rsta", Wish.reference("RSTA")),
        ("rqrd-rsta-gate", Wish.reference("RSTA", "GATE")),
    ],
)
def test_a_request_is_written_as_its_golden_file(name: str, wish: Wish) -> None:
    text = encode(wish, FORM, seqn="000042", at=AT)

    assert text == (GOLDEN / f"{name}.xml").read_text("utf-8")
    assert head(wish.type, wish.styp, FORM, seqn="000042", at=AT) in text


@pytest.mark.covers("R34")
def test_a_hostile_value_stays_a_value() -> None:
    hostile = "</SNDR><SEQN>9</SEQN>&\"'<!--"

    text = encode(PLAN, replace(FORM, sender=hostile), seqn="000042", at=AT)

    meta = parse(text, 10_000).find("META")
    assert meta is not None
    assert [child.tag for child in meta] == ["SNDR", "SEQN", "DTTM", "TYPE", "STYP"]
    assert meta.findtext("SNDR") == hostile
    form = replace(FORM, sender=hostile)
    assert head(PLAN.type, PLAN.styp, form, seqn="000042", at=AT) in text
    with pytest.raises(ValueError, match="XML"):
        encode(PLAN, replace(FORM, sender="\x00"), seqn="000042", at=AT)


@pytest.mark.covers("R34")
def test_names_and_time_format_are_parameters() -> None:
    form = replace(FORM, begin_tag="FROM", end_tag="TILL", time_format="YYYY-MM-DD hh:mm:ss")

    text = encode(PLAN, form, seqn="000042", at=AT)

    assert "<FROM>2026-06-15 00:00:00</FROM><TILL>2026-06-15 23:59:00</TILL>" in text


@pytest.mark.covers("B84")
@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("DDMMMYYhhmm", "15JUN261205"),
        ("YYYYMMDDhhmmss", "20260615120506"),
        ("DD/MM/YY", "15/06/26"),
    ],
)
def test_a_time_is_written_in_the_airports_zone(pattern: str, written: str) -> None:
    assert local(AT, SHANGHAI, pattern) == written
