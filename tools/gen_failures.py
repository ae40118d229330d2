"""Write docs/failures.md from the table of error classes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgx.domain.failure import RULES, Replay
from tools.page import notice, publish, table

PAGE = "docs/failures.md"


def pages() -> dict[str, str]:
    """Return the page."""
    text = "# Failures\n\n" + notice("gen_failures")
    text += (
        "A failure belongs to its row and is recorded by the step that holds it, with a class."
        " The class decides what becomes of the row. `proc_state` keeps the first class and the"
        " last one; `proc_attempt` keeps one row for each failed try, of a long outage only the"
        " first ones.\n\n"
    )
    text += table(
        ["class", "meaning", "whose", "what becomes of a message", "may be replayed"],
        [
            [f"`{error_class}`", rule.means, rule.whose, rule.retry, rule.replay]
            for error_class, rule in RULES.items()
        ],
    )
    forced = [f"`{one}`" for one, rule in RULES.items() if rule.replay is Replay.FORCED]
    text += (
        "\nEXHAUSTED is no class of its own: a message that died of its last try keeps the"
        " class of that failure, its text begins with `exhausted after`, and it is replayed by"
        f" that class. {', '.join(forced)} need force, since another try brings the same"
        " unless something else changed: a correction, the code, or a parameter.\n\n"
        "The ladder and the limits are parameters ([settings](settings.md)):"
        " `msgx.pipeline.max-attempts`, `ladder`, `infra-backoff`, `infra-max-attempts`. A"
        " ladder that does not fit its limit is refused at start.\n\n"
        "## Fingerprints\n\n"
        "Failures of one cause have one fingerprint: a short digest of the class and of the"
        " text without ids, numbers and quoted values. `proc_state.error_fingerprint` has it;"
        " `msgxctl dead groups` counts by it. Texts are cleaned of control characters and cut"
        " before they are stored, and never hold the payload.\n"
    )
    return {PAGE: text}


if __name__ == "__main__":
    raise SystemExit(publish(pages, __doc__))
