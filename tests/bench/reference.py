"""`make bench-reference`: what a whole package costs, and what handing a head over costs.

One JSON line: `package_s` from the registration of a package to its end, `flop_ms` of a FLOP in
a full queue, `hand_off_ms` by which a small message of reference data is slower than that.
Processor and refdata run as processes; the medians of several rounds count.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from statistics import median
from typing import Final

import psycopg
from psycopg.conninfo import make_conninfo
from pymysql.connections import Connection as Mailbox
from pymysql.cursors import Cursor

from msgx import clock
from tests.support.messages import adft, fltr, stand
from tests.support.places import fresh
from tests.support.process import running
from tests.support.refdata import gates, package, record
from tests.support.servers import mysql, postgres
from tests.support.servers.source import Servers
from tests.support.worker import Places

PATIENCE_SECONDS: Final = 300.0
_LAND: Final = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (%s)"
_REGISTER: Final = """
    INSERT INTO proc_state (msg_id, enqueued_at, updated_at)
    SELECT msg_id, msgx_now(), msgx_now() FROM unnest(%s::bigint[]) AS msg_id
"""
_OPEN: Final = "SELECT count(*) FROM proc_state WHERE state IN ('PENDING', 'FAILED')"
_SPENT: Final = """
    SELECT extract(epoch FROM max(finished_at) - min(enqueued_at))::float,
           bool_and(state = 'SUCCEEDED')
      FROM proc_state WHERE msg_id = ANY(%s)
"""


def main() -> int:
    """Measure and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    with ExitStack() as stack:
        queue = stack.enter_context(serving(stack))
        queue.spent([adft(fltr("1")), gates("DNLD", "1")])
        stands = [
            record("SLST", SCOD=str(n), STGP="EAST", CNMC=f"机位 {n}", TERM="T2", KIND=None)
            for n in range(asked.records)
        ]
        packages, flops, pairs = [], [], []
        for number in range(asked.rounds):
            packages.append(queue.spent([package("SLST", "DNLD", *stands)]))
            flights = [stand(f"{number}.{n}", "1") for n in range(2 * asked.messages)]
            flops.append(queue.spent(flights) / len(flights))
            flights[::2] = [gates("UPD", "1") for _ in flights[::2]]
            flights[1::2] = [stand(f"{number}+{n}", "1") for n in range(asked.messages)]
            pairs.append(queue.spent(flights) / asked.messages)
    result = {
        "package_s": round(median(packages), 2),
        "flop_ms": round(1000 * median(flops), 1),
        "hand_off_ms": round(1000 * (median(pairs) - 2 * median(flops)), 1),
        "records": asked.records,
        "messages": asked.messages,
        "rounds": asked.rounds,
    }
    print(json.dumps(result))  # noqa: T201
    return 0


class Queue:
    """The mailbox, and the queue in front of both services."""

    def __init__(
        self, mailbox: "Mailbox[Cursor]", conn: "psycopg.Connection[tuple[object, ...]]"
    ) -> None:
        self._mailbox = mailbox
        self._conn = conn

    def spent(self, texts: Sequence[str]) -> float:
        """Land the texts, register all of them at once, and return the seconds to the end of
        the last."""
        ids = []
        with self._mailbox.cursor() as cursor:
            for text in texts:
                cursor.execute(_LAND, (text,))
                ids.append(cursor.lastrowid)
        self._conn.execute(_REGISTER, (ids,))
        deadline = clock.ticks() + PATIENCE_SECONDS
        while self._conn.execute(_OPEN).fetchone() != (0,):
            if clock.ticks() > deadline:
                raise SystemExit(f"the queue was not done after {PATIENCE_SECONDS:.0f} s")
            clock.rest(0.05)
        row = self._conn.execute(_SPENT, (ids,)).fetchone()
        assert row is not None
        assert row[1] is True, "every message has its effect"
        return float(str(row[0]))


@contextmanager
def serving(stack: ExitStack) -> Iterator[Queue]:
    """Run both services on places of their own, and yield the queue in front of them."""
    servers = Servers(("postgres", "mysql", "redis"), stack)
    urls = [servers.url(name) for name in ("postgres", "mysql", "redis")]
    with (
        postgres.template(urls[0]) as template,
        fresh(urls[0], template, urls[1], urls[2]) as places,
        psycopg.connect(places.dsn, autocommit=True) as conn,
        closing(mysql.connect(places.mailbox)) as mailbox,
        running("processor", **_variables(places, "processor")),
        running("refdata", **_variables(places, "refdata")),
    ):
        yield Queue(mailbox, conn)


def _variables(places: Places, service: str) -> dict[str, str]:
    return {
        "MSGX_DATABASE__DSN": make_conninfo(places.dsn, user=f"msgx_{service}"),
        "MSGX_MAILBOX__URL": places.mailbox,
        "MSGX_REDIS__URL": places.redis,
    }


if __name__ == "__main__":
    raise SystemExit(main())
