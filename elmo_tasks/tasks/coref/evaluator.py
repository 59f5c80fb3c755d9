"""`elmo-tasks evaluate --predictions-output-file`: writes response and key for the official scorer."""

from allennlp.evaluation import Evaluator

from elmo_tasks.formats.brackets import cluster_cells
from elmo_tasks.tasks.evaluator import Answers, OfficialEvaluator


@Evaluator.register("elmo_tasks_coref")
class CorefEvaluator(OfficialEvaluator):
    """
    Writes the response to `FILE` and the key to `FILE.key`, so that `perl scorer.pl all FILE.key FILE` scores them.
    Both have the columns of CoNLL-2012: document, part, number and word, and the clusters in the last one; the others
    are empty. See `OfficialEvaluator`.
    """

    answers, gold_suffix = "clusters", ".key"

    def text(self, answers: Answers) -> str:
        lines = []
        for known, clusters in sorted(
            answers, key=lambda one: (one[0]["file"], one[0]["line"])
        ):
            key, part, sentences = known["key"], known["part"], known["sentences"]
            cells = iter(cluster_cells(clusters or [], length=sum(map(len, sentences))))
            lines.append(f"#begin document ({key}); part {part:03d}")
            for sentence in sentences:
                rows = enumerate(zip(sentence, cells, strict=False))
                lines += [
                    "\t".join([key, str(part), str(n), word, *"-" * 7, cell])
                    for n, (word, cell) in rows
                ]
                lines.append("")
            lines.append("#end document")
        return "\n".join(lines) + "\n"
