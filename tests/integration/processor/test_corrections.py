"""Texts that operators correct: what they may change, and that they are what is read (R35)."""

from datetime import timedelta

import pytest

from msgx.rpc.v1 import replay_pb2 as pb
from tests.support.calls import WHO
from tests.support.messages import adft, dnld, flop, fltr, message, stand
from tests.support.processor import Line, refusing
from tests.support.relay import relayed
from tests.support.replaying import Operator, audit, operating, verdict_of

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


@pytest.mark.covers("R35", "R38", "R02")
def test_a_correction_is_read_instead_and_both_texts_stay(
    line: Line, operator: Operator
) -> None:
    line.run(adft(fltr("1")))
    wrong = flop("STND", "<GATE>1</GATE>", seqn="901")
    right = stand("7", seqn="901")
    (dead,) = line.run(wrong)
    assert line.end(dead)[:2] == ("DEAD", "PROTOCOL")
    line.forget(dead)

    forecast = operator.correct(dead, right)
    operator.replay(dead, force=True)
    line.run()

    assert verdict_of(forecast) == "APPLIES"
    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.flight().values["STND"] == "7"
    shown = operator.show(dead)
    assert (shown.raw_text, shown.corrected_text) == (wrong, right)
    assert (shown.corrected_by, shown.message.replays, shown.options.force) == ("ops", 1, True)
    assert [(entry.flid, list(entry.tags)) for entry in shown.entries] == [("1", ["STND"])]
    assert [(one.number, one.error_class) for one in shown.attempts] == [(1, "PROTOCOL")]
    # The corrected content is the identity's now.
    assert line.end(line.run(right)[0])[2] == f"duplicate-of:{dead}"
    assert audit(line) == [("correct", 1), ("replay", 1)]


@pytest.mark.covers("R35", "R12")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<MSG>", "cannot be read"),
        (message("FLOP", "STND", "<FLOP><FLID>0</FLID></FLOP>", seqn="901"), "not acceptable"),
        (stand("7", seqn="902"), "another identity"),
    ],
)
def test_a_correction_that_would_die_or_change_the_identity_is_refused(
    line: Line, operator: Operator, text: str, why: str
) -> None:
    line.run(adft(fltr("1")))
    (dead,) = line.run(flop("STND", "<GATE>1</GATE>", seqn="901"))

    request = pb.CorrectRequest(admin=WHO, msg_id=dead, text=text)
    code, words = operator.refusal("Correct", request)

    assert code == "INVALID_ARGUMENT"
    assert why in words
    assert line.one("SELECT corrected FROM dead_letter") is None


@pytest.mark.covers("R35", "R02", "INV-9")
def test_a_day_plan_that_was_tried_to_its_end_keeps_its_identity_when_it_is_corrected(
    line: Line,
) -> None:
    """Its identity was bound before its batches were tried, in a transaction of its own."""
    line.restart(pipeline={"max_attempts": 1, "ladder": ()})
    with refusing(line, "1"):
        (dead,) = line.run(dnld(fltr("1"), seqn="901"))
    right = dnld(fltr("2"), seqn="901")
    with operating(line) as operator:
        other = pb.CorrectRequest(admin=WHO, msg_id=dead, text=dnld(fltr("2"), seqn="902"))
        code, words = operator.refusal("Correct", other)
        operator.correct(dead, right)
        operator.replay(dead)
        line.run()

    assert (code, "another identity" in words) == ("INVALID_ARGUMENT", True)
    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.end(line.run(right)[0])[2] == f"duplicate-of:{dead}"


@pytest.mark.covers("R12", "R35", "R42")
def test_what_has_changed_flights_already_is_not_corrected(line: Line) -> None:
    """Its text vanished behind the commit, before Redis took it."""
    with relayed(line.places.redis) as (relay, url):
        line.start(redis_url=url, epoch_check=timedelta(hours=1))
        line.run(adft(fltr("1")))
        line.worker.step()
        relay.cut()
        dead = line.land(stand("7", seqn="901"))
        line.worker.step()
        line.forget(dead)
        relay.restore()
        line.release_head()
        line.run()
    with operating(line) as operator:
        request = pb.CorrectRequest(admin=WHO, msg_id=dead, text=stand("8", seqn="901"))
        code, words = operator.refusal("Correct", request)
        (verdict, _) = operator.forecast(dead, force=True)[0]

    assert line.end(dead) == ("DEAD", "MALFORMED", "raw-missing")
    assert (code, words) == (
        "INVALID_ARGUMENT",
        f"message {dead} has changed flights already",
    )
    assert verdict == "RAW_MISSING"
    assert audit(line) == []


@pytest.mark.covers("R13", "R35")
def test_who_leads_again_reads_texts_anew(line: Line) -> None:
    """What was fetched ahead in an earlier term may have been corrected since."""
    line.run(adft(fltr("1")))
    early = line.restart(pipeline={"prefetch": 1})
    line.land(stand("6"))
    dead = line.land(flop("STND", "<GATE>1</GATE>", seqn="901"))
    early.step()
    early.leadership.lose()
    line.wait_for_no_leader()
    line.start().step()
    with operating(line) as operator:
        operator.correct(dead, stand("7", seqn="901"))
        operator.replay(dead, force=True)
    line.stop()
    early.step()

    assert line.end(dead)[0] == "SUCCEEDED"
    assert line.flight().values["STND"] == "7"


@pytest.mark.covers("R38", "R35", "INV-30")
def test_what_is_kept_but_not_to_the_letter_is_shown_and_not_applied(
    line: Line, operator: Operator
) -> None:
    line.run(adft(fltr("1")))
    (dead,) = line.run(stand("7\0", seqn="901"))
    line.forget(dead)

    (before,) = operator.forecasts(dead, force=True)
    operator.replay(dead, force=True)
    line.run()
    shown = operator.show(dead)
    ended = line.end(dead)
    after = operator.correct(dead, stand("7", seqn="901"))

    assert verdict_of(before) == "DIES"
    assert ended[:2] == ("DEAD", "MALFORMED")
    assert "STND" not in line.flight().values
    assert (shown.raw_altered, "<STND>7\N{SYMBOL FOR NULL}</STND>" in shown.raw_text) == (
        True,
        True,
    )
    assert verdict_of(after) == "APPLIES"
