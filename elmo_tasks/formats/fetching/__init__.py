"""URLs, names of the hub and of published models -> paths on this machine."""
