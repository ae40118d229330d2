"""Counts what a message holds beyond what is read of it (INV-25, R51)."""

from dataclasses import dataclass, field
from typing import Final

from msgx.domain.failure import clean
from msgx.domain.message import Unmapped

_TAGS: Final = 64
_TAG: Final = 64
_SAMPLE: Final = 80
REST: Final = "*"
"""What comes after the limit of different tags is counted under this one."""


@dataclass(slots=True)
class Tally:
    """The tags of one message that nobody reads: `TAG`, `TAG/CHILD` or `TAG@ATTRIBUTE`."""

    _found: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, tag: str, text: str | None) -> None:
        """Count one occurrence; the first text is the sample."""
        found = self._found.get(tag)
        if found is None:
            tag = clean(tag[:_TAG])
            if tag not in self._found and len(self._found) >= _TAGS:
                tag = REST
            found = self._found.get(tag) or (0, clean((text or "").strip()[:_SAMPLE]))
        count, sample = found
        self._found[tag] = (count + 1, sample)

    def result(self) -> tuple[Unmapped, ...]:
        """Return the counts in the order of first appearance."""
        return tuple(
            Unmapped(tag=tag, occurrences=count, sample=sample)
            for tag, (count, sample) in self._found.items()
        )
