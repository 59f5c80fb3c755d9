"""
The tables of results in docs/ and README, and the sentences with numbers, from the runs
in docs/results/*.jsonl. `make generated` writes them.

docs/results/tables.txt has each table with expressions in place of numbers. On a page,
it follows the line `<!--table:NAME-->`. docs/results/sentences.txt has the beginnings or
parts of sentences, one a line, by page; the page has each of them once, with numbers.

A run is written `FILE:RUN`: all its seeds; `FILE:RUN#12`: seeds 1 and 2; `FILE:RUN%em`: another
metric than F1 or accuracy. `b` is the run in column b of the same row. The expressions:

- `{RUN}`: the mean and the deviation of its seeds, or the score of one;
- `{scores RUN}`, `{exact RUN}`: the score of each seed, to one or two digits;
- `{best RUN}`: the best seed; `{mean RUN}`: the mean alone;
- `{gain RUN BASELINE}`: the difference of the means, and its standard error if both
  have several seeds; `{increase ...}` and `{error ...}` give one of the two. The error is
  over seeds and sentences, those of the pair of `PAIRS` with the same data where these
  runs were not scored by benchmarks/score_blocks.py; over seeds alone where there is none;
- `{gain RUN BASELINE aside}`, `{error RUN BASELINE aside}`: of the part put aside;
- `{seeds RUN BASELINE}`: the standard error over seeds alone;
- `{by RUN BASELINE}`: the difference without a plus;
- `{agrees RUN BASELINE PAPER}`: whether it is shown, and has the sign of the paper's. It
  is if its t has p < 5 % after Holm's correction for all such differences. A difference
  of single seeds is never shown;
- `{relative RUN BASELINE}`: the difference in percent of the baseline's error;
- `{data RUN BASELINE}`: its standard error over the sentences of these runs; `{data RUN
  BASELINE aside}`: of the part put aside;
- `{final RUN N}`: the mean of the last N epochs in place of the best one's score: mean
  and deviation over the seeds; `{final RUN N BASELINE}`: the difference, as `gain`;
- `{part RUN dev-known}`: the mean and the deviation on this part of the data, see
  benchmarks/score_blocks.py; `{part RUN dev-known BASELINE}`: the difference, as `both`;
  `{size RUN dev-known}`: the instances in it;
- `{pooled RUN aside-known}`, `{pooled RUN aside-known BASELINE}`: the same of runs on parts
  of the data that differ, `FILE:sst-elmo-aside-*`; the standard error is over these;
- `{value RUN NAME FORMAT}`: another number among its scores;
- `{curve RUN EPOCH ...}`: the scores after these epochs, a cell each;
- `{sofar RUN BASELINE EPOCH ...}`: the difference of the best scores until these epochs,
  or until a run's end: the mean over the seeds, a cell each;
- `{weights RUN input}`: the weights of the layers there, and gamma, a cell each;
- `{passes RUN OTHER}`: its first epoch that is better than the other's best;
- `{tenths NAME}`: the increase of SST-5 over its ten tenths, or its errors;
- `{published SOURCE ROW}`: the paper's scores of this row, a cell each; with a third
  argument, these are between them;
- `{shortest FILE PATTERN}`, `{longest ...}`: minutes of the runs whose names begin so.
"""

import fnmatch
import json
import re
import runpy
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import hypot
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from scipy import stats

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "results"
PAGES = [
    ROOT / "README.md",
    ROOT / "benchmarks" / "README.md",
    *ROOT.glob("docs/*.md"),
    *FOLDER.glob("*.md"),
]
SOURCE = FOLDER / "tables.txt"
SENTENCES = FOLDER / "sentences.txt"
PUBLISHED = ROOT / "training_config" / "tables" / "published.json"

PEERS = runpy.run_path(str(ROOT / "benchmarks" / "peers.py"))
JACKKNIFE = runpy.run_path(str(ROOT / "benchmarks" / "score_blocks.py"))
jackknife_error = JACKKNIFE["jackknife_error"]

CELLS = " | "
LEVEL = 0.05
"""Of all differences in the table of those that agree with the paper, together."""

