"""
`check` constructs a config: as AllenNLP's training does, but with the first instances
of its data, on the CPU, and with the folder of the run in a temporary one. Then it
makes a step, and evaluates.

Nothing is fetched, logged or left, and random numbers go on as if nothing had happened.
"""

import io
import logging
import sys
import tempfile
import traceback
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training import Trainer

from elmo_tasks.elmo.allocation import TooLarge
from elmo_tasks.errors import is_out_of_memory
from elmo_tasks.formats.fetching.fetch import NotAllowed
from elmo_tasks.training.archives.registered_names import unsafe_keys
from elmo_tasks.training.checks.blame import (
    Location,
    first_line,
    key_problems,
    keys_of,
    path_of_module,
    said_by,
    unknown_key,
)
from elmo_tasks.training.checks.files import device_problems, file_problems
from elmo_tasks.training.checks.libraries import library_problems
from elmo_tasks.training.checks.problem import Problem, one_for_each_key
from elmo_tasks.training.checks.regexes import invalid_regexes, regex_problems
from elmo_tasks.training.checks.sample import NotJudged, Sample
from elmo_tasks.training.checks.top_level import of_training, top_level_problems
from elmo_tasks.training.nested import get
from elmo_tasks.training.resume.resumable import random_state, set_random_state

SAMPLES = (20, 1000)
"""
Numbers of instances: if the first ones fail, they may lack labels that later ones have.
"""

JUDGED = {"elmo_tasks", "allennlp", "torch", "numpy", "tqdm"} | sys.stdlib_module_names
"""Packages whose errors on a sample are those of a training."""


def config_problems(
    config: dict[str, Any], *, with_files: bool = True
) -> list[Problem]:
    """
    The problems of a resolved config, sorted by path: those of its construction, and
    missing GPUs, packages and (unless not `with_files`) files.
    """
    missing = missing_problems(config, with_files=with_files)
    found = construction_problems(config, is_complete=not missing)
    return sorted(one_for_each_key(found, missing))


def construction_problems(
    config: Mapping[str, Any],
    *,
    is_complete: bool = True,
    scores: Collection[str] = (),
) -> list[Problem]:
    """
    What keeps a resolved config from being constructed, or from a step on its first
    instances: the problems of the first part that fails. If there is none,
    `regex_problems` of the model, and those of its `validation_metric` and of the
    `scores` of a table that one of our models does not have. Unknown keys of a trainer,
    which AllenNLP ignores, are found in addition. If files are missing (not
    `is_complete`), nothing is constructed.

    There is no problem where the sample cannot be judged, and the training finds it:
    data or a model that would be fetched; a model that is too large, or memory that
    does not suffice; an error that passes through code of neither this package nor
    AllenNLP, which may need more data. A model whose biLM would be fetched is
    constructed with the bundled one, whose width may differ: no step of it is judged.
    """
    plain = of_training(config)
    found = top_level_problems(config) + invalid_regexes(config)
    found += unsafe_keys(config)
    if is_complete and not found:
        found = _problems_of_construction(plain, scores)
    return [*found, *_unknown_keys_of_trainer(plain.get("trainer"))]


def missing_problems(config: dict[str, Any], *, with_files: bool) -> list[Problem]:
    """What this machine lacks: files, GPUs, and packages of callbacks."""
    of_files: Iterable[Problem] = ()
    if with_files:
        of_files = file_problems(config)
    return one_for_each_key(of_files, device_problems(config), library_problems(config))


def _unknown_keys_of_trainer(given: Any) -> Iterator[Problem]:
    """AllenNLP's trainer takes any keys, and ignores those that it does not know."""
    if not isinstance(given, Mapping):
        return
    name = given.get("type", Trainer.default_implementation)
    try:
        cls, constructor = Trainer.resolve_class_name(name)
    except (ConfigurationError, TypeError):
        return  # which the construction finds
    known = keys_of(cls, getattr(cls, constructor or "__init__"))
    for key in given:
        if key not in known and key != "type":
            yield unknown_key("trainer", key, cls, known)


def _problems_of_construction(
    config: Mapping[str, Any], scores: Collection[str]
) -> list[Problem]:
    """
    Those of the smallest sample on which there are none. Problems of keys are the same
    on all.
    """
    problems: list[Problem] = []
    for size in SAMPLES:
        sample = Sample(config, size)
        problems = []
        try:
            _try(sample)
        except (NotJudged, NotAllowed, TooLarge):
            break
        except Exception as error:
            problems = key_problems(error, Location(config, sample.path))
            if problems:
                break
            if _is_judged(error) and not sample.has_other_bilm:
                problems = [_problem(error, sample, config)]
        if not problems:
            break
    if problems or sample.model is None:
        return problems
    problems = regex_problems(config, sample.model)
    given = get(config, "trainer.validation_metric") or []
    if isinstance(given, str):
        given = [given]
    path = "trainer.validation_metric"
    problems += _unknown_metrics(path, given, sample, signs="+-")
    return problems + _unknown_metrics("metric", scores, sample)


def _try(sample: Sample) -> None:
    """Construct the training of a sample, and make a step."""
    with (
        _quiet(),
        tempfile.TemporaryDirectory(prefix="elmo_tasks_check_") as folder,
    ):
        sample.construct(folder)
        sample.step()


def _problem(
    error: BaseException, sample: Sample, config: Mapping[str, Any]
) -> Problem:
    """What an error of a sample says."""
    if sample.expected and sample.path == "model":
        said = first_line(error)
        path = sample.path
        module = sample.module_of(error)
        if module is not None:
            said += f" (in {module})"
            path = path_of_module(module, path, config["model"])
        return Problem(path, sample.expected, said)
    return said_by(error, Location(config, sample.path), sample.expected)


def _is_judged(error: BaseException) -> bool:
    """Whether an error on a sample is one of the training, too."""
    if isinstance(error, NotImplementedError) or is_out_of_memory(error):
        return False
    packages = set()
    for frame, _ in traceback.walk_tb(error.__traceback__):
        packages.add(str(frame.f_globals.get("__name__")).partition(".")[0])
    return packages <= JUDGED


def _unknown_metrics(
    path: str, given: Iterable[str], sample: Sample, *, signs: str = ""
) -> list[Problem]:
    """
    The scores, after one of the `signs`, that no validation has; other models may have
    some of theirs only at times.
    """
    is_ours = type(sample.model).__module__.startswith("elmo_tasks.")
    if not sample.metrics or not is_ours:
        return []
    known = sorted({"loss", *sample.metrics})
    problems = []
    for name in given:
        plain = name.lstrip(signs)
        parts = {part for one in known for part in one.split("-")}
        of_label = plain.split("-")  # such as f1-PER
        if len(of_label) > 1 and parts.intersection((of_label[0], of_label[-1])):
            continue
        if plain not in known:
            shown_names = ", ".join(one for one in known if "-" not in one)
            problems.append(Problem(path, f"one of {shown_names}", name))
    return problems


@contextmanager
def _quiet() -> Iterator[None]:
    """
    Without messages, warnings and progress bars, and with the random state left as it
    was.
    """
    state, disabled = random_state(), logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    unread = io.StringIO()
    try:
        with (
            warnings.catch_warnings(),
            redirect_stdout(unread),
            redirect_stderr(unread),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
        set_random_state(state)
