"""The local stack by hand: `python -m deploy.local up | down | status`.

`fetch` gets the libraries of the Java servers only; it is a step of the set-up."""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from deploy.local import folder as folders
from deploy.local import java
from deploy.local.children import failed
from deploy.local.faults import CannotStart, Interrupted
from deploy.local.guard import PR_SET_PDEATHSIG
from deploy.local.stack import ALL, opened
from msgx import clock

START_LIMIT: Final = 900.0  # a first start fetches libraries
STOP_LIMIT: Final = 60.0
WATCH: Final = 0.5
ENDINGS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stop(BaseException):
    """A signal asked for the end."""


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Turn the first signal to end into `Stop`; later ones do not disturb the stopping.

    Under make, the end of make counts too: it may have been killed.
    """

    def stop(signum: int, frame: FrameType | None) -> None:
        for each in ENDINGS:
            signal.signal(each, signal.SIG_IGN)
        raise Stop(signal.Signals(signum).name)

    for each in ENDINGS:
        signal.signal(each, stop)
    if "MAKELEVEL" in os.environ:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    yield


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)


def up(folder: Path, servers: list[str], *, keep: bool) -> int:
    """Run the stack in the foreground until a signal, or until one of its servers ends."""
    begun = clock.ticks()
    try:
        with stopped_by_signals(), opened(folder, servers=servers, keep=keep, say=say) as stack:
            say(f"The stack is up after {clock.ticks() - begun:.1f} s in {stack.folder}")
            say(stack.endpoints.exports())
            say(f"Logs: {stack.folder / 'logs'}. Ctrl-C or `make down` stops it.")
            while not (ended := stack.family.ended()):
                stack.family.stopping.wait(WATCH)
            raise CannotStart(failed(ended[0].name, "ended by itself", ended[0].log))
    except Stop:
        say(f"Stopped; the data is kept in {folder}." if keep else "Stopped.")
        return 0


def up_detached(folder: Path, servers: list[str], *, keep: bool) -> int:
    """Run `up` in the background and return when it is ready or has failed."""
    if folders.in_use(folder) and folders.running(folders.read(folder)):
        raise CannotStart(f"A local stack already runs in {folder}: `make down` stops it.")
    log = _launcher_log(folder)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    ours = ("DETACH", "MAKELEVEL")
    environment = {name: text for name, text in os.environ.items() if name not in ours}
    with log.open("xb") as output:
        launcher = subprocess.Popen(
            [sys.executable, "-m", "deploy.local", "up", "--folder", str(folder),
             "--servers", ",".join(servers), *(["--keep"] if keep else [])],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True, env=environment,
        )  # fmt: skip
    try:
        with stopped_by_signals():
            _await_ready(folder, launcher, log)
    except BaseException:
        launcher.terminate()
        launcher.wait(STOP_LIMIT)
        raise
    finally:
        print(log.read_text(errors="replace"), end="")
    return launcher.poll() or 0


def _launcher_log(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.log")


def _await_ready(folder: Path, launcher: "subprocess.Popen[bytes]", log: Path) -> None:
    rest = threading.Event()
    deadline = clock.ticks() + START_LIMIT
    while launcher.poll() is None and clock.ticks() < deadline:
        state = folders.read(folder)
        if state.get("ready") and state.get("launcher", {}).get("pid") == launcher.pid:
            return
        rest.wait(0.1)


def down(folder: Path) -> int:
    """Stop the stack of `folder` and wait until nothing of it runs."""
    state = folders.read(folder)
    if not folders.running(state):
        folders.sweep(folder)
        say(f"No local stack runs in {folder}.")
        return 0
    pid = state["launcher"]["pid"]
    os.kill(pid, signal.SIGTERM)
    rest = threading.Event()
    deadline = clock.ticks() + STOP_LIMIT
    while folders.running(state) or folders.in_use(folder):
        if clock.ticks() > deadline:
            raise CannotStart(
                f"The local stack (process {pid}) did not end in {STOP_LIMIT:g} s."
            )
        rest.wait(0.1)
    _launcher_log(folder).unlink(missing_ok=True)
    say(f"The local stack in {folder} is stopped.")
    return 0


def status(folder: Path) -> int:
    """Print where the stack of `folder` is reached; status 3 when none runs."""
    state = folders.read(folder)
    if not folders.running(state):
        kept = " Its data is kept." if (folder / folders.KEPT).exists() else ""
        say(f"No local stack runs in {folder}.{kept}")
        return 3
    ready = "ready" if state.get("ready") else "starting"
    say(f"The local stack in {folder} is {ready} (process {state['launcher']['pid']}).")
    say((folder / folders.EXPORTS).read_text().strip())
    return 0


def parsed(arguments: list[str]) -> argparse.Namespace:
    """Return the command line's choices; the variables KEEP and DETACH count too."""
    parser = argparse.ArgumentParser(prog="python -m deploy.local", description=__doc__)
    parser.add_argument("command", choices=("up", "down", "status", "fetch"))
    parser.add_argument("--folder", type=Path, default=folders.default())
    parser.add_argument("--servers", default=",".join(ALL), help="comma-separated")
    parser.add_argument("--keep", action="store_true", default=os.environ.get("KEEP") == "1")
    parser.add_argument(
        "--detach", action="store_true", default=os.environ.get("DETACH") == "1"
    )
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """Run one command; a fault is one sentence and status 1."""
    chosen = parsed(arguments)
    servers = [name for name in chosen.servers.split(",") if name]
    try:
        match chosen.command:
            case "up" if chosen.detach:
                return up_detached(chosen.folder.resolve(), servers, keep=chosen.keep)
            case "up":
                return up(chosen.folder.resolve(), servers, keep=chosen.keep)
            case "fetch":
                java.ensure(java.KAFKA)
                return 0
            case "down":
                return down(chosen.folder.resolve())
            case _:
                return status(chosen.folder.resolve())
    except (CannotStart, Interrupted) as fault:
        print(fault, file=sys.stderr)
        return 1
    except Stop:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
