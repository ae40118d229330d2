"""The demo: the whole gateway on this machine, and a simulated airport day through it."""
