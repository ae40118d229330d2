"""What newer messages have set, and what a replay may still write of it (R35). Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from msgx.domain.failure import ErrorClass
from msgx.domain.flight import EntryKind
from msgx.domain.replay import NewerSource
from services.processor.decide.world import Reject, World, Write

Newer: TypeAlias = Mapping[str, Mapping[str, int]]
"""FLID to tag to the newest message that has set it."""

_NAMED: Final = 5


def overwritten(writes: Sequence[Write], newer: Newer) -> tuple[NewerSource, ...]:
    """Return the newer sources of what `writes` would change. A deletion takes everything with
    it, so any newer source of the flight counts."""
    found: list[NewerSource] = []
    for write in writes:
        sources = newer.get(write.flight.flid, {})
        if write.kind is not EntryKind.DELETED:
            sources = {tag: by for tag, by in sources.items() if tag in write.changes}
        if sources:
            tags = tuple(sorted(sources))
            found.append(
                NewerSource(flid=write.flight.flid, tags=tags, msg_id=max(sources.values()))
            )
    return tuple(found)


def sparing(world: World, newer: Newer) -> World:
    """Return `world` in which a decision leaves alone what newer messages have set."""
    return replace(world, spared={flid: frozenset(tags) for flid, tags in newer.items()})


def refusal(sources: Sequence[NewerSource]) -> Reject:
    """Return why nothing is applied, in words that name the newer sources."""
    text = f"newer values stand: {told(sources)}"
    return Reject(text, ErrorClass.PROCESSING, tuple(sources))


def told(sources: Sequence[NewerSource]) -> str:
    """Return flights, tags and newer messages in a line."""
    named = [f"FLID {one.flid} {','.join(one.tags)} by {one.msg_id}" for one in sources]
    more = f" and {len(named) - _NAMED} more flights" if len(named) > _NAMED else ""
    return "; ".join(named[:_NAMED]) + more
