"""Version 1 of the calls."""
