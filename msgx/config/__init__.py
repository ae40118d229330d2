"""How a process is configured: names of parameters, where their values come from, what is wrong
with them. It knows no parameter by name."""
