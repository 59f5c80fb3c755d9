"""
What AllenNLP 2.10.1, unmodified, needs on today's Python and PyTorch: all of it in this room.

| breakage | remedy |
|---|---|
| torchvision is imported at start | `site/`, part of the environment rather than of the plugin |
| `reduce_on_plateau` passes `verbose=` | `schedulers.accept_verbose` |
| resuming fails on NumPy scalars in the trainer state | `checkpoints.allow_numpy_scalars` |
| checkpoints are written in place, and a half-written one is taken for whole | `checkpoints.keep_checkpoints_whole` |
| a run killed while its folder or its configuration is made cannot be resumed | `recovery.begin_or_go_on` |
| three seeds have to be set alike | `seeds.accept_one_seed` |
| after `--recover` a moving average follows dead tensors | `averaging.follow_live_parameters` |
| a damaged archive ends in a traceback, one may unpack anywhere | `archives.tell_damaged_archives` |
| sparse gradients have no norm on CPU | `gradients.clip_sparse_gradients` |
| a bar between two types is not read as a union | `annotations.read_new_style_unions` |
| deprecations inside AllenNLP reach the user's terminal | `noise.silence_known_noise` |
| AllenNLP's logging replaces the exception hook | `terminal.show_user_errors` |

`SpacyTokenizer`, which downloads a model, is replaced by a tokenizer of ours:
`elmo_tasks.data.tokenizer`. What a range of versions mends (`transformers`, `huggingface_hub`)
stands in `requirements.txt`. Each remedy tells in its docstring when it can go; each has a test
that fails without it. `apply` may be called more than once.
"""

from collections.abc import Callable

from elmo_tasks.compat.annotations import read_new_style_unions
from elmo_tasks.compat.archives import tell_damaged_archives
from elmo_tasks.compat.averaging import follow_live_parameters
from elmo_tasks.compat.checkpoints import allow_numpy_scalars, keep_checkpoints_whole
from elmo_tasks.compat.gradients import clip_sparse_gradients
from elmo_tasks.compat.noise import silence_known_noise
from elmo_tasks.compat.recovery import begin_or_go_on
from elmo_tasks.compat.schedulers import accept_verbose
from elmo_tasks.compat.seeds import accept_one_seed
from elmo_tasks.compat.terminal import show_user_errors

REMEDIES: tuple[Callable[[], None], ...] = (
    show_user_errors,
    silence_known_noise,
    read_new_style_unions,
    accept_verbose,
    allow_numpy_scalars,
    keep_checkpoints_whole,
    begin_or_go_on,
    accept_one_seed,
    follow_live_parameters,
    clip_sparse_gradients,
    tell_damaged_archives,
)


def apply() -> None:
    """Applies every remedy, the exception hook first, so that it shows what goes wrong later."""
    for remedy in REMEDIES:
        remedy()
