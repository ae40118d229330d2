"""The AODB simulator: an airport's day as mailbox rows, with an oracle that knows its end."""

from tests.aodb import verify
from tests.aodb.adapter import play
from tests.aodb.day import build_day
from tests.aodb.model import Day, Expected, Planned, Played

__all__ = ["Day", "Expected", "Planned", "Played", "build_day", "play", "verify"]
