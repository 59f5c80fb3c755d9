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
# # 5. Your task
#
# In this tutorial you train a tagger for another column without writing code. Then you put ELMo into a model of your
# own in plain PyTorch: frozen layers and a learned mix, in a few lines. It takes ten minutes; the code runs in half a
# minute.
#
# Open this notebook in [Colab](https://colab.research.google.com/github/elmo-tasks/elmo-tasks/blob/gh-pages/latest/tutorials/5-task.ipynb)
# or in [Binder](https://mybinder.org/v2/gh/elmo-tasks/elmo-tasks/main?urlpath=lab%2Ftree%2Fdocs%2Ftutorials%2F5-task.py).

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
# ## A tagging task is a config
#
# The tagger reads any column ([EXTENDING](../EXTENDING.md)). Chunks are in column 2 (counted from 0) of
# CoNLL-2003 files. Their tags encode spans, so a CRF helps:

# %% language="bash"
# elmo-tasks train tagger_elmo --scale mini -s out/chunks -o '{
#   "dataset_reader.tag": 2, "dataset_reader.spans": true, "model.spans": true, "model.crf": true,
#   "trainer.validation_metric": "+f1", "trainer.num_epochs": 2}' &> chunks.log && tail -n 2 chunks.log

# %% [markdown]
# Two epochs show that it works. To train on your own files, set `train_data_path` and `validation_data_path`. To
# train the baseline, set `"model.elmo": null`.
#
# ## A model of your own
#
# The task is to tell whether a word **means the same in two sentences**. It is known as WiC (Pilehvar and
# Camacho-Collados, 2019). The sentences were written for this page, for eight words with two senses each. Five words
# are for training and three for testing, so the model cannot memorise the test words.

# %%
from itertools import combinations

import matplotlib.pyplot as plt
import torch
from torch import nn

from elmo_tasks.elmo import Elmo

plt.rcParams["figure.dpi"] = 80

TEXT = """
play: She wrote a play in three acts | The play ended at ten | We saw a play in London | A new play opened last week
play: They play chess every evening | The boys play in the garden | He can play the piano | I play with my brother
watch: He looked at his gold watch | My watch has stopped | She gave him a watch | A watch lay on the table
watch: They watch the birds | We watch the ships every day | I watch him closely | Children watch the parade
light: The light of the lamp was weak | A light shone in the window | She put out the light | He saw a light far off
light: The bag was light and small | It was a light load | A light coat is enough | His step was light and quick
fall: The fall broke his arm | Her fall was long and hard | A bad fall ended his career | He died of a fall
fall: The leaves fall early | Prices fall every winter | They fall asleep at once | Some soldiers fall in battle
book: I read a book about Rome | The book was on the shelf | He wrote a long book | Her book sold well
book: We book a table for two | They book rooms in June | I book my flights early | You must book the seats
walk: We took a walk in the park | A long walk did him good | The walk to town was short | She enjoyed her walk
walk: They walk to school | I walk along the river | We walk slowly home | He can walk again
match: He struck a match and lit the fire | A match burned his finger | The match went out | She held a match
match: They won the match by two goals | The match ended in a draw | He played in the final match | It was a good match
park: The park was full of children | We sat in the park | A park lies behind the church | The old park is closed
park: I park the car in the yard | You can not park here | They park near the station | We park in the street
"""


def read():
    """Pairs (words, words, word, 1 if the sense is the same) of the sentences of each word."""
    senses = {}
    for number, line in enumerate(TEXT.strip().splitlines()):
        word, _, sentences = line.partition(": ")
        senses.setdefault(word, []).extend(
            (text.split(), number) for text in sentences.split(" | ")
        )
    return [
        (a, b, word, int(i == j))
        for word, all in senses.items()
        for (a, i), (b, j) in combinations(all, 2)
    ]


test_words = ("fall", "walk", "park")
train = [pair for pair in read() if pair[2] not in test_words]
test = [pair for pair in read() if pair[2] in test_words]
print(
    len(train),
    "pairs to train on,",
    len(test),
    "to test,",
    sum(pair[3] for pair in test),
    "with the same sense",
)
print(train[5])

# %% [markdown]
# ELMo is a **frozen feature** here: we compute the layers once, outside the model, as a tensor.

# %%
elmo = Elmo.from_pretrained()


def features(pairs):
    """The layers of the word in both sentences, [2, 3, N, 320], and the labels [N]."""
    sides = []
    for side in (0, 1):
        vectors = elmo.embed([pair[side] for pair in pairs], tensors=True)
        sides.append(
            torch.stack(
                [v[:, pair[side].index(pair[2])] for v, pair in zip(vectors, pairs)], 1
            )
        )
    return torch.stack(sides), torch.tensor([float(pair[3]) for pair in pairs])


