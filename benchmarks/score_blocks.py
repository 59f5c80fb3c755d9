"""
How much a score depends on the sentences that it is measured on: the trained models of a
table, scored on all blocks of the data but one, for each block. Prints a JSON line for
each run and data set.

PYTHONPATH=. python benchmarks/score_blocks.py out/table1/runs --rows 'snli-*' --blocks 20
PYTHONPATH=. python benchmarks/score_blocks.py out/table1/runs --vectors w2v.100d.txt.gz

A block has whole units, as `ShareDataLoader` has them: documents, articles, sentences.
The data are those that a run was scored on: those of validation, or of another file; and
what it has put aside, if anything; with `--vectors`, in two: the instances whose words
all have a word vector in this file, and the others. From the scores and the sizes of the
K blocks, `jackknife_error` computes the standard error of a score, or, from the
differences of two rows, of a difference.
"""

import argparse
import fnmatch
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import torch
from allennlp.data import DatasetReader, Field, Instance
from allennlp.data.fields import ListField, TextField
from allennlp.models import Archive, Model
from allennlp.training.metrics import Metric

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables.run_dir import MODEL, RESULT, read_json
from elmo_tasks.formats.vector_files import read_vectors, width_of
from elmo_tasks.host import register_classes
from elmo_tasks.system.run_names import ARCHIVE
from elmo_tasks.training.archives.loading import load_archive, score
from elmo_tasks.training.data.subsampling import (
    WHOLE,
    Part,
    SubsamplingReader,
    every_instance,
    rest_of,
)


