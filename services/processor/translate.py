"""Messages of operators' calls, to our words and back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from msgx.domain.processing import ProcState
from msgx.domain.replay import Forecast, Order, Verdict
from msgx.rpc.v1 import replay_pb2 as pb
from msgx.runtime.desk import Refusal, stamp, word_of
from msgx.store.dead_message import Choice, Found, Frozen, Group, Range

_NAMED: Final = 20
_STATES: Final[Mapping[int, ProcState]] = MappingProxyType(
    {pb.MessageState.Value(f"MESSAGE_STATE_{state.name}"): state for state in ProcState}
)
_STATE_NUMBERS: Final = {state: pb.MessageState.Name(n) for n, state in _STATES.items()}
_VERDICTS: Final = {verdict: f"VERDICT_{verdict.name}" for verdict in Verdict}


def choice_of(given: pb.MessageFilter) -> Choice:
    """Return which messages a filter picks.

    Raises:
        Refusal: it names a state that we do not know, or no short word.
    """
    if given.state and given.state not in _STATES:
        raise Refusal("filter.state is none that this version knows")
    if min(given.from_msg_id, given.to_msg_id) < 0:
        raise Refusal("ids are not negative")
    return Choice(
        state=_STATES.get(given.state),
        error_class=word_of(given.error_class, "filter.error_class"),
        fingerprint=word_of(given.fingerprint, "filter.fingerprint"),
        type=word_of(given.type, "filter.type"),
        styp=word_of(given.styp, "filter.styp"),
        flid=word_of(given.flid, "filter.flid"),
        since=_instant(given.since) if given.HasField("since") else None,
        until=_instant(given.until) if given.HasField("until") else None,
        first=given.from_msg_id or None,
        last=given.to_msg_id or None,
    )


def order_of(given: pb.ReplayOptions) -> Order:
    """Return the order that options give.

    Raises:
        Refusal: they contradict each other.
    """
    if given.approve_removals < 0:
        raise Refusal("options.approve_removals is not negative")
    return Order(
        force=given.force,
        allow_stale=given.allow_stale,
        approve_removals=given.approve_removals or None,
    )


def options(order: Order | None) -> pb.ReplayOptions | None:
    """Return an order as options."""
    if order is None:
        return None
    return pb.ReplayOptions(
        force=order.force,
        allow_stale=order.allow_stale,
        approve_removals=order.approve_removals or 0,
    )


def range_of(given: pb.ReplayRange, order: Order) -> Range:
    """Return the range that a preview froze.

    Raises:
        Refusal: no preview made it, or it was made for other options.
    """
    if not given.HasField("frozen_at"):
        raise Refusal("range must be what Preview returned")
    if given.force != order.force:
        raise Refusal("options.force is not what the range was previewed with")
    if order.approve_removals is not None:
        raise Refusal("removals are approved for one message, not for a range")
    return Range(
        choice=choice_of(given.filter),
        classes=order.classes,
        up_to=given.up_to_msg_id,
        frozen_at=_instant(given.frozen_at),
    )


def frozen(
    found: Frozen, given: pb.MessageFilter, *, force: bool, left: int
) -> pb.PreviewResponse:
    """Return what a preview found."""
    return pb.PreviewResponse(
        range=pb.ReplayRange(
            filter=given,
            up_to_msg_id=found.up_to,
            frozen_at=stamp(found.frozen_at),
            force=force,
            count=found.count,
        ),
        needs_force=left,
    )


def summary(one: Found) -> pb.MessageSummary:
    """Return the record of a message."""
    return pb.MessageSummary(
        msg_id=one.msg_id,
        state=_STATE_NUMBERS[one.state],
        sndr=one.sndr or "",
        type=one.type or "",
        styp=one.styp or "",
        seqn=one.seqn or "",
        flid=one.flid or "",
        error_class=one.error_class or "",
        first_error_class=one.first_error_class or "",
        fingerprint=one.fingerprint or "",
        text=one.text or "",
        attempts=one.attempts,
        infra_attempts=one.infra_attempts,
        registered_at=stamp(one.registered_at),
        finished_at=maybe(one.finished_at),
        next_attempt_at=maybe(one.next_attempt_at),
        route=one.route or "",
        corrected=one.corrected,
        replays=one.replays,
    )


def group(one: Group) -> pb.FailureGroup:
    """Return failures of one cause."""
    return pb.FailureGroup(
        error_class=one.error_class,
        fingerprint=one.fingerprint or "",
        count=one.count,
        lowest_msg_id=one.lowest,
        highest_msg_id=one.highest,
        first_at=stamp(one.first_at),
        last_at=stamp(one.last_at),
        example=one.example or "",
    )


def forecast(one: Forecast) -> pb.Forecast:
    """Return what a replay would come to."""
    return pb.Forecast(
        msg_id=one.msg_id,
        verdict=_VERDICTS[one.verdict],
        text=one.text,
        newer=[
            pb.NewerSource(flid=source.flid, tags=source.tags, msg_id=source.msg_id)
            for source in one.newer[:_NAMED]
        ],
        newer_flights=len(one.newer),
        flights=one.flights,
        removals=one.removals,
    )


def maybe(at: datetime | None) -> Timestamp | None:
    """Return an instant, if there is one, as messages carry it."""
    return None if at is None else stamp(at)


def _instant(given: Timestamp) -> datetime:
    try:
        return given.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise Refusal("an instant is none") from None
