"""The stack's folder: its lock, its marker, and what it remembers between two starts."""

import contextlib
import fcntl
import json
import os
import pwd
import shutil
import tempfile
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from deploy.local.faults import CannotStart

LOCK: Final = "msgx-local.lock"  # its presence also says that the folder is ours
STATE: Final = "stack.json"
EXPORTS: Final = "stack.env"
KEPT: Final = "kept"
PATH_LIMIT: Final = 80  # a Unix socket inside must stay within 107 bytes
PREFIX: Final = "msgx-scratch-"
WAIT_STEP: Final = 0.25
ENDING_STEPS: Final = 80  # guards of a killed launcher need a moment to stop their servers


def default() -> Path:
    """Return the folder of this checkout's stack: MSGX_LOCAL_FOLDER, or one in /var/tmp.

    Not inside the checkout, which may lie under a home that PostgreSQL's user cannot enter.
    """
    given = os.environ.get("MSGX_LOCAL_FOLDER", "").strip()
    if given:
        return Path(given)
    checkout = sha256(str(Path(__file__).resolve().parents[2]).encode()).hexdigest()[:8]
    return _scratch_root() / f"msgx-{os.getuid()}-{checkout}"


def scratch() -> Path:
    """Return a new folder of a random name, after removing those whose owner was killed."""
    for old in _scratch_root().glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError, CannotStart):
            if old.stat().st_uid == os.getuid():
                sweep(old)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=_scratch_root()))
    folder.chmod(0o711)
    return folder


@contextlib.contextmanager
def held(folder: Path, *, keep: bool) -> Iterator[int]:
    """Make `folder` ours for the block and yield the lock's descriptor; remove it at the end.

    Raises:
        CannotStart: it is in use, it is not ours, or it cannot be made.
    """
    lock = _lock(folder)
    if keep:
        (folder / KEPT).touch()
    try:
        yield lock
    finally:
        if not keep:
            remove(folder)
        os.close(lock)


def read(folder: Path) -> dict[str, Any]:
    """Return what the folder remembers, empty if nothing."""
    try:
        remembered = json.loads((folder / STATE).read_text())
    except (OSError, ValueError):
        return {}
    return remembered if isinstance(remembered, dict) else {}


def write(folder: Path, state: dict[str, Any], exports: str) -> None:
    """Remember `state`, and the URLs as shell exports."""
    for name, text in ((STATE, json.dumps(state, indent=2)), (EXPORTS, exports)):
        beside = folder / f"{name}.new"
        beside.write_text(text + "\n")
        beside.rename(folder / name)


def in_use(folder: Path) -> bool:
    """Say whether a launcher, or what a killed one left, still runs on the folder."""
    if not (folder / LOCK).exists():
        return False
    with (folder / LOCK).open("rb") as handle:
        return not _try_lock(handle.fileno())


def passable(folder: Path, user: str) -> None:
    """Check that `user` can enter `folder`.

    Raises:
        CannotStart: one of its parents keeps other users out.
    """
    entry = pwd.getpwnam(user)
    for parent in (folder, *folder.parents):
        status = parent.stat()
        mode = status.st_mode
        allowed = (
            mode & 0o001
            or (status.st_uid == entry.pw_uid and mode & 0o100)
            or (status.st_gid == entry.pw_gid and mode & 0o010)
        )
        if not allowed:
            raise CannotStart(
                f"PostgreSQL must not run as root and runs as {user}, who cannot enter "
                f"{parent}: set MSGX_LOCAL_FOLDER to a folder that everybody may pass, "
                "such as one in /var/tmp."
            )


def remove(path: Path) -> None:
    """Remove a tree that may be half-made."""
    shutil.rmtree(path, ignore_errors=True)


def _scratch_root() -> Path:
    return Path(os.environ.get("TMPDIR", "/var/tmp"))  # noqa: S108 - survives a restart


def _make(folder: Path) -> None:
    if len(os.fsencode(folder)) > PATH_LIMIT:
        raise CannotStart(f"The folder name {folder} is too long: {PATH_LIMIT} bytes at most.")
    try:
        folder.mkdir(mode=0o711, parents=True, exist_ok=True)
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            raise CannotStart(
                f"The folder {folder} belongs to another user: choose another one."
            )
        if not (folder / LOCK).exists():
            if any(folder.iterdir()):
                raise CannotStart(
                    f"The folder {folder} is not empty and not a local stack's: choose another."
                )
            folder.chmod(0o711)
            (folder / LOCK).touch(mode=0o600)
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise CannotStart(f"The folder {folder} cannot be used: {error.strerror}.") from None


def _lock(folder: Path) -> int:
    """Make `folder`, and return the descriptor that locks it.

    Another start may sweep it away before it is locked: then it is made again.
    """
    rest = threading.Event()
    for _ in range(ENDING_STEPS):
        with contextlib.suppress(FileNotFoundError):
            _make(folder)
            lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
            if _try_lock(lock) and _is_at(folder / LOCK, lock):
                return lock
            os.close(lock)
        if running(read(folder)):
            break
        rest.wait(WAIT_STEP)
    raise CannotStart(f"A local stack already runs in {folder}: `make down` stops it.")


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def running(state: dict[str, Any]) -> bool:
    """Say whether the launcher that wrote `state` is alive, and no later one of its id."""
    launcher = state.get("launcher", {})
    pid, started = launcher.get("pid"), launcher.get("started")
    return isinstance(pid, int) and started is not None and started == started_ticks(pid)


def started_ticks(pid: int) -> str | None:
    """Return when process `pid` was started, in the kernel's ticks."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] == "Z" else fields[19]


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def sweep(old: Path) -> None:
    """Remove a folder that a killed launcher left, unless it is kept or still in use."""
    if not (old / LOCK).exists() or (old / KEPT).exists():
        return
    with contextlib.suppress(FileNotFoundError), (old / LOCK).open("rb") as handle:
        if _try_lock(handle.fileno()):
            remove(old)
