"""The vocabulary and the life cycles that every service speaks. Standard library only, no I/O,
no clock."""
