"""A stack's folder: who holds it has it, whatever others sweep away meanwhile."""

import threading
from pathlib import Path

import pytest

from deploy.local import folder as folders


def test_a_folder_that_is_swept_away_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "WAIT_STEP", 0.001)
    monkeypatch.setattr(folders, "ENDING_STEPS", 60_000)
    mine, end = tmp_path / "mine", threading.Event()

    def sweep() -> None:
        while not end.is_set():
            folders.sweep(mine)

    sweeping = threading.Thread(target=sweep)
    sweeping.start()
    try:
        for _ in range(300):
            with folders.held(mine, keep=False):
                assert folders.in_use(mine)
    finally:
        end.set()
        sweeping.join()
