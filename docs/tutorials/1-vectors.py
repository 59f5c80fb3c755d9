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
# # 1. What a contextual vector is
#
# In this tutorial you see how a word's vector changes with its sentence, find out what each layer of the biLM adds,
# and compute ELMo (Eq. 1 of the [paper](https://arxiv.org/abs/1802.05365)) by hand. It takes five minutes. The code
# runs in 10 seconds and needs only `pip install .` and matplotlib.
#
# Open this notebook in [Colab](https://colab.research.google.com/github/elmo-tasks/elmo-tasks/blob/gh-pages/latest/tutorials/1-vectors.ipynb)
# or in [Binder](https://mybinder.org/v2/gh/elmo-tasks/elmo-tasks/main?urlpath=lab%2Ftree%2Fdocs%2Ftutorials%2F1-vectors.py).

# %%
# Install elmo-tasks in Colab; in Binder and in a checkout it is there already.
import importlib.util
import subprocess
import sys

if importlib.util.find_spec("elmo_tasks") is None:
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    address = "git+https://github.com/elmo-tasks/elmo-tasks"
    subprocess.run([*pip, f"elmo-tasks @ {address}", "matplotlib"], check=True)

# %%
import gzip

import matplotlib.pyplot as plt
import numpy as np

from elmo_tasks.elmo import Elmo
from elmo_tasks.resources import (
    fixtures_root,
)  # the bundled data, in a checkout or after `pip install`

plt.rcParams["figure.dpi"] = 80

# %% [markdown]
# ## One vector per word
#
# word2vec and GloVe give each word one **static** vector, the same in every sentence. Here are the nearest neighbours
# of "play", as in the first row of the paper's Table 4.

# %%
with gzip.open(
    fixtures_root() / "miniworld/vectors/w2v.100d.txt.gz", "rt", encoding="utf-8"
) as file:
    rows = [line.split() for line in file][1:]
words = [row[0] for row in rows]
static = np.array([row[1:] for row in rows], dtype=np.float32)
static /= np.linalg.norm(static, axis=1, keepdims=True)


def nearest(vectors, vector, names, count=8):
    """The names whose unit vectors have the largest cosine with a unit vector."""
    return [names[i] for i in np.argsort(-vectors @ vector)[1 : count + 1]]


print("play:", ", ".join(nearest(static, static[words.index("play")], words)))

# %% [markdown]
# The neighbours mix several senses: games, instruments, the theatre. A model that gets this vector must work out from
# the rest of the sentence which "play" is meant.
#
# ## One vector per occurrence
#
# A biLM reads the sentence in both directions and gives each **occurrence** a vector of its own. The bundled biLM is
# small (5 million parameters; the paper's has 94 million), but it is large enough for this tutorial.

# %%
sentences = {
    "theatre": [
        "The theatre opened with a new play by a young writer from the coast .",
        "She wrote a play in three acts , and the actors learned it by heart .",
        "The audience rose when the play came to its end .",
        "Critics praised the play , the stage and the company .",
    ],
    "sports": [
        "A fast play by the second baseman ended the inning .",
        "The catcher made a fine play at the plate in the ninth .",
        "It was the best play of the game , and the crowd cheered .",
    ],
    "verb": [
        "The boys play football in the field behind the school .",
        "They play chess every evening and never finish a game .",
        "She can play the violin and the organ .",
        "He learned to play the piano as a child .",
    ],
}
texts = [text.split() for group in sentences.values() for text in group]
senses = np.array([sense for sense, group in sentences.items() for _ in group])

elmo = Elmo.from_pretrained()
layers = elmo.embed(texts)  # one array [3, T, 320] per sentence: 3 layers, T words
play = np.stack(
    [one[:, text.index("play")] for one, text in zip(layers, texts)], axis=1
)  # [3, 11, 320]
play.shape

# %% [markdown]
# The biLM has three layers. Layer 0 is computed only from the word's characters. Layers 1 and 2 are LSTMs, which read
# the context. The plots show the cosine of each pair of occurrences:

