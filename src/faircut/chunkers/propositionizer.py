"""Packs of sentences in, standalone statements out, by a T5 model that was trained for it; run here, with torch.

The model and its frame are those of Chen et al. 2023, "Dense X Retrieval" (chentong00/propositionizer-wiki-flan-t5-
large). It does not say where a statement comes from: that is found by its words.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

from faircut.chunkers.asking import one_line
from faircut.chunkers.faithfulness import content_words, known_forms, word_forms
from faircut.chunkers.sources import Pack
from faircut.chunkers.statements import Statement, Writer
from faircut.errors import LlmError

__all__ = ["aligned", "parse_statements", "prompt_for", "t5_writer"]

_MOST_TOKENS = 512  # of an answer, as in the published use


def t5_writer(name: str, language: str | None) -> Writer:
    """A writer with the model of this name, from a folder or the model hub (which the user named).

    Raises:
        LlmError: transformers or torch is not installed, or the model cannot be loaded.
    """
    tokenizer, model = _loaded(name)

    def write(packs: Sequence[Pack]) -> list[list[Statement] | None]:
        return [_written(pack, _generated(tokenizer, model, prompt_for(pack)), language) for pack in packs]

    return write


@lru_cache(maxsize=1)
def _loaded(name: str) -> tuple[Any, Any]:
    try:
        transformers = import_module("transformers")  # an extra that most installations lack
        import_module("torch")
    except ImportError as error:
        raise LlmError(
            f't5:{name} needs transformers, torch and sentencepiece: pip install "transformers[torch]" sentencepiece.'
        ) from error
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        return tokenizer, transformers.AutoModelForSeq2SeqLM.from_pretrained(name).eval()
    except (OSError, ValueError, ImportError) as error:
        said = one_line(str(error))[:300]
        raise LlmError(f"t5:{name} cannot be loaded: {said}; give a folder or a name of the model hub.") from error


def _generated(tokenizer: Any, model: Any, prompt: str) -> str:
    inputs = tokenizer(prompt, return_tensors="pt", truncation=False)
    tokens = model.generate(**inputs, max_new_tokens=_MOST_TOKENS, do_sample=False, num_beams=1)
    return str(tokenizer.decode(tokens[0], skip_special_tokens=True))


def prompt_for(pack: Pack) -> str:
    """The frame that the model was trained with."""
    return f"Title: {pack.title}. Section: {pack.section}. Content: {' '.join(pack.sentences)}"


def _written(pack: Pack, text: str, language: str | None) -> list[Statement] | None:
    found = parse_statements(text)
    if found is None:
        return None
    known = [known_forms([sentence]) for sentence in pack.sentences]
    return [Statement(one, aligned(pack, known, one, language)) for one in found]


def parse_statements(text: str) -> list[str] | None:
    """The statements in an answer, a JSON list of text; None when it is not one (cut off, or anything else)."""
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        return None
    return [line for one in found if (line := one_line(one))]


def aligned(pack: Pack, known: Sequence[set[str]], statement: str, language: str | None) -> tuple[int, ...]:
    """The sources of a statement: the sentence with most of its content words, then each that has most of the others.

    Args:
        pack: where the statement was made.
        known: the forms of the words of each sentence of the pack.
        statement: what the model wrote.
        language: whose small words do not count.

    Of sentences that share as many the first is taken. Words of the title and the headings need no further sentence.
    Without any word in common there is no source.
    """
    left = {word: word_forms(word) for word in content_words(statement, language)}
    above = known_forms([pack.title, *pack.path])
    chosen: set[int] = set()
    while left:
        shares = [sum(not own.isdisjoint(forms) for forms in left.values()) for own in known]
        best = max(range(len(shares)), key=shares.__getitem__)
        if shares[best] == 0:
            break
        chosen.add(best)
        left = {word: forms for word, forms in left.items() if forms.isdisjoint(known[best] | above)}
    return tuple(pack.numbers[at] for at in sorted(chosen))
