"""Training one model: its config, its folder, its archive."""
