"""Packs of sentences in, standalone statements out, by a T5 model that was trained for it; run here, with torch.

The model and its frame are those of Chen et al. 2023, "Dense X Retrieval" (chentong00/propositionizer-wiki-flan-t5-
large). It does not say where a statement comes from: that is found by its words. Files of a model are data: only JSON,
vocabularies and weights as safetensors are fetched or read; nothing is unpickled, no code of a model is run.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from faircut.chunkers.asking import one_line
from faircut.chunkers.faithfulness import content_words, known_forms, word_forms
from faircut.chunkers.sources import Pack
from faircut.chunkers.statements import PROMPT, Statement, Writer
from faircut.embedding.weights import file_hash
from faircut.errors import LlmError

__all__ = ["aligned", "parse_statements", "prompt_for", "t5_fingerprint", "t5_writer"]

_MOST_TOKENS = 512  # of an answer, as in the published use
_TOGETHER = 8  # prompts: at one, each token of an answer costs a pass over all weights
_DATA = ("*.json", "*.safetensors", "*.model", "*.txt")


def t5_writer(name: str, language: str | None) -> Writer:
    """A writer with the model of this name, from a folder or the model hub (which the user named).

    Raises:
        LlmError: the extra is not installed, the model cannot be loaded, or (from the writer) it fails.
    """
    model = _loaded(name)

    def write(packs: Sequence[Pack]) -> list[list[Statement] | None]:
        answers = model.answers([prompt_for(pack) for pack in packs])
        return [_written(pack, answer, language) for pack, answer in zip(packs, answers, strict=True)]

    return write


@cache
def t5_fingerprint(name: str) -> str:
    """Of all that decides what is written: how it is asked and the model's files. A model of the hub is fetched.

    Raises:
        LlmError: the model is not there.
    """
    _libraries(name)  # what is missing is said before gigabytes are fetched
    files = sorted(file for pattern in _DATA for file in _folder(name).glob(pattern))
    parts = "".join(f"{file.name} {file_hash(file)}\n" for file in files)
    return f"{PROMPT}-t5-{sha256(parts.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, eq=False)
class _T5:
    """A model in memory with its tokenizer."""

    name: str
    tokenizer: Any
    model: Any
    torch: Any

    def answers(self, prompts: Sequence[str]) -> list[str]:
        """What the model writes for each prompt, the likeliest token at each place; the longest prompts go first.

        Raises:
            LlmError: the model fails: out of memory, or its files do not belong together.
        """
        found = [""] * len(prompts)
        order = sorted(range(len(prompts)), key=lambda place: -len(prompts[place]))
        for start in range(0, len(order), _TOGETHER):
            places = order[start : start + _TOGETHER]
            try:
                written = self._generated([prompts[place] for place in places])
            except (RuntimeError, ValueError, IndexError) as error:  # torch's and transformers' classes for these
                raise LlmError(f"t5:{self.name} failed on {len(places)} texts: {_said(error)}.") from error
            for place, answer in zip(places, written, strict=True):
                found[place] = answer
        return found

    def _generated(self, prompts: list[str]) -> list[str]:
        with self.torch.inference_mode():
            inputs = self.tokenizer(prompts, return_tensors="pt", padding=True, truncation=False).to(self.model.device)
            tokens = self.model.generate(
                inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                max_new_tokens=_MOST_TOKENS,
                do_sample=False,
                num_beams=1,
                num_return_sequences=1,
            )
        return [str(text) for text in self.tokenizer.batch_decode(tokens, skip_special_tokens=True)]


@lru_cache(maxsize=1)
def _loaded(name: str) -> _T5:
    transformers, torch = _libraries(name)
    folder = _folder(name)
    data_only = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **data_only)
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, use_safetensors=True, **data_only)
        # Half precision, as weights may be saved, is slow on a CPU and overflows in T5. Threads are left to torch.
        model = model.float().eval().to("cuda" if torch.cuda.is_available() else "cpu")
    except Exception as error:  # transformers, tokenizers, safetensors and torch raise classes of many kinds here
        raise LlmError(f"t5:{name} cannot be loaded: {_said(error)}") from error
    return _T5(name, tokenizer, model, torch)


def _libraries(name: str) -> tuple[Any, Any]:
    try:
        return import_module("transformers"), import_module("torch")  # an extra that most installations lack
    except ImportError as error:
        raise LlmError(f't5:{name} needs an extra; run: pip install "faircut[t5]"') from error


def _folder(name: str) -> Path:
    """Where the model's files are. From the hub only data is fetched: transformers itself would take pickled weights,
    or have them converted by a server that nobody named.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        hub = import_module("huggingface_hub")  # comes with transformers
        try:
            folder = Path(hub.snapshot_download(name, allow_patterns=list(_DATA)))
        except (OSError, ValueError, RuntimeError) as error:
            said = _said(error)
            raise LlmError(f"t5:{name} cannot be fetched: {said} Give a folder or a name of the model hub.") from error
    if not any(folder.glob("*.safetensors")) or (folder / "adapter_model.bin").exists():
        raise LlmError(
            f"t5:{name} has weights that are no safetensors but pickled, and those are not read; load them once with "
            "transformers if you trust them, write them with save_pretrained(FOLDER), and name t5:FOLDER."
        )
    return folder


def _said(error: Exception) -> str:
    return one_line(str(error))[:300]


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
