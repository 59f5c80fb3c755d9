"""
Everything about a config that can be told before it is trained.

    config -> shape (keys, types, names) -> files, splits, idle knobs -> build on some instances -> one step

The constructors' signatures are the source of truth, for classes of others as for ours. What cannot be told from
them, such as a class that reads its config by itself, is passed over in silence.
"""

from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.schema import object_problems, shape_problems

__all__ = ["Problem", "object_problems", "shape_problems"]
