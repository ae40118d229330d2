"""Write docs/grpc.md: the control address, who may call it, every call as proto/ has it."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.page import ROOT, notice, publish, table

PAGE = "docs/grpc.md"
PROSE = ROOT / "tools" / "grpc.md"
SERVED_BY = {
    "ControlService": "every service",
    "DeliveryService": "dispatcher",
    "MailboxService": "intake",
    "RefdataService": "refdata",
    "ReplayService": "processor",
    "RequestService": "dispatcher",
}
ONLY_WAKES = "Wake"
_SERVICE = re.compile(r"^service (\w+) \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_CALL = re.compile(r"((?:  //[^\n]*\n)+)  rpc (\w+)\((\w+)\)")
_MESSAGE = re.compile(r"^message (\w+) \{(.*?)\}\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Call:
    """A call: of which service and file, what it does, and whether it changes something."""

    service: str
    file: str
    name: str
    about: str
    changes: bool

    @property
    def reads(self) -> bool:
        """Tell whether the read-only token is enough."""
        return not self.changes and self.name != ONLY_WAKES


def calls() -> Iterator[Call]:
    """Yield every call of proto/, in order. One whose request names an operator changes
    something."""
    for path in sorted((ROOT / "proto" / "msgx" / "v1").glob("*.proto")):
        text = path.read_text("utf-8")
        acts = {name for name, body in _MESSAGE.findall(text) if "Admin admin = 1;" in body}
        for service, body in _SERVICE.findall(text):
            for comment, name, request in _CALL.findall(body):
                words = " ".join(line.strip(" /") for line in comment.splitlines())
                yield Call(service, path.name, name, words, request in acts)


def pages() -> dict[str, str]:
    """Return the page."""
    text = PROSE.read_text("utf-8").replace("\n\n", "\n\n" + notice("gen_grpc"), 1)
    text += "\n" + table(
        ["service", "served by", "call", "what it does", "admits"],
        (
            [
                f"`{one.service}`",
                SERVED_BY[one.service],
                f"`{one.name}`",
                one.about,
                "either token" if one.reads else "the token",
            ]
            for one in calls()
        ),
    )
    return {PAGE: text}


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
