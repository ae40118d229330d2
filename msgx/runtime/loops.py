"""Run a service's loops until a signal arrives, and tell gRPC health the truth."""

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from msgx import clock
from msgx.domain.failure import Away
from msgx.runtime.address import Address, GrpcService
from msgx.runtime.leadership import Standby
from msgx.runtime.measures import Measures
from msgx.settings import ProcessSettings
from msgx.telemetry import metrics
from msgx.telemetry.board import Board

log = logging.getLogger(__name__)

REST_AFTER_FAULT: Final = timedelta(seconds=1)
_READY_CHECK_SECONDS: Final = 0.2


def _steady(_: int) -> timedelta:
    return REST_AFTER_FAULT


@dataclass(frozen=True, slots=True)
class Loop:
    """A named step that does one unit of work and says how long to rest after it.

    `backoff` is the rest after the n-th fault in a row (B12).
    """

    name: str
    step: Callable[[], timedelta]
    backoff: Callable[[int], timedelta] = _steady


def run(
    service: str,
    loops: Sequence[Loop],
    settings: ProcessSettings,
    *,
    ready: Callable[[], bool],
    on_stop: Callable[[], None] = lambda: None,
    services: Sequence[GrpcService] = (),
    board: Board | None = None,
) -> int:
    """Run every loop in its own thread until SIGTERM or SIGINT, answer `services`, and export
    the figures of `board`.

    Health: "" is `ready()` (a standby is alive, not serving: R14); a loop's name means that its
    last step was clean. Returns the exit status: 0 after a clean stop, 1 if a loop overran
    `grace`."""
    stop = threading.Event()
    _on_signals(stop)
    board = board or Board(service)
    measures = Measures(board, settings)
    status = Address(settings.control, settings.admin, services)
    status.start()
    threads = [
        threading.Thread(
            target=_drive, args=(loop, stop, status, board), name=loop.name, daemon=True
        )
        for loop in loops
    ]
    for thread in threads:
        thread.start()
    log.info("started", extra={"port": status.port} | measures.where)

    while not stop.wait(_READY_CHECK_SECONDS):
        serves = ready()
        status.tell("", serving=serves)
        board.set(metrics.READY, serves)

    board.set(metrics.READY, False)
    status.retire()
    on_stop()
    deadline = clock.ticks() + settings.control.grace.total_seconds()
    for thread in threads:
        thread.join(max(0.0, deadline - clock.ticks()))
    status.stop()
    measures.close()
    overran = [thread.name for thread in threads if thread.is_alive()]
    if overran:
        log.error("loops overran the shutdown grace", extra={"loops": overran})
    log.info("stopped")
    return 1 if overran else 0


def _on_signals(stop: threading.Event) -> None:
    def end(*_: Any) -> None:
        stop.set()

    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, end)


def _drive(loop: Loop, stop: threading.Event, status: Address, board: Board) -> None:
    """Step `loop` until `stop`. Faults belong to the step; here they only cost a rest."""
    told = ""
    faults = 0
    while not stop.is_set():
        faults += 1
        try:
            rest = loop.step()
        except (Away, Standby) as condition:
            if told != str(condition):  # said once, not at every turn
                level = logging.INFO if isinstance(condition, Standby) else logging.WARNING
                log.log(level, "waits", extra={"loop": loop.name, "reason": str(condition)})
            told = str(condition)
            status.tell(loop.name, serving=False)
            if isinstance(condition, Away):
                board.add(metrics.LOOP_FAULTS, loop=loop.name, cause="away")
            rest = getattr(condition, "rest", None) or loop.backoff(faults)
        except Exception:
            log.exception("loop fault", extra={"loop": loop.name})
            board.add(metrics.LOOP_FAULTS, loop=loop.name, cause="defect")
            status.tell(loop.name, serving=False)
            rest = loop.backoff(faults)
        else:
            faults = 0
            told = ""
            status.tell(loop.name, serving=True)
        stop.wait(rest.total_seconds())
