"""
Checks of a config before training.

    config -> schema (keys, types, names) -> files, splits, unused keys, regexes, devices

The signatures of the constructors are the source of truth, for classes of AllenNLP, of this package and of users. A
class that overrides `from_params` is skipped, unless it has a class method `config_problems`.
"""

from elmo_tasks.checks.objects import object_problems
from elmo_tasks.checks.problem import Problem
from elmo_tasks.checks.schema import shape_problems

__all__ = ["Problem", "object_problems", "shape_problems"]
