"""
What AllenNLP 2.10.1, unmodified, needs on today's Python and PyTorch: all of it in this room.

| breakage | remedy |
|---|---|
| torchvision is imported at start | `site/`, part of the environment rather than of the plugin |
| a plugin is found only through a plugins file | the same |
| `reduce_on_plateau` passes `verbose=` | `schedulers.accept_verbose` |
| resuming fails on NumPy scalars in the trainer state | `checkpoints.allow_numpy_scalars` |
| checkpoints are written in place, and a half-written one is taken for whole | `checkpoints.keep_checkpoints_whole` |
| a run killed while its folder or its configuration is made cannot be resumed | `recovery.begin_or_go_on` |
| a run that fails before its first step leaves a folder that is refused | the same, `first_step` |
| two processes may train in one folder | the same, `run_lock` |
| an interrupted training ends in a traceback | `interrupts.report_interrupts` |
| three seeds have to be set alike | `seeds.accept_one_seed` |
| after `--recover` a moving average follows dead tensors | `averaging.follow_live_parameters` |
| the processes of a distributed training load a plain vocabulary | `vocabularies.load_in_configured_class` |
| a damaged archive ends in a traceback, one may unpack anywhere | `archives.tell_damaged_archives` |
| models with a character encoder cannot be pickled | `characters.let_character_encoders_be_pickled` |
| the character CNN gives short words no number in low precision | `characters.mask_characters_in_any_type` |
| `simple_tagger`'s predictor downloads a spaCy model | `predictors.predict_without_download` |
| a missing GPU ends in a traceback | `devices.name_missing_gpus` |
| a configuration that is a folder or no object aborts the process | `configs.require_objects` |
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
from elmo_tasks.compat.characters import let_character_encoders_be_pickled, mask_characters_in_any_type
from elmo_tasks.compat.checkpoints import allow_numpy_scalars, keep_checkpoints_whole
from elmo_tasks.compat.configs import require_objects
from elmo_tasks.compat.devices import name_missing_gpus
from elmo_tasks.compat.interrupts import report_interrupts
from elmo_tasks.compat.noise import silence_known_noise
from elmo_tasks.compat.predictors import predict_without_download
from elmo_tasks.compat.recovery import begin_or_go_on
from elmo_tasks.compat.schedulers import accept_verbose
from elmo_tasks.compat.seeds import accept_one_seed
from elmo_tasks.compat.terminal import show_user_errors
from elmo_tasks.compat.vocabularies import load_in_configured_class

PATCHES: tuple[Callable[[], None], ...] = (
    show_user_errors,
    silence_known_noise,
    read_new_style_unions,
    accept_verbose,
    allow_numpy_scalars,
    keep_checkpoints_whole,
    begin_or_go_on,
    report_interrupts,
    accept_one_seed,
    follow_live_parameters,
    let_character_encoders_be_pickled,
    mask_characters_in_any_type,
    name_missing_gpus,
    load_in_configured_class,
    tell_damaged_archives,
    predict_without_download,
    require_objects,
)


def apply() -> None:
    """Applies every remedy, the exception hook first, so that it shows what goes wrong later."""
    for remedy in PATCHES:
        remedy()
