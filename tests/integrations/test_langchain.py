"""LangChain, both ways, with the framework itself; skipped where it is not installed."""

import asyncio
import warnings

import pytest
from frameworks import framework
from hypothesis import given
from hypothesis import strategies as st

core = framework("langchain_core.documents")
splitters = framework("langchain_text_splitters")

from langchain_core.vectorstores import InMemoryVectorStore  # noqa: E402  # after the check that it is there

from faircut import EMBEDDERS, Models, audit, build, read  # noqa: E402
from faircut.errors import FaircutWarning, LlmError, SpecError  # noqa: E402
from faircut.integrations.langchain import (  # noqa: E402
    FaircutEmbeddings,
    FaircutSplitter,
    as_chunker,
    to_documents,
)
from faircut.records import Document  # noqa: E402

MODELS = Models.of(EMBEDDERS.build("minilm"))


def pages(manual):
    return [
        core.Document(page_content=manual, metadata={"source": "boat.md", "tags": ["a"]}),
        core.Document(page_content=" \n", metadata={"source": "blank.md"}),
        core.Document(page_content="A single line.", metadata={"source": "line.txt"}, id="line"),
    ]


@pytest.mark.parametrize("spec", ["auto", "recursive(max=40t)", "structure(max=40t)", "fixed(size=30t, overlap=10t)"])
def test_documents_are_cut_as_faircut_cuts_the_file(spec, manual, tmp_path):
    (tmp_path / "boat.md").write_text(manual, encoding="utf-8")
    expected = build(spec).chunk(read(tmp_path / "boat.md"), MODELS)
    found = FaircutSplitter(spec).split_documents(pages(manual)[:1])
    assert [(d.page_content, d.metadata["start_index"]) for d in found] == [
        (c.text, c.spans[0].start) for c in expected
    ]
    assert [d.metadata.get("context", "") for d in found] == [c.context for c in expected]


def test_the_start_index_is_where_the_text_stands_also_where_it_repeats_itself(manual):
    found = FaircutSplitter("sentence(max=20t)", format="markdown").create_documents([manual], [{"a": 1}])
    twice = [d.metadata["start_index"] + at for d in found if (at := d.page_content.find("Check the oil")) >= 0]
    assert twice == [manual.index("Check the oil"), manual.rindex("Check the oil")]
    for d in found:
        assert manual[d.metadata["start_index"] : d.metadata["end_index"]] == d.page_content
        assert d.metadata["a"] == 1


@given(st.text(alphabet="ab.# \n\u00e9\u4e2d", max_size=200))
def test_no_character_is_lost_and_every_place_is_exact(text):
    covered = set()
    for d in FaircutSplitter("recursive(max=8t)", format="markdown").create_documents([text]):
        start, end = d.metadata["start_index"], d.metadata["end_index"]
        assert text[start:end] == d.page_content
        covered.update(range(start, end))
    assert covered >= {at for at, char in enumerate(text) if not char.isspace()}


def test_without_a_start_index_there_is_none_in_the_metadata(manual):
    found = FaircutSplitter("auto", add_start_index=False).create_documents([manual])
    assert found
    assert not any("start_index" in d.metadata for d in found)


def test_the_context_goes_in_front_of_the_text_when_asked(manual):
    plain, front = (
        FaircutSplitter("structure(max=40t)", format="markdown", context=where).create_documents([manual])
        for where in ("metadata", "text")
    )
    row = next(at for at, d in enumerate(plain) if "| belt |" in d.page_content)
    assert plain[row].page_content.startswith("| ")
    assert front[row].page_content == f"{plain[row].metadata['context']}\n{plain[row].page_content}"


def test_metadata_are_copied_blank_documents_give_nothing_and_ids_are_the_same_at_every_run(manual):
    given_documents = pages(manual)
    splitter = FaircutSplitter()
    first, second = splitter.split_documents(given_documents), splitter.transform_documents(given_documents)
    assert first == second
    assert len({d.id for d in first}) == len(first)
    assert {d.metadata["source"] for d in first} == {"boat.md", "line.txt"}
    first[0].metadata["tags"].append("b")
    assert given_documents[0].metadata["tags"] == ["a"]
    assert "chunk_id" not in given_documents[0].metadata


def test_the_async_twin_and_the_texts_alone_are_the_same_cuts(manual):
    splitter = FaircutSplitter("recursive(max=30t)")
    documents = pages(manual)
    assert asyncio.run(splitter.atransform_documents(documents)) == splitter.split_documents(documents)
    assert splitter.split_text(manual) == [d.page_content for d in splitter.create_documents([manual])]


