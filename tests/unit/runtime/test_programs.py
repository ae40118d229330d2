"""The services as programs: whoever asks for help, or misspells a word, starts nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from msgx.store.service_term import Service

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("service", Service)
def test_help_and_a_wrong_word_start_nothing(service: Service) -> None:
    def run(word: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", f"services.{service}", word],
            cwd=ROOT,
            env={name: text for name, text in os.environ.items() if "MSGX" not in name},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    help_, wrong = run("--help"), run("frobnicate")

    assert help_.returncode == 0
    assert help_.stdout.startswith(f"usage: python -m services.{service}")
    assert wrong.returncode == 2
    assert "frobnicate" in wrong.stderr
