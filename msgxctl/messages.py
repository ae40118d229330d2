"""`msgxctl message`: what became of messages, whatever their state."""

from enum import StrEnum
from typing import Annotated, Any, Final

import typer

from msgx.domain.processing import ProcState
from msgx.rpc.v1 import replay_pb2 as pb
from msgxctl import options, show
from msgxctl.failure import refuse
from msgxctl.filters import filtered
from msgxctl.pages import pages
from msgxctl.place import Peer
from msgxctl.plain import number, plain
from msgxctl.show import Column, Row

app = options.subapp(help="What became of messages.")

SERVICE: Final = pb.DESCRIPTOR.services_by_name["ReplayService"]
STATE: Final = pb.MessageState.DESCRIPTOR
MESSAGES: Final[tuple[Column, ...]] = (
    ("message", "msg_id"),
    ("state", "state"),
    ("type", "type"),
    ("styp", "styp"),
    ("seqn", "seqn"),
    ("flight", "flid"),
    ("class", "error_class"),
    ("tries", "attempts"),
    ("finished", show.at("finished_at")),
    ("next try", show.at("next_attempt_at")),
    ("corrected", lambda row: row["corrected"] or None),
    ("reason", "text"),
)
_SUMMARY: Final[tuple[Column, ...]] = (
    ("message", "msg_id"),
    ("state", "state"),
    ("reason", "text"),
    ("class", "error_class"),
    ("first class", "first_error_class"),
    ("fingerprint", "fingerprint"),
    ("sender", "sndr"),
    ("type", "type"),
    ("subtype", "styp"),
    ("sequence", "seqn"),
    ("flight", "flid"),
    ("tries", "attempts"),
    ("tries, servers away", "infra_attempts"),
    ("registered", show.at("registered_at")),
    ("finished", show.at("finished_at")),
    ("next try", show.at("next_attempt_at")),
    ("handed to", "route"),
    ("put back", "replays"),
    ("identity", "identity"),
)
_ATTEMPTS: Final[tuple[Column, ...]] = (
    ("failed try", "number"),
    ("at", show.at("at")),
    ("class", "error_class"),
    ("error", "text"),
    ("trace", "trace_id"),
)
_ENTRIES: Final[tuple[Column, ...]] = (
    ("flight", "flid"),
    ("version", "state_version"),
    ("what it did", "kind"),
    ("tags", "tags"),
    ("at", show.at("at")),
)


class Text(StrEnum):
    """Which text of a message."""

    SENT = "sent"
    CORRECTED = "corrected"


@app.command("list")
@filtered
def list_(
    context: typer.Context,
    state: Annotated[
        ProcState | None, typer.Option("--state", help="Only in this state.")
    ] = None,
    limit: options.Limit = 100,
    everything: options.All = False,
    as_json: options.AsJson = False,
    *,
    chosen: pb.MessageFilter,
) -> None:
    """List messages, lowest id first."""
    listed(context, state, chosen, options.pages_of(limit, everything), as_json)


def listed(
    context: typer.Context,
    state: ProcState | None,
    chosen: pb.MessageFilter,
    most: int,
    as_json: bool,
) -> None:
    """Print at most so many messages that a filter picks, page by page, and how many it does in
    all."""
    remote = options.remote(context)
    if state is not None:
        chosen.state = number(STATE, state.value)  # type: ignore[assignment]  # an enum is a number
    total = 0

    def page(wanted: int, last: Row | None) -> list[Row]:
        nonlocal total
        after = last["msg_id"] if last else 0
        request = pb.ListMessagesRequest(filter=chosen, limit=wanted, after_msg_id=after)
        answer = remote.ask(Peer.PROCESSOR, SERVICE, "ListMessages", request)
        total = answer.total
        return [plain(one) for one in answer.messages]

    found = pages(page, most)
    if as_json:
        show.as_json({"messages": found, "total": total})
        return
    show.table(found, MESSAGES)
    show.say(f"{len(found)} of {total} messages")


@app.command("show")
def show_(
    context: typer.Context,
    msg_id: Annotated[int, typer.Argument(min=1, help="The message's id.")],
    text: Annotated[bool, typer.Option("--text", help="Print the texts, too.")] = False,
    only: Annotated[
        Text | None,
        typer.Option("--only", help="Print nothing but this text, to be put into a file."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Show everything that is kept of one message.

    What a terminal would obey is not printed; --only into a file or a pipe is
    exact.
    """
    request = pb.ShowMessageRequest(msg_id=msg_id, with_text=text or only is not None)
    answer = options.remote(context).ask(Peer.PROCESSOR, SERVICE, "ShowMessage", request)
    if only is not None:
        wanted = answer.raw_text if only is Text.SENT else answer.corrected_text
        if not wanted:
            refuse(f"there is no {only} text of message {msg_id}")
        show.exact(wanted)
    elif as_json:
        show.as_json(plain(answer))
    else:
        _print(plain(answer), text)


def _print(told: dict[str, Any], text: bool) -> None:
    show.facts(told["message"] | {"identity": told["identity"]}, _SUMMARY)
    if told["replayed_at"]:
        how = [name for name, set_ in (told["options"] or {}).items() if set_]
        by = f" with {', '.join(how)}" if how else ""
        show.say(f"put back at {show.at('replayed_at')(told)}{by}")
    if told["attempts"]:
        show.table(told["attempts"], _ATTEMPTS)
    if told["entries"]:
        show.table(told["entries"], _ENTRIES)
        if told["total_entries"] > len(told["entries"]):
            show.say(f"{len(told['entries'])} of {told['total_entries']} flights")
    if told["corrected_at"]:
        show.say(f"corrected at {show.at('corrected_at')(told)} by {told['corrected_by']}")
    if told["raw_missing"]:
        show.say("its text is neither in the mailbox nor kept")
    if told["raw_altered"]:
        show.say("characters that no column takes were replaced in the text that is kept")
    if text:
        for heading, name in (
            ("as sent:", "raw_text"),
            ("as corrected:", "corrected_text"),
        ):
            if told[name]:
                show.say(heading)
                show.body(told[name])
