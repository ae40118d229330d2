"""The bench that cells run on: the real processor on real servers, one for all cells."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from msgx.domain.failure import Away
from msgx.runtime.leadership import Standby
from tests.conformance.cell import Crash, Place, Text
from tests.support.messages import message
from tests.support.processor import Line, Places, Worker, settings

_REGISTER: Final = """
    INSERT INTO proc_state (msg_id, received_at, enqueued_at, updated_at)
    VALUES (%s, msgx_now() - interval '3 seconds', msgx_now(), msgx_now())
"""
# Ends the session that finishes a message, or that writes a flight.
_CRASH: Final = """
    CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NEW; END $$
"""
_AT_FINISH: Final = """
    CREATE TRIGGER crash BEFORE UPDATE ON proc_state FOR EACH ROW
       WHEN (NEW.state NOT IN ('PENDING', 'FAILED')) EXECUTE FUNCTION crash()
"""
_AT_FLIGHT: Final = """
    CREATE TRIGGER crash BEFORE INSERT ON flight_schd FOR EACH ROW
       WHEN (NEW.flid = '{flid}') EXECUTE FUNCTION crash()
"""


class Bench(Line):
    """A line that changes its parameters between cells and holds one worker at a time."""

    def __init__(self, places: Places) -> None:
        self._given: Mapping[str, Mapping[str, Any]] = {}
        super().__init__(places)

    def start(self, **options: Any) -> Worker:
        """Start an instance of the processor with the parameters that are worn."""
        base = settings(self.places, **options)
        groups = {
            name: type(getattr(base, name))(**given) for name, given in self._given.items()
        }
        self.worker = Worker(base.model_copy(update=groups))
        self._resources.callback(self.worker.close)
        return self.worker

    def wear(self, given: Mapping[str, Mapping[str, Any]]) -> None:
        """Take these parameters; a worker with others is replaced."""
        if given != self._given:
            self._given = given
            self.restart()

    def register(self, msg_id: int) -> None:
        """Register a message as intake does, with the time at which the mailbox received it."""
        self.pg.execute(_REGISTER, (msg_id,))

    def run_crashing(
        self,
        text: str,
        place: Place,
        crash: Crash,
        then: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> int:
        """Land a message, kill the session where the cell says, and let a new one take over,
        with other parameters if `then` names them."""
        readers_saw = self.redis.hgetall(self.keys.flights)
        with self._crashing(place, crash):
            msg_id = self.land(text)
            for _ in range(3):
                try:
                    self.worker.step()
                except (Away, Standby):
                    break
            else:
                raise AssertionError("the session was not killed")
        assert self.row(msg_id)["state"] == "PENDING"
        if crash.at != "finish":  # a day plan: readers see nothing of its half (R15)
            assert self.redis.hgetall(self.keys.flights) == readers_saw
        else:  # as if Redis had not been reached either
            self.redis.hdel(self.keys.flights, *place.flids.values())
            self.redis.hdel(self.keys.versions, *place.flids.values())
        self._given = self._given if then is None else then
        self.restart()
        self.run()
        return msg_id

    @contextmanager
    def _crashing(self, place: Place, crash: Crash) -> Iterator[None]:
        at_flight = _AT_FLIGHT.format(flid=place.flids.get(crash.at))
        self.pg.execute(_CRASH)
        self.pg.execute(_AT_FINISH if crash.at == "finish" else at_flight)
        try:
            yield
        finally:
            self.pg.execute("DROP FUNCTION crash CASCADE")


def text_of(text: Text, place: Place) -> str:
    """Return a message with an identity of its own."""
    return message(text.type, text.styp, place.fill(text.body))
