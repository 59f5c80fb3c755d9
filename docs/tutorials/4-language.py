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
# # 4. Your language
#
# You will train a biLM on raw text of a language that nobody has a model for, measure it, and use its vectors. Ten
# minutes; the code runs in one. The same commands with more text and hours give a useful model
# ([LANGUAGES](../LANGUAGES.md)).
#
# Open this notebook in [Colab](https://colab.research.google.com/github/elmo-tasks/elmo-tasks/blob/gh-pages/latest/tutorials/4-language.ipynb)
# or in [Binder](https://mybinder.org/v2/gh/elmo-tasks/elmo-tasks/main?urlpath=lab%2Ftree%2Fdocs%2Ftutorials%2F4-language.py)

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
# ## Raw text
#
# The language is invented here by a small grammar, so that you know its rules and can see whether the model finds
# them. Nouns end in `-a` (people and animals) or `-o` (things); what is acted upon takes `-n`; adjectives follow
# their noun and agree; verbs end in `-is` for the past and `-os` for the future, which the first word of the sentence
# announces.

# %%
import random
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from elmo_tasks.elmo import Elmo

plt.rcParams["figure.dpi"] = 80

LIVING, THINGS = (
    ["kata", "hunda", "viva", "mala", "runa", "sora", "tila", "bena"],
    ["domo", "pano", "libro", "floro", "akvo", "vino", "ligno", "stono"],
)
DO, SEE = (
    ["mang", "port", "lern", "trov"],
    ["vid", "aud", "am", "tim"],
)  # done to things; to people and animals
ADJECTIVE = ["bel", "grand", "nov", "jun"]


def sentence(rng):
    past = rng.random() < 0.5
    ending = "is" if past else "os"

    def phrase(nouns, case=""):
        noun = rng.choice(nouns)
        words = [noun + case]
        return words + [rng.choice(ADJECTIVE) + noun[-1] + case] * (rng.random() < 0.4)

    verbs, objects = rng.choice([(DO, THINGS), (SEE, LIVING)])
    words = [
        "Heri" if past else "Morgo",
        *phrase(LIVING),
        rng.choice(verbs) + ending,
        *phrase(objects, "n"),
    ]
    return " ".join(words) + "."


rng = random.Random(1)
Path("raw.txt").write_text("\n".join(sentence(rng) for _ in range(3000)))
print(Path("raw.txt").read_text()[:220])

# %% [markdown]
# ## From text to a biLM
#
# `prepare` splits words and punctuation (`xx` has rules for any language) and holds out some text; the config names
# the files. The sizes are tiny: 32 numbers each way. `export` writes the official files.

# %% language="bash"
# elmo-tasks bilm prepare raw.txt -o text --language xx --heldout 20 &> prepare.log && ls text
# elmo-tasks train bilm --scale mini -s out/bilm -o '{
#   "train_data_path": "text/train.*", "vocabulary.files": "text/train.*", "validation_data_path": "text/heldout.*",
#   "data_loader.batch_size": 16, "data_loader.steps_per_epoch": 60, "trainer.num_epochs": 6,
#   "trainer.learning_rate_scheduler.warmup_steps": 10}' &> bilm.log && tail -n 2 bilm.log
# elmo-tasks bilm export out/bilm my_bilm &> export.log && ls my_bilm

# %% [markdown]
# ## Perplexity
#
# Perplexity is the number of equally likely words among which the model hesitates, on average. Without any knowledge
# it is the size of the vocabulary.

# %% language="bash"
# elmo-tasks bilm perplexity 'text/heldout.*' --model my_bilm 2> perplexity.log

# %% [markdown]
# From 58 to 4.3: the model has found most of the rules. What is left is chance: which of eight nouns comes is not
# decided by any rule (exercise 1). `forward` and `backward` are the two directions, `<UNK>` the share of unknown
# words.
#
# ## What the vectors know
#
# The verbs "mangis" and "vidis" look alike: nothing in their letters says that the first takes things and the second
# people and animals. Has the biLM learnt it from use? A **static** vector of a word is the mean of its contextual
# ones (`elmo-tasks static` writes them to a file); for each verb we ask whether the nearest other verb takes the same
# objects.

