"""A loop at work: what it says of itself, and how often it can be woken."""

import threading
from datetime import timedelta

from msgx import clock
from msgx.domain.failure import Away
from msgx.runtime.drive import _BETWEEN_WAKES, Drive, Loop, State
from msgx.runtime.halt import Halt
from msgx.telemetry.board import Board
from tests.support.waiting import until


def test_whoever_wakes_in_a_circle_makes_no_hot_loop() -> None:
    halt = Halt()
    halt.pauses = {}
    steps: list[float] = []

    def step() -> timedelta:
        steps.append(clock.ticks())
        return timedelta(hours=1)

    drive = Drive(Loop("msg", step), halt, Board("dispatcher"))
    thread = threading.Thread(target=drive.run)
    thread.start()

    def woken() -> bool:
        drive.wake()
        return len(steps) >= 10

    until(woken, "ten steps")
    halt.stop()
    drive.wake()
    thread.join(30)

    # Measured from where each step was let begin, which is a moment before it says so: of one
    # interval, whatever a machine that stands still makes of it, the first step may know less.
    assert steps[9] - steps[0] >= 8 * _BETWEEN_WAKES


def test_before_it_is_known_what_is_paused_nothing_begins() -> None:
    halt, steps = Halt(), []

    def step() -> timedelta:
        steps.append(1)
        return timedelta(hours=1)

    loops = Loop("msg", step), Loop("http", step, pausable=False)
    drives = [Drive(loop, halt, Board("dispatcher")) for loop in loops]
    for drive in drives:
        drive.thread.start()
    try:
        until(lambda: drives[0].report.state is State.WAITING, "it waits to be told")
        until(lambda: drives[1].report.well, "what cannot be paused begins")
        assert not drives[0].report.well
        assert len(steps) == 1

        halt.pauses = {}
        drives[0].wake()
        until(lambda: drives[0].report.well, "then it begins")
    finally:
        halt.stop()
        for drive in drives:
            drive.wake()
            drive.thread.join(30)


def test_why_it_waits_is_said_while_it_tries_again() -> None:
    halt, gate, tries = Halt(), threading.Event(), []

    def step() -> timedelta:
        tries.append(1)
        if len(tries) == 1:
            raise Away("the mailbox does not answer")
        assert gate.wait(30)
        return timedelta(hours=1)

    drive = Drive(Loop("http", step, pausable=False), halt, Board("dispatcher"))
    drive.thread.start()
    try:
        until(lambda: drive.report.state is State.WAITING, "the first try fails")
        drive.wake()
        until(lambda: drive.report.state is State.WORKING, "another one is in work")
        assert drive.report.reason == "the mailbox does not answer"
        assert not drive.report.well

        gate.set()
        until(lambda: drive.report.well, "it is well")
        assert (drive.report.state, drive.report.reason) == (State.RESTING, "")
    finally:
        gate.set()
        halt.stop()
        drive.wake()
        drive.thread.join(30)
