"""Haystack, both ways, with the framework itself; skipped where it is not installed."""

import asyncio

import pytest
from frameworks import framework

haystack = framework("haystack")
preprocessors = framework("haystack.components.preprocessors")

from haystack.components.retrievers import InMemoryEmbeddingRetriever  # noqa: E402  # after the check that it is there
from haystack.components.writers import DocumentWriter  # noqa: E402
from haystack.document_stores.in_memory import InMemoryDocumentStore  # noqa: E402

from faircut import EMBEDDERS, Models, audit, build, read  # noqa: E402
from faircut.errors import DocumentError, FaircutWarning, LlmError, SpecError  # noqa: E402
from faircut.integrations.haystack import (  # noqa: E402
    FaircutDocumentEmbedder,
    FaircutSplitter,
    FaircutTextEmbedder,
    as_chunker,
    to_documents,
)
from faircut.records import Document  # noqa: E402

MODELS = Models.of(EMBEDDERS.build("minilm"))


def boat(manual, **meta):
    return haystack.Document(content=manual, meta={"file_path": "boat.md", **meta})


def test_documents_are_cut_as_faircut_cuts_the_file_with_exact_places(manual, tmp_path):
    (tmp_path / "boat.md").write_text(manual, encoding="utf-8")
    expected = build("structure(max=40t)").chunk(read(tmp_path / "boat.md"), MODELS)
    source = boat(manual, tags=["a"])
    found = FaircutSplitter("structure(max=40t)").run(documents=[source])["documents"]
    assert [d.content for d in found] == [c.text for c in expected]
    assert [d.meta.get("context", "") for d in found] == [c.context for c in expected]
    assert all(manual[d.meta["split_idx_start"] : d.meta["split_idx_end"]] == d.content for d in found)
    assert [d.meta["split_id"] for d in found] == list(range(len(found)))
    assert {d.meta["source_id"] for d in found} == {source.id}
    found[0].meta["tags"].append("b")
    assert source.meta == {"file_path": "boat.md", "tags": ["a"]}


def test_a_repeated_sentence_has_its_own_place_and_id(manual):
    found = FaircutSplitter("sentence(max=20t)").run(documents=[boat(manual)])["documents"]
    twice = [d.meta["split_idx_start"] + at for d in found if (at := d.content.find("Check the oil")) >= 0]
    assert twice == [manual.index("Check the oil"), manual.rindex("Check the oil")]
    assert len({d.id for d in found}) == len(found)
    assert found == FaircutSplitter("sentence(max=20t)").run(documents=[boat(manual)])["documents"]


def test_documents_without_text_are_refused_and_blank_ones_give_nothing():
    splitter = FaircutSplitter()
    assert splitter.run(documents=[haystack.Document(content=" \n")]) == {"documents": []}
    assert splitter.run(documents=[]) == {"documents": []}
    with pytest.raises(DocumentError, match="has no text; convert it"):
        splitter.run(documents=[haystack.Document(content=None)])
    with pytest.raises(TypeError, match="takes a list of Documents, found str"):
        splitter.run(documents="text")
    with pytest.raises(LlmError, match="language_model"):
        FaircutSplitter("contextual(recursive)")


def indexing(store):
    pipeline = haystack.Pipeline()
    pipeline.add_component("split", FaircutSplitter("structure(max=40t)", format="markdown"))
    pipeline.add_component("embed", FaircutDocumentEmbedder("minilm"))
    pipeline.add_component("write", DocumentWriter(store))
    pipeline.connect("split", "embed")
    pipeline.connect("embed", "write")
    return pipeline


def test_a_pipeline_indexes_and_finds_the_place(manual):
    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    written = indexing(store).run({"split": {"documents": [boat(manual)]}})["write"]["documents_written"]
    assert written == store.count_documents() > 3
    query = haystack.Pipeline()
    query.add_component("embed", FaircutTextEmbedder())
    query.add_component("find", InMemoryEmbeddingRetriever(store, top_k=1))
    query.connect("embed.embedding", "find.query_embedding")
    best = query.run({"embed": {"text": "What must be done with the batteries in winter?"}})["find"]["documents"][0]
    assert "Take the batteries home." in best.content


