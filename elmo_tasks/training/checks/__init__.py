"""
Checks of a config before training.

    config -> schema (keys, types, names) -> files, devices

The signatures of the constructors are the source of truth, for classes of AllenNLP, of this package and of users. A
class that overrides `from_params` is skipped, unless it has a class method `config_problems`.
"""
