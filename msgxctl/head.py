"""`msgxctl head`: the message that everything waits for (R55)."""

from typing import Annotated, Any, Final

import typer

from msgx.rpc.v1 import replay_pb2 as pb
from msgxctl import options, show
from msgxctl.connect import Remote
from msgxctl.failure import misused, refuse
from msgxctl.messages import SERVICE
from msgxctl.place import Peer
from msgxctl.plain import plain
from msgxctl.show import Column

app = typer.Typer(help="The message that everything waits for.", invoke_without_command=True)

_HEAD: Final[tuple[Column, ...]] = (
    ("message", "msg_id"),
    ("state", "state"),
    ("type", "type"),
    ("subtype", "styp"),
    ("flight", "flid"),
    ("handed to", "route"),
    ("registered", show.at("registered_at")),
    ("class", "error_class"),
    ("error", "text"),
    ("failing since", show.at("failing_since")),
    ("tries", "attempts"),
    ("tries, servers away", "infra_attempts"),
    ("next try", show.at("next_attempt_at")),
    ("open messages", "open"),
)


@app.callback()
def root(context: typer.Context, as_json: options.AsJson = False) -> None:
    """The message that everything waits for; without a command it is shown."""
    if context.invoked_subcommand is None:
        show_(context, as_json=as_json)


@app.command("show")
def show_(context: typer.Context, as_json: options.AsJson = False) -> None:
    """Show the head, why it waits, and how many wait behind it."""
    told = plain(_head(options.remote(context)))
    if as_json:
        show.as_json(told)
    elif told["head"] is None:
        show.say("nothing waits")
    else:
        show.facts(told["head"] | told, _HEAD)


@app.command()
def retry(
    context: typer.Context,
    reason: options.Reason,
    msg_id: Annotated[
        int | None,
        typer.Argument(
            min=1, help="The head that is meant; else whichever it is.", show_default=False
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Try the head again now, without waiting for its next try."""
    act = options.act(context, reason)
    remote = options.remote(context)
    meant = msg_id
    if meant is None:
        head = _head(remote)
        if not head.HasField("head"):
            refuse("nothing waits")
        meant = head.head.msg_id
    request = pb.RetryHeadRequest(admin=act, msg_id=meant)
    answer = remote.ask(Peer.PROCESSOR, SERVICE, "RetryHead", request)
    if as_json:
        show.as_json({"msg_id": meant, "changed": answer.changed})
    else:
        show.say(
            f"message {meant} is tried now"
            if answer.changed
            else f"message {meant} is due already"
        )


@app.command()
def skip(
    context: typer.Context,
    first: Annotated[int, typer.Argument(min=1, metavar="ID", help="The message to skip.")],
    reason: options.Reason,
    last: Annotated[
        int | None,
        typer.Argument(min=1, metavar="TO", help="Skip all up to this id.", show_default=False),
    ] = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
) -> None:
    """End open messages as SKIPPED(operator): they are not processed.

    What they have already changed stays, is shown and delivered.
    """
    act = options.act(context, reason)
    if last is not None and last < first:
        misused("the second id is below the first")
    what = f"message {first}" if last is None else f"every open message from {first} to {last}"
    options.confirm(f"Skip {what}? It will not be processed.", yes=yes)
    request = pb.SkipRequest(admin=act, from_msg_id=first, to_msg_id=last or 0)
    told: dict[str, Any] = {"skipped": 0, "reached_msg_id": 0, "done": False}
    with (
        show.early(lambda: f"{told['skipped']} messages are skipped"),
        show.progress("skipped", None) as done,
    ):

        def each(one: pb.SkipResponse) -> None:
            told.update(plain(one))
            done(one.skipped)

        options.remote(context).follow(Peer.PROCESSOR, SERVICE, "Skip", request, each)
    if as_json:
        show.as_json(told)
    else:
        show.say(f"{told['skipped']} messages are skipped")
    if not told["skipped"]:
        refuse("no such message is open")


def _head(remote: Remote) -> Any:
    return remote.ask(Peer.PROCESSOR, SERVICE, "ShowHead", pb.ShowHeadRequest())
