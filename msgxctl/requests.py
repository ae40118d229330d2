"""`msgxctl request`: requests to the AODB (R33, R34)."""

from typing import Annotated, Any, Final

import typer
from google.protobuf.descriptor import EnumDescriptor

from msgx.domain.refdata import RTYPES, Category
from msgx.domain.requests import RequestState, RequestType
from msgx.rpc.v1 import requests_pb2 as pb
from msgxctl import options, show
from msgxctl.failure import misused
from msgxctl.pages import pages
from msgxctl.place import Peer
from msgxctl.plain import number, plain
from msgxctl.show import Column, Row

app = options.subapp(help="Requests to the AODB.")

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["RequestService"]


def _answer(part: str) -> Any:
    def value(row: Row) -> object:
        return (row.get("answer") or {}).get(part)

    return value


_COLUMNS: Final[tuple[Column, ...]] = (
    ("request", "req_id"),
    ("type", "type"),
    ("styp", "styp"),
    ("rtyp", "rtyp"),
    ("from", show.at("begin")),
    ("to", show.at("end")),
    ("state", "state"),
    ("since", show.at("state_since")),
    ("tries", "attempts"),
    ("row", "row_id"),
    ("answer", _answer("msg_id")),
    ("reason", "reason"),
)
_FACTS: Final[tuple[Column, ...]] = (
    *_COLUMNS[:-2],
    ("reason", "reason"),
    ("registered", show.at("registered_at")),
    ("by", "registered_by"),
    ("sequence", "seqn"),
    ("written from", show.at("sending_at")),
    ("its row is above", "row_floor"),
    ("expires", show.at("expires_at")),
    ("answered by", _answer("msg_id")),
    ("matched by", _answer("matched_by")),
    ("answered", lambda row: show.at("matched_at")(row.get("answer") or {})),
    ("DTTM behind by", _answer("lag")),
    ("closed", show.at("closed_at")),
)


@app.command("list")
def list_(
    context: typer.Context,
    state: Annotated[
        RequestState | None, typer.Option("--state", help="Only in this state.")
    ] = None,
    type_: Annotated[
        RequestType | None, typer.Option("--type", help="Only of this type.")
    ] = None,
    styp: Annotated[str | None, typer.Option("--styp", help="Only of this category.")] = None,
    limit: options.Limit = 100,
    everything: options.All = False,
    as_json: options.AsJson = False,
) -> None:
    """List requests, the newest first."""
    remote = options.remote(context)
    request = pb.ListRequestsRequest(styp=styp or "")
    _put(request, "state", pb.RequestState.DESCRIPTOR, state)
    _put(request, "type", pb.RequestType.DESCRIPTOR, type_)

    def page(wanted: int, last: Row | None) -> list[Row]:
        request.limit = wanted
        request.before_req_id = last["req_id"] if last else 0
        answer = remote.ask(Peer.DISPATCHER, _SERVICE, "ListRequests", request)
        return [plain(one) for one in answer.requests]

    found = pages(page, options.pages_of(limit, everything))
    if as_json:
        show.as_json({"requests": found})
        return
    show.table(found, _COLUMNS)
    show.say(f"{len(found)} requests")


@app.command("show")
def show_(
    context: typer.Context,
    req_id: Annotated[int, typer.Argument(min=1, help="The request's number.")],
    as_json: options.AsJson = False,
) -> None:
    """Show everything that is known of one request."""
    request = pb.GetRequestRequest(req_id=req_id)
    answer = options.remote(context).ask(Peer.DISPATCHER, _SERVICE, "GetRequest", request)
    told = plain(answer.request)
    if as_json:
        show.as_json(told)
    else:
        show.facts(told, _FACTS)


@app.command()
def register(
    context: typer.Context,
    reason: options.Reason,
    start: Annotated[
        str | None,
        typer.Option(
            "--start", help="Of a day plan: the first day, or instant, of the airport."
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--end", help="Of a day plan: the last one; else the first day."),
    ] = None,
    category: Annotated[
        Category | None, typer.Option("--category", help="Reference data of this category.")
    ] = None,
    rtyp: Annotated[
        str | None, typer.Option("--rtyp", help=f"Of RSTA only: {', '.join(RTYPES)}.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Register a request: for a day plan, or for a category of reference data.

    It is sent as soon as the mailbox can be written. It closes no other.
    """
    act = options.act(context, reason)
    if (start is None) == (category is None):
        misused("--start asks for a day plan, --category for reference data: one of them")
    if (end is not None and start is None) or (rtyp is not None and category is None):
        misused("--end goes with --start, --rtyp with --category")
    request = pb.RegisterRequest(admin=act)
    if start is not None:
        request.plan.CopyFrom(pb.PlanWish(start_date=start, end_date=end or start))
    else:
        request.reference.CopyFrom(pb.ReferenceWish(category=category or "", rtyp=rtyp or ""))
    answer = options.remote(context).ask(Peer.DISPATCHER, _SERVICE, "Register", request)
    if as_json:
        show.as_json({"req_id": answer.req_id})
    else:
        show.say(f"request {answer.req_id} is registered")


@app.command()
def resolve(
    context: typer.Context,
    req_id: Annotated[int, typer.Argument(min=1, help="The request's number.")],
    reason: options.Reason,
    written: Annotated[
        int | None,
        typer.Option(
            "--written", min=1, metavar="ROW", help="It was: as this row of COUTMSGS."
        ),
    ] = None,
    resend: Annotated[
        bool, typer.Option("--resend", help="It was not: it is sent (once more).")
    ] = False,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
) -> None:
    """Say of an UNKNOWN request whether it was written to the mailbox.

    Look at COUTMSGS, and ask the adapter's side: what was written and is sent
    again reaches the AODB twice.
    """
    act = options.act(context, reason)
    if (written is None) != resend:
        misused("either --written ROW or --resend says how it was")
    if resend:
        options.confirm(
            f"Send request {req_id} again? If it was written, it is sent twice.", yes=yes
        )
        request = pb.ResolveRequest(admin=act, req_id=req_id, resend=True)
    else:
        request = pb.ResolveRequest(admin=act, req_id=req_id, written_row=written)
    answer = options.remote(context).ask(Peer.DISPATCHER, _SERVICE, "Resolve", request)
    told = plain(answer.request)
    if as_json:
        show.as_json(told)
    else:
        show.say(f"request {req_id} is {told['state']}")


def _put(
    request: pb.ListRequestsRequest,
    name: str,
    enum: EnumDescriptor,
    word: RequestState | RequestType | None,
) -> None:
    if word is not None:
        setattr(request, name, number(enum, word.value))
