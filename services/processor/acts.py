"""What operators do to single messages: skip and retry the head, correct a dead one (R35, R42,
R55). Each act is one transaction with its record."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from msgx.domain.failure import Fault
from msgx.domain.message import Refused
from msgx.domain.processing import ProcState, Trigger
from msgx.domain.replay import Forecast, Order, conflict_key
from msgx.projection.write import Field
from msgx.runtime.desk import Desk, Refusal
from msgx.runtime.leadership import Leadership
from msgx.store import (
    admin_audit,
    attempt,
    dead_letter,
    dead_message,
    flight_journal,
    identity_ledger,
    proc_state,
    service_term,
    stuck_head,
)
from msgx.store.admin_audit import Act
from msgx.store.connect import Connection
from msgx.store.proc_state import Outcome
from msgx.store.service_term import Service
from services.processor.assess import Assessor
from services.processor.examine import read_world
from services.processor.project import Projector

_BATCH: Final = 50
OPERATOR: Final = "operator"
"""The reason of a message that an operator skipped."""


@dataclass(slots=True, kw_only=True)
class Skipping:
    """How far a skip is."""

    skipped: int = 0
    reached: int = 0
    done: bool = False


class Acts:
    """The acts. `projector` is used by nobody else."""

    def __init__(
        self,
        desk: Desk,
        leadership: Leadership,
        assessor: Assessor,
        projector: Projector,
    ) -> None:
        self._desk = desk
        self._leadership = leadership
        self._assessor = assessor
        self._projector = projector

    def skip(self, first: int, last: int, act: Act) -> Iterator[Skipping]:
        """End the open messages of a range as SKIPPED(operator), and yield the progress after
        each transaction. What they have committed is shown first and released (R42).

        Raises:
            Standby: another instance leads; what was skipped stays.
            Away: a server is away, or a message is long at work; likewise.
        """
        progress = Skipping(reached=first - 1)
        while not progress.done:
            with self._desk.fenced() as conn:
                # The pump takes its turns between: nobody else moves a message meanwhile.
                conn.execute(service_term.LOCK_PIPELINE_BRIEFLY)
                ids = stuck_head.within(conn, progress.reached + 1, last, limit=_BATCH)
                self._skip(conn, ids)
                # Else the answer to the operator might not survive a power cut.
                conn.execute(service_term.DURABLE)
                admin_audit.record(
                    conn,
                    Service.PROCESSOR,
                    act,
                    "skip",
                    asked={"first": first, "last": last, "ids": ids},
                    affected=len(ids),
                )
            progress.skipped += len(ids)
            progress.reached = ids[-1] if ids else progress.reached
            progress.done = len(ids) < _BATCH
            yield progress

    def retry(self, msg_id: int, act: Act) -> bool:
        """Make the head due now; tell whether it had to wait.

        Raises:
            Refusal: another message is the head.
            Standby, Away: as `skip`.
        """
        with self._desk.fenced() as conn:
            head = proc_state.head(conn)
            if head is None or head.msg_id != msg_id:
                now = "nothing waits" if head is None else f"{head.msg_id} is"
                raise Refusal(f"message {msg_id} is not the head: {now}")
            changed = stuck_head.hasten(conn, msg_id)
            admin_audit.record(
                conn,
                Service.PROCESSOR,
                act,
                "retry",
                asked={"msg_id": msg_id},
                affected=int(changed),
            )
        return changed

    def correct(self, msg_id: int, text: str, act: Act) -> Forecast:
        """Store `text` beside what was sent, to be read instead of it; return what a replay
        with force would come to.

        Raises:
            Refusal: the message is not dead, has changed flights, or the text would die or
                change its identity.
            Standby, Away: as `skip`.
        """
        message = self._assessor.decode(text)
        if isinstance(message, Fault):
            raise Refusal(f"the text cannot be read: {message.text}")
        if isinstance(message.payload, Refused):
            raise Refusal(f"the text is not acceptable: {message.payload.text}")
        with self._desk.fenced() as conn:
            found = dead_message.lock(conn, msg_id)
            if found is None or found.state is not ProcState.DEAD:
                is_now = "there is no such message" if found is None else f"it is {found.state}"
                raise Refusal(f"message {msg_id} is not dead: {is_now}")
            if flight_journal.entries(conn, msg_id):
                raise Refusal(f"message {msg_id} has changed flights already")
            key, told = found.identity_key, message.meta.identity
            if key is not None and key not in (told, conflict_key(told, msg_id)):
                raise Refusal(f"the text has another identity than message {msg_id}")
            dead_letter.correct(conn, msg_id, text, operator=act.operator)
            if key is not None:
                identity_ledger.renew(conn, msg_id, key, message.body_digest)
            admin_audit.record(
                conn,
                Service.PROCESSOR,
                act,
                "correct",
                asked={"msg_id": msg_id, "sha256": sha256(text.encode()).hexdigest()},
                affected=1,
            )
        with self._desk.connection() as conn:
            return next(self._assessor.forecasts(conn, [msg_id], Order(force=True)))

    def _skip(self, conn: Connection, ids: list[int]) -> None:
        term = self._leadership.require()
        fields: list[Field] = []
        for msg_id in ids:
            if entries := flight_journal.entries(conn, msg_id):
                world = read_world(conn, list(entries))
                fields += self._projector.current(world.flights, world)
        self._projector.put(fields, term=term)
        for msg_id in ids:
            outcome = Outcome(trigger=Trigger.SKIP, reason=OPERATOR)
            attempt.end(conn, msg_id, outcome, term=term)
