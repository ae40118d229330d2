"""Processes of the local stack, each behind a guard that ends it with the launcher."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from deploy.local.faults import CannotStart, Interrupted

GUARD: Final = Path(__file__).with_name("guard.py")
TAIL_LINES: Final = 15
STOP_GRACE: Final = 15.0


@dataclass(frozen=True, slots=True)
class Command:
    """What to run, and how it wants to be stopped."""

    arguments: Sequence[str]
    folder: Path
    stop: str = "SIGTERM"
    user: str = ""
    environment: Mapping[str, str] | None = None


@dataclass(slots=True)
class Child:
    """One guarded process."""

    name: str
    log: Path
    process: subprocess.Popen[bytes]
    lifeline: int

    def ended(self) -> bool:
        """Say whether the process has ended."""
        return self.process.poll() is not None

    def wait(self, timeout: float) -> int:
        """Return the exit status. Raises TimeoutExpired when it takes longer."""
        return self.process.wait(timeout)

    def release(self) -> None:
        """Ask for a clean stop without waiting for it."""
        if self.lifeline >= 0:
            os.close(self.lifeline)
            self.lifeline = -1

    def kill(self) -> None:
        """End it at once: guard and program."""
        self.process.kill()
        self.release()


class Family:
    """All processes of one stack; leaving the block stops every one of them."""

    def __init__(self, lock: int) -> None:
        self._lock = lock
        self._children: list[Child] = []
        self._gate = threading.Lock()
        self.stopping = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def spawn(self, name: str, command: Command, log: Path) -> Child:
        """Start `command` behind a guard, its output going to `log`.

        Raises:
            Interrupted: the family is being stopped.
        """
        with self._gate:
            if self.stopping.is_set():
                raise Interrupted(name)
            reading, lifeline = os.pipe()
            try:
                with log.open("ab") as output:
                    process = subprocess.Popen(
                        [sys.executable, "-I", "-S", str(GUARD), str(reading), str(self._lock),
                         command.stop, str(STOP_GRACE), command.user, *command.arguments],
                        stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                        pass_fds=(reading, self._lock), start_new_session=True,
                        cwd=command.folder, env=command.environment,
                    )  # fmt: skip
            except BaseException:
                os.close(lifeline)
                raise
            finally:
                os.close(reading)
            child = Child(name, log, process, lifeline)
            self._children.append(child)
            return child

    def run(self, name: str, command: Command, log: Path, *, timeout: float) -> None:
        """Run `command` to its end.

        Raises:
            CannotStart: it failed or took longer than `timeout`.
            Interrupted: the family was stopped meanwhile.
        """
        child = self.spawn(name, command, log)
        try:
            status = child.wait(timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            raise CannotStart(failed(name, f"took longer than {timeout:g} s", log)) from None
        child.release()
        if self.stopping.is_set():
            raise Interrupted(name)
        if status != 0:
            raise CannotStart(failed(name, f"ended with status {status}", log))

    def ended(self) -> list[Child]:
        """Return the long-running children that have ended by themselves."""
        return [child for child in self._children if child.lifeline >= 0 and child.ended()]

    def stop(self) -> None:
        """Stop all processes together: first asked, then killed."""
        self.stopping.set()
        with self._gate:
            children = list(self._children)
        for child in children:
            child.release()
        for child in children:
            try:
                child.wait(STOP_GRACE + 5)
            except subprocess.TimeoutExpired:
                child.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(5)


def failed(name: str, what: str, log: Path) -> str:
    """Return the sentence about a failed process, and the end of its log."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    tail = "".join(f"\n    {line[:300]}" for line in lines[-TAIL_LINES:])
    return f"{name} {what}; the last lines of {log}:{tail or ' (empty)'}"
