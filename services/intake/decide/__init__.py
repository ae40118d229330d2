"""Intake's decisions: no I/O, no clock, no log."""
