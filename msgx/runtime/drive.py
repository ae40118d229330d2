"""One loop at work: its thread, its rests, and what it says of itself."""

import logging
import threading
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Final

from msgx import clock
from msgx.domain.failure import Away, Unfit
from msgx.runtime.halt import Halt
from msgx.runtime.leadership import Standby
from msgx.telemetry import metrics
from msgx.telemetry.board import Board

log = logging.getLogger(__name__)

REST_AFTER_FAULT: Final = timedelta(seconds=1)
_WHILE_PAUSED: Final = timedelta(seconds=1)
_BETWEEN_WAKES: Final = 0.05  # seconds: whoever wakes in a circle makes no hot loop
_UNKNOWN: Final = "what is paused was not read yet"


def _steady(_: int) -> timedelta:
    return REST_AFTER_FAULT


def _nothing() -> timedelta:
    return _WHILE_PAUSED


@dataclass(frozen=True, slots=True)
class Loop:
    """A named step that does one unit of work and says how long to rest after it.

    `backoff` is the rest after the n-th fault in a row (B12). `while_paused` is done in place
    of `step` while an operator lets the loop rest. The service as a whole serves only while
    every `needed` loop is well.
    """

    name: str
    step: Callable[[], timedelta]
    backoff: Callable[[int], timedelta] = _steady
    _: KW_ONLY
    while_paused: Callable[[], timedelta] = _nothing
    pausable: bool = True
    needed: bool = False


class State(Enum):
    """What a loop does now."""

    WORKING = auto()
    RESTING = auto()
    WAITING = auto()
    PAUSED = auto()
    FAILED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a loop says of itself: `well` is what health says, `faults` are those in a row.

    `reason` is that of the last step that was not clean; it stands while the next is tried.
    """

    state: State = State.RESTING
    reason: str = ""
    well: bool = False
    faults: int = 0
    last_clean: datetime | None = None


class Drive:
    """Steps one loop in a thread of its own until the service stops."""

    def __init__(self, loop: Loop, halt: Halt, board: Board) -> None:
        self.loop = loop
        self.report = Report()
        self.thread = threading.Thread(target=self.run, name=loop.name, daemon=True)
        self._halt = halt
        self._board = board
        self._alarm = threading.Event()

    def wake(self) -> None:
        """End the present rest, or leave out the next one."""
        self._alarm.set()

    def run(self) -> None:
        """Step until the service stops. Faults belong to the step; here they only cost a
        rest."""
        while not self._halt.stopping:
            began = clock.ticks()
            rest = self._turn()
            if self._alarm.wait(rest.total_seconds()):
                self._alarm.clear()
                early = began + _BETWEEN_WAKES - clock.ticks()
                if early > 0 and not self._halt.stopping:
                    clock.rest(early)

    def _turn(self) -> timedelta:
        """Do one step, or what is done in its place, and return how long to rest."""
        if not self.loop.pausable:
            return self._do(self.loop.step, State.RESTING)
        if (pauses := self._halt.pauses) is None:
            return self._do(self.loop.while_paused, State.WAITING, _UNKNOWN)
        if self.loop.name in pauses:
            return self._do(self.loop.while_paused, State.PAUSED)
        return self._do(self.loop.step, State.RESTING)

    def _do(self, work: Callable[[], timedelta], after: State, reason: str = "") -> timedelta:
        before = self.report
        steps = after is State.RESTING
        if steps:
            if before.state is State.PAUSED:
                log.warning("resumed", extra={"loop": self.loop.name})
            self.report = replace(before, state=State.WORKING)
        faults = before.faults + 1
        try:
            rest = work()
        except (Away, Standby) as condition:
            told = str(condition)
            if (before.state, before.reason) != (State.WAITING, told):  # said once
                level = logging.INFO if isinstance(condition, Standby) else logging.WARNING
                log.log(level, "waits", extra={"loop": self.loop.name, "reason": told})
            self._say(State.WAITING, told, faults=faults)
            if isinstance(condition, Away):
                self._board.add(metrics.LOOP_FAULTS, loop=self.loop.name, cause="away")
            return getattr(condition, "rest", None) or self.loop.backoff(faults)
        except Unfit as unfit:
            told = str(unfit)
            if not self._halt.refused:  # another loop may have said it
                log.critical("refuses to run", extra={"loop": self.loop.name, "reason": told})
            self._say(State.FAILED, told, faults=faults)
            self._halt.refuse()
            return REST_AFTER_FAULT
        except Exception as defect:
            log.exception("loop fault", extra={"loop": self.loop.name})
            self._board.add(metrics.LOOP_FAULTS, loop=self.loop.name, cause="defect")
            told = f"a defect, see the log: {type(defect).__name__}"
            self._say(State.FAILED, told, faults=faults)
            return self.loop.backoff(faults)
        if steps:
            self.report = Report(state=after, well=True, last_clean=clock.now())
        elif after is State.PAUSED:
            if before.state is not State.PAUSED:
                log.warning("paused", extra={"loop": self.loop.name})
            self.report = replace(before, state=after, reason="", well=True, faults=0)
        else:
            self._say(after, reason, faults=0)
        return rest

    def _say(self, state: State, reason: str, *, faults: int) -> None:
        self.report = replace(
            self.report, state=state, reason=reason, well=False, faults=faults
        )
