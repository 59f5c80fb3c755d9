"""The tests, in the same folders as the package."""
