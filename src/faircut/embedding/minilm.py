"""The default embedder: all-MiniLM-L6-v2 in fp32 on onnxruntime. Texts in, unit vectors ``(n, 384)`` out.

Finding and converting the weights is left to ``weights.py``, remembering vectors to ``cache.py``.

**The same text gives the same bits, whatever its batch.** Three things make it so: a batch holds only texts of exactly
the same number of tokens, so nothing is ever padded; each run of the graph is single-threaded, so the products are cut
the same way whatever the number of rows (both cores are used by running two batches at once); and pooling is done row
by row. Whether rows are independent is a property of the machine's kernels, so it is measured when the model is loaded;
where they are not, texts are run one by one.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from faircut.embedding.checks import checked_texts, checked_vectors, encodable, report_overlong, unit_rows
from faircut.embedding.contract import Progress, Role, Vectors
from faircut.embedding.late import DocumentTokens
from faircut.embedding.openvino import open_openvino
from faircut.embedding.weights import GRAPH_VERSION, TOKENIZER_SHA256, WEIGHTS_SHA256, ModelFiles, minilm_files
from faircut.errors import EmbeddingError, SpecError
from faircut.specs import spec_text
from faircut.text.contract import TokenCounter

__all__ = ["Minilm"]

Ids = NDArray[np.int64]
_SPECIAL_TOKENS = 2
_BATCH_TOKENS = 512  # measured the fastest of 1 to 2048: larger layer outputs fall out of the core's own cache
_HELD = 64  # windows of a document whose token vectors are in memory at a time: 25 MB
_TOKENIZED_TOGETHER = 1024  # the tokenizer's own objects are large: 100,000 texts at once would cost a gigabyte


@dataclass(frozen=True)
class Minilm:
    """all-MiniLM-L6-v2, 384 dimensions, English, runs offline on the CPU (runtime=openvino: extra openvino).

    Wang et al. 2020 (MiniLM), trained by sentence-transformers; mean of the token vectors, unit length, no prefixes.

    Args:
        max_tokens: the longest text that is seen, two special tokens included. The model's own setting is 256, its
            positions reach to 512.
        runtime: ``openvino`` runs the same weights on OpenVINO (extra); its vectors differ in the last digits, so
            they are remembered apart.
    """

    max_tokens: int = 256
    runtime: Literal["onnxruntime", "openvino"] = "onnxruntime"

    name: ClassVar[str] = "minilm"
    __str__ = spec_text

    def __post_init__(self) -> None:
        if not 3 <= self.max_tokens <= 512:
            raise SpecError(f"embedder 'minilm': max_tokens lies between 3 and 512, found {self.max_tokens}.")

    @property
    def dimensions(self) -> int:
        """384."""
        return 384

    @property
    def fingerprint(self) -> str:
        """The pinned hashes and the limit. Nothing is loaded for it."""
        hashes = f"{WEIGHTS_SHA256[:16]}-{TOKENIZER_SHA256[:16]}"
        runtime = "" if self.runtime == "onnxruntime" else f"-{self.runtime}"
        return f"minilm-{hashes}-graph{GRAPH_VERSION}-max{self.max_tokens}{runtime}"

    @property
    def tokenizer(self) -> TokenCounter:
        """WordPiece of ``bert-base-uncased``, untruncated.

        Raises:
            EmbeddingError: the weights are not installed.
        """
        return _counter(_ready().tokenizer)

    def prefix(self, role: Role) -> str:  # noqa: ARG002  # the contract asks by role; this model has none
        """Always ""."""
        return ""

    def overhead(self, role: Role) -> int:  # noqa: ARG002  # the same for every role
        """Two: [CLS] and [SEP]."""
        return _SPECIAL_TOKENS

    def embed(self, texts: Sequence[str], role: Role, *, progress: Progress | None = None) -> Vectors:  # noqa: ARG002
        """Vectors ``(len(texts), 384)``; the role makes no difference. Equal texts are computed once.

        Raises:
            TypeError: ``texts`` is not a sequence of strings.
            EmbeddingError: the weights are not installed, or a vector is not finite.
        """
        listed = checked_texts(texts)
        if not listed:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        places = {text: place for place, text in enumerate(dict.fromkeys(listed))}
        rows = np.array([places[text] for text in listed])
        model = _load(_ready(), self.runtime)
        ids, lengths = model.encode(list(places), self.max_tokens)
        report_overlong([lengths[row] for row in rows], self.max_tokens, str(self))
        vectors = np.empty((len(places), self.dimensions), dtype=np.float32)
        done, shares = 0, np.bincount(rows)
        for batch, part in model.run(ids):
            vectors[batch] = checked_vectors(part, len(batch), self.dimensions, str(self))
            done += int(shares[batch].sum())
            if progress:
                progress(done, len(listed))
        return vectors.take(rows, axis=0)

    def document_tokens(self, text: str) -> DocumentTokens:
        """The tokens of a text of any length, with their places; for late pooling.

        Raises:
            EmbeddingError: the weights are not installed.
        """
        encoding = _load(_ready(), self.runtime).tokenizer.encode(encodable(text), add_special_tokens=False)
        starts, ends = zip(*encoding.offsets, strict=True) if encoding.offsets else ((), ())
        return DocumentTokens(encoding.ids, sorted(starts), sorted(ends))  # reordered accents may leave them unordered

    def token_vectors(self, windows: Sequence[Sequence[int]]) -> Iterator[NDArray[np.float32]]:
        """The vectors ``(len(window) + 2, 384)`` of each window of token ids, between [CLS] and [SEP]; in order.

        Raises:
            EmbeddingError: the weights are not installed.
        """
        model = _load(_ready(), self.runtime)
        first, last = model.tokenizer.encode("").ids
        return model.in_order([np.array([first, *window, last], dtype=np.int64) for window in windows])


@dataclass(frozen=True)
class _Model:
    """A loaded graph and its tokenizer."""

    session: Any
    tokenizer: Any
    batch_tokens: int

    def encode(self, texts: list[str], max_tokens: int) -> tuple[list[Ids], list[int]]:
        """Token ids of each text cut to ``max_tokens`` as sentence-transformers does, and its length before."""
        ids: list[Ids] = []
        lengths: list[int] = []
        for start in range(0, len(texts), _TOKENIZED_TOGETHER):
            some = [encodable(text) for text in texts[start : start + _TOKENIZED_TOGETHER]]
            for encoding in self.tokenizer.encode_batch_fast(some):
                full = encoding.ids
                lengths.append(len(full))
                ids.append(
                    np.array(full if len(full) <= max_tokens else [*full[: max_tokens - 1], full[-1]], dtype=np.int64)
                )
        return ids, lengths

    def run(self, ids: list[Ids]) -> Iterator[tuple[list[int], Vectors]]:
        """Batches as they are done: the places of their texts, their vectors. The longest texts go first."""
        pool = ThreadPoolExecutor(_cores())
        try:
            jobs = {pool.submit(self.vectors, np.stack([ids[i] for i in batch])): batch for batch in self.batches(ids)}
            for job in as_completed(jobs):
                yield jobs[job], job.result()
        finally:
            pool.shutdown(cancel_futures=True)  # after an error or Ctrl-C: finish what runs, begin nothing more

    def batches(self, ids: list[Ids]) -> Iterator[list[int]]:
        """Places of texts of exactly the same length, in lists of at most ``batch_tokens`` tokens."""
        by_length: dict[int, list[int]] = {}
        for place, row in enumerate(ids):
            by_length.setdefault(len(row), []).append(place)
        for length in sorted(by_length, reverse=True):
            size = max(1, self.batch_tokens // length)
            places = by_length[length]
            yield from (places[start : start + size] for start in range(0, len(places), size))

    def in_order(self, ids: list[Ids]) -> Iterator[NDArray[np.float32]]:
        """The token vectors ``(l, 384)`` of each text, in order: few are in memory at a time."""
        with ThreadPoolExecutor(_cores()) as pool:
            for start in range(0, len(ids), _HELD):
                yield from pool.map(lambda row: self.hidden(row[np.newaxis])[0], ids[start : start + _HELD])

    def hidden(self, ids: Ids) -> NDArray[np.float32]:
        """The token vectors ``(b, l, 384)`` of ``(b, l)`` ids."""
        found: NDArray[np.float32] = self.session.run(None, {"input_ids": ids})[0]
        return found

    def vectors(self, ids: Ids) -> Vectors:
        """Unit vectors of ``(b, l)`` ids: the mean over the tokens (all are real: nothing is padded)."""
        hidden = self.hidden(ids)
        return unit_rows(np.stack([row.mean(axis=0, dtype=np.float64) for row in hidden]))


@cache
def _ready() -> ModelFiles:
    """The model's files, checked once a process."""
    return minilm_files()


