"""`msgxctl reference`, asked of refdata itself."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from pydantic import SecretStr

from msgx.runtime.address import Address
from msgx.runtime.desk import Desk as Calls
from msgx.runtime.session import Session
from msgx.settings import Admin, Control
from msgxctl.failure import Status
from services.refdata.admin import Records
from tests.support.calls import TOKEN
from tests.support.ctl import ctl, sentence
from tests.support.processor import Line
from tests.support.refdata import Desk, gates, settings

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


@pytest.fixture
def refdata(line: Line, desk: Desk) -> Iterator[str]:
    """Its address, with the token that only reads."""
    given = settings(line.places)
    leadership = desk.keeper.leadership
    with closing(Calls(leadership, Session(given.database, "refdata-admin"))) as calls:
        admin = Admin(read_token=SecretStr(TOKEN))
        server = Address(Control(), admin, [Records(calls).service()])
        server.start()
        yield f"127.0.0.1:{server.port}"
        server.stop()


@pytest.mark.covers("US-13", "R55")
def test_categories_records_and_availability_are_shown(desk: Desk, refdata: str) -> None:
    desk.run(gates("DNLD", "1", "2", seqn="1"))
    at = ("--refdata", refdata, "reference")

    def told(*words: object) -> Any:
        return ctl(*at, *words, "--json").told

    counts = {one["category"]: one["records"] for one in told("categories")["categories"]}
    records = told("list", "GLST")["records"]
    gate = told("available", "GATE", "1", "--at", "2026-01-05T08:00")
    shown = [ctl(*at, *words) for words in (("categories",), ("list", "GLST"))]
    asked = ctl(*at, "available", "GATE", "1")

    assert (len(counts), counts["GLST"], counts["AIRL"]) == (14, 2, 0)
    assert [one["key"] for one in records] == ["1", "2"]
    assert records[0]["payload"]["GCOD"] == "1"
    assert (gate["available"], gate["event"]) == (True, None)
    assert gate["at"] == "2026-01-05T08:00:00.000Z"
    assert [one.status for one in shown] == [0, 0]
    assert "2 records" in shown[1].out
    assert "GATE 1 is available" in asked.out


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("list", "XXXX"), Status.USAGE),
        (("available", "ROOF", "1"), Status.USAGE),
        (("available", "GATE", "1", "--at", "tomorrow"), Status.USAGE),
        (("available", "GATE", "x" * 65), Status.FAILED),
    ],
)
def test_what_there_is_not_is_one_sentence(
    refdata: str, words: tuple[str, ...], status: Status
) -> None:
    done = ctl("--refdata", refdata, "reference", *words)

    assert done.status == status
    assert status is Status.USAGE or sentence(done).startswith("refdata refuses: ")