PAIRS = {
    "dev": {
        "squad": ("table1:squad-elmo", "table1:squad-baseline"),
        "snli": ("table1:snli-elmo", "table1:snli-baseline"),
        "srl": ("aside:srl-elmo", "aside:srl-baseline"),
        "coref": ("table1:coref-elmo", "table1:coref-baseline"),
        "ner": ("tokens:ner-59M", "tokens:ner-baseline"),
        "wnut": ("tokens:ner-59M", "tokens:ner-baseline"),
        "wikigold": ("wikigold:wikigold-elmo", "wikigold:wikigold-baseline"),
        "sst": ("tokens:sst-59M", "tokens:sst-baseline"),
    },
    "aside": {
        task: (f"aside:{task}-elmo", f"aside:{task}-baseline")
        for task in ("squad", "snli", "srl", "coref", "ner", "sst")
    },
}
"""
By the first word of a row's name, the pairs whose error over the sentences of dev, or
of the part put aside, stands for others of the same data.
"""

OF_MINI = ("ensembles", "finetuning", "gamma", "lambda", "untrained_mini")
"""Files of runs on the synthetic data, which no pair of `PAIRS` has."""

EXPRESSION = re.compile(r"\{([^{}]+)\}")
RUN = re.compile(
    r"(?P<file>\w+):(?P<run>[\w.*-]+)(?:#(?P<seeds>\d+))?(?:%(?P<metric>\w+))?"
)
PLACE = re.compile(r"(<!--table:([\w-]+)-->\n)(?:\|.*\n)+")
NUMBER = r"([-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:\s±\s[\d.]+)?)"


