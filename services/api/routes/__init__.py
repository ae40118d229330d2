"""The routes, one module for each thing that a client asks about."""