def test_it_is_a_text_splitter_with_one_embedder_for_all_documents(manual):
    embedder = EMBEDDERS.build("minilm")
    splitter = FaircutSplitter("semantic(max=60t)", embedder=embedder)
    assert isinstance(splitter, splitters.TextSplitter)
    assert splitter._cutter.models.embedder is embedder
    assert len(splitter.split_documents(pages(manual) * 2)) > 4


@pytest.mark.parametrize(
    ("make", "kind", "what"),
    [
        (lambda: FaircutSplitter("llm"), LlmError, "language_model"),
        (lambda: FaircutSplitter(context="both"), SpecError, '"metadata" or "text"'),
        (lambda: FaircutSplitter().create_documents(["a"], []), ValueError, "shorter"),
        (lambda: FaircutSplitter().split_text(None), TypeError, "must be str"),
        (lambda: as_chunker(str.split), SpecError, "expected a LangChain text splitter"),
    ],
)
def test_what_is_wrong_is_said(make, kind, what):
    with pytest.raises(kind, match=what):
        make()


def test_a_store_with_our_vectors_finds_the_place(manual):
    store = InMemoryVectorStore(FaircutEmbeddings("minilm"))
    pieces = FaircutSplitter("sentence(max=20t)").split_documents(pages(manual))
    store.add_documents(pieces)
    store.add_documents(pieces)  # the same ids: nothing stands there twice
    assert len(store.store) == len(pieces)
    best = store.similarity_search("What must be done with the batteries?", k=1)[0]
    assert "Take the batteries home." in best.page_content
    assert asyncio.run(store.asimilarity_search("batteries", k=1))[0].id == best.id


def test_chunks_of_faircut_become_documents(manual, tmp_path):
    (tmp_path / "boat.md").write_text(manual, encoding="utf-8")
    document = read(tmp_path / "boat.md")
    chunks = build("auto").chunk(document, MODELS)
    found = to_documents(chunks, document)
    assert [d.page_content for d in found] == [c.text for c in chunks]
    assert found[0].metadata["title"] == "Boat manual"
    assert found[0].metadata["source"] == str(tmp_path / "boat.md")


# ---------------------------------------------------------------- their splitters

REPEATED = "Yes. It is so.\n\nNo. It is not so.\n\n" * 12 + "   The end of it all, with white   space.  \n"


@pytest.mark.parametrize(
    "splitter",
    [
        splitters.RecursiveCharacterTextSplitter(chunk_size=60, chunk_overlap=20, add_start_index=True),
        splitters.RecursiveCharacterTextSplitter(chunk_size=60, chunk_overlap=0, keep_separator=False),
        splitters.CharacterTextSplitter(chunk_size=40, chunk_overlap=0),
        splitters.MarkdownTextSplitter(chunk_size=60, chunk_overlap=0),
    ],
    ids=lambda s: type(s).__name__,
)
def test_their_splitters_are_chunkers_whose_places_are_exact_where_text_repeats_itself(splitter):
    document = Document("d", REPEATED)
    chunks = as_chunker(splitter).chunk(document, MODELS)
    found = audit(document, chunks, MODELS)
    assert all(c.is_verbatim(document) for c in chunks)
    assert (found.lost, found.offsets_wrong, found.out_of_order) == (0, 0, 0)
    assert [c.text.split() for c in chunks] == [piece.split() for piece in splitter.split_text(REPEATED)]


def test_the_headings_that_their_markdown_splitter_strips_are_counted_as_lost(manual):
    splitter = splitters.MarkdownHeaderTextSplitter([("#", "one"), ("##", "two")])
    document = Document("d", manual)
    chunks = as_chunker(splitter).chunk(document, MODELS)
    assert audit(document, chunks, MODELS).lost == sum(
        len("".join(h.split())) for h in ("# Boat manual", "## Engine", "## Winter")
    )


def test_a_splitter_of_theirs_that_rewrites_is_said():
    class Shouting(splitters.TextSplitter):
        def split_text(self, text):
            return [part.upper() if "not" in part else part for part in text.split("\n\n")]

    with pytest.warns(FaircutWarning, match="12 of 25 pieces are not in document"):
        as_chunker(Shouting()).chunk(Document("d", REPEATED), MODELS)


def test_a_transformer_without_texts_is_called_with_documents():
    class Halves(core.BaseDocumentTransformer):
        def transform_documents(self, documents, **_):
            return [core.Document(page_content=half) for d in documents for half in d.page_content.split("\n\n", 1)]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chunks = as_chunker(Halves(), name="halves").chunk(Document("d", "First half.\n\nSecond half."), MODELS)
    assert [c.text for c in chunks] == ["First half.", "Second half."]