# %%
unit = play / np.linalg.norm(play, axis=2, keepdims=True)
cosine = unit @ unit.transpose(0, 2, 1)  # [3, 11, 11]

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for layer, axis in enumerate(axes):
    image = axis.imshow(cosine[layer], vmin=0, vmax=1, cmap="viridis")
    axis.set(
        title=f"layer {layer}", xticks=[], yticks=[1.5, 5, 8.5] if layer == 0 else []
    )
    axis.hlines([3.5, 6.5], -0.5, 10.5, "white")
    axis.vlines([3.5, 6.5], -0.5, 10.5, "white")
axes[0].set_yticklabels(sentences)
figure.colorbar(image, ax=axes, label="cosine")
plt.show()

# %% [markdown]
# In layer 0 all occurrences have the same vector: it is static. In layers 1 and 2 the verb forms a bright block. The
# two noun senses are closer to each other, and layer 2 separates them a little. To put a number on this, count how
# often the nearest other occurrence has the same sense. This is the paper's method for word sense disambiguation
# (section 5.3, Table 5) in its simplest form.

# %%
same = senses[:, None] == senses[None]
others = ~np.eye(len(senses), dtype=bool)
for layer in range(3):
    neighbour = np.where(others, cosine[layer], -1).argmax(1)
    right = (senses[neighbour] == senses).sum()
    within, between = cosine[layer][same & others].mean(), cosine[layer][~same].mean()
    print(
        f"layer {layer}: {right} of 11 right; mean cosine {within:.2f} within a sense, {between:.2f} between senses"
    )

# %% [markdown]
# Layer 0's count is chance, because all its cosines are 1 up to rounding. The next plots show the first two principal
# components of each layer:

