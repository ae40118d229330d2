"""Where in a text something is wrong: line, column, tag, which record of the package (B82)."""

import re
from dataclasses import dataclass
from typing import Final

from msgx.domain.refdata import Category

BLANKS: Final = " \t\r\n"
"""What XML calls white space; nothing else is trimmed from a value."""

_FORBIDDEN: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_START_TAG: Final = re.compile(r"<([A-Za-z_][\w.-]{0,63})")
_RECORD: Final = re.compile(rf"<({'|'.join(('FLTR', 'FLOP', *Category))})[\s/>]")
_FLID: Final = re.compile(r"<FLID>\s*([0-9]{1,19})\s*</FLID>")
_NEAR: Final = 4096


@dataclass(frozen=True, slots=True)
class Position:
    """A text of which the first `skipped` characters were dropped before parsing."""

    text: str
    skipped: int

    def offset(self, line: int, column: int) -> int:
        """Return the offset, in the parsed part, of a line and column counted from one."""
        start = self.skipped
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
            if start == 0:
                return len(self.text) - self.skipped
        return min(start + max(column - 1, 0), len(self.text)) - self.skipped

    def of(self, offset: int) -> str:
        """Return in words where `offset` of the parsed part is, without the text's values."""
        at = self.skipped + offset
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        words = [f"line {line}, column {column}"]
        if near := _START_TAG.findall(self.text, max(0, at - _NEAR), at):
            words.append(f"in {near[-1]}")
        if records := list(_RECORD.finditer(self.text, 0, at)):
            words.append(self._record(records[-1], len(records)))
        return ", ".join(words)

    def forbidden_character(self) -> tuple[int, int] | None:
        """Return the first character that XML forbids: its offset and its code."""
        found = _FORBIDDEN.search(self.text, self.skipped)
        return None if found is None else (found.start() - self.skipped, ord(found[0]))

    def _record(self, start: re.Match[str], number: int) -> str:
        end = self.text.find(f"</{start[1]}>", start.end())
        flid = _FLID.search(self.text, start.end(), end if end >= 0 else len(self.text))
        return f"{start[1]} {number}" + (f" (FLID {flid[1]})" if flid else "")
