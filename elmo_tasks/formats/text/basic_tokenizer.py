"""
The tokenizer `basic`: raw text -> words and punctuation, by one rule for all languages,
without a model or a package.

English contractions are split as in the Penn Treebank and in the texts of the released
biLMs: `do n't`, `she 's`.
"""

import re
from unicodedata import category, name

RULE = "basic 1"
"""What files of vectors record; the number is increased when the rule changes."""

# The rule looks at the shape of a text: a string of the same length in which each
# letter, digit, mark and emoji is replaced by the letter of its class, while
# punctuation and white space stay as they are.
_UPPER, _LOWER, _OTHER_LETTER, _HAN, _DIGIT = "ALOHD"
_MARK, _JOINER, _EMOJI, _FLAG = "MJEF"
# Three classes are not of single characters but of stretches that the patterns below
# find in the text itself.
_FIRST_OF_FIXED, _FIXED, _FIRST_OF_CLITIC, _CLITIC = "XxCc"

_CLASS_OF_CATEGORY = {
    "Lu": _UPPER,
    "Lt": _UPPER,
    "Ll": _LOWER,
    "Lo": _OTHER_LETTER,
    "Lm": _OTHER_LETTER,
    "Nd": _DIGIT,
    "Nl": _DIGIT,
    "No": _DIGIT,
    "Mn": _MARK,
    "Mc": _MARK,
    "Me": _MARK,
    "Cf": _MARK,
    "So": _EMOJI,
}
_ZERO_WIDTH_JOINERS = "\u200c\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


class _Classes(dict[int, str]):
    """The class of each character, for `str.translate`; filled as characters occur."""

    def __missing__(self, code: int) -> str:
        self[code] = _class_of(chr(code))
        return self[code]


def _class_of(character: str) -> str:
    if character in _ZERO_WIDTH_JOINERS:
        return _JOINER
    if ord(character) in _SKIN_TONES:
        return _MARK
    if ord(character) in _FLAG_LETTERS:
        return _FLAG
    if name(character, "").startswith("CJK "):
        if category(character) == "Lo":  # and no radical or punctuation
            return _HAN
        return character
    return _CLASS_OF_CATEGORY.get(category(character), character)


_CLASSES = _Classes()

_PUNCTUATION_AT_END = r"""\s.,;:!?'"’”»)\]}>…।。，；：！？、」』）》"""
_URL = re.compile(
    rf"(?<!\w)(?:(?:https?|ftp)://|www\.)\S*[^{_PUNCTUATION_AT_END}]", re.IGNORECASE
)
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_ABBREVIATED = (
    "Mr Mrs Ms Messrs Mme Mlle Dr Prof Rev Hon Capt Lt Col Gen Sgt Gov Sen Rep Pres"
    " St Jr Sr Inc Ltd Co Corp Bros vs etc cf Jan Feb Mar Apr Aug Sept Oct Nov Dec"
)
ABBREVIATIONS = frozenset(_ABBREVIATED.split())
"""English abbreviations of two or more letters that keep their period."""

_ABBREVIATION = re.compile(rf"(?<![\w'’])(?:{'|'.join(sorted(ABBREVIATIONS))})\.(?!\w)")
# `J. Smith`, `p. 5`, but not `So did I. He`: a single letter before another word.
_INITIAL = re.compile(r"(?<![\w.'’])(?!I\.)[^\W\d_]\.(?=\s+\w)")
_ELISION = re.compile(r"(?<!\w)['’](?:tis|twas|em|til|cause|\d\ds?)(?!\w)", re.I)
_CLITIC_ENDS = r"['’](?:s|re|ve|ll|d|m)"
_CLITICS = re.compile(
    rf"(?:(?<=[^\W\d_])n['’]t|{_CLITIC_ENDS})(?:n['’]t|{_CLITIC_ENDS}){{0,4}}(?!\w)",
    re.I,
)  # a limit, so that the time is linear
_ONE_CLITIC = re.compile(r"n?['’][a-z]+?(?=n?['’]|$)", re.I)

_LETTER = "[ALOD][MJ]*"
_TOKEN = re.compile(
    rf"""
      Xx*                                     # a URL, an abbreviation
    | Cc*                                     # n't, 's
    | H[MJ]*                                  # a Han character
    | (?:[AL]M*\.)+[AL]M*(?![ALODMJ])\.?      # U.S., e.g.
    | [\#@]?{_LETTER}
      (?:
          {_LETTER}
        | (?:['’‐‑·׳״-]|_+)(?={_LETTER})      # well-known, O'Neil, snake_case
        | \.(?=[LD])                          # example.org, 3.14
        | (?<=D)[,:/](?=D)                    # 1,000; 12:30; 24/12
        | (?<=A)&(?=A)                        # AT&T
      )*
    | EM*(?:J+EM*)*                           # an emoji, with skin tone or joined
    | FF?M*                                   # a flag
    | (?P<mark>[.!?*=~_+-])(?P=mark)+         # ..., --
    | [MJ]+                                   # at the start of a stretch
    | [^\s][MJ]*
    """,
    re.VERBOSE,
)


_MOST_PASSES = 4  # bounds the time; thousands of random texts took at most two


def basic_tokens(text: str) -> list[str]:
    """
    Words and punctuation of raw text in any language. `basic_tokens(" ".join(tokens))
    == tokens`, and every character but white space is in a token.

    - A word is letters, digits and combining marks, with apostrophes, hyphens and
      underscores inside: `O'Neil`, `l'eau`, `well-known`. English contractions are
      split: `do n't`, `she 's`. `#tag` and `@name` are words.
    - Numbers, times, dates, URLs, mail addresses and host names stay whole: `3.14`,
      `1,000`, `12:30`, `example.org`. Units and currencies are tokens of their own: `$
      5`, `5 %`.
    - A period belongs to `U.S.`, `e.g.`, to a single letter before another word (`J.
      Smith`), and to some English abbreviations (`Mr.`, `etc.`); any other is a token.
    - Other punctuation is a token for each mark; `...`, `--` and other runs of one of
      `. ! ? * = ~ _ + -` are one.
    - An emoji with its skin tone or joined to others, and a flag, are one token. Marks
      and invisible characters stay with the character before them.
    - Each Han character is a token. Other text without blanks (Japanese kana, Thai,
      Khmer) is not split into words: use spaCy's rules for the language, or a function.
    """
    tokens = _split(text)
    # A cut gives its neighbours another context, in which a pattern may match that did
    # not before: `n't` in `n't_`.
    for _ in range(_MOST_PASSES):
        again = _split(" ".join(tokens))
        if again == tokens:
            break
        tokens = again
    return tokens


def _split(text: str) -> list[str]:
    matches = _TOKEN.finditer(_shape(text))
    return [text[found.start() : found.end()] for found in matches]


def _shape(text: str) -> str:
    """The classes of the characters of a text."""
    shape = list(text.translate(_CLASSES))
    for found in _CLITICS.finditer(text):
        for clitic in _ONE_CLITIC.finditer(text, found.start(), found.end()):
            _overlay(shape, clitic, _FIRST_OF_CLITIC, _CLITIC)
    for pattern in (_ELISION, _ABBREVIATION, _INITIAL, _EMAIL, _URL):
        for found in pattern.finditer(text):
            _overlay(shape, found, _FIRST_OF_FIXED, _FIXED)
    return "".join(shape)


def _overlay(shape: list[str], match: re.Match[str], first: str, others: str) -> None:
    """Give a stretch that a pattern has found a class of its own."""
    start, end = match.span()
    shape[start:end] = first + others * (end - start - 1)