(x, y), (x_test, y_test) = features(train), features(test)
x.shape


# %% [markdown]
# The model applies Eq. 1 with its own $w$ and $\gamma$, then a logistic regression on the cosine and the distance of
# the two vectors.


# %%
class SameSense(nn.Module):
    """Two vectors of a word, [2, L+1, N, D] -> scores [N], above 0 for the same sense."""

    def __init__(self, n_layers):
        super().__init__()
        self.w, self.gamma = (
            nn.Parameter(torch.zeros(n_layers)),
            nn.Parameter(torch.ones(())),
        )
        self.score = nn.Linear(2, 1)

    def forward(self, layers):
        p, q = self.gamma * torch.einsum(
            "l,slnd->snd", self.w.softmax(0), layers
        )  # Eq. 1 twice, with the same weights
        return self.score(
            torch.stack(
                [torch.cosine_similarity(p, q, dim=1), (p - q).square().mean(1)], 1
            )
        ).squeeze(1)


def fit(x, y, x_test, y_test, steps=300):
    """Train; accuracy on the test words in percent, and the learned s."""
    torch.manual_seed(0)
    model = SameSense(len(x[0]))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(model(x), y).backward()
        optimizer.step()
    return 100 * (
        (model(x_test) > 0) == (y_test > 0)
    ).float().mean().item(), model.w.softmax(0).tolist()


results = {f"layer {k}": fit(x[:, [k]], y, x_test[:, [k]], y_test)[0] for k in range(3)}
results["learned mix"], s = fit(x, y, x_test, y_test)
print(
    {name: round(value, 1) for name, value in results.items()},
    "s =",
    [round(one, 2) for one in s],
)

# %%
figure, axis = plt.subplots(figsize=(6, 2.8), layout="constrained")
axis.bar_label(axis.bar(list(results), list(results.values())), fmt="%.0f")
axis.axhline(
    100 * (1 - y_test.mean().item()),
    color="gray",
    linestyle="--",
    label="always: another sense",
)
axis.set(ylim=(40, 105), ylabel="accuracy on unseen words")
axis.legend(loc="lower right")
plt.show()

# %% [markdown]
# Layer 0 gives the word the same vector in both sentences, so the model can only give the same answer for all pairs.
# Any static vectors have this limit. With context, three out of four answers are right, on words that the model never
# saw in training. Most words here have a noun sense and a verb sense, which are easy to tell apart.
#
# With 140 training pairs and no penalty, the mix chose the top layer. It gains nothing over layer 1 here: 84 test
# pairs are too few to tell 76 from 77.
#
# In an AllenNLP model, `ElmoTokenEmbedder` does all this, with the layer cache and the paper's two places for ELMo
# ([MIGRATING](../MIGRATING.md)). [EXTENDING](../EXTENDING.md) shows how to write a reader and
# a model of your own. [It also](../EXTENDING.md#a-task-of-this-package) adds a whole task with its table and page.
#
# ## Exercises
#
# **1.** Which of the three test words is hardest? Guess, then count.
#
# <details><summary>Answer</summary>
#
# ```python
# for word in test_words:
#     use = torch.tensor([pair[2] == word for pair in test])
#     print(word, round(fit(x, y, x_test[:, :, use], y_test[use])[0]))
# ```
#
# The answer shows how much a single word decides. Each word has 28 pairs, made from the same eight sentences, so the
# pairs are not independent. Never judge a model by one small test set with few words.
# </details>
#
# **2.** Add the penalty $\lambda \lVert w \rVert^2$ with $\lambda = 0.1$ to the loss. What happens to $s$?
#
# <details><summary>Answer</summary>
#
# ```python
# torch.manual_seed(0)
# model = SameSense(3)
# optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
# for _ in range(300):
#     optimizer.zero_grad()
#     (nn.functional.binary_cross_entropy_with_logits(model(x), y) + 0.1 * model.w.square().sum()).backward()
#     optimizer.step()
# print(model.w.softmax(0), ((model(x_test) > 0) == (y_test > 0)).float().mean())
# ```
#
# The weights stay much closer to a third each, because the penalty pulls $w$ to 0. This is the inductive bias of
# section 3.3.
# </details>
#
# **3.** The config above has a CRF. Write the override that trains a tagger for parts of speech (column 1) without
# ELMo. Which keys do you need?
#
# <details><summary>Answer</summary>
#
# Only `model.elmo`, because column 1 is the default:
# `elmo-tasks train tagger_elmo -s out/pos -o '{"model.elmo": null}'`. Parts of speech are not spans, so `spans`,
# `crf` and the metric keep their defaults. The config `tagger` is the same model.
# </details>
