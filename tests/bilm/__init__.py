"""Tests of elmo_tasks.bilm."""
