"""What ends a step early: the service stops, or an operator has paused the loop."""

from collections.abc import Callable, Mapping

from msgx.store.service_control import Pause


class Halt:
    """Shared by the loops of a service: one thread writes a field, all read it."""

    def __init__(self) -> None:
        self.stopping = False
        self.refused = False  # this process must not run here
        self.pauses: Mapping[str, Pause] | None = None  # None: not read yet

    def stop(self) -> None:
        """End everything; a signal handler may say so, therefore it takes no lock."""
        self.stopping = True

    def refuse(self) -> None:
        """End everything, since this process must not run here."""
        self.refused = True
        self.stop()

    def of(self, loop: str) -> Callable[[], bool]:
        """Return the question whether the steps of `loop` are to end early."""
        return lambda: self.stopping or loop in (self.pauses or ())
