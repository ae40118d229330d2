"""The dispatcher's decisions: pure, no I/O, no clock."""
