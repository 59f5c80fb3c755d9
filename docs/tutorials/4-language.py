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
# In this tutorial you train a biLM on raw text in a language for which no model exists, measure it, and use its
# vectors. It takes ten minutes; the code runs in one. With more text and more hours, the same commands give a useful
# model ([PRETRAIN](../PRETRAIN.md#your-language)).
#
# Open this notebook in [Colab](https://colab.research.google.com/github/elmo-tasks/elmo-tasks/blob/gh-pages/latest/tutorials/4-language.ipynb)
# or in [Binder](https://mybinder.org/v2/gh/elmo-tasks/elmo-tasks/main?urlpath=lab%2Ftree%2Fdocs%2Ftutorials%2F4-language.py).

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
# A small grammar makes up the language, so you know its rules and can see whether the model finds them:
#
# - Nouns end in `-a` (people and animals) or `-o` (things). The object of a verb takes `-n`.
# - Adjectives follow their noun and agree with it.
# - Verbs end in `-is` in the past and `-os` in the future. The first word of the sentence announces the tense.

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
# `prepare` splits words and punctuation (`xx` means rules for any language) and holds out some text. The config names
# the files. The model is tiny: its vectors have 32 numbers in each direction. `export` writes the files in the
# official format.

# %% language="bash"
# elmo-tasks bilm prepare raw.txt --output text --language xx --heldout 20 &> prepare.log && ls text
# elmo-tasks train bilm --scale mini -s out/bilm -o '{
#   "train_data_path": "text/train.*", "vocabulary.files": "text/train.*", "validation_data_path": "text/heldout.*",
#   "data_loader.batch_size": 16, "data_loader.steps_per_epoch": 60, "trainer.num_epochs": 6,
#   "trainer.learning_rate_scheduler.warmup_steps": 10}' &> bilm.log && tail -n 2 bilm.log
# elmo-tasks bilm export out/bilm my_bilm &> export.log && ls my_bilm

# %% [markdown]
# ## Perplexity
#
# Perplexity is the number of equally likely words between which the model hesitates, on average. For a model that
# knows nothing, it is the size of the vocabulary.

# %% language="bash"
# elmo-tasks bilm perplexity 'text/heldout.*' --model my_bilm 2> perplexity.log

# %% [markdown]
# It is down from 58 to 4.3: the model has found most of the rules. The rest is chance, because no rule decides which
# of eight nouns comes next (exercise 1). `forward` and `backward` are the two directions; `<UNK>` is the share of
# unknown words.
#
# ## What the vectors know
#
# The objects of "mangis" are things; the objects of "vidis" are people and animals. Nothing in the spelling of the
# verbs tells this. Has the biLM learned it from use? The **static** vector of a word is the mean of its contextual
# vectors (`elmo-tasks static` writes them to a file). For each verb we ask whether the nearest other verb takes the
# same kind of object.

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
# All layers have learned it, even layer 0: with 58 words, the character CNN has memorised each verb. On real text it
# cannot, and the LSTM layers do this work.
#
# A contextual vector contains more than this mean. The first word decides the ending of the verb. Does the vector of
# the subject, which comes between them, carry this information? We change the first word or the object, and measure
# how far the subject's vector moves.

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
# The first word matters more, as it must if the model is to choose the ending. A static vector would not change at
# all. To use the vectors in a tagger, set `"model.elmo.model": "my_bilm"`, as for an English model
# ([PRETRAIN](../PRETRAIN.md#your-language) has results for Latin and Telugu).
#
# ## Exercises
#
# **1.** Can the perplexity reach 1? Estimate the best possible value for the position after the verb.
#
# <details><summary>Answer</summary>
#
# No, because the sentences are random. After a verb, eight objects are equally likely, so the best perplexity at this
# position is 8. At the verb's ending it is 1; before an optional adjective it is somewhere in between. Over all
# positions, it is the exponential of the mean entropy.
# </details>
#
# **2.** Measure the perplexity of sentences that break a rule: swap the two words that can come first, so the tense
# is wrong. Which numbers do you expect to rise?
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
# Both, to 8 and 12. The forward model is surprised by the verb, the backward model by the first word, which follows
# from the verb's ending. After two epochs instead of six, neither rises: the model learns which words are frequent
# and which are neighbours before it learns a rule that spans several words.
# </details>
#
# **3.** The word "katisto" is not in the text. Does it have a vector, and which words are closest to it in layer 0?
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
# Yes, computed from its letters. Whether its neighbours share its ending shows which letters matter to this small
# character CNN.
# </details>
