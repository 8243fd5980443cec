"""What holds for every chunker that does not rewrite, and texts that broke other tools."""

from hypothesis import strategies as st

from faircut.chunkers.contract import Models
from faircut.embedding.weights import minilm_files
from faircut.records import Chunk, Document
from faircut.specs import Size
from faircut.text.graphemes import Graphemes
from faircut.text.tokens import CharacterCounter, WordCounter, load_tokenizer

MINILM = load_tokenizer(minilm_files().tokenizer)
MODELS = Models(MINILM, overhead=2)

FRAGMENTS = [
    *("word ", "Sentences end. ", "Do they? ", "Art. 5 of the U.S. code, 3.14. "),
    *("\n\n", "\n", "\r\n", "\r\n\r\n", "\r", "\u2028", "\u2029", "\u0085", "\t", "    ", "\u00a0", "\u3000", "\x0c"),
    *(
        "\x00",
        "\ud800",
        "\udfff",
        "\u200b",
        "\ufeff",
        "e\u0301",
        " \u0301",
        "\u0600 1",
        "z\u0301\u0302\u0303\u0304\u0305",
    ),
    *("👨‍👩‍👧‍👦", "🇩🇪🇫🇷🇯🇵", "中文没有空格。", "日本語の文章です。", "สวัสดีครับผมชื่อ"),
    *("नमस्ते दुनिया। ", "مرحبا بالعالم؟ ", "한국어 문장. "),
    *("aGVsbG8gd29ybGQ" * 9, "x" * 150, "[SEP]", "| a | b |\n|---|---|\n| 1 | 2 |\n"),
]
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=80),
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=6)), max_size=40).map("".join),
)
SIZES = st.one_of(
    st.builds(Size, st.integers(8, 60), st.just("t")),
    st.builds(Size, st.integers(1, 30), st.just("w")),
    st.builds(Size, st.integers(1, 120), st.just("c")),
)


def length_of(size: Size, text: str) -> int:
    counters = {"t": MINILM, "w": WordCounter(), "c": CharacterCounter()}
    return counters[size.unit].count(text) + (MODELS.overhead if size.unit == "t" else 0)


def check(document: Document, chunks: list[Chunk], size: Size) -> None:
    text, graphemes = document.text, Graphemes(document.text)
    covered = bytearray(len(text))
    for chunk in chunks:
        assert chunk.is_verbatim(document)
        assert chunk.text.strip(), "no chunk is blank"
        assert length_of(size, chunk.embedded_text) <= size.amount or len(chunk.text) == 1, chunk
        for span in chunk.spans:
            covered[span.start : span.end] = b"\1" * len(span)
            for place in (span.start, span.end):
                cluster = text[graphemes.floor(place) : graphemes.ceil(place)]
                assert not cluster or length_of(size, cluster) > size.amount, f"{place} lies inside {cluster!a}"
    assert not [c for c, seen in zip(text, covered, strict=True) if not seen and not c.isspace()]
    assert [c.spans for c in chunks] == sorted(c.spans for c in chunks), "in the order of the document"


def shared(before: Chunk, after: Chunk) -> str:
    """What two consecutive chunks have in common, trimmed by neither."""
    start, end = after.spans[0].start, before.spans[-1].end
    return before.text[len(before.text) - (end - start) :] if start < end else ""
