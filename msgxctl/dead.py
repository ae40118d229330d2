"""`msgxctl dead`: messages that died, what a replay would do, correction, replay (R35)."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from msgx.domain.processing import ProcState
from msgx.rpc.v1 import replay_pb2 as pb
from msgxctl import messages, options, show
from msgxctl.connect import Remote
from msgxctl.failure import misused, refuse
from msgxctl.filters import filtered, is_empty
from msgxctl.forecasts import FORECASTS, counted
from msgxctl.messages import SERVICE
from msgxctl.place import Peer
from msgxctl.plain import plain
from msgxctl.send import text_of
from msgxctl.show import Column

app = options.subapp(help="Messages that died.")

_MOST_IDS: Final = 1000
_MOST_GROUPS: Final = 1000
_MOST_SHOWN: Final = 50
_GROUPS: Final[tuple[Column, ...]] = (
    ("messages", "count"),
    ("class", "error_class"),
    ("fingerprint", "fingerprint"),
    ("first", show.at("first_at")),
    ("last", show.at("last_at")),
    ("ids", lambda row: f"{row['lowest_msg_id']}-{row['highest_msg_id']}"),
    ("for example", "example"),
)

_Ids = Annotated[
    list[int] | None, typer.Argument(min=1, help="Ids of messages.", show_default=False)
]
_Matching = Annotated[
    bool, typer.Option("--matching", help="All dead messages that the filter options pick.")
]
_Force = Annotated[
    bool, typer.Option("--force", help="Also PROTOCOL, MALFORMED and IDENTITY_CONFLICT.")
]
_AllowStale = Annotated[
    bool, typer.Option("--allow-stale", help="Apply only the tags that nothing newer has set.")
]
_Removals = Annotated[
    int,
    typer.Option(
        "--approve-removals",
        min=0,
        metavar="N",
        help="Of one day plan: it may delete exactly N.",
    ),
]


@app.command("list")
@filtered
def list_(
    context: typer.Context,
    limit: options.Limit = 100,
    everything: options.All = False,
    as_json: options.AsJson = False,
    *,
    chosen: pb.MessageFilter,
) -> None:
    """List dead messages, lowest id first."""
    most = options.pages_of(limit, everything)
    messages.listed(context, ProcState.DEAD, chosen, most, as_json)


@app.command()
@filtered
def groups(
    context: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=_MOST_GROUPS, help="At most so many.")
    ] = 100,
    as_json: options.AsJson = False,
    *,
    chosen: pb.MessageFilter,
) -> None:
    """Count dead messages by class and fingerprint, the largest group first."""
    request = pb.GroupFailuresRequest(filter=chosen, limit=limit)
    answer = options.remote(context).ask(Peer.PROCESSOR, SERVICE, "GroupFailures", request)
    told = plain(answer)
    if as_json:
        show.as_json(told)
        return
    show.table(told["groups"], _GROUPS)
    show.say(
        f"{len(told['groups'])} of {told['total_groups']} groups;"
        f" {told['total_messages']} messages in all"
    )


app.command("show")(messages.show_)


@app.command("dry-run")
@filtered
def dry_run(
    context: typer.Context,
    ids: _Ids = None,
    matching: _Matching = False,
    force: _Force = False,
    allow_stale: _AllowStale = False,
    approve_removals: _Removals = 0,
    as_json: options.AsJson = False,
    *,
    chosen: pb.MessageFilter,
) -> None:
    """Say of each dead message what its replay would do now. It changes nothing."""
    remote = options.remote(context)
    meant = _meant(remote, ids, matching, chosen, force)
    request = pb.DryRunRequest(
        options=pb.ReplayOptions(
            force=force, allow_stale=allow_stale, approve_removals=approve_removals
        )
    )
    _put(request, meant)
    found: list[dict[str, Any]] = []
    with show.progress("judged", _size(meant)) as done:

        def each(one: pb.DryRunResponse) -> None:
            found.extend(plain(forecast) for forecast in one.forecasts)
            done(len(found))

        remote.follow(Peer.PROCESSOR, SERVICE, "DryRun", request, each)
    if as_json:
        show.as_json({"forecasts": found})
        return
    show.table(found, FORECASTS)
    counts = counted(found)
    show.say(f"{len(found)} messages" + (f": {counts}" if counts else ""))


@app.command()
@filtered
def replay(
    context: typer.Context,
    reason: options.Reason,
    ids: _Ids = None,
    matching: _Matching = False,
    force: _Force = False,
    allow_stale: _AllowStale = False,
    approve_removals: _Removals = 0,
    rate: Annotated[
        int, typer.Option("--rate", min=0, metavar="N", help="At most N messages a second.")
    ] = 0,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
    *,
    chosen: pb.MessageFilter,
) -> None:
    """Put dead messages back to the head; they are processed again.

    By id, or all that the filter options pick: then what is dead now is counted
    and frozen first. Ctrl-C ends it after the transaction that is on its way;
    what was put back stays put back. The status is 1 if a message that was meant
    was not put back.
    """
    act = options.act(context, reason)
    remote = options.remote(context)
    meant = _meant(remote, ids, matching, chosen, force)
    if isinstance(meant, pb.ReplayRange):
        if not meant.count:
            _report({"total": 0, "replayed": 0, "refused": 0, "changed": 0}, [], as_json)
            return
        options.confirm(f"Replay {meant.count} messages?", yes=yes)
    request = pb.ReplayRequest(
        admin=act,
        options=pb.ReplayOptions(
            force=force, allow_stale=allow_stale, approve_removals=approve_removals
        ),
        per_second=rate,
    )
    _put(request, meant)
    last: dict[str, Any] = {"total": _size(meant), "replayed": 0, "refused": 0, "changed": 0}
    left: list[dict[str, Any]] = []
    with (
        show.early(lambda: f"{last['replayed']} of {last['total']} messages are put back"),
        show.progress("put back", _size(meant)) as done,
    ):

        def each(one: pb.ReplayResponse) -> None:
            last.update({name: getattr(one, name) for name in last})
            left.extend(plain(forecast) for forecast in one.left)
            done(one.replayed + one.refused)

        remote.follow(Peer.PROCESSOR, SERVICE, "Replay", request, each)
    _report(last, left, as_json)


@app.command()
def correct(
    context: typer.Context,
    msg_id: Annotated[int, typer.Argument(min=1, help="The message's id.")],
    file: Annotated[
        Path,
        typer.Argument(
            help="The whole message as it should have been sent; - is standard input."
        ),
    ],
    reason: options.Reason,
    as_json: options.AsJson = False,
) -> None:
    """Store a text beside the one that was sent; a replay reads it instead.

    Both stay visible. It may not change an identity that is bound. The message
    stays dead until it is replayed.
    """
    act = options.act(context, reason)
    try:
        text = text_of(file).decode()
    except UnicodeDecodeError as error:
        misused(f"the text is no UTF-8 at byte {error.start + 1}")
    request = pb.CorrectRequest(admin=act, msg_id=msg_id, text=text)
    answer = options.remote(context).ask(Peer.PROCESSOR, SERVICE, "Correct", request)
    told = plain(answer)
    if as_json:
        show.as_json(told)
        return
    show.say(f"message {msg_id} is corrected; replayed now, it would come to:")
    show.table([told["forecast"]], FORECASTS)


def _meant(
    remote: Remote,
    ids: list[int] | None,
    matching: bool,
    chosen: pb.MessageFilter,
    force: bool,
) -> pb.MessageIds | pb.ReplayRange:
    """Return the messages that the command line means; by filter, the range as it is frozen
    now."""
    if matching == bool(ids):
        misused("either ids say which messages are meant, or --matching does")
    if ids:
        if not is_empty(chosen):
            misused("the filter options go with --matching")
        if len(ids) > _MOST_IDS:
            misused(f"at most {_MOST_IDS} ids at once")
        return pb.MessageIds(ids=ids)
    request = pb.PreviewRequest(filter=chosen, force=force)
    preview = remote.ask(Peer.PROCESSOR, SERVICE, "Preview", request)
    if preview.needs_force:
        show.note(f"{preview.needs_force} more are of a class that needs --force")
    frozen: pb.ReplayRange = preview.range
    return frozen


def _put(
    request: pb.DryRunRequest | pb.ReplayRequest, meant: pb.MessageIds | pb.ReplayRange
) -> None:
    if isinstance(meant, pb.ReplayRange):
        request.range.CopyFrom(meant)
    else:
        request.messages.CopyFrom(meant)


def _size(meant: pb.MessageIds | pb.ReplayRange) -> int:
    return meant.count if isinstance(meant, pb.ReplayRange) else len(set(meant.ids))


def _report(last: dict[str, Any], left: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        show.as_json(last | {"left": left})
    else:
        show.say(f"{last['replayed']} of {last['total']} messages are put back")
        if left:
            show.table(left[:_MOST_SHOWN], FORECASTS)
            if len(left) > _MOST_SHOWN:
                show.say(f"… and {len(left) - _MOST_SHOWN} more (--json)")
        if last["changed"]:
            show.say(f"{last['changed']} were replayed or changed by others meanwhile")
    if last["refused"]:
        refuse(f"{last['refused']} of {last['total']} were not put back: {counted(left)}")
