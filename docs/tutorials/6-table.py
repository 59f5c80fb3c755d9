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
# # 6. Read, change and extend a table of the paper
#
# In this tutorial you read Tables 1 to 3 and Figure 1, run a small table of your own, and learn when a difference is
# real. It takes fifteen minutes; the code runs in one.
#
# Open this notebook in [Colab](https://colab.research.google.com/github/elmo-tasks/elmo-tasks/blob/gh-pages/latest/tutorials/6-table.ipynb)
# or in [Binder](https://mybinder.org/v2/gh/elmo-tasks/elmo-tasks/main?urlpath=lab%2Ftree%2Fdocs%2Ftutorials%2F6-table.py).

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

# %%
import json
import math
from pathlib import Path

import matplotlib.pyplot as plt
from IPython.display import Markdown

plt.rcParams["figure.dpi"] = 80

# %% [markdown]
# ## Read
#
# **Table 1** asks what ELMo adds. It compares each task's model without and with it. **Table 2** asks which layers
# help:
#
# | development data | baseline | last only | all, λ=1 | all, λ=0.001 |
# |---|---|---|---|---|
# | SQuAD | 80.8 | 84.7 | 85.0 | 85.2 |
# | SNLI | 88.1 | 89.1 | 89.3 | 89.5 |
# | SRL | 81.6 | 84.1 | 84.6 | 84.8 |
#
# Read a row from left to right. The first step, from no ELMo to its top layer, is by far the largest (+3.9, +1.0,
# +2.5). Using all layers adds 0.2 to 0.5, and letting the task choose the weights adds another 0.2. λ=1 keeps the
# weights equal ([tutorial 3](3-layers.py)). **Table 3** asks where in the model ELMo should go:
#
# | | input only | input & output | output only |
# |---|---|---|---|
# | SQuAD | 85.1 | 85.6 | 84.8 |
# | SNLI | 88.9 | 89.5 | 88.7 |
# | SRL | 84.7 | 84.3 | 80.9 |
#
# The models for SQuAD and SNLI have attention after their encoder, which can use ELMo directly, so ELMo at the output
# helps. The model for SRL has no attention and needs ELMo before its own LSTM. Each run behind such a table is a
# config and the keys that it changes: `model.elmo.mix`, `model.elmo.l2`, `model.elmo.at`.
#
# ## A table of your own
#
# This table has two rows for our smallest task, parts of speech, with two epochs each ([TABLES](../TABLES.md)
# explains the keys).

# %%
Path("small.jsonnet").write_text("""
local row(column, changes) = {
  name: 'pos-' + column, row_label: 'parts of speech', column: column, metric: 'accuracy', config: 'tagger_elmo',
  changes: { 'trainer.num_epochs': 2, 'trainer.learning_rate_scheduler.warmup_steps': 5 } + changes,
};
{
  title: 'Which layers help a tagger?',
  increase: 'none',
  rows: [row('none', { 'model.elmo': null }), row('all', {})],
}
""")

# %% language="bash"
# elmo-tasks ablate small.jsonnet -s out/small &> small.log && cat out/small/table.md

# %% [markdown]
# `results.jsonl` has one line per run, with its scores and its config:


# %%
def runs():
    return [json.loads(line) for line in open("out/small/results.jsonl")]


for run in runs():
    print(
        run["row"],
        "seed",
        run["seed"],
        "accuracy",
        round(run["scores"]["accuracy"], 4),
        "epochs",
        run["epochs"],
    )

# %% [markdown]
# ## Change it
#
# Add a third row with only the top layer, as in Table 2's column "last only". The same command skips the finished
# runs and trains only the new ones.

# %%
text = Path("small.jsonnet").read_text()
last = "row('last', { 'model.elmo.mix': 'last', 'model.elmo.l2': null }), "
Path("small.jsonnet").write_text(
    text.replace("row('all', {})", last + "row('all', {})")
)

# %% language="bash"
# elmo-tasks ablate small.jsonnet -s out/small --dry-run

# %% [markdown]
# Run it without `--dry-run` to get the third column. To *extend* a table of the paper, first copy the configs with
# `elmo-tasks configs --copy my_configs`. Then import the table, `local table2 = import 'tables/table2.jsonnet'`, and
# add rows.
#
# ## Is the difference real?
#
# The result of a training depends on its seed. `--seeds 3` trains each row three times, and the table then shows mean
# ± standard deviation. Is a difference between two means real, or only luck? Compare it with its **standard error**,
#
# $$\mathrm{SE} = \sqrt{\frac{d_1^2}{n_1} + \frac{d_2^2}{n_2}}$$
#
# where $d$ is a row's standard deviation over its $n$ seeds. If both rows were equally good, a difference above two
# standard errors would be rare: about one in twenty with many seeds, more often with three. These are our scores at
# scale `small` ([RESULTS](../RESULTS.md)):

