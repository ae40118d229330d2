"""The operator's acts on the head: look, retry, skip (R42, R55)."""

from datetime import timedelta
from typing import Any

import pytest

from msgx.rpc.v1 import replay_pb2 as pb
from tests.support.calls import WHO
from tests.support.messages import adft, fltr, message, stand
from tests.support.processor import Line, refusing
from tests.support.relay import relayed
from tests.support.replaying import Operator, operating

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]

HEAD = pb.ShowHeadRequest()


@pytest.mark.covers("R55", "INV-3")
def test_the_head_is_shown_with_what_waits_and_why(line: Line, operator: Operator) -> None:
    line.run(adft(fltr("1")))
    with refusing(line, "1"):
        head, _ = line.run(stand("7"), stand("8"))

    told = operator.call("ShowHead", HEAD)

    assert (told.head.msg_id, told.open) == (head, 2)
    assert (told.head.error_class, told.head.attempts) == ("PROCESSING", 1)
    assert told.head.HasField("next_attempt_at")
    at = line.one("SELECT min(at) FROM proc_attempt")
    assert told.failing_since.ToDatetime(tzinfo=at.tzinfo) == at


@pytest.mark.covers("R55")
def test_a_head_that_waits_is_due_at_once_when_told(line: Line, operator: Operator) -> None:
    line.run(adft(fltr("1")))
    with refusing(line, "1"):
        head, behind = line.run(stand("7"), stand("8"))

    other = operator.refusal("RetryHead", pb.RetryHeadRequest(admin=WHO, msg_id=behind))
    first = operator.call("RetryHead", pb.RetryHeadRequest(admin=WHO, msg_id=head))
    again = operator.call("RetryHead", pb.RetryHeadRequest(admin=WHO, msg_id=head))
    line.run()

    assert other == (
        "INVALID_ARGUMENT",
        f"message {behind} is not the head: {head} is",
    )
    assert (first.changed, again.changed) == (True, False)
    assert line.end(head)[0] == line.end(behind)[0] == "SUCCEEDED"
    assert line.one("SELECT sum(affected) FROM admin_audit WHERE action = 'retry'") == 1


@pytest.mark.covers("R55", "INV-8")
def test_a_skipped_head_owes_its_mark_and_lets_the_others_pass(
    line: Line, operator: Operator
) -> None:
    line.run(adft(fltr("1"), fltr("2")))
    with refusing(line, "1"):
        head, behind, after = line.run(stand("7", "1"), stand("7", "1"), stand("8", "2"))

        assert operator.skip(head, behind) == 2
        line.run()

    assert line.end(head) == line.end(behind) == ("SKIPPED", None, "operator")
    assert line.row(head)["backfill_next_at"] is not None
    assert line.row(head)["first_error_class"] == "PROCESSING"
    assert line.end(after)[0] == "SUCCEEDED"
    rows = line.rows("SELECT action, affected, target FROM admin_audit")
    assert [(row["action"], row["affected"]) for row in rows] == [("skip", 2)]
    assert rows[0]["target"]["ids"] == [head, behind]
    line.agree()


@pytest.mark.covers("R42", "R55", "INV-24")
def test_what_a_skipped_head_has_committed_is_shown_and_released(line: Line) -> None:
    with relayed(line.places.redis) as (relay, url):
        line.start(redis_url=url, epoch_check=timedelta(hours=1))
        line.run(adft(fltr("1")))
        line.worker.step()  # the projection is looked at, and then for long not again
        relay.cut()
        head = line.land(stand("7"))
        line.worker.step()
        assert line.flight().values["STND"] == "7"
        with operating(line, redis_url=url) as operator:
            code, words = operator.refusal("Skip", pb.SkipRequest(admin=WHO, from_msg_id=head))
            still = line.end(head)[0]
            relay.restore()

            operator.skip(head)

    assert code == "UNAVAILABLE"
    assert "Redis" in words
    assert still == "FAILED"
    assert line.end(head) == ("SKIPPED", None, "operator")
    assert line.shown()["1"]["STND"] == "7"
    assert all(event["released_at"] is not None for event in line.events())
    line.agree()


@pytest.mark.covers("R55", "R13")
def test_a_skip_that_was_answered_survives_a_power_cut_and_a_stopped_one_lets_go(
    line: Line,
) -> None:
    """The end of a message alone may be lost, since it would only be repeated. Who is stopped
    in the transaction keeps the term's row no longer than a leader its session, and Redis."""
    line.pg.execute(
        "CREATE TABLE told (wait text, idle interval);"
        " CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN"
        " INSERT INTO told VALUES (current_setting('synchronous_commit'),"
        " current_setting('idle_in_transaction_session_timeout')::interval); RETURN NEW;"
        " END $$;"
        " CREATE CONSTRAINT TRIGGER tell AFTER UPDATE ON proc_state DEFERRABLE"
        " INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell()"
    )
    given: dict[str, Any] = {
        "leadership": {"timeout": timedelta(seconds=50)},
        "redis_timeout": timedelta(seconds=11),
    }
    try:
        with operating(line, **given) as operator:
            operator.skip(line.land(stand("7")))
        (at_commit,) = line.rows("SELECT wait, idle FROM told")
    finally:
        line.pg.execute("DROP FUNCTION tell CASCADE; DROP TABLE told")

    assert at_commit["wait"] == line.one("SHOW synchronous_commit")
    assert at_commit["idle"] == timedelta(seconds=61)


@pytest.mark.covers("R55", "R16")
def test_a_head_that_refdata_has_is_skipped_too(line: Line, operator: Operator) -> None:
    head, after = line.land(message("BDPO", "ADD", "<BDPO/>")), line.land(adft(fltr("1")))
    line.pg.execute("UPDATE proc_state SET route = 'REFDATA' WHERE msg_id = %s", (head,))

    operator.skip(head)
    line.run()

    assert line.end(head) == ("SKIPPED", None, "operator")
    assert line.end(after)[0] == "SUCCEEDED"


@pytest.mark.covers("R55")
def test_what_is_finished_is_not_skipped(line: Line, operator: Operator) -> None:
    (done,) = line.run(adft(fltr("1")))

    assert operator.skip(done) == 0
    assert line.end(done)[0] == "SUCCEEDED"
