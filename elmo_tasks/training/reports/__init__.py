"""What a training reports: lines, logs, curves, trackers."""