# %%
elmo = Elmo.from_pretrained("my_bilm")
rng = random.Random(2)
sentences = [sentence(rng).replace(".", " .").split() for _ in range(300)]
verbs, takes = (
    [stem + "is" for stem in DO + SEE],
    np.array([0] * len(DO) + [1] * len(SEE)),
)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for layer, axis in enumerate(axes):
    vectors = elmo.mean_vectors(sentences, verbs, layers=layer)
    vectors = vectors - vectors.mean(0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearest = (unit @ unit.T - 2 * np.eye(len(verbs))).argmax(1)
    u, s, _ = np.linalg.svd(vectors, full_matrices=False)
    for kind, marker in enumerate("os"):
        axis.scatter(
            *(u * s)[takes == kind, :2].T,
            marker=marker,
            label=("things", "people, animals")[kind],
        )
    for verb, point in zip(verbs, u * s):
        axis.annotate(verb, point[:2], fontsize=8)
    axis.set(
        title=f"layer {layer}: {(takes[nearest] == takes).sum()} of {len(verbs)} right",
        xticks=[],
        yticks=[],
    )
axes[0].legend()
plt.show()

# %% [markdown]
# All layers know it, layer 0 too: with 58 words, the character CNN has learnt each verb by heart. On real text it
# cannot, and the LSTM layers do this work.
#
# A contextual vector knows more than its mean: the first word decides the ending of the verb. Does the vector of the
# subject between them remember it? We compare the same noun after "Heri" and after "Morgo" with the same noun before
# another object.

# %%
sentences_of_kata = [
    "Heri kata vidis hundan .",
    "Morgo kata vidis hundan .",
    "Heri kata vidis soran .",
]
base, *changed = (vectors[:, 1] for vectors in elmo.embed(sentences_of_kata))
for layer in range(3):
    distances = [
        np.linalg.norm(base[layer] - one[layer]) / np.linalg.norm(base[layer])
        for one in changed
    ]
    print(
        f"layer {layer}: relative change {distances[0]:.3f} by the first word, {distances[1]:.3f} by the object"
    )

# %% [markdown]
# The first word matters more, as it must to choose the ending; a static vector would not change at all. The vectors
# now go into a tagger, as those of English do, with `"model.elmo.model": "my_bilm"`
# ([LANGUAGES](../LANGUAGES.md) has Latin and Telugu).
#
# ## Exercises
#
# **1.** Can a perplexity of 1 be reached? Estimate the best one for the position after the verb.
#
# <details><summary>Answer</summary>
#
# No: the sentences are drawn by chance. After a verb there are eight objects, equally likely, so that the best
# perplexity at this place is 8. At the verb's ending it is 1, and before an optional adjective in between. The mean
# over all places is the exponential of the mean entropy.
# </details>
#
# **2.** Measure the perplexity of sentences with a wrong rule: swap the two first words' tenses. Which number do you
# expect to rise?
#
# <details><summary>Answer</summary>
#
# ```python
# import subprocess
#
# swapped = {"Heri": "Morgo", "Morgo": "Heri"}
# Path("wrong.txt").write_text("\n".join(" ".join([swapped[one[0]], *one[1:]]) for one in sentences))
# subprocess.run(["elmo-tasks", "bilm", "perplexity", "wrong.txt", "--model", "my_bilm"], check=True)
# ```
#
# Both, to 8 and 12: the forward model is surprised at the verb, the backward model at the first word, which follows
# from the verb's ending. After two epochs in place of six, neither rises: the model learns which words are frequent
# and which are neighbours before it learns a rule across words.
# </details>
#
# **3.** The word "katisto" is not in the text. Does it have a vector, and which words is it near in layer 0?
#
# <details><summary>Answer</summary>
#
# ```python
# words = LIVING + THINGS
# table = np.stack([elmo.embed([[word]], layers=0)[0][0] for word in words])
# vector = elmo.embed([["katisto"]], layers=0)[0][0]
# cosine = table @ vector / np.linalg.norm(table, axis=1) / np.linalg.norm(vector)
# print([words[i] for i in np.argsort(-cosine)[:4]])
# ```
#
# It has, from its letters. Whether its neighbours share its ending shows what this small character CNN has found
# important.
# </details>
