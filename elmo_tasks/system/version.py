"""The version of the package, which `hatchling` reads here."""

__version__ = "0.1.0"