class Recorded(Metric):
    """A metric that can be computed again from some of the batches that it was given."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        self.calls.append((args, kwargs))
        self.metric(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.metric, name)

    def get_metric(self, reset: bool) -> Any:
        return self.metric.get_metric(reset)

    def reset(self) -> None:
        self.metric.reset()


def record_metrics(model: Model) -> list[Recorded]:
    """Replace the metrics of a model by recorded ones, which are returned."""
    found = []
    for module in model.modules():
        for name, value in list(vars(module).items()):
            if isinstance(value, Metric):
                recorded = Recorded(value)
                setattr(module, name, recorded)
                found.append(recorded)
    return found


def all_of_them(instance: Instance) -> bool:
    return True


def subsets_by_words(file: Path) -> dict[str, Callable[[Instance], bool]]:
    """
    The instances whose words all have a vector in a file, and the others. As in the
    models, the vector of the lower-cased word stands for that of a word.
    """
    words = {word for word, _ in read_vectors(file, width=width_of(file))}
    return {
        "known": lambda instance: not has_unknown(instance, words),
        "unknown": lambda instance: has_unknown(instance, words),
    }


def has_unknown(instance: Instance, words: Set[str]) -> bool:
    for text in texts_in(instance.fields.values()):
        for token in text.tokens:
            if token.text not in words and token.text.lower() not in words:
                return True
    return False


def texts_in(fields: Iterable[Field[Any]]) -> Iterator[TextField]:
    for field in fields:
        if isinstance(field, TextField):
            yield field
        elif isinstance(field, ListField):  # the sentences of a document
            yield from texts_in(field)


def blocks_of(part: Part, count: int) -> list[Part]:
    """The part in `count` blocks of the same size, in file order."""
    start, end = part
    edges = []
    for number in range(count):
        edges.append(start + (end - start) * number / count)
    edges.append(end)
    return list(pairwise(edges))


def size_of(instances: Sequence[Instance]) -> int:
    """
    How much of the data is scored there: words of tagged sentences and of documents,
    else instances (questions, pairs, sentences).
    """
    count = 0
    for instance in instances:
        fields = instance.fields
        if "speakers" in fields:  # coreference
            count += sum(len(sentence) for sentence in fields["text"])
        elif "tags" in fields:
            count += len(fields["tokens"])
        else:
            count += 1
    return count


def scores_without(
    archive: Archive,
    file: str,
    blocks: Sequence[Part],
    name: str,
    chosen: Callable[[Instance], bool] = all_of_them,
) -> tuple[float, list[float], list[int]]:
    """
    The metric `name` on the chosen instances of all blocks of a file, and of all but the
    first, the second and so on; and how many are in each. A block without any is left
    out. Raises `InputError` unless there are some in two blocks.
    """
    reader = archive.validation_dataset_reader
    instances = list(every_instance(reader, file))
    groups = []
    for block in blocks:
        of_block = SubsamplingReader(reader, part=block).in_part(instances, file)
        group = list(filter(chosen, of_block))
        if group:
            groups.append(group)
    if len(groups) < 2:
        raise InputError("expected instances in several blocks", file=file)
    metrics = record_metrics(archive.model)
    ends = [[0] * len(metrics)]
    for group in groups:
        use(reader, group)
        score(archive, file)
        ends.append([len(metric.calls) for metric in metrics])

    def again(left_out: int | None) -> float:
        for place, metric in enumerate(metrics):
            metric.reset()
            for block, (start, end) in enumerate(pairwise(ends)):
                if block != left_out:
                    for args, kwargs in metric.calls[start[place] : end[place]]:
                        metric.metric(*args, **kwargs)
        return float(archive.model.get_metrics(reset=True)[name])

    without = [again(block) for block in range(len(groups))]
    return again(None), without, [size_of(group) for group in groups]


def use(reader: DatasetReader, instances: list[Instance]) -> None:
    """Let a reader return these instances for any file."""
    reader._read = lambda file: iter(instances)


def jackknife_error(
    whole: float, without: Sequence[float], sizes: Sequence[int]
) -> float:
    """
    The standard error of a number that was computed on all K blocks of the data, and
    without each of them, from the sizes of the blocks: the delete-m_j jackknife of
    Busing, Meijer and van der Leeden (1999). With equal sizes it is Tukey's.
    """
    total = sum(sizes)
    count = len(sizes)
    estimate = count * whole
    for one, size in zip(without, sizes, strict=True):
        estimate -= (1 - size / total) * one
    squares = 0.0
    for one, size in zip(without, sizes, strict=True):
        ratio = total / size
        pseudo = ratio * whole - (ratio - 1) * one
        squares += (pseudo - estimate) ** 2 / (ratio - 1)
    return float((squares / count) ** 0.5)


def data_of(run: dict[str, Any]) -> dict[str, tuple[str, Part]]:
    """By name, the files that a run was scored on, and which part of each."""
    config = run["config"]
    data = {run["split"]: (run["file"] or config["validation_data_path"], WHOLE)}
    part = config["data_loader"].get("part")
    if part is not None:
        data["aside"] = (config["train_data_path"], rest_of(part))
    return data


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, help="the folder of the runs of a table")
    parser.add_argument("--rows", default="*", help="a pattern, such as 'snli-*'")
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument(
        "--vectors", type=Path, help="score instances with unknown words apart"
    )
    args = parser.parse_args()
    subsets: dict[str, Callable[[Instance], bool]] = {"": all_of_them}
    if args.vectors is not None:
        subsets = subsets_by_words(args.vectors)
    torch.set_num_threads(1)
    register_classes()
    for folder in sorted(args.runs.iterdir()):
        run = read_json(folder / RESULT)
        archive_file = folder / MODEL / ARCHIVE  # an ensemble has none
        if run is None or not archive_file.is_file():
            continue
        if not fnmatch.fnmatch(run["row"], args.rows):
            continue
        metric = run["config"]["trainer"]["validation_metric"].removeprefix("+")
        for (name, (file, part)), subset in product(data_of(run).items(), subsets):
            archive = load_archive(archive_file)
            blocks = blocks_of(part, args.blocks)
            data = f"{name}-{subset}" if subset else name
            try:
                whole, without, sizes = scores_without(
                    archive, file, blocks, metric, subsets[subset]
                )
            except InputError as error:
                print(f"{run['row']}, {data}: {error}", file=sys.stderr)
                continue
            row = {"row": run["row"], "seed": run["seed"], "hash": run["hash"]}
            row |= {"data": data, "metric": metric, "score": whole}
            row |= {"sizes": sizes, "without": without}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
