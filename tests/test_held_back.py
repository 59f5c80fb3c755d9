"""
What AllenNLP imports and commands seldom use is imported when it is used, and works
then.
"""

from pathlib import Path

import pytest

from elmo_tasks.held_back import HELD_BACK
from tests.hiding import python

pytestmark = pytest.mark.slow

LOADED = """
import sys
from elmo_tasks.host import register_classes
register_classes()
"""

LOADED_BEFORE = "loaded before:"

WHO_HOLDS = """
from elmo_tasks.held_back import HELD_BACK, LazyAttribute
print(sorted(set(HELD_BACK) & set(sys.modules)))
holders = set()
for name, module in list(sys.modules.items()):
    for value in list(vars(module).values()):
        if type(value).__module__ == LazyAttribute.__module__:
            holders.add(name.partition(".")[0])
print(sorted(holders))
"""

USES = {
    "cached_path": """
from allennlp.common.file_utils import cached_path, is_url_or_existing_file
open("a.txt", "w").close()
print(is_url_or_existing_file("a.txt"), cached_path("a.txt"))
""",
    "spacy": """
import spacy as real
from allennlp.common.util import LOADED_SPACY_MODELS
from allennlp.data.token_indexers import SpacyTokenIndexer
from allennlp.data.tokenizers import SpacyTokenizer
from allennlp.data.fields import TextField
LOADED_SPACY_MODELS["x", True, False, False] = real.blank("en")
kept = SpacyTokenizer("x", keep_spacy_tokens=True).tokenize("Mira isn't here.")
print([str(token) for token in kept], isinstance(kept[0], real.tokens.Token))
print([token.text for token in SpacyTokenizer("x").tokenize("Mira isn't here.")])
print(len(TextField(kept, {"spacy": SpacyTokenIndexer()})))
""",
    "sklearn": """
import torch
from allennlp.training.metrics import Auc
metric = Auc()
metric(torch.tensor([0.1, 0.4, 0.35, 0.8]), torch.tensor([0, 0, 1, 1]))
print(metric.get_metric())
""",
    "scipy.stats": """
import torch
from allennlp.training.metrics import SpearmanCorrelation
metric = SpearmanCorrelation()
metric(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 3.0, 2.0]))
print(metric.get_metric())
""",
    "scipy": """
import torch
from allennlp.fairness import INLPBiasMitigator
torch.manual_seed(0)
vectors, one, other = torch.randn(3, 6), torch.randn(4, 6), torch.randn(4, 6)
print(INLPBiasMitigator()(vectors, one, other, num_iters=2).sum().item())
""",
    "nltk": """
from nltk import Tree
from allennlp.training.metrics import EvalbBracketingScorer
tree = Tree.fromstring("(S (NP (D the) (N ferry)) (V left))")
try:
    EvalbBracketingScorer("nowhere")([tree], [tree])
except Exception as error:
    print(type(error).__name__)
""",
    "tensorboardX": """
from pathlib import Path
from allennlp.training.callbacks import TensorBoardCallback
TensorBoardCallback("run")
print(sorted(path.name for path in Path("run/log").iterdir()))
""",
    "transformers.models.bert.modeling_bert": """
import torch
from allennlp.modules.transformer import ActivationLayer
print(ActivationLayer(2, 3, "gelu")(torch.ones(1, 2)).shape)
""",
}
"""Programs that use what the modules are for."""

OF_OTHERS = ["sklearn", "scipy"]
"""Their programs also load other modules."""


def test_nothing_is_imported_and_allennlp_alone_has_stand_ins(tmp_path: Path) -> None:
    assert python(LOADED + WHO_HOLDS, tmp_path).splitlines() == ["[]", "['allennlp']"]


@pytest.mark.parametrize(
    "names",
    [["sklearn"], ["scipy"], [name for name in USES if name not in OF_OTHERS]],
)
def test_what_is_used_is_imported(names: list[str], tmp_path: Path) -> None:
    """The same is printed after an import of AllenNLP that holds nothing back."""
    uses = LOADED
    for name in names:
        uses += f"print('{LOADED_BEFORE}', '{name}' in sys.modules)\n{USES[name]}"
    held = python(uses, tmp_path).splitlines()
    plain = python("import " + ", ".join(HELD_BACK) + uses, tmp_path).splitlines()
    assert held.count(f"{LOADED_BEFORE} False") == len(names)
    printed = [line for line in held if not line.startswith(LOADED_BEFORE)]
    expected = [line for line in plain if not line.startswith(LOADED_BEFORE)]
    assert printed == expected
    assert len(printed) >= len(names)


def test_rules_that_split_need_nothing_of_spacys_program(tmp_path: Path) -> None:
    split = """
import sys
from elmo_tasks.formats.text.raw_text import blank_pipeline
print([str(word) for word in blank_pipeline("en")("It isn't.")])
print([name for name in sys.modules if name.startswith("spacy.cli")])
import spacy
print("spacy_version" in spacy.info(silent=True))
import spacy.cli
print(spacy.cli.download.__module__)
"""
    assert python(split, tmp_path).splitlines() == [
        "['It', 'is', \"n't\", '.']",
        "[]",
        "True",
        "spacy.cli.download",
    ]


def test_a_predictor_of_words_needs_no_spacy(tmp_path: Path) -> None:
    predict = f"""
{LOADED}
from elmo_tasks.tasks.reader import BlankSpacyTokenizer
tokenizer = BlankSpacyTokenizer()
print("spacy" in sys.modules)
print(tokenizer.words("It isn't."), "spacy" in sys.modules)
"""
    printed = python(predict, tmp_path).splitlines()
    assert printed == ["False", "['It', 'is', \"n't\", '.'] True"]
