"""The Redis projection of the shown flights (R15, R30). Written by the processor, read by the
api."""
