"""How a wave is cut, and what a refusal means for its event. Pure (R29)."""

from collections.abc import Collection, Sequence
from datetime import timedelta

from msgx.domain.backoff import rung
from services.dispatcher.decide.record import Record


def parts(wave: Sequence[Record]) -> list[Sequence[Record]]:
    """Return the transactions to try, in order.

    An event that was refused before goes alone, in front of all others: if it is refused again,
    nobody else has to be sent twice. Not so behind an earlier event of its unit, which was
    requeued meanwhile (`continue`).
    """
    suspects: list[Sequence[Record]] = []
    others: list[Record] = []
    before: set[bytes] = set()
    for record in wave:
        if record.event.attempts and record.key not in before:
            suspects.append([record])
        else:
            others.append(record)
        before.add(record.key)
    return [*suspects, others] if others else suspects


def halves(wave: Sequence[Record]) -> list[Sequence[Record]]:
    """Return a refused wave in two parts, the earlier events first."""
    middle = len(wave) // 2
    return [wave[:middle], wave[middle:]]


def without(wave: Sequence[Record], held: Collection[bytes]) -> Sequence[Record]:
    """Return `wave` without the units that a failed event holds."""
    return [record for record in wave if record.key not in held]


def wait_after(
    attempts: int, ladder: Sequence[timedelta], max_attempts: int
) -> timedelta | None:
    """Return how long an event waits after refusal number `attempts`, or None: it is dead."""
    return None if attempts >= max_attempts else rung(ladder, attempts)
