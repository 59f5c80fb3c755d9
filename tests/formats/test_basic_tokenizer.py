"""
The rule `basic` for words and punctuation: properties for any text, and a table of
decisions.
"""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_tasks.formats.text.basic_tokenizer import basic_tokens

PIECES = (
    "n't 's ’re ' ’ don U.S. e.g. Mr. etc. J. I. p. ... -- - _ __ http:// www. a@b.co x.org 3.14 1,0 12:3 / # @ & A b B"
    " 2 é e\u0301 \u0301 \u200d \u200c \u200b \ufe0f 我 听 。 क \u093e । 😀 👩 🚀 👍 🏽 🇩 🇪 1\u20e3 $ % “ ” ( ) ? ! . ,"
    " : ; 'tis '90s ß ı İ ǅ \ud800 \0 \U000e0067 🏴"
)
"""Where rules apply or meet."""

FRAGMENTS = st.sampled_from([*PIECES.split(" "), " ", "\n", "\u00a0", "\u2028"])
TEXTS = st.one_of(
    st.text(),
    st.lists(FRAGMENTS).map("".join),
    st.lists(st.one_of(FRAGMENTS, st.characters())).map("".join),
)


@given(TEXTS)
@example("0'SN'T")
@example("n'tn't__")
@example("x.org°\u2028Oß\ufe0f’re我")
def test_properties_for_any_text(text: str) -> None:
    tokens = basic_tokens(text)
    assert "".join(tokens) == "".join(text.split())
    assert basic_tokens(" ".join(tokens)) == tokens


DECISIONS = {
    "sentences": (
        'He said: "No!" (twice); why?',
        'He said : " No ! " ( twice ) ; why ?',
    ),
    "contractions": (
        "I'd've said it's what they don’t. 'Tis '90s rock'n'roll, dogs' ma'am",
        "I 'd 've said it 's what they do n’t . 'Tis '90s rock'n'roll , dogs ' ma'am",
    ),
    "apostrophes": (
        "O'Neil, aujourd'hui l'eau; п'ять 'Hello'",
        "O'Neil , aujourd'hui l'eau ; п'ять ' Hello '",
    ),
    "hyphens": (
        "A well-known ferry--the Mercury - 1914-18, 1914–18—gone.",
        "A well-known ferry -- the Mercury - 1914-18 , 1914 – 18 — gone .",
    ),
    "numbers": (
        "3.14, 1,000.50 at 12:30 on 24/12/2020; $5 is 5%, No. 2nd",
        "3.14 , 1,000.50 at 12:30 on 24/12/2020 ; $ 5 is 5 % , No . 2nd",
    ),
    "abbreviations": (
        "Mr. J. Smith of the U.S. (e.g. J.R.R.) left p. 5, etc. So did I. He stayed.",
        "Mr. J. Smith of the U.S. ( e.g. J.R.R. ) left p. 5 , etc. So did I . He stayed .",
    ),
    "addresses": (
        "See https://example.org/a?b=1, www.x.org/y or ann.lee@example.co.uk.",
        "See https://example.org/a?b=1 , www.x.org/y or ann.lee@example.co.uk .",
    ),
    "words of the web": (
        "@ann #play AT&T Node.js snake_case and/or C++ ... wait!!",
        "@ann #play AT&T Node.js snake_case and / or C ++ ... wait !!",
    ),
    "a missing blank": ("It ended.She left.", "It ended . She left ."),
    "combining marks": ("E\u0301te\u0301, n\u0303.", "E\u0301te\u0301 , n\u0303 ."),
    "Hindi": ("वह खेल सुना।", "वह खेल सुना ।"),
    "Arabic, Persian": ("لماذا؟ می\u200cروم، خانه", "لماذا ؟ می\u200cروم ، خانه"),
    "Hebrew": ("צה״ל, שלום.", "צה״ל , שלום ."),
    "Chinese": ("我听了戏。好！", "我 听 了 戏 。 好 ！"),
    "Thai": ("ภาษาไทย!", "ภาษาไทย !"),
    "Korean": ("그는 왔다.", "그는 왔다 ."),
    "emoji": (
        "So😀👍🏽 ❤\ufe0f👩\u200d🚀🇩🇪🇫🇷",
        "So 😀 👍🏽 ❤\ufe0f 👩\u200d🚀 🇩🇪 🇫🇷",
    ),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_decisions(name: str) -> None:
    text, tokens = DECISIONS[name]
    assert basic_tokens(text) == tokens.split(" ")


@pytest.mark.parametrize(
    "run",
    [
        *("_", "=", "a", "9", "ab'=_(", "a@", "a.", "http://", "'s", "n't", "-'"),
        *("😀\u200d", "n’t'll", "don't", "'", "@a."),
    ],
)
def test_long_runs_take_little_time(run: str) -> None:
    began = time.process_time()
    basic_tokens(f"a{run * (50_000 // len(run))}x")
    basic_tokens(run * (50_000 // len(run)))
    assert time.process_time() - began < 4
