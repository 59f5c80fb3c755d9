"""
A spaCy model named en_core_web_sm that knows a few words: parts of speech by a list, and
the ends of sentences.
"""

from pathlib import Path

import spacy

NAME = "en_core_web_sm"
VERBS = ("sold", "lay", "sank", "left")


def write_spacy_model(folder: Path) -> Path:
    """Writes an installed package to a folder that is to be put on Python's path."""
    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    ruler = pipeline.add_pipe("attribute_ruler")
    ruler.add([[{"IS_ALPHA": True}]], {"TAG": "NN", "POS": "NOUN"})
    ruler.add([[{"LOWER": {"IN": list(VERBS)}}]], {"TAG": "VBD", "POS": "VERB"})
    ruler.add([[{"IS_PUNCT": True}]], {"TAG": ".", "POS": "PUNCT"})
    package = folder / NAME
    package.mkdir()
    pipeline.to_disk(package / "data")
    (package / "__init__.py").write_text(
        "from pathlib import Path\n"
        "from spacy.util import load_model_from_path\n"
        "def load(**options):\n"
        "    return load_model_from_path(Path(__file__).parent / 'data', **options)\n"
    )
    about = folder / f"{NAME}-3.8.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 3.8.0\n"
    )
    return folder
