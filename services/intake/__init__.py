"""Intake: the mailbox inwards, and the mark back (CMINMSGS marks, registration, backfill)."""
