"""`msgxctl abandoned`: marks of the mailbox that were given up, or are gone."""

from typing import Annotated, Any, Final

import typer

from msgx.domain.marking import Abandonment
from msgx.rpc.v1 import mailbox_pb2 as pb
from msgxctl import options, show
from msgxctl.failure import Status, misused
from msgxctl.pages import PAGE, pages
from msgxctl.place import Peer
from msgxctl.plain import number, plain, word
from msgxctl.show import Column, Row

app = options.subapp(help="Marks of the mailbox that were given up, or are gone.")

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["MailboxService"]
_REASON: Final = pb.AbandonReason.DESCRIPTOR
_MOST_AT_ONCE: Final = 10_000
_COLUMNS: Final[tuple[Column, ...]] = (
    ("message", "msg_id"),
    ("reason", "reason"),
    ("state", "state"),
    ("type", "type"),
    ("styp", "styp"),
    ("tries", "attempts"),
    ("finished", show.at("finished_at")),
    ("given up", show.at("abandoned_at")),
    ("reopened", show.at("reopened_at")),
)

_RETURNED: Final[tuple[Column, ...]] = (
    ("message", "msg_id"),
    ("state", "state"),
    ("type", "type"),
    ("styp", "styp"),
    ("finished", show.at("finished_at")),
    ("its mark was seen", show.at("confirmed_at")),
)

_Reasoned = Annotated[
    Abandonment | None, typer.Option("--why", help="Only those given up for this reason.")
]
_First = Annotated[int | None, typer.Option("--from", min=1, help="The lowest message id.")]
_Last = Annotated[int | None, typer.Option("--to", min=1, help="The highest message id.")]


@app.command("list")
def list_(
    context: typer.Context,
    why: _Reasoned = None,
    first: _First = None,
    last: _Last = None,
    limit: options.Limit = 100,
    everything: options.All = False,
    as_json: options.AsJson = False,
) -> None:
    """List marks that were given up, with the reason, and count them."""
    remote = options.remote(context)
    chosen = _filter(why, first, last)
    counted = remote.ask(
        Peer.INTAKE, _SERVICE, "CountAbandoned", pb.CountAbandonedRequest(filter=chosen)
    )

    def page(wanted: int, last: Row | None) -> list[Row]:
        after = last["msg_id"] if last else 0
        request = pb.ListAbandonedRequest(filter=chosen, limit=wanted, after_msg_id=after)
        answer = remote.ask(Peer.INTAKE, _SERVICE, "ListAbandoned", request)
        return [plain(one) for one in answer.marks]

    marks = pages(page, options.pages_of(limit, everything))
    if as_json:
        show.as_json(plain(counted) | {"marks": marks})
        return
    show.table(marks, _COLUMNS)
    by = ", ".join(f"{one.count} {word(_REASON, one.reason)}" for one in counted.counts)
    show.say(f"{len(marks)} of {counted.total} marks given up" + (f": {by}" if by else ""))


@app.command()
def returned(
    context: typer.Context,
    first: _First = None,
    last: _Last = None,
    as_json: options.AsJson = False,
) -> None:
    """List marks that we saw and that are gone from the mailbox.

    It was restored, or an id was used again. Such rows are neither marked nor
    processed again. The whole mailbox is looked through, or from --from to --to.
    """
    remote = options.remote(context)
    found: list[dict[str, Any]] = []
    after = (first or 1) - 1
    with show.progress("looked through", last) as done:
        while last is None or after < last:
            request = pb.ListReturnedRequest(after_msg_id=after, limit=PAGE)
            answer = remote.ask(Peer.INTAKE, _SERVICE, "ListReturned", request)
            found += [plain(one) for one in answer.marks]
            if answer.done:
                break
            after = answer.reached_msg_id
            done(after)
    found = [one for one in found if last is None or one["msg_id"] <= last]
    if as_json:
        show.as_json({"marks": found})
        return
    show.table(found, _RETURNED)
    show.say(f"{len(found)} marks that were confirmed are gone")


@app.command()
def reopen(
    context: typer.Context,
    reason: options.Reason,
    ids: Annotated[
        list[int] | None, typer.Argument(min=1, help="Ids of messages.", show_default=False)
    ] = None,
    matching: Annotated[
        bool, typer.Option("--matching", help="All that --why, --from and --to pick.")
    ] = False,
    why: _Reasoned = None,
    first: _First = None,
    last: _Last = None,
    yes: options.Yes = False,
    as_json: options.AsJson = False,
) -> None:
    """Have marks tried again at once. R, the time until they are given up, begins anew."""
    act = options.act(context, reason)
    if matching == bool(ids):
        misused("either ids say which marks are meant, or --matching does")
    if ids and (why or first or last):
        misused("--why, --from and --to go with --matching")
    remote = options.remote(context)
    if ids:
        request = pb.ReopenAbandonedRequest(admin=act, ids=pb.MsgIds(ids=ids))
        answer = remote.ask(Peer.INTAKE, _SERVICE, "ReopenAbandoned", request)
        _tell(answer.affected, [plain(one) for one in answer.not_reopened], 0, as_json)
        return
    chosen = _filter(why, first, last)
    count = pb.CountAbandonedRequest(filter=chosen)
    total = remote.ask(Peer.INTAKE, _SERVICE, "CountAbandoned", count).total
    if total:
        options.confirm(f"Reopen {total} marks?", yes=yes)
    affected = remaining = 0
    with (
        show.early(lambda: f"{affected} of {total} marks are owed again"),
        show.progress("reopened", total) as done,
    ):
        while affected < total:  # what is given up meanwhile was not agreed to
            request = pb.ReopenAbandonedRequest(
                admin=act, filter=chosen, limit=min(_MOST_AT_ONCE, total - affected)
            )
            answer = remote.ask(Peer.INTAKE, _SERVICE, "ReopenAbandoned", request)
            affected, remaining = affected + answer.affected, answer.remaining
            done(affected)
            if not answer.affected:
                break
    _tell(affected, [], remaining, as_json)


def _tell(affected: int, left: list[dict[str, Any]], remaining: int, as_json: bool) -> None:
    if as_json:
        show.as_json({"affected": affected, "remaining": remaining, "not_reopened": left})
    else:
        show.say(f"{affected} marks are owed again")
        if left:
            show.table(left, (("not reopened", "msg_id"), ("its mark is", "standing")))
        if remaining:
            show.say(f"{remaining} are still given up: in work elsewhere, or new")
    if left:
        raise typer.Exit(Status.FAILED)


def _filter(why: Abandonment | None, first: int | None, last: int | None) -> pb.AbandonedFilter:
    chosen = pb.AbandonedFilter(first_msg_id=first or 0, last_msg_id=last or 0)
    if why is not None:
        chosen.reason = number(_REASON, why.value)  # type: ignore[assignment]  # an enum is a number
    return chosen
