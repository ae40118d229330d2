"""Reflection: for a few callers at once, and never in the way of health or of a stop."""

from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import pytest

from msgx.runtime.loops import Loop
from tests.support.control import Looking, Steps, serving
from tests.support.waiting import until

pytestmark = pytest.mark.pg


@pytest.mark.covers("B105")
def test_no_open_reflection_delays_a_stop_or_takes_the_threads(
    pg_dsn: str, tmp_path: Path
) -> None:
    grace = {"grace": timedelta(minutes=5)}
    with (
        serving(pg_dsn, tmp_path, Loop("msg", Steps()), control=grace) as running,
        ExitStack() as stack,
    ):
        caller = running.caller

        def look() -> Looking:
            return stack.enter_context(closing(Looking(caller.channel)))

        until(lambda: caller.health("msg") == "SERVING", "it serves")
        few = look(), look()
        assert [one.answer() for one in few] == ["answered"] * 2
        many = [look() for _ in range(8)]  # as many as there are threads
        assert [one.answer() for one in many] == ["RESOURCE_EXHAUSTED"] * 8
        assert caller.health("msg") == "SERVING"

        assert running.stop() == 0
        assert [one.answer() for one in few] == ["CANCELLED"] * 2
