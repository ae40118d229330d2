"""`msgxctl` in this process, as a user's shell runs it, or as a program of its own."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from typer.testing import CliRunner

from msgxctl.__main__ import app
from tests.support.calls import TOKEN

ROOT: Final = Path(__file__).parents[2]
WHY: Final = ("--reason", "a test")
_RUNNER: Final = CliRunner()


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str

    @property
    def told(self) -> Any:
        """Return what --json printed: exactly one document."""
        return json.loads(self.out)


def ctl(
    *arguments: object,
    stdin: bytes | None = None,
    home: Path = Path("/nonexistent"),
    **variables: str | None,
) -> Ended:
    """Run a command with the given MSGXCTL_ variables, and the token unless they say another.

    Whatever happens, no traceback is printed and no exception is left."""
    given: dict[str, str | None] = {
        f"MSGXCTL_{name.upper()}": text for name, text in variables.items()
    }
    own = {"MSGXCTL_TOKEN": TOKEN, "XDG_CONFIG_HOME": str(home), "COLUMNS": "200"}
    words = [str(one) for one in arguments]
    done = _RUNNER.invoke(app, words, input=stdin, env=own | given)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "Traceback" not in done.output
    return Ended(done.exit_code, done.stdout, done.stderr)


def program(
    *arguments: object, stdin: int = subprocess.DEVNULL, **environment: str
) -> "subprocess.Popen[str]":
    """Start msgxctl as a program of its own, with its streams as pipes and nobody to answer.

    Tests that run in the background ignore Ctrl-C, and would hand that down.
    """
    own = {name: text for name, text in os.environ.items() if "MSGX" not in name}
    own |= {"XDG_CONFIG_HOME": "/nonexistent", "MSGXCTL_TOKEN": TOKEN}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "msgxctl", *map(str, arguments)],
            cwd=ROOT, text=True, env=own | environment, stdin=stdin,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)


def sentence(ended: Ended) -> str:
    """Return the one sentence on standard error; nothing else may be there."""
    (line,) = ended.err.strip().splitlines()
    return line
