"""`allennlp evaluate`: AllenNLP's command, which does not overwrite the files that it reads."""

import functools
from typing import Any

from allennlp.commands import evaluate

from elmo_tasks.atomic import check_output_path


def improve_evaluate() -> None:
    """
    Make AllenNLP's command check its output paths before it loads the model.

    The command itself cannot be replaced: AllenNLP chooses its own before it imports plugins.
    """
    original = evaluate.evaluate_from_archive

    @functools.wraps(original)
    def evaluate_from_archive(archive_file: str, input_file: str, *arguments: Any, **options: Any) -> Any:
        read = [archive_file, options.get("weights_file"), *(file.strip(' "') for file in input_file.split(","))]
        for name in ("metrics_output_file", "predictions_output_file"):
            for output in filter(None, (options.get(name) or "").split(",")):
                check_output_path(output, read=read, device=True)
        return original(archive_file, input_file, *arguments, **options)

    evaluate.evaluate_from_archive = evaluate_from_archive
