"""Real servers for the tests: given by URL, else from Docker, else from the local launcher."""
