"""Requests to the AODB: what may be asked, how they move, and which answer is theirs."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx.domain.message import Meta
from msgx.domain.requests import (
    OPEN,
    REQUESTS,
    Match,
    MatchedBy,
    NotAskable,
    RequestState,
    RequestTrigger,
    RequestType,
    Tracked,
    Unanswered,
    Wish,
    asked_for,
    judge,
)

NOON = datetime(2026, 6, 15, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
YEAR = timedelta(days=366)
SENT = Tracked(
    req_id=1,
    state=RequestState.SENT,
    rtyp=None,
    begin=NOON,
    end=NOON,
    sending_at=NOON,
    expires_at=NOON + 10 * MINUTE,
    matched_msg_id=None,
    matched_by=None,
    answer_in_work=False,
)


def judged(
    tracked: Tracked | None,
    *,
    dttm: datetime | None = NOON + MINUTE,
    now: datetime = NOON + MINUTE,
    rtyps: frozenset[str] = frozenset(),
) -> Match | Unanswered:
    return judge(
        tracked, msg_id=7, dttm=dttm, now=now, tolerance=timedelta(minutes=2), rtyps=rtyps
    )


@pytest.mark.covers("US-09", "R56")
@pytest.mark.parametrize("state", OPEN)
def test_an_answer_matches_the_open_request_and_tells_its_distance(state: RequestState) -> None:
    request = replace(SENT, state=state)

    found = judged(request)

    assert found == Match(request=request, msg_id=7, by=MatchedBy.TYPE, lag=MINUTE)


@pytest.mark.covers("US-09")
def test_an_answer_without_a_readable_dttm_matches_without_a_distance() -> None:
    found = judged(SENT, dttm=None)

    assert isinstance(found, Match)
    assert found.lag is None


@pytest.mark.covers("US-09", "R56")
@pytest.mark.parametrize(
    ("tracked", "dttm", "now", "why"),
    [
        (None, NOON, NOON, Unanswered.NO_REQUEST),
        (replace(SENT, state=RequestState.DONE), NOON, NOON, Unanswered.NO_REQUEST),
        (replace(SENT, answer_in_work=True), NOON, NOON, Unanswered.NO_REQUEST),
        (replace(SENT, state=RequestState.EXPIRED), NOON, NOON, Unanswered.EXPIRED),
        (SENT, NOON, NOON + 10 * MINUTE, Unanswered.EXPIRED),
        (SENT, NOON - 2 * MINUTE - timedelta(seconds=1), NOON, Unanswered.EARLY),
    ],
)
def test_an_answer_that_is_not_asked_for_late_or_early_is_none(
    tracked: Tracked | None, dttm: datetime, now: datetime, why: Unanswered
) -> None:
    assert judged(tracked, dttm=dttm, now=now) is why


@pytest.mark.covers("R08", "R12")
def test_time_does_not_pass_for_an_answer_whose_match_is_written() -> None:
    request = replace(SENT, matched_msg_id=7, matched_by=MatchedBy.TYPE)

    assert isinstance(judged(request, now=NOON + 30 * MINUTE), Match)
    other = replace(request, matched_msg_id=8)
    assert judged(other, now=NOON + 30 * MINUTE) is Unanswered.EXPIRED


@pytest.mark.covers("US-09")
def test_the_tolerance_is_for_a_clock_behind_ours() -> None:
    assert isinstance(judged(SENT, dttm=NOON - 2 * MINUTE), Match)


@pytest.mark.covers("US-09")
def test_an_answer_of_the_same_second_is_not_early_without_any_tolerance() -> None:
    request = replace(SENT, sending_at=NOON + timedelta(milliseconds=900))

    found = judge(request, msg_id=7, dttm=NOON, now=NOON, tolerance=timedelta())

    assert isinstance(found, Match)
    assert found.lag == timedelta()


@pytest.mark.covers("US-09", "R56")
@pytest.mark.parametrize(
    ("asked", "told", "expected"),
    [
        ("GATE", {"GATE"}, MatchedBy.EXACT),
        (None, {"GATE", "BELT"}, MatchedBy.TYPE),
        ("GATE", {"BELT"}, Unanswered.NO_REQUEST),
        ("GATE", {"GATE", "BELT"}, Unanswered.NO_REQUEST),
        ("GATE", set(), Unanswered.NO_REQUEST),
    ],
)
def test_resource_states_must_be_of_the_asked_type(
    asked: str | None, told: set[str], expected: MatchedBy | Unanswered
) -> None:
    found = judged(replace(SENT, rtyp=asked), rtyps=frozenset(told))

    assert (found.by if isinstance(found, Match) else found) is expected


@pytest.mark.parametrize(
    ("type_", "kind"),
    [("SCHD", (RequestType.RQFD, "NONE")), ("GLST", (RequestType.RQRD, "GLST"))],
)
def test_the_type_of_an_answer_names_the_kind_of_its_request(
    type_: str, kind: tuple[RequestType, str]
) -> None:
    meta = Meta(sndr="AODB", type=type_, styp="RESP", seqn="1", dttm=None)

    assert asked_for(meta) == kind


@pytest.mark.parametrize("end", [NOON - MINUTE, NOON + YEAR + MINUTE])
def test_a_span_that_goes_back_or_too_far_cannot_be_asked(end: datetime) -> None:
    with pytest.raises(NotAskable):
        Wish.plan(NOON, end, longest=YEAR)


@pytest.mark.parametrize(
    ("category", "rtyp"), [("NONE", None), ("GLST", "GATE"), ("RSTA", "CHUT")]
)
def test_an_unknown_category_or_resource_cannot_be_asked(
    category: str, rtyp: str | None
) -> None:
    with pytest.raises(NotAskable):
        Wish.reference(category, rtyp)


@given(st.lists(st.sampled_from(RequestTrigger), max_size=12))
def test_a_closed_request_stays_closed_and_nothing_is_sent_twice_by_itself(
    walk: list[RequestTrigger],
) -> None:
    closed = {RequestState.DONE, RequestState.EXPIRED}
    state = RequestState.PENDING
    for trigger in walk:
        after = REQUESTS.moves.get((state, trigger), state)
        assert state not in closed or after is state
        if state is RequestState.UNKNOWN and after is RequestState.PENDING:
            assert trigger is RequestTrigger.RESEND
        state = after