# %%
figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for layer, axis in enumerate(axes):
    centred = unit[layer] - unit[layer].mean(0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    for sense, marker in zip(sentences, "osv"):
        axis.scatter(*(u * s)[senses == sense, :2].T, marker=marker, s=60, label=sense)
    axis.set(title=f"layer {layer}", xlim=(-1, 1), ylim=(-1, 1))
axes[0].legend()
plt.show()

# %% [markdown]
# ## What the two directions see
#
# In layers 1 and 2, the first 160 numbers come from the **forward** LSTM, which has read the sentence up to this
# word. The last 160 come from the **backward** LSTM, which has read it from the end back to this word. Change the
# last word of a sentence:

# %%
one, other = elmo.embed(
    ["He saw the play before the game", "He saw the play before the premiere"]
)
for layer in range(3):
    change = np.abs(one[layer, 3] - other[layer, 3])  # of "play"
    print(
        f"layer {layer}: largest change forward {change[:160].max():.3f}, backward {change[160:].max():.3f}"
    )

# %% [markdown]
# Only the backward half depends on the end of the sentence. A language model must therefore keep the directions
# apart: the forward LSTM predicts the next word, and the backward LSTM would give the answer away.
#
# ## New words
#
# Layer 0 is a convolution over characters, so every string has a vector. The words below are not in the biLM's
# vocabulary. Their neighbours come from its 6,000 most frequent words.

# %%
vocabulary = (fixtures_root() / "bilm/vocabulary.txt").read_text("utf-8").split()
known, frequent = (
    set(vocabulary),
    [word for word in vocabulary[:6000] if word.isalpha()],
)
lines = [frequent[i : i + 50] for i in range(0, len(frequent), 50)]
table = np.concatenate(elmo.embed(lines, layers=0))
table /= np.linalg.norm(table, axis=1, keepdims=True)

for word in ("unplayable", "theatregoers", "Brackwater", "happinesss"):
    vector = elmo.embed([[word]], layers=0)[0][0]
    top = np.argsort(-table @ (vector / np.linalg.norm(vector)))[:5]
    print(
        f"{word} ({'known' if word in known else 'new'}):",
        ", ".join(frequent[i] for i in top),
    )

# %% [markdown]
# The neighbours are spelled alike: they share suffixes, capitals or parts of words. Characters cannot tell more than
# that, but it helps a lot with names and rare forms.
#
# ## Equation 1
#
# A task needs one vector per word, not three. ELMo is a weighted sum of the layers:
#
# $$\mathrm{ELMo}_k = \gamma \sum_{j=0}^{L} s_j \, h_{k,j}, \qquad s = \mathrm{softmax}(w)$$
#
# The task model learns the $L+1$ numbers $w$ and the scale $\gamma$ together with its other weights. The biLM stays
# frozen.


# %%
def mix(layers, w, gamma=1.0):
    """Eq. 1: [L+1, T, D], [L+1] -> [T, D], and the weights s."""
    s = np.exp(w) / np.exp(w).sum()
    return gamma * np.tensordot(s, layers, axes=1), s


vectors, s = mix(layers[0], np.zeros(3))
print(
    "w = 0, 0, 0: s =",
    s.round(2),
    "- the average:",
    np.allclose(vectors, elmo.embed(texts[:1], layers="average")[0], atol=1e-5),
)
print("w = 0, 1, 0: s =", mix(layers[0], np.array([0.0, 1, 0]))[1].round(2))
print(
    "w = 0, 9, 0: s =",
    mix(layers[0], np.array([0.0, 9, 0]))[1].round(2),
    "- layer 1 alone",
)

# %% [markdown]
# Training starts at $w = 0$, the average of the layers. The penalty $\lambda \lVert w \rVert^2$ (section 3.3) pulls
# $w$ back to 0. With $\lambda = 1$ the mix stays close to the average; with $\lambda = 0.001$ the task is free to
# choose. The last two columns of Table 2 compare these two values ([tutorial 6](6-table.py)). The config keys are
# `mix`, `l2` and `gamma` ([LAYERS](../LAYERS.md)).
#
# ## Exercises
#
# **1.** Take the word "bank" in three sentences about money and three about a river. Does the top layer separate the
# two senses better than layer 1 does?
#
# <details><summary>Answer</summary>
#
# ```python
# money = ["The bank lent the money at six per cent .", "He put his savings in the bank on Monday .",
#          "Every bank in the city closed its doors at noon ."]
# river = ["They sat on the bank of the river and fished .", "The boat drifted to the other bank in the dark .",
#          "Reeds grew along the muddy bank below the mill ."]
# bank = np.stack([v[:, t.split().index("bank")] for v, t in zip(elmo.embed(money + river), money + river)], 1)
# bank /= np.linalg.norm(bank, axis=2, keepdims=True)
# same = np.kron(np.eye(2), np.ones((3, 3))).astype(bool)
# for layer, c in enumerate(bank @ bank.transpose(0, 2, 1)):
#     print(layer, c[same & ~np.eye(6, dtype=bool)].mean().round(3), c[~same].mean().round(3))
# ```
#
# Yes, though less clearly than for "play": the gap between the means is 0.04 in layer 1 and 0.08 in layer 2. Both
# senses of "bank" are nouns, like the theatre and sports senses above. The large gap above is between the nouns and
# the verb.
# </details>
#
# **2.** Change the *first* word of "He saw the play before the game". Which half of the vector of "play" changes?
#
# <details><summary>Answer</summary>
#
# ```python
# one, other = elmo.embed(["He saw the play before the game", "Nobody saw the play before the game"])
# change = np.abs(one - other)[:, 3]
# print(change[:, :160].max(1), change[:, 160:].max(1))
# ```
#
# The forward half, in layers 1 and 2. The backward LSTM reads from the end and has not reached the first word when it
# is at "play". Layer 0 does not read the context, so it does not change.
# </details>
#
# **3.** Which $w$ and $\gamma$ make ELMo equal to the *sum* of the layers? Why is that hard to learn without
# $\gamma$?
#
# <details><summary>Answer</summary>
#
# ```python
# assert np.allclose(mix(layers[0], np.zeros(3), gamma=3)[0], layers[0].sum(0), atol=1e-4)
# ```
#
# $w = 0$ and $\gamma = 3$. The weights $s$ sum to 1, so without $\gamma$ the mix has the scale of the layers for
# every $w$. The task may need a very different scale, which $\gamma$ sets with one number (A.2).
# </details>
