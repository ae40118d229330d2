"""SIS text to the domain's vocabulary; the only user of lxml. Processor, refdata, api and msgxctl read it."""
