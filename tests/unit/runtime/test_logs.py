"""Log lines: one JSON object each, whatever a text holds."""

import json
import logging

from msgx.runtime.logs import JsonLines


def test_no_field_of_a_line_holds_what_a_terminal_obeys() -> None:
    hostile = "a\x1b[2J\x9b31m\u202e\x00\nb\ud800"
    record = logging.LogRecord("msgx", logging.INFO, "", 0, hostile, None, None)
    record.reason = hostile
    record.ids = [hostile, 7]
    record.fault = OSError(hostile)

    line = JsonLines("intake").format(record)

    told = json.loads(line)
    assert line.isprintable()
    assert told["reason"] == told["event"] == told["fault"] == told["ids"][0]
    assert (told["reason"][0], told["reason"][-2:], told["ids"][1]) == ("a", "b ", 7)
