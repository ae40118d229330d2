"""The delivery life cycle of an outbox event: one table; the SQL guards, the CHECK and the docs
page follow it."""

from enum import StrEnum
from types import MappingProxyType
from typing import Final

from msgx.domain.lifecycle import LifeCycle


class Target(StrEnum):
    """`msg_event.target`: the topic an event goes to. With the FLID it makes the order unit
    (R29)."""

    MSG = "KAFKA:msg"  # each change, once
    SCHD = "KAFKA:schd"  # the latest state, one row a flight

    @property
    def part(self) -> str:
        """Return the short name: of the loop, the transactional id, and what can be paused."""
        return self.value.partition(":")[2]


class EventType(StrEnum):
    """`msg_event.event_type`."""

    UPSERT = "UPSERT"
    TOMBSTONE = "TOMBSTONE"  # null value (R61)


class EventState(StrEnum):
    """`msg_event.state`."""

    PENDING = "PENDING"
    SENT = "SENT"
    DEAD = "DEAD"  # holds what is behind it on its unit, or not: `msgx.dispatch.after-dead`
    DISCARDED = "DISCARDED"  # an operator gave it up; leaves as SENT does, the act stays


class DeliveryTrigger(StrEnum):
    """What moves an event."""

    DELIVER = "deliver"  # acknowledged by the broker
    FAIL = "fail"  # waits for its backoff
    BURY = "bury"  # permanent fault or the attempt limit
    REVIVE = "revive"  # requeued by an operator, or replaced by a newer `schd` generation
    DISCARD = "discard"  # given up by an operator


DELIVERY: Final = LifeCycle(
    MappingProxyType(
        {
            (EventState.PENDING, DeliveryTrigger.DELIVER): EventState.SENT,
            (EventState.PENDING, DeliveryTrigger.FAIL): EventState.PENDING,
            (EventState.PENDING, DeliveryTrigger.BURY): EventState.DEAD,
            (EventState.DEAD, DeliveryTrigger.REVIVE): EventState.PENDING,
            (EventState.DEAD, DeliveryTrigger.DISCARD): EventState.DISCARDED,
        }
    )
)
