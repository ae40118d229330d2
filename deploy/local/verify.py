"""`make verify`: compare journal, tables, outbox and Redis of a demo that is kept or runs."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from psycopg.conninfo import make_conninfo

from deploy.local import folder as folders
from deploy.local.__main__ import Stop, say, stopped_by_signals
from deploy.local.demo.prepare import DATABASE
from deploy.local.faults import CannotStart, Interrupted
from deploy.local.stack import opened

SERVERS: Final = ("postgres", "redis")
DEMO: Final = Path("logs", "processor.log")
"""What a demo leaves in its folder, and no other stack."""

LIMIT: Final = 600.0
NOTHING: Final = (
    "There is no kept or running demo: `make demo ONCE=1 KEEP=1` makes one,"
    " or MSGX_LOCAL_FOLDER names it."
)


def newest() -> Path:
    """Return the folder that is meant: the named one, else the demo that was kept last,
    else a running one.

    Raises:
        CannotStart: there is none.
    """
    if os.environ.get("MSGX_LOCAL_FOLDER", "").strip():
        return folders.default().resolve()
    usable = [
        folder
        for folder in folders.default().parent.glob(f"{folders.PREFIX}*")
        if (folder / DEMO).exists()
        and ((folder / folders.KEPT).exists() or folders.running(folders.read(folder)))
    ]
    if not usable:
        raise CannotStart(NOTHING)
    return max(usable, key=lambda one: ((one / folders.KEPT).exists(), one.stat().st_mtime))


def verify(urls: Mapping[str, str]) -> int:
    """Run the processor's command against the servers; return its status."""
    ours = {name: text for name, text in os.environ.items() if not name.startswith("MSGX_")}
    ours |= {
        "MSGX_ENVIRONMENT": "demo",
        "MSGX_DATABASE__DSN": make_conninfo(
            urls["postgres"], dbname=DATABASE, user="msgx_processor"
        ),
        "MSGX_REDIS__URL": urls["redis"],
    }
    program = [sys.executable, "-m", "services.processor", "verify"]
    return subprocess.run(program, env=ours, timeout=LIMIT, check=False).returncode


def main() -> int:
    """Find the demo, start what it needs, and verify it."""
    try:
        with stopped_by_signals(), contextlib.ExitStack() as stack:
            folder = newest()
            state = folders.read(folder)
            if not (folder / DEMO).exists():
                raise CannotStart(NOTHING)
            if not folders.running(state):
                started = stack.enter_context(opened(folder, servers=SERVERS, keep=True))
                state = {"urls": started.endpoints.urls}
            say(f"Verifying the demo in {folder}.")
            return verify(state["urls"])
    except (CannotStart, Interrupted) as fault:
        print(fault, file=sys.stderr)
        return 1
    except Stop:
        return 130


if __name__ == "__main__":
    sys.exit(main())
