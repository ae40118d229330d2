"""What operators see of reference data over gRPC."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
from pydantic import SecretStr

from msgx.rpc.v1 import refdata_pb2 as pb
from msgx.rpc.v1 import refdata_pb2_grpc
from msgx.runtime.address import Address
from msgx.runtime.desk import Desk as Calls
from msgx.runtime.desk import stamp
from msgx.runtime.session import Session
from msgx.settings import Admin, Control
from services.refdata.admin import Records
from tests.support.processor import Line
from tests.support.refdata import Desk, gates, package, settings, state
from tests.support.waiting import PATIENCE_SECONDS

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

TOKEN = "a-token-for-tests-only"
BEGIN, END = "05JAN261200", "05JAN261800"


@pytest.fixture
def stub(line: Line, desk: Desk) -> Iterator[Any]:
    """Calls, answered as the service does, with the token that only reads."""
    given = settings(line.places)
    leadership = desk.keeper.leadership
    with closing(Calls(leadership, Session(given.database, "refdata-admin"))) as calls:
        admin = Admin(read_token=SecretStr(TOKEN))
        server = Address(Control(), admin, [Records(calls).service()])
        server.start()
        with grpc.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            yield refdata_pb2_grpc.RefdataServiceStub(channel)
        server.stop()


def call(method: Any, request: Any) -> Any:
    metadata = [("authorization", f"Bearer {TOKEN}")]
    return method(request, metadata=metadata, timeout=PATIENCE_SECONDS, wait_for_ready=True)


def refusal(method: Any, request: Any) -> tuple[str, str]:
    with pytest.raises(grpc.RpcError) as refused:
        call(method, request)
    error: Any = refused.value
    return error.code().name, error.details()


@pytest.mark.covers("US-13", "R55")
def test_categories_are_counted_and_name_who_spoke_last(
    line: Line, desk: Desk, stub: Any
) -> None:
    desk.run(gates("DNLD", "1", "2", seqn="1"))
    (last,) = desk.run(gates("UPD", "2", seqn="2"))

    found = call(stub.ListCategories, pb.ListCategoriesRequest()).categories

    assert len(found) == 14
    by_name = {one.category: one for one in found}
    assert by_name["AIRL"] == pb.ReferenceCategory(category="AIRL")
    assert by_name["GLST"] == pb.ReferenceCategory(
        category="GLST",
        records=2,
        last_msg_id=last,
        last_batch="AODB|GLST|UPD|2",
        last_refreshed_at=stamp(line.row(last)["finished_at"]),
    )


@pytest.mark.covers("US-13", "R55")
def test_records_come_in_bounded_pages_in_order_of_their_keys(
    line: Line, desk: Desk, stub: Any
) -> None:
    keys = ["10", "2", "A1", "a1", "名"]
    (msg_id,) = desk.run(gates("DNLD", *reversed(keys), seqn="1"))

    pages = []
    after = ""
    while records := call(
        stub.ListRecords, pb.ListRecordsRequest(category="GLST", limit=2, after_key=after)
    ).records:
        pages.append([one.key for one in records])
        after = records[-1].key

    assert pages == [["10", "2"], ["A1", "a1"], ["名"]]
    (one,) = call(
        stub.ListRecords, pb.ListRecordsRequest(category="GLST", after_key="a1")
    ).records
    assert json.loads(one.payload) == {"GCOD": "名", "TERM": "T2"}
    assert (one.msg_id, one.batch) == (msg_id, "AODB|GLST|DNLD|1")


@pytest.mark.covers("US-13")
def test_availability_is_told_with_the_event_that_says_so(
    line: Line, desk: Desk, stub: Any
) -> None:
    (msg_id,) = desk.run(package("RSTA", "DNLD", state("1", "D", BEGIN, END)))
    noon = datetime(2026, 1, 5, 4, tzinfo=UTC)  # in the airport's time

    def asked(at: datetime | None, rsid: str = "1") -> Any:
        given = None if at is None else stamp(at)
        request = pb.GetAvailabilityRequest(rtyp="GATE", rsid=rsid, at=given)
        return call(stub.GetAvailability, request)

    assert asked(noon - timedelta(microseconds=1)).available
    inside = asked(noon)
    assert not inside.available
    assert inside.at == stamp(noon)
    assert (inside.event.key, inside.event.msg_id) == ("GATE:1", msg_id)
    assert asked(noon + timedelta(hours=6)).available
    now = asked(None)
    assert now.available
    assert abs(now.at.ToDatetime(tzinfo=UTC) - line.one("SELECT now()")) < timedelta(minutes=1)
    unknown = asked(noon, "2")
    assert unknown.available
    assert not unknown.HasField("event")


@pytest.mark.covers("R55")
@pytest.mark.parametrize(
    ("method", "request_", "words"),
    [
        ("ListRecords", pb.ListRecordsRequest(category="NONE"), "category must be one of"),
        ("ListRecords", pb.ListRecordsRequest(category="AIRL", limit=1001), "limit must be"),
        ("ListRecords", pb.ListRecordsRequest(category="AIRL", after_key="\0"), "no key"),
        ("GetAvailability", pb.GetAvailabilityRequest(rtyp="GATE"), "rsid must be set"),
        ("GetAvailability", pb.GetAvailabilityRequest(rtyp="DOOR", rsid="1"), "rtyp must be"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(
    stub: Any, method: str, request_: Any, words: str
) -> None:
    code, told = refusal(getattr(stub, method), request_)

    assert code == "INVALID_ARGUMENT"
    assert words in told