def test_a_pipeline_is_written_and_read_again(manual):
    pipeline = indexing(InMemoryDocumentStore())
    again = haystack.Pipeline.loads(pipeline.dumps(), allowed_modules=["faircut.*", "haystack.*"])
    assert again.to_dict()["components"]["split"] == pipeline.to_dict()["components"]["split"]
    parts = {"documents": [boat(manual)]}
    assert again.get_component("split").run(**parts) == pipeline.get_component("split").run(**parts)


def test_a_language_model_is_not_written_into_a_pipeline():
    class Model:
        model = "m"

    splitter = FaircutSplitter("llm", language_model=Model())
    with pytest.raises(SpecError, match="cannot be serialised"):
        splitter.to_dict()


def test_the_async_twins_give_the_same(manual):
    splitter, documents, texts = FaircutSplitter("sentence(max=20t)"), FaircutDocumentEmbedder(), FaircutTextEmbedder()
    pieces = splitter.run(documents=[boat(manual)])
    assert asyncio.run(splitter.run_async(documents=[boat(manual)])) == pieces
    assert asyncio.run(documents.run_async(**pieces)) == documents.run(**pieces)
    assert asyncio.run(texts.run_async(text="a boat")) == texts.run(text="a boat")


def test_the_context_is_embedded_as_faircut_embeds_it(manual):
    document = Document("d", manual, build_blocks(manual))
    chunks = build("structure(max=40t)").chunk(document, MODELS)
    vectors = MODELS.embedder.embed([c.embedded_text for c in chunks], "passage").tolist()
    made = to_documents(chunks, document)
    assert [d.embedding for d in FaircutDocumentEmbedder().run(made)["documents"]] == vectors
    assert all(d.embedding is None for d in made)


def build_blocks(manual):
    from faircut.documents.markdown import markdown_blocks

    return markdown_blocks(manual)


# ---------------------------------------------------------------- their splitters

LONG = "".join(f"Sentence number {n} says what it says.\n\nAgain and again it says so. " for n in range(60))


@pytest.mark.parametrize(
    "splitter",
    [
        preprocessors.DocumentSplitter(split_by="word", split_length=20, split_overlap=5),
        preprocessors.DocumentSplitter(split_by="passage", split_length=2),
        preprocessors.RecursiveDocumentSplitter(split_length=20, split_overlap=0, separators=["\n\n", " "]),
        preprocessors.HierarchicalDocumentSplitter(block_sizes={100, 20}),
        preprocessors.DocumentPreprocessor(split_by="word", split_length=20),
    ],
    ids=lambda s: type(s).__name__,
)
def test_their_splitters_are_chunkers_that_lose_nothing_also_when_they_clean(splitter):
    document = Document("d", LONG)
    chunks = as_chunker(splitter).chunk(document, MODELS)
    found = audit(document, chunks, MODELS)
    assert all(c.is_verbatim(document) for c in chunks)
    assert (found.lost, found.offsets_wrong) == (0, 0)


def test_what_a_component_of_theirs_removes_is_said_and_counted():
    @haystack.component
    class Cleaning:
        @haystack.component.output_types(documents=list[haystack.Document])
        def run(self, documents: list[haystack.Document]):
            clean = preprocessors.DocumentCleaner(remove_substrings=["Again and again it says so."]).run(documents)
            return preprocessors.DocumentSplitter(split_by="word", split_length=6).run(clean["documents"])

    document = Document("d", LONG)
    with pytest.warns(FaircutWarning, match="pieces are not in document"):  # those joined over what was removed
        chunks = as_chunker(Cleaning(), name="cleaning").chunk(document, MODELS)
    assert audit(document, chunks, MODELS).lost >= 60 * len("Againandagainitsaysso.")


def test_a_component_that_rewrites_is_said():
    splitter = preprocessors.DocumentSplitter(
        split_by="function", splitting_function=lambda text: [p.upper() if "7" in p else p for p in text.split("\n\n")]
    )
    with pytest.warns(FaircutWarning, match="pieces are not in document"):
        as_chunker(splitter).chunk(Document("d", LONG), MODELS)


def test_what_is_no_component_is_refused():
    with pytest.raises(SpecError, match="expected a Haystack component"):
        as_chunker(str.split)
