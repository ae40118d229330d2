"""SIS text to the domain's vocabulary; the only user of lxml. Processor and api read it."""
