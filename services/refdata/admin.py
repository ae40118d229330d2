"""What operators see of reference data. Nothing here changes anything."""

import json
from datetime import UTC, datetime

import grpc

from msgx.domain.refdata import RKEY_LIMIT, RTYPES, Category
from msgx.rpc.v1 import refdata_pb2 as pb
from msgx.rpc.v1 import refdata_pb2_grpc
from msgx.runtime.address import GrpcService
from msgx.runtime.desk import Desk, Refusal, page_of, stamp, word_of
from msgx.store import ref_records
from msgx.store.ref_records import Counted, Record


class Records(refdata_pb2_grpc.RefdataServiceServicer):
    """The gRPC service."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def service(self) -> GrpcService:
        """Return this as a service of the control address."""
        descriptor = pb.DESCRIPTOR.services_by_name["RefdataService"]
        reads = frozenset(method.name for method in descriptor.methods)
        return GrpcService(descriptor, self._add, reads=reads)

    def _add(self, server: grpc.Server) -> None:
        refdata_pb2_grpc.add_RefdataServiceServicer_to_server(self, server)

    def ListCategories(
        self, request: pb.ListCategoriesRequest, context: grpc.ServicerContext
    ) -> pb.ListCategoriesResponse:
        """List every category."""
        with self._desk.answering(context):
            with self._desk.connection() as conn:
                found = ref_records.categories(conn)
            return pb.ListCategoriesResponse(categories=[_category(one) for one in found])

    def ListRecords(
        self, request: pb.ListRecordsRequest, context: grpc.ServicerContext
    ) -> pb.ListRecordsResponse:
        """List the records of a category."""
        with self._desk.answering(context):
            category, limit = _category_of(request.category), page_of(request.limit)
            after = _after(request.after_key)
            with self._desk.connection() as conn:
                found = ref_records.page(conn, category, after=after, limit=limit)
            return pb.ListRecordsResponse(records=[_record(one) for one in found])

    def GetAvailability(
        self, request: pb.GetAvailabilityRequest, context: grpc.ServicerContext
    ) -> pb.GetAvailabilityResponse:
        """Tell whether a resource is available."""
        with self._desk.answering(context):
            if request.rtyp not in RTYPES:
                raise Refusal(f"rtyp must be one of {', '.join(RTYPES)}")
            rsid = word_of(request.rsid, "rsid")
            if rsid is None:
                raise Refusal("rsid must be set")
            at = _instant(request) if request.HasField("at") else None
            with self._desk.connection() as conn:
                found = ref_records.availability(conn, request.rtyp, rsid, at)
            return pb.GetAvailabilityResponse(
                available=found.available,
                at=stamp(found.at),
                event=None if found.event is None else _record(found.event),
            )


def _category_of(given: str) -> Category:
    try:
        return Category(given)
    except ValueError:
        raise Refusal(f"category must be one of {', '.join(Category)}") from None


def _after(given: str) -> str:
    if len(given) > RKEY_LIMIT or not given.isprintable():
        raise Refusal("after_key is no key")
    return given


def _instant(request: pb.GetAvailabilityRequest) -> datetime:
    try:
        return request.at.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise Refusal("at is no instant") from None


def _category(one: Counted) -> pb.ReferenceCategory:
    told = pb.ReferenceCategory(category=one.category, records=one.records)
    if one.last is not None:
        told.last_msg_id = one.last.msg_id
        told.last_batch = one.last.batch
        told.last_refreshed_at.CopyFrom(stamp(one.last.refreshed_at))
    return told


def _record(one: Record) -> pb.ReferenceRecord:
    return pb.ReferenceRecord(
        key=one.key,
        payload=json.dumps(one.payload, ensure_ascii=False),
        msg_id=one.msg_id,
        batch=one.batch,
        refreshed_at=stamp(one.refreshed_at),
    )
