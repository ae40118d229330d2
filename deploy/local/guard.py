"""Run one program so that it never outlives its launcher. Started by `children.py`, by path.

The launcher holds the writing end of a pipe, the lifeline. When that end closes - because
the launcher lets go, or because it was killed - the guard asks the program to stop, waits,
and kills it. The program in turn dies with the guard (PR_SET_PDEATHSIG, set after the
change of user, which would clear it). Standard library only: it runs with -I -S.

    guard.py LIFELINE LOCK SIGNAL GRACE USER PROGRAM [ARGUMENT...]
"""

import contextlib
import ctypes
import os
import pwd
import select
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(argv: list[str]) -> int:
    """Start the program, wait for its end or for the lifeline's, and return its status."""
    lifeline, lock = int(argv[0]), int(argv[1])
    stop_signal, grace = signal.Signals[argv[2]], float(argv[3])
    for descriptor in (lifeline, lock):  # ours alone: the lock lasts as long as the program
        os.set_inheritable(descriptor, False)
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)

    guard = os.getpid()
    program = os.fork()
    if program == 0:
        _become(argv[4], guard)
        _exec(argv[5:])
    asked = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(asked[1], b"."))

    end = os.pidfd_open(program)
    ready, _, _ = select.select([lifeline, asked[0], end], [], [])
    if end not in ready:
        signal.pidfd_send_signal(end, stop_signal)
        if not select.select([end], [], [], grace)[0]:
            signal.pidfd_send_signal(end, signal.SIGKILL)
    _, status = os.waitpid(program, 0)
    with contextlib.suppress(ProcessLookupError):  # what a script leaves in its group
        os.killpg(program, signal.SIGKILL)
    return os.waitstatus_to_exitcode(status) & 0xFF


def _become(user: str, guard: int) -> None:
    """Change to `user` if one is named, and arrange to die with the guard."""
    for restored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(restored, signal.SIG_DFL)
    os.setpgid(0, 0)
    if user:
        entry = pwd.getpwnam(user)
        os.initgroups(user, entry.pw_gid)
        os.setgid(entry.pw_gid)
        os.setuid(entry.pw_uid)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != guard:
        os._exit(1)


def _exec(command: list[str]) -> None:
    try:
        os.execvp(command[0], command)  # noqa: S606 - no shell is meant
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
