"""Play the day, show how far it is, and wait until all that follows from it has happened."""

import threading
from dataclasses import dataclass, field
from typing import Final

import psycopg
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from deploy.local.children import Family, failed
from deploy.local.demo.asking import Asking
from deploy.local.demo.options import PLAY_SECONDS, Options
from deploy.local.demo.prepare import Installation, unmarked
from deploy.local.faults import CannotStart
from msgx import clock
from tests import aodb

LOOK_EVERY: Final = 0.25
STALLED_AFTER: Final = 90.0
COUNT_FINISHED: Final = "SELECT count(*) FROM proc_state WHERE finished_at IS NOT NULL"
COUNT_UNDELIVERED: Final = (
    "SELECT count(*) FROM msg_event WHERE state NOT IN ('SENT', 'DISCARDED')"
)
SELECT_HEAD: Final = """
    SELECT msg_id, state, attempts, coalesce(error_class, ''), coalesce(last_error, '')
      FROM proc_state WHERE finished_at IS NULL ORDER BY msg_id LIMIT 1
"""


@dataclass(slots=True)
class Play:
    """The day being written into the mailbox by a thread of its own."""

    day: aodb.Day
    speed: float | None  # None: all at once, as fast as the mailbox takes it
    played: aodb.Played | None = None
    fault: Exception | None = None
    commits: list[tuple[int, float]] = field(
        default_factory=list
    )  # rows so far, at UTC seconds

    def start(self, mailbox_url: str) -> None:
        """Begin to play."""
        threading.Thread(target=self._run, args=(mailbox_url,), daemon=True).start()

    @property
    def backlog(self) -> bool:
        """Say whether the rows came faster than anything could process them."""
        return self.speed is None

    @property
    def landed(self) -> int:
        """How many rows have been written."""
        return self.commits[-1][0] if self.commits else 0

    def landed_at(self) -> dict[int, float]:
        """Return when each planned message was committed, by its index."""
        order = sorted(self.day.messages, key=lambda message: message.commits_after)
        times: dict[int, float] = {}
        commits = iter(self.commits)
        count, at = next(commits, (0, 0.0))
        for message in order:
            while count <= message.commits_after:
                count, at = next(commits)
            times[message.index] = at
        return times

    def _run(self, mailbox_url: str) -> None:
        try:
            self.played = aodb.play(
                self.day, mailbox_url, speed=self.speed, on_landed=self._note
            )
        except Exception as fault:  # noqa: BLE001 - told by the waiting thread
            self.fault = fault

    def _note(self, count: int) -> None:
        self.commits.append((count, clock.now().timestamp()))


def speed_of(day: aodb.Day, options: Options) -> float | None:
    """Return the speed factor: as asked, or so that the day lands in PLAY_SECONDS."""
    if options.speed is not None:
        return options.speed or None
    span = day.messages[-1].due - day.messages[0].due
    return max(1.0, span.total_seconds() / PLAY_SECONDS)


def play_through(
    day: aodb.Day,
    installation: Installation,
    family: Family,
    options: Options,
    out: Console,
    asking: Asking,
) -> Play:
    """Play `day` and return when every message, answers too, is terminal, delivered and marked,
    and every request is DONE.

    Raises:
        CannotStart: a process ended, or nothing has moved for too long.
    """
    play = Play(day, speed_of(day, options))
    total = len(day.messages)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with (
        psycopg.connect(installation.owner_dsn, autocommit=True) as conn,
        Progress(*columns, TimeElapsedColumn(), console=out) as progress,
    ):
        landed = progress.add_task("landed  ", total=total)
        finished = progress.add_task("finished", total=total)
        patience = _Patience(family, conn, play)
        play.start(installation.mailbox_url)
        while play.played is None or _count(conn, COUNT_FINISHED) < total + asking.answers:
            done = _count(conn, COUNT_FINISHED)
            progress.update(landed, completed=play.landed)
            progress.update(finished, completed=min(done, total))
            asking.look(done)
            patience.look(play.landed + done)
        asking.look(total)
        asking.settle(patience.look)
        progress.update(landed, completed=total)
        progress.update(finished, completed=total)
        rest = progress.add_task("delivered, marked", total=None)
        while left := _owed(conn, installation):
            patience.look(-left)
        progress.update(rest, total=total, completed=total)
    return play


def _owed(conn: "psycopg.Connection[tuple[object, ...]]", installation: Installation) -> int:
    return _count(conn, COUNT_UNDELIVERED) + unmarked(installation.mailbox_url)


def _count(conn: "psycopg.Connection[tuple[object, ...]]", query: str) -> int:
    row = conn.execute(query.encode()).fetchone()
    return int(str(row[0])) if row else 0


class _Patience:
    """Rests between two looks, and gives up when something is broken or nothing moves."""

    def __init__(
        self, family: Family, conn: "psycopg.Connection[tuple[object, ...]]", play: Play
    ) -> None:
        self._family = family
        self._conn = conn
        self._play = play
        self._seen: int | None = None
        self._since = clock.ticks()

    def look(self, progress: int) -> None:
        """Rest a moment. Raises CannotStart when waiting on is no use."""
        if self._play.fault is not None:
            raise CannotStart(f"The day could not be played: {self._play.fault}")
        for child in self._family.ended():
            raise CannotStart(failed(child.name, "ended by itself", child.log))
        if progress != self._seen:
            self._seen, self._since = progress, clock.ticks()
        elif clock.ticks() - self._since > STALLED_AFTER:
            raise CannotStart(f"Nothing has moved for {STALLED_AFTER:g} s; {self._where()}")
        clock.rest(LOOK_EVERY)

    def _where(self) -> str:
        head = self._conn.execute(SELECT_HEAD).fetchone()
        if head is None:
            left = _count(self._conn, COUNT_UNDELIVERED)
            return f"every message is finished, but {left} events are not delivered."
        return "the head of the queue is message {} ({}, attempt {}, {} {}).".format(*head)
