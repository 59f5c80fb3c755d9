"""
`elmo-tasks evaluate --predictions-output-file`: writes words, gold and predicted tags.
"""

from allennlp.evaluation import Evaluator

from elmo_tasks.tasks.evaluator import Answers, OfficialEvaluator, by_line
from elmo_tasks.tasks.tagging.reader import as_trained


@Evaluator.register("elmo_tasks_tagger")
class TagEvaluator(OfficialEvaluator):
    """
    Writes a line for each word: the word, its gold and its predicted tag, of spans in
    the scheme of the training data, and an empty line after each sentence. `conlleval <
    FILE` scores spans. A blank in a word or a tag is written as `_`. See
    `OfficialEvaluator`.
    """

    answers = "tags"

    def text(self, answers: Answers) -> str:
        lines = []
        for known, tags in sorted(answers, key=by_line):
            gold = as_trained(known["tags"], self.vocab)
            predicted = as_trained(tags, self.vocab)
            for row in zip(known["words"], gold, predicted, strict=True):
                cells = ["_".join(cell.split()) or "_" for cell in row]
                lines.append(" ".join(cells) + "\n")
            lines.append("\n")
        return "".join(lines)
