"""What replay takes and refuses: how many at once, how fast, what must be said (R35)."""

from datetime import timedelta
from typing import Any

import pytest

from msgx.rpc.v1 import replay_pb2 as pb
from tests.support.calls import WHO
from tests.support.processor import Line
from tests.support.replaying import DEAD, Operator, by_range, die, is_free, some
from tests.support.waiting import until

pytestmark = [pytest.mark.pg, pytest.mark.mysql, pytest.mark.redis]


@pytest.mark.covers("R35", "B35")
def test_no_more_are_put_back_in_a_second_than_was_asked(
    line: Line, operator: Operator
) -> None:
    die(line, range(10, 15))

    told = list(operator.call("Replay", by_range(operator.preview(), per_second=2)))

    gaps = line.rows(
        "SELECT affected, at - lag(at) OVER (ORDER BY at) AS gap FROM admin_audit ORDER BY at"
    )
    assert [one.replayed for one in told] == [2, 4, 5]
    assert [one["affected"] for one in gaps] == [2, 2, 1]
    assert all(one["gap"] > timedelta(seconds=0.9) for one in gaps[1:])


@pytest.mark.covers("R35", "B35")
def test_jobs_leave_a_thread_for_others_and_one_too_many_is_told_to_wait(
    line: Line, operator: Operator
) -> None:
    die(line, range(10, 60))
    slow = by_range(operator.preview(), per_second=1)
    jobs = [operator.call("Replay", slow) for _ in range(3)]
    for job in jobs:
        next(job)

    code, words = operator.refusal("Replay", slow)
    listed = operator.listed(state=DEAD).total
    for job in jobs:
        job.cancel()
    until(lambda: is_free(operator), "the jobs have ended")

    assert (code, words) == ("UNAVAILABLE", "3 jobs are at work already: try again later")
    assert listed > 0


@pytest.mark.covers("R35", "R18")
@pytest.mark.parametrize(
    ("call", "request_", "words"),
    [
        ("Replay", pb.ReplayRequest(admin=WHO), "either messages or range"),
        ("Replay", pb.ReplayRequest(admin=WHO, messages=some()), "from 1 to 1000 ids"),
        ("Replay", pb.ReplayRequest(admin=WHO, messages=some(0)), "from 1 to 1000 ids"),
        ("Replay", pb.ReplayRequest(messages=some(7)), "admin.operator and admin.reason"),
        (
            "Replay",
            pb.ReplayRequest(admin=WHO, messages=some(7), per_second=-1),
            "per_second is not negative",
        ),
        (
            "Replay",
            pb.ReplayRequest(
                admin=WHO, messages=some(7, 8), options=pb.ReplayOptions(approve_removals=1)
            ),
            "removals are approved for one message",
        ),
        ("DryRun", pb.DryRunRequest(messages=some(*range(1, 1002))), "from 1 to 1000 ids"),
        (
            "Preview",
            pb.PreviewRequest(filter=pb.MessageFilter(state=pb.MESSAGE_STATE_FAILED)),
            "only dead messages are replayed",
        ),
    ],
)
def test_what_is_not_asked_properly_is_refused_and_leaves_no_record(
    line: Line, operator: Operator, call: str, request_: Any, words: str
) -> None:
    code, told = operator.refusal(call, request_)

    assert code == "INVALID_ARGUMENT"
    assert words in told
    assert line.one("SELECT count(*) FROM admin_audit") == 0