@cache
def _counter(path: Path) -> TokenCounter:
    from faircut.text.tokens import load_tokenizer

    return load_tokenizer(path, name="minilm")


@cache
def _load(files: ModelFiles, runtime: str = "onnxruntime") -> _Model:
    """Open the graph single-threaded, and the tokenizer without the truncation and padding it was saved with."""
    from tokenizers import Tokenizer

    session = open_openvino(files.graph, _cores()) if runtime == "openvino" else _open_onnx(files.graph)
    tokenizer = Tokenizer.from_file(str(files.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    model = _Model(session, tokenizer, _BATCH_TOKENS)
    return model if _rows_are_independent(model.vectors) else _Model(session, tokenizer, batch_tokens=1)


def _open_onnx(graph: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors have no common class but this
        raise EmbeddingError(f"onnxruntime cannot open {graph}: {error}. Remove its folder and try again.") from error


def _rows_are_independent(vectors: Callable[[Ids], Vectors]) -> bool:
    """Whether a text's bits are the same alone and in a batch, tried with an uneven number of rows (about 0.05 s)."""
    for length in (3, 26):
        ids = np.arange(2000, 2000 + 7 * length).reshape(7, length)
        alone = np.concatenate([vectors(ids[row : row + 1]) for row in range(7)])
        if not np.array_equal(alone, vectors(ids)):
            return False
    return True


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
