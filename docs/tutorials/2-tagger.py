# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 2. A first tagger, without and with ELMo
#
# In this tutorial you train a named-entity tagger twice, with one config key changed, and see which errors ELMo
# removes. It takes ten minutes; the code runs in one. You need the task models ([INSTALL](../INSTALL.md)).
#
# Open this notebook in [Colab](https://colab.research.google.com/github/elmo-tasks/elmo-tasks/blob/gh-pages/latest/tutorials/2-tagger.ipynb)
# or in [Binder](https://mybinder.org/v2/gh/elmo-tasks/elmo-tasks/main?urlpath=lab%2Ftree%2Fdocs%2Ftutorials%2F2-tagger.py).

# %%
# Install elmo-tasks and AllenNLP in Colab; in Binder and in a checkout they are there already.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("allennlp") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    address = "git+https://github.com/elmo-tasks/elmo-tasks"
    subprocess.run([*pip, f"elmo-tasks[tasks] @ {address}"], check=True)
    subprocess.run([*pip, "--no-deps", "allennlp==2.10.1"], check=True)

# %% [markdown]
# ## The data
#
# The synthetic corpus is in the CoNLL-2003 format: one word per line, with its tag in the last column. `I-LOC` marks
# a word in the name of a location. The names are invented, so no model can know them beforehand.

# %%
import json

import matplotlib.pyplot as plt
from IPython.display import Markdown

from elmo_tasks.resources import fixtures_root

plt.rcParams["figure.dpi"] = 80


def entities(tags):
    """Tags in IOB1 -> the set of (first, last + 1, type)."""
    found, start = set(), 0
    for i in range(1, len(tags) + 1):
        if i == len(tags) or tags[i].startswith("B") or tags[i][1:] != tags[i - 1][1:]:
            found.add((start, i, tags[start][2:]))
            start = i
    return {span for span in found if span[2]}


def read(name):
    """The sentences of a file: words, entities."""
    blocks = (fixtures_root() / "miniworld/ner" / name).read_text("utf-8").split("\n\n")
    rows = [
        [line.split() for line in block.splitlines()]
        for block in blocks
        if block and "DOCSTART" not in block
    ]
    return [
        ([row[0] for row in one], entities([row[-1] for row in one])) for one in rows
    ]


train, dev = read("eng.train"), read("eng.testa")[:250]
print(len(train), "sentences to train on,", len(dev), "to score")
for words, spans in train[:3]:
    print(
        " ".join(words), [(" ".join(words[a:b]), kind) for a, b, kind in sorted(spans)]
    )

# %% [markdown]
# Half of the development data is enough here. We write it as columns for training and as JSON lines for prediction.

# %%
with open("dev.txt", "w") as columns, open("dev.jsonl", "w") as lines:
    text = (fixtures_root() / "miniworld/ner/eng.testa").read_text("utf-8")
    columns.write(
        "\n\n".join(text.split("\n\n")[:251]) + "\n"
    )  # the first block is -DOCSTART-
    lines.writelines(json.dumps({"tokens": words}) + "\n" for words, _ in dev)

# %% [markdown]
# ## Train
#
# This is the tagger of appendix A.7: word vectors and a character CNN, two LSTM layers, and a CRF. `ner_elmo` is the
# same config with one more key, `model.elmo`, which makes $[x_k; \mathrm{ELMo}_k]$ the input of the LSTM (section
# 3.3). `cache_dir` stores the frozen biLM's layers on disk, so only the first epoch computes them. The full configs
# train for 30 epochs, but 12 are enough to show the difference.

# %% language="bash"
# elmo-tasks train ner --scale mini -s out/ner -o '{"trainer.num_epochs": 12,
#   "validation_data_path": "dev.txt"}' &> ner.log && tail -n 2 ner.log

# %% language="bash"
# elmo-tasks train ner_elmo --scale mini -s out/ner_elmo -o '{"trainer.num_epochs": 12,
#   "validation_data_path": "dev.txt", "model.elmo.cache_dir": "layers"}' &> ner_elmo.log && tail -n 2 ner_elmo.log

# %% [markdown]
# Each epoch writes its scores to a file:


# %%
def scores(run, epoch):
    return json.loads(open(f"out/{run}/metrics_epoch_{epoch}.json").read())


figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
for run, label in (("ner", "without ELMo"), ("ner_elmo", "with ELMo")):
    axis.plot(
        range(1, 13),
        [100 * scores(run, epoch)["validation_f1"] for epoch in range(12)],
        "o-",
        label=label,
    )
axis.set(xlabel="epoch", ylabel="F1, development data")
axis.legend()
plt.show()

# %% [markdown]
# With ELMo, the tagger passes the baseline's final score several epochs earlier. This is the first kind of sample
# efficiency in section 5.4. [Tutorial 6](6-table.py) shows the second: less training data.
#
# ## The errors, side by side
#
# Both models tag the development data ([PREDICT](../PREDICT.md)).

# %% language="bash"
# for run in ner ner_elmo; do
#   elmo-tasks predict out/$run/model.tar.gz dev.jsonl --output-file $run.jsonl &> predict.log || exit 1
# done


# %%
def predicted(run):
    outputs = [json.loads(line) for line in open(f"{run}.jsonl")]
    return [
        {(e["token_start"], e["token_end"], e["type"]) for e in output["entities"]}
        for output in outputs
    ]


gold = [spans for _, spans in dev]
without, with_elmo = predicted("ner"), predicted("ner_elmo")


