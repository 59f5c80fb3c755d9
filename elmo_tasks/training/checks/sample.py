"""
A dry run of a config on its first instances: what `check` accepts can be constructed,
and makes a step.

Reader, first instances, vocabulary, model, data loaders, a batch, a step: all on the
CPU. Nothing is fetched, written or logged, and random numbers go on as if nothing had
happened.
"""

import io
import logging
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

from elmo_tasks.elmo.allocation import TooLarge
from elmo_tasks.errors import is_out_of_memory, one_line
from elmo_tasks.formats.fetch import NotAllowed, downloads
from elmo_tasks.training.checks.first_instances import Failed, NotJudged, Sample
from elmo_tasks.training.checks.problem import Problem
from elmo_tasks.training.checks.regexes import invalid_regexes, regex_problems
from elmo_tasks.training.nested import get
from elmo_tasks.training.runtime_state import random_state, set_random_state

SAMPLES = (20, 1000)
"""
Numbers of instances: if the first ones fail, they may lack labels that later ones have.
"""

JUDGED = {"elmo_tasks", "allennlp", "torch", "numpy"} | sys.stdlib_module_names
"""Packages whose errors on a sample are those of a training."""

LOCATION = re.compile(r'(?:at location|object for) "?([\w.]*\w)')
"""Where errors of AllenNLP name a key."""


def sample_problems(config: Mapping[str, Any]) -> list[Problem]:
    """
    The invalid regexes of a config; if there is none, what keeps it from being
    constructed or from a step on its first instances, one problem at most; if there is
    none, `regex_problems` of the model, and the `validation_metric` that one of our
    models does not have.

    There is no problem where the sample cannot be judged, and the training finds it:
    data or a model that would be fetched; readers of several tasks, and data without
    instances; a model that is too large, or memory that does not suffice; an error that
    passes through code of neither this package nor AllenNLP, which may need the run's
    folder or more data. A model whose biLM would be fetched is constructed with the
    embedded one, for the regexes alone, since the widths may differ.
    """
    invalid = invalid_regexes(config)
    if invalid:  # with which no model is constructed
        return invalid
    with _quiet():
        for size in SAMPLES:
            sample = Sample(config)
            found = None
            try:
                with downloads(allowed=False):
                    sample.step(size)
            except Failed as failed:
                error = failed.__cause__ or failed
                if _is_judged(error) and not sample.has_other_bilm:
                    found = _problem(failed, error)
            except (NotJudged, NotAllowed, TooLarge):
                pass
            if found is None or not sample.is_cut:
                break
    if found is not None:
        return [found]
    if sample.model is None:
        return []
    return regex_problems(config, sample.model) + _unknown_metrics(config, sample)


def _is_judged(error: BaseException) -> bool:
    """Whether an error on a sample is one of the training, too."""
    if isinstance(error, NotImplementedError) or is_out_of_memory(error):
        return False
    packages = set()
    for frame, _ in traceback.walk_tb(error.__traceback__):
        packages.add(str(frame.f_globals.get("__name__")).partition(".")[0])
    return packages <= JUDGED


def _problem(failed: Failed, error: BaseException) -> Problem:
    """The key that the error names, if it names one, and its first line."""
    said = one_line(error)
    if said is None:
        first = str(error).strip().split("\n")[0]
        said = f"{type(error).__name__}: {first}".removesuffix(": ")
    found = LOCATION.search(said)
    path = failed.path
    if found is not None and f"{found[1]}.".startswith(f"{path}."):
        path = found[1]
    place = "" if failed.place is None else f" (in {failed.place})"
    return Problem(path, failed.expected, f"{said}{place}")


def _unknown_metrics(config: Mapping[str, Any], sample: Sample) -> list[Problem]:
    """
    The scores of `validation_metric` that no validation has; other models may have some
    of theirs only at times.
    """
    given = get(config, "trainer.validation_metric")
    is_ours = type(sample.model).__module__.startswith("elmo_tasks.")
    if given is None or not sample.metrics or not is_ours:
        return []
    known = sorted({"loss", *sample.metrics})
    problems = []
    for name in [given] if isinstance(given, str) else given:
        plain = name.lstrip("+-")
        if plain not in known and "-" not in plain:  # else of a label
            shown_names = ", ".join(one for one in known if "-" not in one)
            path = "trainer.validation_metric"
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
