"""What a message makes of the flights. Pure: no I/O, no clock; `now` comes with the state
(R36)."""
