"""SIS text to the domain's vocabulary; the only user of lxml. The dispatcher needs none."""
