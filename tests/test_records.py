"""Records check themselves, compare by content and derive their ids from it."""

import pytest

from faircut.records import Block, Chunk, Document, Span


def test_a_span_is_not_empty_and_not_negative():
    for start, end in ((0, 0), (3, 2), (-1, 4)):
        with pytest.raises(ValueError, match="0 <= start < end"):
            Span(start, end)


def test_blocks_must_tile_the_text():
    Document("d", "ab", (Block("paragraph", Span(0, 1)), Block("other", Span(1, 2))))
    for blocks in ((Block("paragraph", Span(0, 1)),), (Block("code", Span(1, 2)),)):
        with pytest.raises(ValueError, match="do not tile"):
            Document("d", "ab", blocks)


def test_a_document_of_bytes_is_refused():
    with pytest.raises(TypeError, match="must be str, found bytes"):
        Document("d", b"ab")  # type: ignore[arg-type]


def test_equal_chunks_have_equal_ids_and_different_ones_different():
    def chunk(text="ab", start=0, context="", document="d"):
        return Chunk(document, (Span(start, start + 2),), text, context)

    assert chunk() == chunk()
    assert chunk().id == chunk().id
    others = {chunk(start=1).id, chunk(context="h").id, chunk(document="e").id, chunk(text="xy").id}
    assert len(others | {chunk().id}) == 5


def test_a_chunk_with_a_lone_surrogate_has_an_id():
    assert Chunk("d", (Span(0, 1),), "\ud800").id


def test_verbatim_means_the_text_at_the_spans():
    document = Document("d", "abcdef")
    assert Chunk("d", (Span(0, 2), Span(4, 6)), "abef").is_verbatim(document)
    assert not Chunk("d", (Span(0, 2),), "ax").is_verbatim(document)


def test_the_embedded_text_has_the_context_in_front():
    assert Chunk("d", (Span(0, 1),), "a", "H > h").embedded_text == "H > h\na"
