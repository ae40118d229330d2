"""The exporters of a running service, as its settings ask for them."""

from msgx.settings import ProcessSettings
from msgx.telemetry.board import Board
from msgx.telemetry.export import Exports
from msgx.telemetry.listener import Listener


class Measures:
    """Exports a board until it is closed; nothing is opened that no setting asks for."""

    def __init__(self, board: Board, settings: ProcessSettings) -> None:
        """Begin to export.

        Raises:
            SystemExit: the address of `/metrics` cannot be taken.
        """
        asked = settings.telemetry
        self._exports = (
            Exports(
                board,
                environment=settings.environment,
                otlp_endpoint=asked.otlp_endpoint,
                period=asked.period.total_seconds(),
            )
            if asked.metrics_bind or asked.otlp_endpoint
            else None
        )
        self._listener = (
            Listener(asked.metrics_bind, self._exports.text)
            if asked.metrics_bind and self._exports
            else None
        )

    @property
    def where(self) -> dict[str, int]:
        """Return the port of `/metrics`, for the log."""
        return {} if self._listener is None else {"metrics_port": self._listener.port}

    def close(self) -> None:
        """End the exporters."""
        if self._listener is not None:
            self._listener.close()
        if self._exports is not None:
            self._exports.close()
