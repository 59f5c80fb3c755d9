"""
What a training imports at its first update and at its end. A fork of a process that has
imported this module need not do so, which saves two seconds.
"""

# ruff: noqa: F401
import allennlp.commands
import cached_path  # type: ignore[import-untyped]
import matplotlib.pyplot
import torch._dynamo
from allennlp.common.plugins import import_plugins

import_plugins()
