"""A request to the AODB: its life cycle as one table, what it may ask for, and which answer
belongs to it. The SQL guards, the CHECK constraints and the docs page follow it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self

from msgx.domain.lifecycle import LifeCycle
from msgx.domain.message import Meta
from msgx.domain.refdata import RTYPES, Category


class RequestType(StrEnum):
    """`req_track.req_type`: the TYPE of the outbound message."""

    RQFD = "RQFD"  # a day plan
    RQRD = "RQRD"  # one category of reference data


class RequestState(StrEnum):
    """`req_track.state`. SENDING, SENT and UNKNOWN hold the one place of their kind (R08)."""

    PENDING = "PENDING"  # registered, not yet in the mailbox
    SENDING = "SENDING"  # being written to COUTMSGS
    SENT = "SENT"  # stands in COUTMSGS under a known id
    UNKNOWN = "UNKNOWN"  # perhaps written, perhaps not: an operator decides (INV-16)
    DONE = "DONE"  # its answer has taken effect
    EXPIRED = "EXPIRED"  # no answer in time, or a newer request took its place


class RequestTrigger(StrEnum):
    """What moves a request."""

    CLAIM = "claim"  # the dispatcher begins to write it
    GIVE_BACK = "give-back"  # certainly not written: tried again
    CONFIRM = "confirm"  # its row is known: written, found, or named by an operator
    LOSE = "lose"  # nobody can tell whether it was written (R34)
    RESEND = "resend"  # an operator says that it was not written
    ANSWER = "answer"  # the answer's data is finished; it also proves the write
    EXPIRE = "expire"  # the time is over, or a newer one of the kind is sent


class MatchedBy(StrEnum):
    """`req_track.matched_by`: how an answer was recognised (R56)."""

    EXACT = "EXACT"  # it repeats what the request named: the RTYP of RSTA
    TYPE = "TYPE"  # by its type alone; answers carry no number of the request


class Unanswered(StrEnum):
    """Why an answer has no effect: the reason of its SKIPPED row."""

    NO_REQUEST = "no-open-request"
    EXPIRED = "expired-request"
    EARLY = "early-response"


OPEN: Final = (RequestState.SENDING, RequestState.SENT, RequestState.UNKNOWN)

REQUESTS: Final = LifeCycle(
    MappingProxyType(
        {
            (RequestState.PENDING, RequestTrigger.CLAIM): RequestState.SENDING,
            (RequestState.SENDING, RequestTrigger.GIVE_BACK): RequestState.PENDING,
            (RequestState.SENDING, RequestTrigger.CONFIRM): RequestState.SENT,
            (RequestState.UNKNOWN, RequestTrigger.CONFIRM): RequestState.SENT,
            (RequestState.SENDING, RequestTrigger.LOSE): RequestState.UNKNOWN,
            (RequestState.UNKNOWN, RequestTrigger.RESEND): RequestState.PENDING,
        }
        | {(state, RequestTrigger.ANSWER): RequestState.DONE for state in OPEN}
        | {
            (state, RequestTrigger.EXPIRE): RequestState.EXPIRED
            for state in (RequestState.SENT, RequestState.UNKNOWN)
        }
    )
)


NO_STYP: Final = "NONE"
"""The STYP of a request for a day plan (Q25)."""


class NotAskable(ValueError):
    """There is no such request; the text tells whoever asks why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a request asks for."""

    type: RequestType
    styp: str
    rtyp: str | None = None  # of RSTA; None: every resource
    begin: datetime | None = None  # of a day plan: first and last minute, both included
    end: datetime | None = None

    @classmethod
    def plan(cls, begin: datetime, end: datetime, *, longest: timedelta) -> Self:
        """Return the wish for the flights between two instants.

        Raises:
            NotAskable: the end is before the begin, or too far from it.
        """
        if end < begin:
            raise NotAskable("the end is before the begin")
        if end - begin > longest:
            raise NotAskable(f"more than {longest.days} days are asked for")
        return cls(type=RequestType.RQFD, styp=NO_STYP, begin=begin, end=end)

    @classmethod
    def reference(cls, category: str, rtyp: str | None = None) -> Self:
        """Return the wish for a category of reference data, or for the states of a resource.

        Raises:
            NotAskable: there is no such category or resource.
        """
        if category not in {*Category}:
            raise NotAskable(f"the category is none of {', '.join(Category)}")
        if rtyp is not None and category != Category.RSTA:
            raise NotAskable(f"only {Category.RSTA} has a resource type")
        if rtyp is not None and rtyp not in RTYPES:
            raise NotAskable(f"the resource type is none of {', '.join(RTYPES)}")
        return cls(type=RequestType.RQRD, styp=category, rtyp=rtyp)


def asked_for(meta: Meta) -> tuple[RequestType, str]:
    """Return the kind of request that a message of STYP RESP answers."""
    if meta.type == "SCHD":
        return RequestType.RQFD, NO_STYP
    return RequestType.RQRD, meta.type


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """The request that an answer may belong to: the open one of its kind, else the last one
    that was sent."""

    req_id: int
    state: RequestState
    rtyp: str | None
    begin: datetime | None
    end: datetime | None
    sending_at: datetime
    expires_at: datetime
    matched_msg_id: int | None
    matched_by: MatchedBy | None
    answer_in_work: bool  # another message answers it and is not finished


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An answer and its request belong together (R56)."""

    request: Tracked
    msg_id: int
    by: MatchedBy
    lag: timedelta | None  # from the send to the answer's DTTM; None: it tells no DTTM


def judge(
    tracked: Tracked | None,
    *,
    msg_id: int,
    dttm: datetime | None,
    now: datetime,
    tolerance: timedelta,
    rtyps: frozenset[str] = frozenset(),
) -> Match | Unanswered:
    """Tell whether the message answers `tracked`; `rtyps` are the RTYP that its RSTA records
    have.

    Not for a message that has written something already: its match stands (R12). `tolerance`
    is how much the AODB's clock may be behind ours.
    """
    if tracked is None or tracked.state is RequestState.DONE or tracked.answer_in_work:
        return Unanswered.NO_REQUEST
    if tracked.rtyp is not None and rtyps != {tracked.rtyp}:
        return Unanswered.NO_REQUEST
    # What has begun does not expire: its match keeps the place (R08).
    if tracked.state is RequestState.EXPIRED or (
        tracked.expires_at <= now and tracked.matched_msg_id != msg_id
    ):
        return Unanswered.EXPIRED
    sent = tracked.sending_at.replace(microsecond=0)  # a DTTM tells no more
    if dttm is not None and dttm < sent - tolerance:
        return Unanswered.EARLY
    return Match(
        request=tracked,
        msg_id=msg_id,
        by=MatchedBy.TYPE if tracked.rtyp is None else MatchedBy.EXACT,
        lag=None if dttm is None else dttm - sent,
    )
