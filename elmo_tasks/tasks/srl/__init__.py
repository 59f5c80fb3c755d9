"""
Semantic role labeling: CoNLL-2012 columns, the deep highway biLSTM, srl-eval.pl's F1
(paper, appendix A.5).
"""

from elmo_tasks.tasks.task import Page, Task

TASKS = (
    Task(
        package=__name__,
        name="srl",
        title="SRL",
        metric="f1",
        paper=True,
        sample="srl/tale.v4_gold_conll",
        page=Page(
            "Roles",
            "Semantic roles: who did what to whom, one frame for each predicate.",
            "frames",
            limits={"words": 1000, "words times predicates": 2500},
        ),
        spacy="sentence",
    ),
)
