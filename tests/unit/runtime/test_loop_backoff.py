"""What a loop rests after faults."""

from datetime import timedelta

import pytest

from msgx.domain.failure import Away, Unfit
from msgx.runtime.drive import Drive, Loop
from msgx.runtime.halt import Halt
from msgx.telemetry import metrics
from msgx.telemetry.board import Board


@pytest.mark.covers("B12")
@pytest.mark.parametrize("fault", [Away("the server is away"), RuntimeError("a defect")])
def test_faults_in_a_row_rest_by_the_backoff_of_their_number(fault: Exception) -> None:
    halt = Halt()
    halt.pauses = {}
    told: list[int] = []
    steps = iter([fault, fault, None, fault, fault, fault])

    def step() -> timedelta:
        what = next(steps, None)
        if what is not None:
            raise what
        if len(told) >= 5:
            halt.stop()
        return timedelta()

    def backoff(number: int) -> timedelta:
        told.append(number)
        return timedelta()

    board = Board("dispatcher")

    Drive(Loop("msg", step, backoff), halt, board).run()

    assert told == [1, 2, 1, 2, 3]
    cause = "away" if isinstance(fault, Away) else "defect"
    assert board.read(metrics.LOOP_FAULTS)["msg", cause] == 5


@pytest.mark.covers("R13", "R50")
def test_a_loop_that_must_not_run_here_ends_the_service_at_once() -> None:
    halt = Halt()
    halt.pauses = {}

    def step() -> timedelta:
        raise Unfit("the database is another installation's")

    drive = Drive(Loop("msg", step), halt, Board("dispatcher"))
    drive.wake()  # leaves out the rest
    drive.run()

    assert halt.refused
    assert drive.report.reason == "the database is another installation's"