def f1(answers, chosen=lambda number, span: True):
    """F1 of the spans that `chosen` accepts: a span is right if its ends and its type are."""
    hits = sum(
        chosen(n, span) for n, (a, g) in enumerate(zip(answers, gold)) for span in a & g
    )
    count = sum(
        chosen(n, span)
        for spans in (answers, gold)
        for n, one in enumerate(spans)
        for span in one
    )
    return 200 * hits / count


print(f"F1 without ELMo {f1(without):.1f}, with {f1(with_elmo):.1f}")

# %%
lines = ["| | gold | without ELMo | with ELMo |", "|---|---|---|---|"]


def shown(words, spans):
    return (
        ", ".join(f"{' '.join(words[a:b])} *{kind}*" for a, b, kind in sorted(spans))
        or "(none)"
    )


better = [n for n, g in enumerate(gold) if with_elmo[n] == g != without[n]]
worse = [n for n, g in enumerate(gold) if without[n] == g != with_elmo[n]]
for n in better[:5] + worse[:3]:
    words = dev[n][0]
    lines.append(
        f"| {' '.join(words)} | {shown(words, gold[n])} | {shown(words, without[n])} | {shown(words, with_elmo[n])} |"
    )
print(
    len(better),
    "sentences are right only with ELMo,",
    len(worse),
    "only without; five and three of them:",
)
Markdown("\n".join(lines))

# %% [markdown]
# What kinds of errors are these? "Missing" means that the model found nothing at that place. "Ends" and "type" mean
# that it found an entity, but with the wrong ends or the wrong type.


# %%
def errors(answers):
    """How often an entity is right, has the wrong type, the wrong ends, or is missing."""
    counts = dict.fromkeys(("right", "type", "ends", "missing"), 0)
    for answer, spans in zip(answers, gold):
        for a, b, kind in spans:
            overlapping = [(c, d) for c, d, _ in answer if c < b and a < d]
            same = (a, b) in overlapping
            key = (
                "right"
                if (a, b, kind) in answer
                else "type"
                if same
                else "ends"
                if overlapping
                else "missing"
            )
            counts[key] += 1
    return counts


kinds = sorted({kind for spans in gold for _, _, kind in spans})
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3), layout="constrained")
for shift, (answers, label) in enumerate(
    ((without, "without ELMo"), (with_elmo, "with ELMo"))
):
    found = errors(answers)
    left.bar([i + 0.4 * shift for i in range(4)], found.values(), 0.4, label=label)
    by_kind = [
        f1(answers, lambda number, span, kind=kind: span[2] == kind) for kind in kinds
    ]
    right.bar([i + 0.4 * shift for i in range(len(kinds))], by_kind, 0.4)
left.set(title="entities", xticks=[i + 0.2 for i in range(4)], xticklabels=found)
right.set(
    title="F1 by type", xticks=[i + 0.2 for i in range(len(kinds))], xticklabels=kinds
)
left.legend()
plt.show()

# %% [markdown]
# Do the two models differ on names that occur in the training data, or on new ones?

# %%
seen = {" ".join(words[a:b]) for words, spans in train for a, b, _ in spans}
for label, is_seen in (("seen", True), ("new", False)):

    def in_group(n, span, is_seen=is_seen):
        start, end = span[:2]
        return (" ".join(dev[n][0][start:end]) in seen) == is_seen

    total = sum(in_group(n, span) for n, spans in enumerate(gold) for span in spans)
    print(
        f"{total} {label} names: F1 without ELMo {f1(without, in_group):.1f}, with {f1(with_elmo, in_group):.1f}"
    )

# %% [markdown]
# Both groups gain. Only 28 names occur in the training data, so their scores are uncertain by several points.
#
# ## Exercises
#
# **1.** Table 1 gives each increase twice: in points, and relative to the baseline's error. What is the second number
# here?
#
# <details><summary>Answer</summary>
#
# ```python
# increase = f1(with_elmo) - f1(without)
# print(f"{increase:.1f} / {100 * increase / (100 - f1(without)):.0f}%")
# ```
#
# The baseline's error is 100 - F1. The increase divided by this error is the relative error reduction. In the paper,
# NER has 2.06 / 21%: a small increase, but the error was small, too.
# </details>
#
# **2.** How many of the errors are about *where* an entity is, and how many about *what* it is? Score both models
# only on the ends, without the types.
#
# <details><summary>Answer</summary>
#
# ```python
# def untyped(spans):
#     return {(a, b) for a, b, _ in spans}
#
# for answers in (without, with_elmo):
#     hits = sum(len(untyped(a) & untyped(g)) for a, g in zip(answers, gold))
#     print(round(200 * hits / sum(len(a) + len(g) for a, g in zip(answers, gold)), 1))
# ```
#
# Both scores are much higher than F1, so most errors are in the type. The names are invented, so only the context
# ("sailed from ...") tells the type, and context is what ELMo adds.
# </details>
#
# **3.** The baseline also has word vectors and a character CNN, and its LSTM reads the context. So what does ELMo
# add?
#
# <details><summary>Answer</summary>
#
# The baseline's LSTM learns what a context means from 400 sentences. The biLM learned it from 59 million tokens of
# text without tags. ELMo adds no new input, only a better start. This is why the gain shrinks with more epochs but
# does not vanish (60.6 and 64.9 after 30), and why the paper's gains are smaller on its large corpora.
# </details>
