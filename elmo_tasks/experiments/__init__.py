"""The paper's tables and probes."""
