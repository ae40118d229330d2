"""`msgxctl held` and `msgxctl events`: what does not leave, and decisions about it (R29)."""

from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from msgx.rpc.v1 import delivery_pb2 as pb
from msgxctl import options, show
from msgxctl.failure import misused, refuse
from msgxctl.pages import PAGE, pages
from msgxctl.place import Peer
from msgxctl.plain import number, plain
from msgxctl.show import Column, Row

held = options.subapp(help="Flights of which nothing leaves to a topic.")
app = options.subapp(help="Events that are dead.")

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["DeliveryService"]
_TOPIC: Final = pb.Topic.DESCRIPTOR
_MOST_AT_ONCE: Final = 10_000


class Topic(StrEnum):
    """The two topics, whatever their names are."""

    MSG = "msg"
    SCHD = "schd"


_Topic = Annotated[Topic | None, typer.Option("--topic", help="Only on this topic.")]
_Flid = Annotated[str | None, typer.Option("--flid", help="Only of this flight.")]
_Class = Annotated[str | None, typer.Option("--class", help="Only of this error class.")]


def _key(name: str, part: str) -> Any:
    def value(row: Row) -> object:
        return (row.get(name) or {}).get(part)

    return value


_HELD: Final[tuple[Column, ...]] = (
    ("topic", _key("cause_event", "topic")),
    ("flight", _key("cause_event", "flid")),
    ("event", _key("cause_event", "event_id")),
    ("because it is", "cause"),
    ("since", show.at("since")),
    ("behind it", "events_behind"),
    ("tries", "attempts"),
    ("next try", show.at("next_attempt_at")),
    ("class", "error_class"),
    ("error", "error_text"),
)
_DEAD: Final[tuple[Column, ...]] = (
    ("topic", _key("key", "topic")),
    ("flight", _key("key", "flid")),
    ("event", _key("key", "event_id")),
    ("version", "state_version"),
    ("message", "source_msg_id"),
    ("class", "error_class"),
    ("tries", "attempts"),
    ("since", show.at("since")),
    ("bytes", "value_bytes"),
    ("error", "error_text"),
)


@held.command("list")
def list_held(
    context: typer.Context,
    topic: _Topic = None,
    flid: _Flid = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=PAGE, help="At most so many.")
    ] = 100,
    as_json: options.AsJson = False,
) -> None:
    """List flights that are held, the longest held first, with what holds them."""
    request = pb.ListHeldRequest(flid=flid or "", limit=limit)
    if topic is not None:
        request.topic = _topic(topic)
    answer = options.remote(context).ask(Peer.DISPATCHER, _SERVICE, "ListHeld", request)
    told = plain(answer)
    if as_json:
        show.as_json(told)
        return
    show.table(told["flights"], _HELD)
    show.say(f"{len(answer.flights)} of {answer.total} held flights")


@app.command("list")
def list_dead(
    context: typer.Context,
    topic: _Topic = None,
    flid: _Flid = None,
    error_class: _Class = None,
    limit: options.Limit = 100,
    everything: options.All = False,
    as_json: options.AsJson = False,
) -> None:
    """List dead events, oldest first."""
    remote = options.remote(context)
    chosen = _filter(topic, flid, error_class)

    def page(wanted: int, last: Row | None) -> list[Row]:
        after = last["key"]["event_id"] if last else 0
        request = pb.ListDeadRequest(filter=chosen, limit=wanted, after_event_id=after)
        answer = remote.ask(Peer.DISPATCHER, _SERVICE, "ListDead", request)
        return [plain(one) for one in answer.events]

    found = pages(page, options.pages_of(limit, everything))
    if as_json:
        show.as_json({"events": found})
        return
    show.table(found, _DEAD)
    show.say(f"{len(found)} dead events" + (", perhaps more" if len(found) == limit else ""))


_Event = Annotated[
    int | None, typer.Argument(min=1, help="The event's id.", show_default=False)
]
_Matching = Annotated[
    bool, typer.Option("--matching", help="All that --topic, --flid and --class pick.")
]
_Most = Annotated[
    int,
    typer.Option("--limit", min=1, max=_MOST_AT_ONCE, help="At most so many, oldest first."),
]


@app.command()
def requeue(
    context: typer.Context,
    reason: options.Reason,
    event: _Event = None,
    matching: _Matching = False,
    topic: _Topic = None,
    flid: _Flid = None,
    error_class: _Class = None,
    limit: _Most = 1000,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
) -> None:
    """Let dead events be tried again, from their first try.

    One event is named by its id with --topic and --flid.
    """
    request = pb.RequeueRequest(admin=options.act(context, reason))
    _choose(request, event, matching, _filter(topic, flid, error_class), limit)
    if matching:
        options.confirm(f"Requeue up to {limit} dead events?", yes=yes)
    answer = options.remote(context).ask(Peer.DISPATCHER, _SERVICE, "Requeue", request)
    _tell(answer.affected, "are tried again", event, as_json)


@app.command()
def discard(
    context: typer.Context,
    reason: options.Reason,
    event: _Event = None,
    matching: _Matching = False,
    topic: _Topic = None,
    flid: _Flid = None,
    error_class: _Class = None,
    limit: _Most = 1000,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
) -> None:
    """Give dead events up for good: what is behind them goes on, the gap stays.

    One event is named by its id with --topic and --flid.
    """
    request = pb.DiscardRequest(admin=options.act(context, reason))
    _choose(request, event, matching, _filter(topic, flid, error_class), limit)
    what = f"event {event}" if event is not None else f"up to {limit} dead events"
    options.confirm(f"Discard {what} for good?", yes=yes)
    answer = options.remote(context).ask(Peer.DISPATCHER, _SERVICE, "Discard", request)
    _tell(answer.affected, "are given up", event, as_json)


def _choose(
    request: pb.RequeueRequest | pb.DiscardRequest,
    event: int | None,
    matching: bool,
    chosen: pb.Filter,
    limit: int,
) -> None:
    if matching == (event is not None):
        misused("either an event's id says which is meant, or --matching does")
    if event is None:
        request.filter.CopyFrom(chosen)
        request.limit = limit
        return
    if not chosen.topic or not chosen.flid or chosen.error_class:
        misused("one event is named by its id with --topic and --flid")
    request.event.CopyFrom(pb.EventKey(topic=chosen.topic, flid=chosen.flid, event_id=event))


def _tell(affected: int, done: str, event: int | None, as_json: bool) -> None:
    if as_json:
        show.as_json({"affected": affected})
    else:
        show.say(f"{affected} events {done}")
    if event is not None and not affected:
        refuse(
            f"event {event} is not dead any more, or there is none under this topic and flight"
        )


def _filter(topic: Topic | None, flid: str | None, error_class: str | None) -> pb.Filter:
    chosen = pb.Filter(flid=flid or "", error_class=error_class or "")
    if topic is not None:
        chosen.topic = _topic(topic)
    return chosen


def _topic(topic: Topic) -> pb.Topic:
    return number(_TOPIC, topic.name)  # type: ignore[return-value]  # an enum is a number