# %%
measured = {  # mean and deviation without ELMo, then with it; seeds
    "SQuAD": (57.8, 0.8, 63.4, 0.3, 3),
    "SNLI": (68.6, 0.6, 73.0, 0.3, 3),
    "SRL": (65.5, 0.5, 70.4, 0.5, 3),
    "Coref": (48.4, 0.6, 54.1, 0.3, 3),
    "NER": (43.6, 0.8, 47.5, 0.5, 3),
    "SST-5": (47.3, 0.5, 49.4, 0.1, 3),
}
lines = ["| task | increase | SE | increase / SE |", "|---|---|---|---|"]
for task, (base, d1, elmo, d2, n) in measured.items():
    error = math.sqrt((d1**2 + d2**2) / n)
    lines.append(
        f"| {task} | {elmo - base:+.1f} | {error:.2f} | {(elmo - base) / error:.1f} |"
    )
Markdown("\n".join(lines))

# %% [markdown]
# All increases are far above two standard errors. Seeds are only one source of chance. The choice of test sentences
# is another, and this calculation does not cover it. Over sentences, the standard error of SST-5's increase is 1.0, and
# that of NER's 1.0 ([how it was measured](../results/appendix.md#how-much-depends-on-the-sentences)): SST-5's 2.1 is
# then two of them (with seeds, p = 5 %). With each tenth of its training data held out in turn, three of ten showed no
# gain.
#
# ## Figure 1: less data
#
# Section 5.4 varies the amount of training data from 0.1 % to 100 %. These are our scores at scale `small`, with one
# seed each:

# %%
shares = {
    "SNLI": (
        [1, 3, 10, 30, 100],
        [42.8, 49.9, 56.3, 63.6, 68.0],
        [42.0, 50.6, 59.1, 65.6, 73.1],
    ),
    "SRL": (
        [1, 3, 10, 30, 100],
        [36.2, 46.3, 56.6, 62.5, 65.2],
        [41.4, 55.4, 62.9, 67.9, 71.5],
    ),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
for axis, (task, (share, without, with_elmo)) in zip(axes, shares.items()):
    axis.plot(share, with_elmo, "o-", label="with ELMo")
    axis.plot(share, without, "s--", label="without ELMo")
    axis.set(
        title=task, xscale="log", xlabel="share of the training data, %", ylabel="score"
    )
axes[0].legend()
plt.show()

# %% [markdown]
# Read the figure **horizontally** for *sample efficiency*: where does the upper line reach the height at which the
# lower one ends? With ELMo, 30 % of SNLI (65.6) comes close to 100 % without ELMo (68.0), and 30 % of SRL (67.9) is
# above all of it (65.2). Read the figure **vertically** for the gain. The paper
# says that the gain is largest with the least data; ours on SNLI is not (-0.8 at 1 %, 5.2 at 100 %). RESULTS lists
# this and other disagreements.
#
# ## Exercises
#
# **1.** In Table 2, what share of SQuAD's total gain comes from the top layer?
#
# <details><summary>Answer</summary>
#
# ```python
# print((84.7 - 80.8) / (85.2 - 80.8))
# ```
#
# 89 %. The paper's claim of *deep* representations is about the other 11 %. Section 5.3 is a better argument for it:
# the layers contain different information.
# </details>
#
# **2.** Three seeds without ELMo gave 60.1, 61.0 and 60.4, three with it 61.2, 60.6 and 61.8. Does ELMo help?
#
# <details><summary>Answer</summary>
#
# ```python
# from statistics import mean, stdev
#
# a, b = [60.1, 61.0, 60.4], [61.2, 60.6, 61.8]
# error = math.sqrt(stdev(a) ** 2 / 3 + stdev(b) ** 2 / 3)
# print(mean(b) - mean(a), error, (mean(b) - mean(a)) / error)
# ```
#
# The increase is 0.7, which is 1.6 standard errors. ELMo may help, but three seeds do not show it; more seeds could.
# Write "0.7 ± 0.4", not "ELMo helps".
# </details>
#
# **3.** Which key gives Table 3's columns for our tagger? Write the rows.
#
# <details><summary>Answer</summary>
#
# ```python
# Path("place.jsonnet").write_text("""{
#   title: 'Where?',
#   rows: [
#     { name: 'pos-' + at, row_label: 'parts of speech', column: at, metric: 'accuracy', config: 'tagger_elmo',
#       changes: { 'model.elmo.at': at, 'trainer.num_epochs': 1 } }
#     for at in ['input', 'both', 'output']
#   ],
# }""")
# ```
#
# `elmo-tasks ablate place.jsonnet -s out/place --seeds 3` runs nine trainings.
# </details>
