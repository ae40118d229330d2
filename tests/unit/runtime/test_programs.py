"""The services as programs: whoever asks for help, or misspells a word, starts nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from msgx.store.service_term import Service
from tests.support.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("service", Service)
def test_help_and_a_wrong_word_start_nothing(service: Service) -> None:
    def start(word: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", f"services.{service}", word],
            cwd=ROOT,
            env={name: text for name, text in os.environ.items() if "MSGX" not in name},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    with start("--help") as asks, start("frobnicate") as errs:  # at the same time
        usage, _ = asks.communicate(timeout=PATIENCE_SECONDS)
        _, fault = errs.communicate(timeout=PATIENCE_SECONDS)

    assert asks.returncode == 0
    assert usage.startswith(f"usage: python -m services.{service}")
    assert errs.returncode == 2
    assert "frobnicate" in fault