@cache
def raw_rows(file: str) -> list[dict[str, Any]]:
    """The rows of a file in docs/results/."""
    lines = (FOLDER / f"{file}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@dataclass(frozen=True)
class Runs:
    """The rows of a run, one for each seed, their file, and the name of the score."""

    records: list[dict[str, Any]]
    file: str
    metric: str | None

    @property
    def scores(self) -> list[float]:
        """In percent."""
        found = []
        for record in self.records:
            scores = record["scores"]
            found.append(100 * scores[self.metric or main_metric(scores)])
        return found

    @property
    def mean(self) -> float:
        return mean(self.scores)

    @property
    def deviation(self) -> float:
        return stdev(self.scores)

    @property
    def has_seeds(self) -> bool:
        return len(self.records) > 1


def runs(text: str) -> Runs:
    """The rows that `FILE:RUN#SEED%METRIC` means."""
    match = RUN.fullmatch(text)
    if match is None:
        raise ValueError(f"no run: {text}")
    file, run, seeds, metric = match.group("file", "run", "seeds", "metric")
    records = []
    for record in raw_rows(file):
        is_one = fnmatch.fnmatchcase(record["row"], run)
        if is_one and str(record["seed"]) in (seeds or "123"):
            records.append(record)
    if not records:
        raise ValueError(f"no rows of {text}")
    records.sort(key=lambda record: (record["row"], record["seed"]))
    return Runs(records, file, metric)


def main_metric(scores: dict[str, float]) -> str:
    """F1 or accuracy, whichever the task has."""
    return "f1" if "f1" in scores else "accuracy"


def score(one: Runs) -> str:
    if one.has_seeds:
        return f"{one.mean:.1f} ± {one.deviation:.1f}"
    return f"{one.mean:.1f}"


def each(one: Runs) -> str:
    return ", ".join([f"{score:.1f}" for score in one.scores])


def exact(one: Runs) -> str:
    return ", ".join([f"{score:.2f}" for score in one.scores])


def best(one: Runs) -> str:
    return f"{max(one.scores):.1f}"


def mean_alone(one: Runs) -> str:
    return f"{one.mean:.1f}"


def increase(high: Runs, low: Runs) -> str:
    return signed(high.mean - low.mean)


def signed(number: float) -> str:
    text = f"{number:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def by(high: Runs, low: Runs) -> str:
    return f"{high.mean - low.mean:.1f}"


def gain(high: Runs, low: Runs, part: str = "dev") -> str:
    if not (high.has_seeds and low.has_seeds):
        return increase(high, low)
    return f"{increase(high, low)} ({error(high, low, part)})"


def error(high: Runs, low: Runs, part: str = "dev") -> str:
    total, _ = error_and_freedom(high, low, part)
    return f"{total:.1f}"


def over_seeds(high: Runs, low: Runs) -> str:
    return f"{error_of_means(high.scores, low.scores):.1f}"


def error_of_means(high: list[float], low: list[float]) -> float:
    """The standard error of the difference of the means."""
    squares = stdev(high) ** 2 / len(high) + stdev(low) ** 2 / len(low)
    return float(squares**0.5)


def error_and_freedom(high: Runs, low: Runs, part: str = "dev") -> tuple[float, float]:
    """
    The standard error over seeds and sentences, which are independent, and the degrees
    of freedom of its t by Welch and Satterthwaite.
    """
    parts = []
    for one in (high, low):
        parts.append((one.deviation**2 / len(one.records), len(one.records) - 1))
    scored = scored_pair(high, low, part)
    if scored is not None:
        over_data = data_error(*scored, part)
        blocks = len(blocks_of(scored[0], part)[0]["sizes"])
        parts.append((over_data**2, blocks - 1))
    total = sum([square for square, _ in parts])
    freedom = total**2 / sum([square**2 / free for square, free in parts])
    return total**0.5, freedom


def scored_pair(high: Runs, low: Runs, part: str) -> tuple[Runs, Runs] | None:
    """The pair whose error over sentences is that of this one: itself, or of `PAIRS`."""
    if are_scored(high, low, part):
        return high, low
    task = high.records[0]["row"].partition("-")[0]
    if high.file in OF_MINI or high.records[0]["row"].endswith("-mini"):
        return None
    if task not in PAIRS[part]:
        return None
    other, baseline = PAIRS[part][task]
    return runs(other), runs(baseline)


def are_scored(high: Runs, low: Runs, part: str) -> bool:
    """Whether all runs of both were scored, on the same blocks."""
    sizes = set()
    for one in (high, low):
        found = blocks_of(one, part)
        if len(found) != len(one.records):
            return False
        sizes.update([tuple(blocks["sizes"]) for blocks in found])
    return len(sizes) == 1


def agrees(high: Runs, low: Runs, paper: str) -> str:
    """Whether a difference has the paper's sign; `open` for one that is not shown."""
    if not (high.has_seeds and low.has_seeds):
        return "open"
    if chance(high, low) > largest_chance():
        return "open"
    return "yes" if (high.mean - low.mean) * float(paper) > 0 else "no"


def chance(high: Runs, low: Runs) -> float:
    """The p of a difference."""
    total, freedom = error_and_freedom(high, low)
    return float(2 * stats.t.sf(abs(high.mean - low.mean) / total, freedom))


@cache
def largest_chance() -> float:
    """The largest p of the differences that Holm's correction shows; -1 for none."""
    found = []
    for words in re.findall(r"\{agrees ([^{}]+)\}", SOURCE.read_text("utf-8")):
        high, low, _ = words.split()
        if runs(high).has_seeds and runs(low).has_seeds:
            found.append(chance(runs(high), runs(low)))
    largest = -1.0
    for rank, p in enumerate(sorted(found)):
        if p > LEVEL / (len(found) - rank):
            break
        largest = p
    return largest


def relative(high: Runs, low: Runs, digits: str = "0") -> str:
    share = 100 * (high.mean - low.mean) / (100 - low.mean)
    return f"{share:.{digits}f}"


def data_error(high: Runs, low: Runs, part: str = "dev") -> float:
    """The jackknife over blocks of the data, of the difference of means over seeds."""
    wholes = []
    withouts = []
    sizes: list[int] = []
    for one in (high, low):
        found = blocks_of(one, part)
        sizes = found[0]["sizes"]
        wholes.append(mean([blocks["score"] for blocks in found]))
        without = zip(*[blocks["without"] for blocks in found], strict=True)
        withouts.append([mean(scores) for scores in without])
    differences = [above - below for above, below in zip(*withouts, strict=True)]
    return 100 * float(jackknife_error(wholes[0] - wholes[1], differences, sizes))


def blocks_of(one: Runs, part: str) -> list[dict[str, Any]]:
    """What benchmarks/score_blocks.py printed of each run on this part of the data."""
    found = []
    for record in one.records:
        for blocks in raw_rows("blocks"):
            if (blocks["hash"], blocks["data"]) == (record.get("hash"), part):
                found.append(blocks)
    return found


def on_part(one: Runs, name: str, baseline: Runs | None = None) -> str:
    scores = [100 * blocks["score"] for blocks in blocks_of(one, name)]
    if baseline is None:
        return f"{mean(scores):.1f} ± {stdev(scores):.1f}"
    others = [100 * blocks["score"] for blocks in blocks_of(baseline, name)]
    error = hypot(error_of_means(scores, others), data_error(one, baseline, name))
    return f"{signed(mean(scores) - mean(others))} ({error:.1f})"


def pooled(one: Runs, name: str, baseline: Runs | None = None) -> str:
    found = blocks_of(one, name)
    sizes = [sum(blocks["sizes"]) for blocks in found]
    scores = [100 * blocks["score"] for blocks in found]
    if baseline is None:
        return f"{weighted_mean(scores, sizes):.1f}"
    others = [100 * blocks["score"] for blocks in blocks_of(baseline, name)]
    differences = [a - b for a, b in zip(scores, others, strict=True)]
    whole = weighted_mean(differences, sizes)
    without = []
    for left_out in range(len(sizes)):
        kept = [*sizes]
        kept[left_out] = 0
        without.append(weighted_mean(differences, kept))
    error = jackknife_error(whole, without, sizes)
    return f"{signed(whole)} ({error:.1f})"


def weighted_mean(values: list[float], weights: list[int]) -> float:
    products = [value * weight for value, weight in zip(values, weights, strict=True)]
    return sum(products) / sum(weights)


def size(one: Runs, name: str) -> str:
    """The instances in this part of the data; runs of one row have the same."""
    by_row = {}
    for blocks in blocks_of(one, name):
        by_row[blocks["row"]] = sum(blocks["sizes"])
    return f"{sum(by_row.values()):,}"


def data(high: Runs, low: Runs, part: str = "dev") -> str:
    if not are_scored(high, low, part):
        return "–"
    return f"{data_error(high, low, part):.1f}"


def final_scores(one: Runs, epochs: str) -> list[float]:
    """The mean of the last epochs of each seed, in percent."""
    found = []
    for record in one.records:
        points = record["curve"][-int(epochs) :]
        found.append(100 * mean(point[main_metric(point)] for point in points))
    return found


def final(one: Runs, epochs: str, baseline: Runs | None = None) -> str:
    scores = final_scores(one, epochs)
    if baseline is None:
        return f"{mean(scores):.1f} ± {stdev(scores):.1f}"
    others = final_scores(baseline, epochs)
    error = error_of_means(scores, others)
    return f"{signed(mean(scores) - mean(others))} ({error:.1f})"


def value(one: Runs, name: str, form: str = ".1f") -> str:
    return format(one.records[0]["scores"][name], form)


def curve(one: Runs, *epochs: str) -> str:
    scores = {}
    for point in one.records[0]["curve"]:
        scores[str(point["epoch"])] = f"{100 * point[main_metric(point)]:.1f}"
    return CELLS.join([scores[epoch] for epoch in epochs])


def best_until(one: Runs, epoch: int) -> float:
    """The mean over the seeds of the best score until an epoch, in percent."""
    found = []
    for record in one.records:
        points = record["curve"][:epoch]
        found.append(100 * max(point[main_metric(point)] for point in points))
    return mean(found)


def sofar(one: Runs, baseline: Runs, *epochs: str) -> str:
    cells = []
    for epoch in map(int, epochs):
        cells.append(signed(best_until(one, epoch) - best_until(baseline, epoch)))
    return CELLS.join(cells)


def weights(one: Runs, place: str) -> str:
    names = [f"elmo_{place}_{part}" for part in ("s0", "s1", "s2", "gamma")]
    return CELLS.join([value(one, name, ".2f") for name in names])


def passes(one: Runs, other: Runs) -> str:
    """The first epoch with a better score than any of the other run."""
    scores = [point["f1"] for point in other.records[0]["curve"]]
    for point in one.records[0]["curve"]:
        if point["f1"] > max(scores):
            return str(point["epoch"])
    raise ValueError("no epoch is better")


def tenths(name: str) -> str:
    """The increase of SST-5 on each tenth of its training data and with each seed."""
    increases = increases_on_tenths("aside_accuracy")
    of_tenths = [mean(found) for found in increases]
    of_seeds = [mean(found) for found in zip(*increases, strict=True)]
    over_tenths = stdev(of_tenths) / len(of_tenths) ** 0.5
    over_seeds = stdev(of_seeds) / len(of_seeds) ** 0.5
    if name == "gaining":
        return str(sum([found > 0 for found in of_tenths]))
    values = {
        "increase": mean(of_tenths),
        "error": hypot(over_seeds, over_tenths),
        "over-seeds": over_seeds,
        "over-tenths": over_tenths,
        "dev": mean(sum(increases_on_tenths("accuracy"), [])),
    }
    for number, found in enumerate(of_seeds, start=1):
        values[f"seed-{number}"] = found
    return f"{values[name]:.1f}"


def increases_on_tenths(metric: str) -> list[list[float]]:
    """In points, of each tenth with each seed."""
    increases = []
    for tenth in range(1, 11):
        high = runs(f"tenths:sst-elmo-aside-{tenth}%{metric}").scores
        low = runs(f"tenths:sst-baseline-aside-{tenth}%{metric}").scores
        increases.append([one - other for one, other in zip(high, low, strict=True)])
    return increases


@cache
def paper() -> dict[str, dict[str, dict[str, Any]]]:
    """The paper's scores; numbers are texts, with the digits of the paper."""
    text = PUBLISHED.read_text("utf-8")
    found: dict[str, dict[str, dict[str, Any]]]
    found = json.loads(text, parse_float=str, parse_int=str)
    return found


def published(source: str, row: str, between: str = CELLS) -> str:
    return between.join([shown(one) for one in paper()[source][row].values()])


def shown(score: Any) -> str:
    """A score of the paper as a cell."""
    if score is None:
        return "–"
    if isinstance(score, str):
        return score
    if "says" in score:
        return str(score["says"])
    return f"{score['mean']} ± {score['deviation']}"


def minutes(file: str, pattern: str) -> list[float]:
    """The times of the runs of a file whose names begin so."""
    found = []
    for record in raw_rows(file):
        if re.match(pattern, record["row"]):
            found.append(record["seconds"] / 60)
    return found


def shortest(file: str, pattern: str = "") -> str:
    return f"{min(minutes(file, pattern)):.0f}"


def longest(file: str, pattern: str = "") -> str:
    return f"{max(minutes(file, pattern)):.0f}"


OPERATIONS: dict[str, Callable[..., str]] = {
    "scores": each,
    "exact": exact,
    "best": best,
    "mean": mean_alone,
    "gain": gain,
    "increase": increase,
    "error": error,
    "by": by,
    "agrees": agrees,
    "seeds": over_seeds,
    "relative": relative,
    "data": data,
    "part": on_part,
    "pooled": pooled,
    "size": size,
    "final": final,
    "value": value,
    "curve": curve,
    "sofar": sofar,
    "weights": weights,
    "passes": passes,
    "tenths": tenths,
    "published": published,
    "shortest": shortest,
    "longest": longest,
}


def filled(text: str) -> str:
    """A line with the values of its expressions."""
    cells = text.strip("|").split("|")

    def argument(word: str) -> Any:
        """The run, or the run in a column; other words as they are."""
        if len(word) == 1 and word.islower():
            expressions = EXPRESSION.findall(cells["abcdefghij".index(word)])
            word = expressions[0].split()[-1]
        return runs(word) if ":" in word else word

    def evaluated(match: re.Match[str]) -> str:
        name, *words = shlex.split(match[1])
        if name in OPERATIONS:
            return OPERATIONS[name](*[argument(word) for word in words])
        return score(runs(name))

    return EXPRESSION.sub(evaluated, text)


def tables() -> dict[str, str]:
    """The Markdown of each table, by name."""
    found: dict[str, str] = {}
    for block in SOURCE.read_text("utf-8").split("\n\n"):
        name, *lines = block.strip().splitlines()
        found[name.strip("[]")] = "".join([filled(line) + "\n" for line in lines])
    found["peers"] = "".join(
        [line + "\n" for line in PEERS["table"](raw_rows("peers"))]
    )
    return found


def sentences() -> dict[Path, list[str]]:
    """What each page says of runs, with expressions in place of numbers."""
    found = {}
    for block in SENTENCES.read_text("utf-8").split("\n\n"):
        page, *lines = block.strip().splitlines()
        found[(FOLDER.parent / page.strip("[]")).resolve()] = lines
    return found


def with_numbers(text: str, sentence: str) -> str:
    """A page whose sentence has the present values of its expressions."""
    parts = EXPRESSION.split(sentence)  # text and expressions alternate
    pattern = ""
    for part in parts[::2]:
        pattern += r"\s+".join([re.escape(word) for word in part.split(" ")]) + NUMBER
    places = list(re.finditer(pattern.removesuffix(NUMBER), text))
    if len(places) != 1:
        raise ValueError(f"expected once, found {len(places)} times: {sentence}")
    (place,) = places
    written = ""
    end = 0
    for group, expression in enumerate(parts[1::2], start=1):
        written += text[end : place.start(group)] + filled("{" + expression + "}")
        end = place.end(group)
    return written + text[end:]


def pages() -> dict[Path, str]:
    """The text of each page that has tables or such sentences, with present values."""
    known = tables()
    used = []

    def table(match: re.Match[str]) -> str:
        used.append(match[2])
        return match[1] + known[match[2]]

    found = {}
    for path in PAGES:
        text = path.read_text("utf-8")
        written = PLACE.sub(table, text)
        for sentence in sentences().get(path, []):
            written = with_numbers(written, sentence)
        found[path] = written
    if sorted(used) != sorted(known):
        raise ValueError(f"tables {set(known) ^ set(used)} are in one place only")
    return found
