"""Question answering: SQuAD v1.1, bidirectional attention and self-attention, EM and F1 (paper, appendix A.4)."""

from elmo_tasks.formats.corpora import DataFile, Download
from elmo_tasks.tasks.task import Page, Task


def _file(split: str, count: int, size: int, sha256: str) -> DataFile:
    name = f"{split}-v1.1.json"
    source = Download(f"https://rajpurkar.github.io/SQuAD-explorer/dataset/{name}", size, sha256)
    return DataFile(f"squad/{name}", (), "questions", count, source)


TASKS = (
    Task(
        package=__name__,
        name="squad",
        title="SQuAD",
        metric="f1",
        paper=(81.1, 85.8),
        minutes=((2.7, 3.3), (27, 35)),
        files=(
            _file("train", 87_599, 30_288_272, "3527663986b8295af4f7fcdff1ba1ff3f72d07d61a20f487cb238a6ef92fd955"),
            _file("dev", 10_570, 4_854_279, "95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9"),
        ),
        sample="squad/train-v1.1.json",
        page=Page(
            "Questions",
            "The answer is a span of the passage.",
            "answer",
            (("passage", "Passage", 4), ("question", "Question", 1)),
        ),
    ),
)
