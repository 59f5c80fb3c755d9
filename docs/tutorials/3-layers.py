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
# # 3. What each layer knows
#
# In this tutorial you probe the layers of the biLM as the paper does in section 5.3 (Tables 5 and 6), see that the
# best layer depends on the question, and watch a task learn its mix (Figure 2). It takes ten minutes; the code runs
# in half a minute.
#
# Open this notebook in [Colab](https://colab.research.google.com/github/elmo-tasks/elmo-tasks/blob/gh-pages/latest/tutorials/3-layers.ipynb)
# or in [Binder](https://mybinder.org/v2/gh/elmo-tasks/elmo-tasks/main?urlpath=lab%2Ftree%2Fdocs%2Ftutorials%2F3-layers.py).

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
# A **probe** is a model so simple that it can only read what is already in the vectors. Ours is one linear layer. If
# the probe answers well, the layer contains the answer.

# %%
import matplotlib.pyplot as plt
import torch
from torch.nn.functional import cross_entropy

from elmo_tasks.elmo import Elmo
from elmo_tasks.resources import fixtures_root

plt.rcParams["figure.dpi"] = 80


def read(name):
    """The sentences of a file of the synthetic corpus: rows of word, part of speech, chunk and entity."""
    blocks = (fixtures_root() / "miniworld/ner" / name).read_text("utf-8").split("\n\n")
    return [
        [line.split() for line in block.splitlines()]
        for block in blocks
        if block and "DOCSTART" not in block
    ]


train, dev = read("eng.train"), read("eng.testa")[:300]
for row in train[0]:
    print(row)

# %% [markdown]
# Compute the layers of all words once. The biLM is frozen, so nothing below changes them.

# %%
elmo = Elmo.from_pretrained()


def layers_of(part):
    """[3, words, 320]: layers of all words of all sentences."""
    return torch.cat(
        elmo.embed([[row[0] for row in rows] for rows in part], tensors=True), 1
    )


x_train, x_dev = layers_of(train), layers_of(dev)
mean, std = x_train.mean(1, keepdim=True), x_train.std(1, keepdim=True)
x_train, x_dev = (
    (x_train - mean) / std,
    (x_dev - mean) / std,
)  # each number with mean 0 and variance 1
x_train.shape, x_dev.shape

# %% [markdown]
# ## Two questions
#
# 1. What is the **part of speech** of a word? This is syntax, and often visible in the word itself.
# 2. What **type** of entity is a name: person, place or organisation? All names are invented, so the word itself
#    tells little. Only the sentence gives the answer, as with word senses.


# %%
def answers(part, column, only_names):
    """The labels of the words, and which words count."""
    rows = [row for sentence in part for row in sentence]
    return [row[column].split("-")[-1] for row in rows], torch.tensor(
        [row[3] != "O" or not only_names for row in rows]
    )


def question(column, only_names=False):
    """Inputs and label ids to train and to test on."""
    (gold, use), (gold_dev, use_dev) = (
        answers(train, column, only_names),
        answers(dev, column, only_names),
    )
    number = {label: i for i, label in enumerate(sorted(set(gold)))}
    y = torch.tensor([number[label] for label in gold])[use]
    y_dev = torch.tensor([number.get(label, -1) for label in gold_dev])[use_dev]
    return x_train[:, use], y, x_dev[:, use_dev], y_dev


def probe(x, y, x_dev, y_dev):
    """Train a softmax on x [N, 320]; the accuracy on x_dev in percent."""
    linear = torch.nn.Linear(320, int(y.max()) + 1)
    torch.nn.init.zeros_(linear.weight)
    optimizer = torch.optim.LBFGS(
        linear.parameters(), max_iter=60, line_search_fn="strong_wolfe"
    )

    def loss():
        optimizer.zero_grad()
        value = cross_entropy(linear(x), y) + linear.weight.square().sum() / (
            2 * len(y)
        )
        value.backward()
        return value

    optimizer.step(loss)
    return 100 * (linear(x_dev).argmax(1) == y_dev).float().mean().item()


questions = {
    "parts of speech": question(1),
    "entity types": question(3, only_names=True),
}
accuracy = {}
for name, (x, y, v, z) in questions.items():
    accuracy[name] = [probe(x[layer], y, v[layer], z) for layer in range(3)]
    print(
        f"{name:16}",
        "  ".join(
            f"layer {layer}: {one:.1f}" for layer, one in enumerate(accuracy[name])
        ),
        f" ({len(z)} words)",
    )

# %%
figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
for axis, (name, values) in zip(axes, accuracy.items()):
    bars = axis.bar(["layer 0", "layer 1", "layer 2"], values)
    axis.bar_label(bars, fmt="%.1f")
    axis.set(title=name, ylim=(min(values) - 8, max(values) + 5), ylabel="accuracy")
plt.show()

