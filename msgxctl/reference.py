"""`msgxctl reference`: reference data as it stands; for looking (R16, R54)."""

import json
from typing import Annotated, Any, Final

import typer

from msgx.domain.refdata import RTYPES, Category
from msgx.rpc.v1 import refdata_pb2 as pb
from msgxctl import options, show
from msgxctl.failure import misused
from msgxctl.filters import instant
from msgxctl.pages import pages
from msgxctl.place import Peer
from msgxctl.plain import plain
from msgxctl.show import Column, Row

app = options.subapp(help="Reference data as it stands.")

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["RefdataService"]
_CATEGORIES: Final[tuple[Column, ...]] = (
    ("category", "category"),
    ("records", "records"),
    ("last message", "last_msg_id"),
    ("its identity", "last_batch"),
    ("refreshed", show.at("last_refreshed_at")),
)


def _fields(row: Row) -> object:
    return "  ".join(f"{name}={_short(value)}" for name, value in row["payload"].items())


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_RECORDS: Final[tuple[Column, ...]] = (
    ("key", "key"),
    ("fields", _fields),
    ("message", "msg_id"),
    ("refreshed", show.at("refreshed_at")),
)


@app.command()
def categories(context: typer.Context, as_json: options.AsJson = False) -> None:
    """List every category: how many records, and the message that spoke last."""
    answer = options.remote(context).ask(
        Peer.REFDATA, _SERVICE, "ListCategories", pb.ListCategoriesRequest()
    )
    told = plain(answer)
    if as_json:
        show.as_json(told)
    else:
        show.table(told["categories"], _CATEGORIES)


@app.command("list")
def list_(
    context: typer.Context,
    category: Annotated[Category, typer.Argument(help="TYPE of its messages.")],
    limit: options.Limit = 100,
    everything: options.All = False,
    as_json: options.AsJson = False,
) -> None:
    """List the records of a category, in order of their keys."""
    remote = options.remote(context)

    def page(wanted: int, last: Row | None) -> list[Row]:
        after = last["key"] if last else ""
        request = pb.ListRecordsRequest(category=category, limit=wanted, after_key=after)
        answer = remote.ask(Peer.REFDATA, _SERVICE, "ListRecords", request)
        return [_record(one) for one in answer.records]

    found = pages(page, options.pages_of(limit, everything))
    if as_json:
        show.as_json({"records": found})
        return
    show.table(found, _RECORDS)
    show.say(f"{len(found)} records" + (", perhaps more" if len(found) == limit else ""))


@app.command()
def available(
    context: typer.Context,
    rtyp: Annotated[str, typer.Argument(help=f"One of {', '.join(RTYPES)}.")],
    rsid: Annotated[str, typer.Argument(help="The resource.")],
    at: Annotated[
        str | None, typer.Option("--at", help="ISO-8601, without offset UTC; else now.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Tell whether a resource is available, now or at an instant."""
    if rtyp not in RTYPES:
        misused(f"a kind of resource is one of {', '.join(RTYPES)}")
    request = pb.GetAvailabilityRequest(rtyp=rtyp, rsid=rsid, at=instant(at, "--at"))
    answer = options.remote(context).ask(Peer.REFDATA, _SERVICE, "GetAvailability", request)
    told = plain(answer) | {
        "event": _record(answer.event) if answer.HasField("event") else None
    }
    if as_json:
        show.as_json(told)
        return
    show.say(f"{rtyp} {rsid} is {'available' if told['available'] else 'not available'}")
    if told["event"] is None:
        show.say("no message has said anything about it")
    else:
        show.table([told["event"]], _RECORDS)


def _record(one: pb.ReferenceRecord) -> dict[str, Any]:
    """Return a record with its fields as values, not as a text."""
    return plain(one) | {"payload": json.loads(one.payload) if one.payload else {}}
