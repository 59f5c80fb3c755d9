"""`allennlp evaluate --predictions-output-file`: key and response as the official scorer reads them."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from allennlp.evaluation import Evaluator

from elmo_tasks.coref.response import response_lines, write_lines
from elmo_tasks.data.files import open_text
from elmo_tasks.data.mentions import Cluster
from elmo_tasks.prediction.evaluator import OfficialEvaluator

KEY_SUFFIX = ".key"
"""What the name of the file of gold clusters ends in; the rest is the name of the file of predicted ones."""


@Evaluator.register("elmo_tasks_coref")
class CorefEvaluator(OfficialEvaluator):
    """
    Writes the response to `FILE` and the key to `FILE.key`, each whole or not at all: the files that were read, one
    after another, the last column of the response replaced. Then `perl scorer.pl all FILE.key FILE` scores them. See
    `OfficialEvaluator`.
    """

    def predictions(self, batch: dict[str, Any], output: dict[str, Any]) -> list[tuple[str, str, int, list[Cluster]]]:
        """File, key and part, and the predicted clusters of each document."""
        pairs = zip(batch["metadata"], output["clusters"], strict=True)
        return [(known["file"], known["key"], known["part"], clusters) for known, clusters in pairs]

    def write(self, file: Path, predictions: Iterator[tuple[str, str, int, list[Cluster]]]) -> None:
        """Writes both files."""
        found: dict[str, dict[tuple[str, int], list[Cluster]]] = defaultdict(dict)
        for key_file, key, part, clusters in predictions:
            found[key_file][key, part] = [[(start, end) for start, end in cluster] for cluster in clusters]
        write_lines(file, (line for one, of_it in found.items() for line in response_lines(one, of_it)))
        keys = (line for one in found for _, line in open_text(one))
        write_lines(file.with_name(file.name + KEY_SUFFIX), keys)
