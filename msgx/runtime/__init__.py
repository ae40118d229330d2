"""Running a service: loops until a signal, health, leadership, logs."""
