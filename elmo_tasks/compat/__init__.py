"""
Patches for AllenNLP 2.10.1 on current Python and PyTorch; AllenNLP itself is not modified on disk.

Each patch says in its docstring what it fixes and when it can go. `site/` is part of the environment rather than of the
plugin: the entry in AllenNLP's list of plugins, and its imports of large packages, which are postponed.
"""

import functools
from collections.abc import Callable

from elmo_tasks.compat.archives import report_damaged_archives
from elmo_tasks.compat.devices import report_missing_gpus
from elmo_tasks.compat.params import require_objects
from elmo_tasks.compat.recovery import recover_at_any_time
from elmo_tasks.compat.seeds import accept_one_seed
from elmo_tasks.compat.terminal import let_sigterm_end, show_user_errors

PATCHES: tuple[Callable[[], None], ...] = (
    show_user_errors,
    let_sigterm_end,
    recover_at_any_time,
    accept_one_seed,
    report_missing_gpus,
    report_damaged_archives,
    require_objects,
)
"""The exception hook first, so that it shows errors of the others."""


@functools.cache
def apply() -> None:
    """Applies every patch, once."""
    for patch in PATCHES:
        patch()
