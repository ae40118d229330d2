"""What a failure makes of its message: dead at once, due again, exhausted."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx.domain.backoff import doubling, rung
from msgx.domain.failure import REFUSED, Away, ErrorClass, Fault
from msgx.domain.message import Message, Meta, Unsupported
from msgx.domain.processing import ProcState, Trigger
from msgx.runtime.failing import verdict
from msgx.settings import Pipeline
from msgx.store.proc_state import Head, Outcome

PIPELINE = Pipeline()
META = Meta(sndr="AODB", type="FLOP", styp="STND", seqn="1", dttm=None)
MESSAGE = Message(meta=META, body_digest=b"", payload=Unsupported())
RETRIED = [ErrorClass.CODEC_ERROR, ErrorClass.PROCESSING]


def head(attempts: int = 0, infra: int = 0) -> Head:
    return Head(
        msg_id=7,
        state=ProcState.FAILED,
        attempts=attempts,
        infra_attempts=infra,
        wait=timedelta(),
        received_at=None,
        traceparent=None,
    )


def decided(
    error_class: ErrorClass,
    *,
    attempts: int = 0,
    infra: int = 0,
    was_read: bool = True,
    committed: bool = False,
    pipeline: Pipeline = PIPELINE,
) -> Outcome | timedelta:
    failure = Fault(error_class, "what failed")
    return verdict(
        MESSAGE,
        head(attempts, infra),
        failure,
        was_read=was_read,
        committed=committed,
        pipeline=pipeline,
    )


@pytest.mark.covers("R46", "US-03", "B25")
@pytest.mark.parametrize("error_class", sorted(REFUSED))
def test_a_broken_message_is_dead_at_once(error_class: ErrorClass) -> None:
    outcome = decided(error_class)

    assert isinstance(outcome, Outcome)
    assert outcome.trigger is Trigger.REJECT
    assert outcome.error_class is error_class
    assert outcome.reason == "what failed"
    assert outcome.meta == META


@pytest.mark.covers("US-03", "B24", "R37")
@pytest.mark.parametrize("error_class", RETRIED)
def test_a_repairable_failure_climbs_the_ladder(error_class: ErrorClass) -> None:
    waits = [decided(error_class, attempts=tried) for tried in range(4)]

    assert waits == [timedelta(seconds=seconds) for seconds in (5, 30, 120, 600)]


@pytest.mark.covers("US-03", "B24", "B29", "R05")
@pytest.mark.parametrize("error_class", RETRIED)
def test_the_last_try_exhausts_and_keeps_its_class(error_class: ErrorClass) -> None:
    outcome = decided(error_class, attempts=4)

    assert isinstance(outcome, Outcome)
    assert outcome.trigger is Trigger.EXHAUST
    assert outcome.error_class is error_class
    assert outcome.reason == "exhausted after 5 tries: what failed"


@pytest.mark.covers("R04", "INV-23", "B91")
@given(tried=st.integers(0, 10**6), attempts=st.integers(0, 100))
def test_a_server_that_is_away_never_ends_a_message(tried: int, attempts: int) -> None:
    wait = decided(ErrorClass.INFRA, infra=tried, attempts=attempts)

    assert isinstance(wait, timedelta)
    assert timedelta() < wait <= PIPELINE.infra_backoff_limit


@pytest.mark.covers("R04")
def test_the_literal_limit_of_tries_can_be_restored() -> None:
    limited = Pipeline(infra_max_attempts=3)

    waits = decided(ErrorClass.INFRA, infra=1, attempts=99, pipeline=limited)
    ended = decided(ErrorClass.INFRA, infra=2, pipeline=limited)

    assert isinstance(waits, timedelta)
    assert isinstance(ended, Outcome)
    assert (ended.trigger, ended.error_class) == (Trigger.EXHAUST, ErrorClass.INFRA)


@pytest.mark.covers("R04", "R38")
def test_what_was_never_read_is_not_buried_by_the_limit() -> None:
    limited = Pipeline(infra_max_attempts=3)

    waits = decided(ErrorClass.INFRA, infra=99, was_read=False, pipeline=limited)

    assert waits == limited.infra_backoff_limit


@pytest.mark.covers("R42")
@pytest.mark.parametrize(
    "error_class", [*RETRIED, ErrorClass.INFRA, *sorted(REFUSED)], ids=lambda one: one.value
)
def test_a_message_whose_effect_is_committed_never_dies(error_class: ErrorClass) -> None:
    pipeline = Pipeline(infra_max_attempts=1)

    wait = decided(error_class, attempts=99, infra=99, committed=True, pipeline=pipeline)

    assert isinstance(wait, timedelta)
    assert wait > timedelta()


@pytest.mark.covers("R42", "R37")
def test_one_try_needs_no_ladder() -> None:
    once = Pipeline(max_attempts=1, ladder=())

    ended = decided(ErrorClass.PROCESSING, pipeline=once)
    waits = decided(ErrorClass.PROCESSING, committed=True, pipeline=once)

    assert isinstance(ended, Outcome)
    assert ended.trigger is Trigger.EXHAUST
    assert waits == once.infra_backoff_limit


@pytest.mark.covers("R58")
def test_a_message_that_cannot_be_read_has_no_meta_to_keep() -> None:
    failure = Fault(ErrorClass.MALFORMED, "not well-formed")

    outcome = verdict(
        failure, head(), failure, was_read=True, committed=False, pipeline=PIPELINE
    )

    assert isinstance(outcome, Outcome)
    assert outcome.meta is None
    assert outcome.identity_key is None


@pytest.mark.covers("R04")
def test_away_is_infra() -> None:
    assert Away("Redis failed").error_class is ErrorClass.INFRA


@pytest.mark.covers("US-03")
@given(st.integers(1, 1000))
def test_a_ladder_ends_on_its_last_rung(attempt: int) -> None:
    ladder = (timedelta(seconds=1), timedelta(seconds=2))

    assert rung(ladder, attempt) == ladder[min(attempt, 2) - 1]


@pytest.mark.covers("R04", "B12")
@given(st.integers(1, 10**9))
def test_doubling_never_passes_its_limit_nor_overflows(attempt: int) -> None:
    first, limit = timedelta(seconds=0.2), timedelta(seconds=2)

    wait = doubling(first, limit, attempt)

    assert first <= wait <= limit
    assert wait == limit or wait == first * 2 ** (attempt - 1)
