"""Questions and their evidence -> what speaks against them, by words alone: overlap, near-duplicates, blind answers.

Each rule is stated in one place and needs no model. Asking a model and counting what was refused is left to
``generate.py``, telling a user about their own file to ``check.py``.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import ceil

from faircut.index.words import terms

__all__ = [
    "MAX_OVERLAP", "NEAR", "NearDuplicates", "content_words", "is_answered", "near_duplicates", "word_overlap",
]  # fmt: skip

MAX_OVERLAP = 0.7
"""The share of a question's content words that may stand in its evidence."""

NEAR = 0.8
"""Jaccard similarity of the sets of words from which two questions are near-duplicates."""

_ASKING_WORDS = """
what which when where whom whose does much many according
welche welcher welches welchen welchem wann warum wieso wieviel viele worin woran wofür
quel quelle quels quelles quand pourquoi comment combien
cuál cuáles cuándo cuánto cuántos dónde quién cómo
quale quali quando quanto quanti dove come perché
qual quais onde quem quantos
wanneer waar welk hoeveel waarom
"""
_ASKING = frozenset(_ASKING_WORDS.split())


def content_words(text: str) -> set[str]:
    """The words that carry content: four letters or more, any with a digit, pairs of letters in unspaced scripts.

    Case is folded (``faircut.index.words``); words that ask (what, welche, quand) are left out.
    """
    return {word for word in terms(text) if _carries(word)}


def _carries(word: str) -> bool:
    if word.isascii() and word.isalpha():
        return len(word) >= 4 and word not in _ASKING
    return any(map(str.isdigit, word)) or len(word) >= 4 or (word > "\u0e00" and len(word) >= 2)


def word_overlap(question: str, evidence: Iterable[str]) -> float:
    """The share of the question's content words that its evidence has; 0 where it has none."""
    asked = content_words(question)
    if not asked:
        return 0.0
    there = set().union(*map(content_words, evidence))
    return len(asked & there) / len(asked)


def is_answered(question: str, answer: str, evidence: Iterable[str], share: float = 0.6) -> bool:
    """Whether an answer given without the text says what the evidence says.

    At least ``share`` of the content words that the answer adds to the question stand in the evidence. An answer that
    adds none (yes, unknown) says nothing.
    """
    added = content_words(answer) - content_words(question)
    if not added:
        return False
    there = set().union(*map(content_words, evidence))
    return len(added & there) >= share * len(added)


# ---------------------------------------------------------------- near-duplicates

_MOST_CANDIDATES = 200  # questions that one is compared with; a bound for hostile files


class NearDuplicates:
    """Questions seen so far. Only those that share a rare word are compared, so many are taken in linear time.

    Questions that differ in a number are not duplicates.

    A pair with Jaccard similarity ``s`` or more must share one of the first ``n - ceil(s n) + 1`` of its ``n`` words,
    in any one order of all words (prefix filtering: Bayardo, Ma, Srikant, WWW 2007).

    Args:
        frequent: how often each word is used; rare ones are looked at first. Any numbers give the same pairs.
    """

    def __init__(self, frequent: Counter[str] | None = None) -> None:
        self._frequent = frequent or Counter()
        self._exact: dict[tuple[str, str], int] = {}
        self._by_word: dict[tuple[str, str], list[int]] = {}
        self._words: list[frozenset[str]] = []

    def add(self, text: str, scope: str = "") -> int | None:
        """Take a question in; the number (from 0, in the order of adding) of one that it nearly repeats, if any.

        Questions of different ``scope`` (the documents that they are limited to) do not repeat each other.
        """
        words = frozenset(terms(text))
        plain = " ".join(sorted(words))
        number = len(self._words)
        self._words.append(words)
        found = self._exact.setdefault((scope, plain), number)
        if found != number:
            return found
        keys = [(scope, word) for word in self._prefix(words)]
        found_near = self._nearest(words, keys)
        for key in keys:
            self._by_word.setdefault(key, []).append(number)
        return found_near

    def _prefix(self, words: frozenset[str]) -> list[str]:
        ordered = sorted(words, key=lambda word: (self._frequent[word], word))
        return ordered[: len(ordered) - ceil(NEAR * len(ordered)) + 1]

    def _nearest(self, words: frozenset[str], keys: list[tuple[str, str]]) -> int | None:
        looked = 0
        for key in keys:
            for other in self._by_word.get(key, ()):
                looked += 1
                if looked > _MOST_CANDIDATES:
                    return None
                if _is_near(words, self._words[other]):
                    return other
        return None


def _is_near(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two sets of words are nearly one; another number makes another question."""
    both = len(words & others)
    if both < NEAR * (len(words) + len(others) - both):
        return False
    return not any(character.isdigit() for word in words ^ others for character in word)


def near_duplicates(texts: Sequence[str], scopes: Sequence[str | None]) -> list[int | None]:
    """For each question the number of an earlier one that it nearly repeats, or None."""
    frequent = Counter(word for text in texts for word in set(terms(text)))
    seen = NearDuplicates(frequent)
    return [seen.add(text, scope or "") for text, scope in zip(texts, scopes, strict=True)]
