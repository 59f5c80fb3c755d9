"""
`elmo-tasks evaluate --predictions-output-file`: writes response and key for the
official scorer.
"""

from allennlp.evaluation import Evaluator

from elmo_tasks.formats.annotation.brackets import cluster_cells
from elmo_tasks.tasks.evaluator import Answers, OfficialEvaluator, by_line

EMPTY_COLUMNS = ["-"] * 7
"""Between the word and its clusters: tags, parses, lemmas and the like."""


@Evaluator.register("elmo_tasks_coref")
class CorefEvaluator(OfficialEvaluator):
    """
    Writes the response to `FILE` and the key to `FILE.key`, so that `perl scorer.pl all
    FILE.key FILE` scores them. Both have the columns of CoNLL-2012: document, part,
    number and word, and the clusters in the last one; the others are empty. If two
    documents have the same name and part, the `#begin document` line of the second gets
    another part number, because scorer.pl identifies documents by this line. See
    `OfficialEvaluator`.
    """

    answers = "clusters"
    gold_suffix = ".key"

    def text(self, answers: Answers) -> str:
        lines = []
        seen = set[tuple[str, int]]()
        for known, clusters in sorted(answers, key=by_line):
            key = known["key"]
            part = known["part"]
            while (key, part) in seen:
                part += 1
            seen.add((key, part))
            sentences = known["sentences"]
            cells = iter(cluster_cells(clusters or [], length=sum(map(len, sentences))))
            lines.append(f"#begin document ({key}); part {part:03d}")
            for sentence in sentences:
                for number, word in enumerate(sentence):
                    columns = [key, str(known["part"]), str(number), word]
                    columns += EMPTY_COLUMNS
                    columns.append(next(cells))
                    lines.append("\t".join(columns))
                lines.append("")
            lines.append("#end document")
        return "\n".join(lines) + "\n"
