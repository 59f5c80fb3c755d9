"""`allennlp evaluate`: AllenNLP's, which replaces none of the files that it reads."""

import functools
import inspect
import json
from collections.abc import Callable
from typing import Any

from allennlp.commands import evaluate

from elmo_tasks.atomic import check_output_path


def improve_evaluate() -> None:
    """
    Lets AllenNLP's command check its outputs before it loads the model.

    A command of this name cannot be replaced: AllenNLP has chosen its own before it imports plugins.
    """
    if not hasattr(evaluate.evaluate_from_archive, "__wrapped__"):
        evaluate.evaluate_from_archive = _checked(evaluate.evaluate_from_archive)


def _checked(evaluate_from_archive: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The function, which raises `InputError` for an output that is one of the files it reads."""

    @functools.wraps(evaluate_from_archive)
    def wrapper(*arguments: Any, **options: Any) -> dict[str, Any]:
        given = inspect.signature(evaluate_from_archive).bind(*arguments, **options).arguments
        data = [path for path in _data_paths(given["input_file"]) if isinstance(path, str)]
        read = [given["archive_file"], given.get("weights_file"), *data]
        for option in ("metrics_output_file", "predictions_output_file"):
            for output in (given.get(option) or "").split(","):
                if output:
                    check_output_path(output, read=read, device=True)
        return evaluate_from_archive(*arguments, **options)

    return wrapper


def _data_paths(input_file: str) -> list[Any]:
    """As AllenNLP splits them: the parts of a JSON list without brackets, else what is between commas."""
    try:
        paths: list[Any] = json.loads(f"[{input_file}]")
    except json.JSONDecodeError:
        return input_file.split(",")
    return paths
