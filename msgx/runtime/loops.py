"""Run a service's loops until a signal arrives, tell gRPC health the truth, and answer
operators."""

import logging
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgx import clock
from msgx.runtime.address import Address, GrpcService
from msgx.runtime.control import LOOP, About, ControlService, Keeper
from msgx.runtime.denials import Denial, Denials
from msgx.runtime.desk import Desk
from msgx.runtime.drive import Drive, Loop, State
from msgx.runtime.halt import Halt
from msgx.runtime.leadership import Leadership
from msgx.runtime.measures import Measures
from msgx.runtime.session import Session
from msgx.settings import StoreSettings
from msgx.store.backlog import Item, of_nothing
from msgx.store.connect import Connection
from msgx.store.service_term import Service
from msgx.telemetry import metrics
from msgx.telemetry.board import Board

__all__ = ("Loop", "run")

log = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 0.1
_LEAST_GRACE_SECONDS: Final = 0.5  # for the calls in work


def run(
    service: Service,
    loops: Sequence[Loop],
    settings: StoreSettings,
    *,
    leadership: Leadership | None = None,
    halt: Halt | None = None,
    backlog: Callable[[Connection], Sequence[Item]] = of_nothing,
    services: Sequence[GrpcService] = (),
    on_stop: Callable[[], None] = lambda: None,
    board: Board | None = None,
) -> int:
    """Run every loop in its own thread until SIGTERM or SIGINT, answer operators, and export
    the figures of `board`.

    Health: "" means that this instance leads, if there is anything to lead, and that every
    needed loop is well (a standby is alive, not serving: R14); a loop's name means that its
    last step was clean, or that it is paused. `halt` is shared with steps that can end early.
    Returns the exit status: 0 after a clean stop, 1 if a loop overran `grace`, or
    found that this process must not run here.

    Raises:
        SystemExit: an address cannot be taken, or its TLS does not fit.
    """
    halt, board = halt or Halt(), board or Board(service)
    _on_signals(halt)
    denials = Denials(service)
    keeper = Keeper(
        service,
        Session(settings.database, f"{service}-{LOOP}"),
        halt,
        denials,
        environment=settings.environment,
    )
    own = Loop(LOOP, keeper.step, pausable=False)
    drives = keeper.drives = [Drive(loop, halt, board) for loop in (*loops, own)]
    desk = Desk(leadership, Session(settings.database, f"{service}-status"))
    about = About(service, leadership, drives, halt, backlog)
    control = ControlService(about, desk)

    def refused(denial: Denial) -> None:
        denials.note(denial)
        board.add(metrics.CALLS_REFUSED)

    address = _address(settings, [control.service(), *services], refused)
    measures = Measures(board, settings)
    address.start(drive.loop.name for drive in drives)
    for drive in drives:
        drive.thread.start()
    log.info("started", extra={"port": address.port} | measures.where)
    if address.readable:
        log.warning("the control address has no TLS: tokens can be read on their way")
    while not halt.stopping:
        clock.rest(_LOOK_SECONDS)  # no event's wait: a signal handler must take no lock
        serves = about.serves
        board.set(metrics.READY, serves)
        board.put(
            metrics.PAUSED,
            {(one.loop.name,): one.report.state is State.PAUSED for one in drives},
        )
        address.tell("", serving=serves)
        for drive in drives:
            address.tell(drive.loop.name, serving=drive.report.well)
    board.set(metrics.READY, False)
    address.retire()
    deadline = clock.ticks() + settings.control.grace.total_seconds()
    overran = _end(drives, on_stop, deadline)
    address.stop(max(_LEAST_GRACE_SECONDS, deadline - clock.ticks()))
    measures.close()
    if not overran:  # else a loop still uses them
        keeper.close()
        desk.close()
    log.info("stopped")
    return 1 if overran or halt.refused else 0


def _address(
    settings: StoreSettings,
    services: Sequence[GrpcService],
    refused: Callable[[Denial], None],
) -> Address:
    try:
        return Address(settings.control, settings.admin, services, denied=refused)
    except ValueError as error:
        raise SystemExit(f"the configuration is not usable:\n{error}") from None


def _end(drives: Sequence[Drive], on_stop: Callable[[], None], deadline: float) -> bool:
    """Wait for the loops until `deadline`, and tell whether one is still at work."""
    for drive in drives:
        drive.wake()
    on_stop()
    for drive in drives:
        drive.thread.join(max(0.0, deadline - clock.ticks()))
    overran = [drive.loop.name for drive in drives if drive.thread.is_alive()]
    if overran:
        log.error("loops overran the shutdown grace", extra={"loops": overran})
    return bool(overran)


def _on_signals(halt: Halt) -> None:
    """Stop at a signal; off the main thread, where none arrives, whoever has `halt` does."""

    def end(*_: Any) -> None:
        halt.stop()

    if threading.current_thread() is not threading.main_thread():
        return
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, end)
