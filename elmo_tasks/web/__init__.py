"""`elmo-tasks serve`: a page and a JSON interface for trained archives and biLMs (docs/PAGE.md)."""
