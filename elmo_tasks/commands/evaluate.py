"""`allennlp evaluate`: AllenNLP's command, which does not overwrite the files that it reads."""

import functools
import inspect
import json
from collections.abc import Callable
from typing import Any

from allennlp.commands import evaluate

from elmo_tasks.atomic import check_output_path


def improve_evaluate() -> None:
    """
    Make AllenNLP's command check its output paths before it loads the model.

    The command itself cannot be replaced: AllenNLP chooses its own before it imports plugins.
    """
    if not hasattr(evaluate.evaluate_from_archive, "__wrapped__"):
        evaluate.evaluate_from_archive = _checked(evaluate.evaluate_from_archive)


def _checked(evaluate_from_archive: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """The function, which first raises `InputError` if an output is one of the input files."""

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
    """As AllenNLP splits them: a JSON list without brackets, else at commas."""
    try:
        paths: list[Any] = json.loads(f"[{input_file}]")
    except json.JSONDecodeError:
        return input_file.split(",")
    return paths