# %% [markdown]
# For parts of speech, layer 1 is enough: it is as good as layer 2, and layer 0, which sees only characters, comes
# close. For entity types, layer 2 is best by far. The paper finds the same pattern: **syntax in the lower layer,
# meaning in the higher one**. From its tables:
#
# | | first layer | second layer |
# |---|---|---|
# | word senses, F1 (Table 5) | 67.4 | **69.0** |
# | parts of speech, accuracy (Table 6) | **97.3** | 96.8 |
#
# Why? The top layer must predict the next word. For that, what the word *means here* matters more than its form.
# Layer 1 is in between: it has read the context but still keeps the form.
#
# How sure are we? With 3,816 words, 0.1 points are 4 words, so layers 1 and 2 do not differ on parts of speech here.
# On large data the bundled biLM shows the same tie ([RESULTS](../RESULTS.md)).
#
# ## Word senses with a command
#
# `elmo-tasks probe wsd` and `elmo-tasks probe pos` run the paper's probes ([PROBES](../PROBES.md)). The vector of a
# sense is the mean of its annotated occurrences, and the answer is the nearest sense. The bundled files have only 15
# words to test on, enough to show the format. The scores in the column `paper` are for other data.

# %%
import subprocess

done = subprocess.run(
    ["elmo-tasks", "probe", "wsd", str(fixtures_root() / "wsd")],
    capture_output=True,
    text=True,
    check=True,
)
print(done.stdout[: done.stdout.index("P and R")])

# %% [markdown]
# ## A task chooses its mix
#
# In a real model nobody picks the layer: with Eq. 1, the task learns the mix. Here the task is one of our two
# questions, and the model is a softmax on $\gamma \sum_j s_j h_j$ with the penalty $\lambda \lVert w \rVert^2$.


# %%
def learn_mix(x, y, x_dev, y_dev, penalty=0.0, steps=100):
    """Train w, gamma and a softmax; s and the accuracy."""
    torch.manual_seed(0)
    w, gamma, linear = (
        torch.zeros(3, requires_grad=True),
        torch.ones(1, requires_grad=True),
        torch.nn.Linear(320, int(y.max()) + 1),
    )
    optimizer = torch.optim.Adam([w, gamma, *linear.parameters()], lr=0.03)

    def mixed(layers):
        return gamma * torch.tensordot(w.softmax(0), layers, 1)  # Eq. 1

    for _ in range(steps):
        optimizer.zero_grad()
        loss = (
            cross_entropy(linear(mixed(x)), y)
            + linear.weight.square().sum() / (2 * len(y))
            + penalty * w.square().sum()
        )
        loss.backward()
        optimizer.step()
    return w.softmax(0).tolist(), 100 * (
        linear(mixed(x_dev)).argmax(1) == y_dev
    ).float().mean().item()


mixes = {
    (name, penalty): learn_mix(*data, penalty)
    for name, data in questions.items()
    for penalty in (0.0, 1.0)
}
figure, axis = plt.subplots(figsize=(7, 3), layout="constrained")
for layer in range(3):
    left = [sum(s[:layer]) for s, _ in mixes.values()]
    bars = axis.barh(
        [f"{name}, λ={penalty:g}" for name, penalty in mixes],
        [s[layer] for s, _ in mixes.values()],
        left=left,
    )
    axis.bar_label(
        bars,
        [f"$s_{layer}$ {s[layer]:.2f}" for s, _ in mixes.values()],
        label_type="center",
        color="white",
    )
axis.invert_yaxis()
axis.set(title="learned weights of the layers (compare Figure 2)")
plt.show()
for (name, penalty), (_, score) in mixes.items():
    print(f"{name:16} λ={penalty:g}: {score:.1f}")

# %% [markdown]
# The weights follow the probes: entity types take most from layer 2, and parts of speech favour layer 1. With
# $\lambda = 1$ the weights stay equal. In the paper's Figure 2, all tasks favour layer 1 at the input. Our semantic
# role labeller ends at $s$ = 0.24, 0.41, 0.35 after 20 epochs.
#
# ## Exercises
#
# **1.** What does a mix of all layers gain over the best single layer on entity types?
#
# <details><summary>Answer</summary>
#
# ```python
# x, y, v, z = questions["entity types"]
# print(max(accuracy["entity types"]), probe(x.mean(0), y, v.mean(0), z))
# print(mixes["entity types", 0.0], mixes["entity types", 1.0])
# ```
#
# Nothing: the learned mix comes close to layer 2, and the average is worse. Each of our questions needs one kind of
# information. A task model needs several kinds at once, and Table 2 shows that such models gain from all layers.
# </details>
#
# **2.** Ask a third question: the chunk tags in column 2, which mark phrases, for example with `I-NP`. Guess which
# layer is best before you run the probe.
#
# <details><summary>Answer</summary>
#
# ```python
# x, y, v, z = question(2)
# print([round(probe(x[layer], y, v[layer], z), 1) for layer in range(3)])
# ```
#
# Phrases are syntax. Layers 1 and 2 are close together, and layer 0 is worse: only the neighbouring words show where
# a phrase ends.
# </details>
#
# **3.** Can a probe find something in *random* vectors? How can you tell whether a probe reads the layer or learns
# the task itself?
#
# <details><summary>Answer</summary>
#
# ```python
# rows = torch.randn(x_train.shape[1] + x_dev.shape[1], 320)
# _, y, _, z = questions["parts of speech"]
# print(probe(rows[: len(y)], y, rows[len(y) :], z), 100 * (z == y.mode().values).float().mean().item())
# ```
#
# With a random vector for each occurrence, the probe memorises part of its training data and learns nothing that
# holds for new data: its accuracy is at most the share of the most frequent tag. Always compare with such a control,
# and keep the probe small.
# </details>
