"""`make bench`: how many messages a second the processor takes from a backlog of FLOP.

Starts the servers privately, lands a simulated day, registers all of it, and only
then starts the processor. One JSON line: `messages_per_s` over the first 5,000 FLOP and
whatever
stands between them, `peak_mb` of the process.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psycopg

from deploy import local
from deploy.local.demo import prepare
from msgx import clock
from tests.aodb import build_day, play
from tests.support.process import running

FLIGHTS: Final = 300
BACKLOG: Final = 5_000
PATIENCE_SECONDS: Final = 300.0

REGISTER: Final = """
    INSERT INTO proc_state (msg_id, enqueued_at, updated_at, traceparent)
    SELECT msg_id, msgx_now(), msgx_now(),
           '00-' || md5(msg_id::text) || '-' || left(md5(msg_id::text), 16) || '-01'
      FROM unnest(%s::bigint[]) AS msg_id
"""
OPEN: Final = "SELECT count(*) FROM proc_state WHERE state IN ('PENDING', 'FAILED')"
STRETCH: Final = """
    WITH flop AS (
        SELECT msg_id, finished_at FROM proc_state
         WHERE type = 'FLOP' AND finished_at IS NOT NULL ORDER BY msg_id LIMIT %s
    ), ends AS (
        SELECT min(msg_id) AS first, max(msg_id) AS last, count(*) AS flops,
               extract(epoch FROM max(finished_at) - min(finished_at)) AS seconds FROM flop
    )
    SELECT flops, seconds::float,
           (SELECT count(*) FROM proc_state, ends WHERE msg_id BETWEEN first AND last)
      FROM ends
"""


def main() -> int:
    """Print the line."""
    with local.running() as endpoints:
        installed = prepare.install(endpoints)
        landed = play(
            build_day(seed=1, flights=FLIGHTS, reference=False), installed.mailbox_url
        )
        with psycopg.connect(installed.owner_dsn, autocommit=True) as conn:
            conn.execute(REGISTER, (sorted(landed.ids.values()),))
            with running(
                "processor",
                MSGX_DATABASE__DSN=installed.dsn("processor"),
                MSGX_MAILBOX__URL=installed.mailbox_urls["processor"],
                MSGX_REDIS__URL=endpoints.redis,
                MSGX_PIPELINE__LADDER="PT0.2S PT0.2S PT0.2S PT0.2S",
            ) as process:
                _until(lambda: conn.execute(OPEN).fetchone() == (0,))
                peak = process.peak_megabytes()
            row = conn.execute(STRETCH, (BACKLOG,)).fetchone()
    assert row is not None  # noqa: S101 - an aggregate has a row
    flops, seconds, messages = row
    result = {
        "messages_per_s": round(messages / seconds),
        "flops": flops,
        "seconds": round(seconds, 1),
        "peak_mb": round(peak),
    }
    print(json.dumps(result))
    return 0


def _until(done: Callable[[], bool]) -> None:
    deadline = clock.ticks() + PATIENCE_SECONDS
    while not done():
        if clock.ticks() > deadline:
            raise SystemExit(f"the backlog was not done after {PATIENCE_SECONDS:.0f} s")
        clock.rest(0.2)


if __name__ == "__main__":
    raise SystemExit(main())
