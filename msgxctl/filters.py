"""Options that pick messages, shared by every command that takes them."""

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Annotated, Any, Final, get_type_hints

import typer
from google.protobuf.timestamp_pb2 import Timestamp

from msgx.domain.failure import ErrorClass
from msgx.rpc.v1 import replay_pb2 as pb
from msgxctl.failure import misused

Class = Annotated[ErrorClass | None, typer.Option("--class", help="Of the last failure.")]
Fingerprint = Annotated[
    str | None, typer.Option("--fingerprint", help="Of the failure; dead groups gives it.")
]
Type = Annotated[str | None, typer.Option("--type", help="TYPE.")]
Styp = Annotated[str | None, typer.Option("--styp", help="STYP.")]
Flid = Annotated[str | None, typer.Option("--flid", help="The first FLID.")]
Since = Annotated[
    str | None,
    typer.Option("--since", help="Finished at or after; ISO-8601, without offset UTC."),
]
Until = Annotated[
    str | None,
    typer.Option("--until", help="Finished before; ISO-8601, without offset UTC."),
]
First = Annotated[int | None, typer.Option("--from", min=1, help="The lowest message id.")]
Last = Annotated[int | None, typer.Option("--to", min=1, help="The highest message id.")]

_KINDS: Final = {
    "error_class": Class,
    "fingerprint": Fingerprint,
    "type_": Type,
    "styp": Styp,
    "flid": Flid,
    "since": Since,
    "until": Until,
    "first": First,
    "last": Last,
}


def filtered(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that pick messages, as its parameter `chosen`."""
    own = inspect.signature(command).parameters
    hints = get_type_hints(command, include_extras=True)
    kept = [
        one.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, one in own.items()
        if name != "chosen"
    ]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _KINDS.items()
    ]

    @wraps(command)
    def with_filter(*args: Any, **given: Any) -> None:
        told = {name: given.pop(name, None) for name in _KINDS}
        command(*args, **given, chosen=_filter(**told))

    parameters = kept + added
    with_filter.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_filter.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_filter


def is_empty(chosen: pb.MessageFilter) -> bool:
    """Tell whether a filter picks everything."""
    return not chosen.ListFields()


def _filter(
    *,
    error_class: ErrorClass | None,
    fingerprint: str | None,
    type_: str | None,
    styp: str | None,
    flid: str | None,
    since: str | None,
    until: str | None,
    first: int | None,
    last: int | None,
) -> pb.MessageFilter:
    return pb.MessageFilter(
        error_class=error_class or "",
        fingerprint=fingerprint or "",
        type=type_ or "",
        styp=styp or "",
        flid=flid or "",
        since=instant(since, "--since"),
        until=instant(until, "--until"),
        from_msg_id=first or 0,
        to_msg_id=last or 0,
    )


def instant(given: str | None, option: str) -> Timestamp | None:
    """Return the instant that an option gives; None: it gives none.

    Raises:
        Failure: it is no instant.
    """
    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given)
        told = Timestamp()
        told.FromDatetime(at if at.tzinfo is not None else at.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        misused(f"{option} is no instant in ISO-8601, as 2026-01-05T08:30")
    return told
