"""The dispatcher as a process: its environment, its log lines, its figures."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from services.dispatcher.settings import DispatcherSettings
from tests.support.dispatcher import ENVIRONMENT
from tests.support.waiting import PATIENCE_SECONDS, until

ROOT: Final = Path(__file__).parents[2]


@contextmanager
def running(
    given: DispatcherSettings, log: Path, **variables: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the real service as a process; it is killed at the end if it still lives."""
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.dispatcher"],
            env=environment(given) | variables,
            cwd=ROOT,
            stderr=errors,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def environment(given: DispatcherSettings) -> dict[str, str]:
    """Return the environment that means `given`."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith("MSGX_")
    }
    database = given.database
    return inherited | {
        "MSGX_ENVIRONMENT": ENVIRONMENT,
        "MSGX_MAILBOX__URL": given.mailbox.url.get_secret_value(),
        "MSGX_DATABASE__DSN": database.dsn.get_secret_value(),
        "MSGX_DATABASE__CONNECT_TIMEOUT": _iso(database.connect_timeout),
        "MSGX_DATABASE__STATEMENT_TIMEOUT": _iso(database.statement_timeout),
        "MSGX_DATABASE__LOCK_TIMEOUT": _iso(database.lock_timeout),
        "MSGX_LEADERSHIP__TIMEOUT": _iso(given.leadership.timeout),
        "MSGX_KAFKA__BOOTSTRAP": given.kafka.bootstrap,
        "MSGX_KAFKA__PREFIX": given.kafka.prefix,
        "MSGX_KAFKA__PRODUCE_TIMEOUT": _iso(given.kafka.produce_timeout),
        "MSGX_DISPATCH__BATCH": str(given.dispatch.batch),
    }


def _iso(span: timedelta) -> str:
    return f"PT{span.total_seconds()}S"


def lines(log: Path) -> list[str]:
    """Return the lines that a process has written so far; one that it is at is none yet."""
    if not log.exists():
        return []
    return log.read_bytes().rpartition(b"\n")[0].decode().splitlines()


def started(log: Path) -> dict[str, Any]:
    """Return the line that the service wrote when it had started; wait for it."""

    def told() -> list[dict[str, Any]]:
        parsed = [json.loads(line) for line in lines(log) if line.startswith("{")]
        return [line for line in parsed if line["event"] == "started"]

    until(lambda: bool(told()), "the service started")
    return told()[-1]


def figures(log: Path) -> dict[str, float]:
    """Return what the service tells Prometheus, by series as written there."""
    where = f"http://127.0.0.1:{started(log)['metrics_port']}/metrics"
    with urllib.request.urlopen(where, timeout=PATIENCE_SECONDS) as answer:
        text = answer.read().decode()
    pairs = (line.rpartition(" ") for line in text.splitlines() if line[0] != "#")
    return {series: float(value) for series, _, value in pairs}
