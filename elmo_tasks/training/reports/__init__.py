"""What a training reports: lines, logs, curves, confusions, trackers."""
