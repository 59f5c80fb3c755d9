"""Warnings that a user can do nothing about, named one by one."""

import warnings

KNOWN_NOISE: tuple[tuple[str, type[Warning], str], ...] = (
    # The trainer opens `torch.cuda.amp.autocast` in training and in validation, with AMP off too.
    (
        r"`torch\.cuda\.amp\.\w+\(args\.\.\.\)` is deprecated",
        FutureWarning,
        r"allennlp\.training\.",
    ),
)
"""How the message starts, its category, and how the name of the module to blame starts."""


def silence_known_noise() -> None:
    """
    Hides each warning of `KNOWN_NOISE`; every other warning stays.

    An entry can go when AllenNLP no longer makes the call that the warning is about.
    """
    for message, category, module in KNOWN_NOISE:
        warnings.filterwarnings("ignore", message=message, category=category, module=module)
