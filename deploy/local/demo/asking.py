"""The demo asks the AODB: a day plan while the day is played, a category after it. The
simulator answers, and both requests must end as DONE."""

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from urllib.request import Request, urlopen

import pymysql

from deploy.local.faults import CannotStart
from tests import aodb
from tests.aodb.answering import answer_requests
from tests.aodb.answers import Answer, Answerer
from tests.aodb.verify import Row

CATEGORY: Final = "BLST"
UNASKED: Final = "no-open-request"
LOOK_EVERY: Final = 0.2
HTTP_LIMIT: Final = 60.0
_MARGIN: Final = 5  # messages: one that is late may be among them
_AHEAD: Final = timedelta(days=7)


class Asking:
    """The requests of one demo, and their answers."""

    def __init__(self, day: aodb.Day, mailbox_url: str, http: str) -> None:
        self._day = day
        self._mailbox_url = mailbox_url
        self._http = http
        self._answerer = Answerer(day.seed)
        self._answers: dict[int, Answer] = {}
        self._fault: Exception | None = None
        self._stopping = threading.Event()
        self._requests: list[int] = []
        # A day has answers that nobody asked for: the request waits until they are through.
        stray = [one.index for one in day.messages if one.expected.reason_prefix == UNASKED]
        self._from = max(stray, default=0) + _MARGIN

    def __enter__(self) -> "Asking":
        """Begin to answer."""
        threading.Thread(target=self._answer, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        """Answer no more."""
        self._stopping.set()

    @property
    def answers(self) -> int:
        """How many answers have landed."""
        return len(self._answers)

    def look(self, finished: int) -> None:
        """Ask for the plan of another day once the stray answers of this one are through.

        Raises:
            CannotStart: a request could not be made, or the simulator could not answer.
        """
        if self._fault is not None:
            raise CannotStart(f"A request could not be answered: {self._fault}")
        if not self._requests and finished >= min(self._from, len(self._day.messages)):
            wanted = (self._day.day + _AHEAD).isoformat()
            self._ask("/schd/sync", {"startDate": wanted, "endDate": wanted})

    def settle(self, rest: Callable[[int], None]) -> None:
        """Ask for a category, and wait until all that was asked is DONE."""
        self._ask("/api/v1/requests", {"type": "RQRD", "category": CATEGORY})
        while (left := sum(state != "DONE" for state in self.states().values())) > 0:
            self.look(len(self._day.messages))
            rest(-left)

    def states(self) -> dict[int, str]:
        """Return what the api says of each request."""
        found = (self._call(f"/api/v1/requests/{one}") for one in self._requests)
        return {int(one["id"]): str(one["state"]) for one in found}

    def extended(self, day: aodb.Day) -> aodb.Day:
        """Return the day with what the answers told."""
        told = self._answerer.reference
        kept = {at: row for at, row in day.reference.items() if at[0] != CATEGORY}
        return replace(
            day,
            flights={**day.flights, **self._answerer.flights},
            reference={**(kept if told else day.reference), **told},
        )

    def compared(self, rows: list[Row]) -> tuple[list[Row], list[str]]:
        """Return the rows that are no answers, and which answers did not end as expected."""
        faults = [
            f"answer {msg_id} ({self._answers[msg_id].kind}-RESP) is {state}({reason or ''})"
            for msg_id, state, _, reason in rows
            if msg_id in self._answers and state != self._answers[msg_id].expected.state
        ]
        return [row for row in rows if row[0] not in self._answers], faults

    def _ask(self, path: str, told: Mapping[str, str]) -> None:
        self._requests.append(int(self._call(path, json.dumps(told).encode())))

    def _call(self, path: str, told: bytes | None = None) -> Any:
        url, headers = self._http + path, {"Content-Type": "application/json"}
        request = Request(url, data=told, headers=headers)  # noqa: S310 - our own address
        try:
            with urlopen(request, timeout=HTTP_LIMIT) as answer:  # noqa: S310 - as above
                return json.load(answer)["body"]
        except OSError as fault:
            raise CannotStart(f"{path} did not answer: {fault}") from None

    def _answer(self) -> None:
        while not self._stopping.wait(LOOK_EVERY):
            try:
                self._answers |= answer_requests(self._answerer, self._mailbox_url)
            except (ValueError, pymysql.MySQLError, OSError) as fault:
                self._fault = fault
                return
