"""LlamaIndex, both ways, with the framework itself; skipped where it is not installed."""

import asyncio
import pickle

import pytest
from frameworks import framework

core = framework("llama_index.core")
ingestion = framework("llama_index.core.ingestion")
parsers = framework("llama_index.core.node_parser")
schema = framework("llama_index.core.schema")

from faircut import EMBEDDERS, Models, audit, build, read  # noqa: E402  # after the check that it is there
from faircut.errors import LlmError, SpecError  # noqa: E402
from faircut.integrations.llama_index import (  # noqa: E402
    FaircutEmbeddings,
    FaircutNodeParser,
    as_chunker,
    to_nodes,
)
from faircut.records import Document  # noqa: E402

MetadataMode = schema.MetadataMode
MODELS = Models.of(EMBEDDERS.build("minilm"))


def boat(manual, **options):
    return schema.Document(text=manual, id_="boat", **options)


def test_nodes_have_exact_places_also_where_the_text_repeats_itself(manual):
    nodes = FaircutNodeParser("sentence(max=20t)", format="markdown").get_nodes_from_documents([boat(manual)])
    assert all(manual[n.start_char_idx : n.end_char_idx] == n.text for n in nodes)
    twice = [n.start_char_idx + at for n in nodes if (at := n.text.find("Check the oil")) >= 0]
    assert twice == [manual.index("Check the oil"), manual.rindex("Check the oil")]


def test_nodes_are_cut_as_faircut_cuts_the_file_and_embedded_as_it_embeds(manual, tmp_path):
    (tmp_path / "boat.md").write_text(manual, encoding="utf-8")
    expected = build("structure(max=40t)").chunk(read(tmp_path / "boat.md"), MODELS)
    nodes = FaircutNodeParser("structure(max=40t)", format="markdown").get_nodes_from_documents([boat(manual)])
    assert [n.text for n in nodes] == [c.text for c in expected]
    assert [n.get_content(MetadataMode.EMBED) for n in nodes] == [c.embedded_text for c in expected]
    assert [n.get_content(MetadataMode.LLM) for n in nodes] == [c.text for c in expected]
    assert any(c.context for c in expected)


def test_metadata_that_the_document_embeds_count_in_the_ceiling(manual):
    document = boat(
        manual, metadata={"file_path": "a/folder/boat.md", "size": 7}, excluded_embed_metadata_keys=["size"]
    )
    nodes = FaircutNodeParser("structure(max=60t)").get_nodes_from_documents([document])
    embedded = [n.get_content(MetadataMode.EMBED) for n in nodes]
    assert all("file_path: a/folder/boat.md" in text and "size" not in text for text in embedded)
    assert max(MODELS.tokenizer.count_many(embedded)) + MODELS.overhead <= 60
    assert nodes[0].metadata["size"] == 7
    assert nodes[0].metadata["headings"] == "Boat manual"


def test_nodes_are_related_to_their_neighbours_and_their_document(manual):
    documents = [boat(manual), schema.Document(text="Another one.", id_="other")]
    nodes = FaircutNodeParser("recursive(max=40t)").get_nodes_from_documents(documents)
    mine = [n for n in nodes if n.ref_doc_id == "boat"]
    assert [n.next_node and n.next_node.node_id for n in mine] == [*(n.node_id for n in mine[1:]), None]
    assert [n.prev_node and n.prev_node.node_id for n in mine] == [None, *(n.node_id for n in mine[:-1])]
    assert nodes[-1].ref_doc_id == "other"
    alone = FaircutNodeParser("recursive(max=40t)", include_prev_next_rel=False).get_nodes_from_documents(documents)
    assert not any(n.next_node for n in alone)


def test_ids_are_the_same_at_every_run_unless_a_function_makes_them(manual):
    parser = FaircutNodeParser()
    assert parser([boat(manual)]) == parser([boat(manual)])
    own = FaircutNodeParser("recursive(max=40t)", id_func=lambda number, node: f"{node.node_id}-{number}")
    assert [n.node_id for n in own([boat(manual)])][:2] == ["boat-0", "boat-1"]


def test_the_async_twin_gives_the_same_nodes(manual):
    parser = FaircutNodeParser("recursive(max=40t)")
    assert asyncio.run(parser.acall([boat(manual)])) == parser([boat(manual)])


def test_a_parser_is_restored_from_its_values(manual):
    parser = FaircutNodeParser("structure(max=40t)", format="markdown", include_metadata=False)
    again = FaircutNodeParser.from_dict(parser.to_dict())
    assert again.to_dict() == parser.to_dict()
    assert again([boat(manual)]) == parser([boat(manual)])
    with pytest.raises(SpecError, match="the id_func 'mine' was not saved"):
        FaircutNodeParser.from_dict(parser.to_dict() | {"id_func": {"id_func_name": "mine"}})


def test_a_pipeline_cuts_and_embeds_and_its_cache_knows_the_settings(manual):
    def pipeline(size, cache=None):
        parts = [FaircutNodeParser(f"recursive(max={size}t)"), FaircutEmbeddings("minilm")]
        return ingestion.IngestionPipeline(transformations=parts, **({"cache": cache} if cache else {}))

    first = pipeline(40)
    nodes = first.run(documents=[boat(manual)])
    assert all(len(n.embedding) == 384 for n in nodes)
    assert [n.node_id for n in pipeline(40, first.cache).run(documents=[boat(manual)])] == [n.node_id for n in nodes]
    assert len(pipeline(20, first.cache).run(documents=[boat(manual)])) > len(nodes)


def test_a_parser_goes_to_another_process_whole(manual):
    parser = FaircutNodeParser("structure(max=40t)", format="markdown")
    nodes = parser([boat(manual)])
    assert pickle.loads(pickle.dumps(parser))([boat(manual)]) == nodes  # noqa: S301  # our own bytes


def test_an_index_with_our_vectors_finds_the_place(manual):
    nodes = FaircutNodeParser("sentence(max=20t)")([boat(manual)])
    index = core.VectorStoreIndex(nodes, embed_model=FaircutEmbeddings())
    best = index.as_retriever(similarity_top_k=1).retrieve("What must be done with the batteries?")[0]
    assert "Take the batteries home." in best.node.text


def test_vectors_of_one_text_and_of_many_are_the_same():
    model = FaircutEmbeddings()
    texts = ["a boat", "an engine of thirty horsepower"]
    assert model.get_text_embedding_batch(texts) == [model.get_text_embedding(text) for text in texts]
    assert asyncio.run(model.aget_query_embedding("a boat")) == model.get_query_embedding("a boat")
    assert FaircutEmbeddings.from_dict(model.to_dict()).get_text_embedding("a boat") == model.get_text_embedding(
        "a boat"
    )


def test_a_chunker_that_asks_a_language_model_wants_one():
    with pytest.raises(LlmError, match="language_model"):
        FaircutNodeParser("propositions")


def test_chunks_of_faircut_become_nodes(manual, tmp_path):
    (tmp_path / "boat.md").write_text(manual, encoding="utf-8")
    document = read(tmp_path / "boat.md")
    chunks = build("structure(max=40t)").chunk(document, MODELS)
    nodes = to_nodes(chunks, document)
    assert [n.get_content(MetadataMode.EMBED) for n in nodes] == [c.embedded_text for c in chunks]
    assert {n.ref_doc_id for n in nodes} == {"boat.md"}
    assert nodes[0].next_node.node_id == nodes[1].node_id
    assert nodes[0].metadata["title"] == "Boat manual"


# ---------------------------------------------------------------- their parsers

LONG = "".join(f"Sentence number {n} says what it says. Again and again it says so. " for n in range(60))


@pytest.mark.parametrize(
    "parser",
    [
        parsers.SentenceSplitter(chunk_size=60, chunk_overlap=20),
        parsers.TokenTextSplitter(chunk_size=60, chunk_overlap=0),
        parsers.SentenceWindowNodeParser.from_defaults(),
        parsers.SemanticSplitterNodeParser(embed_model=FaircutEmbeddings()),
        parsers.MarkdownNodeParser(),
    ],
    ids=lambda p: type(p).__name__,
)
def test_their_parsers_are_chunkers_that_lose_nothing(parser):
    document = Document("d", LONG)
    chunks = as_chunker(parser).chunk(document, MODELS)
    found = audit(document, chunks, MODELS)
    assert all(c.is_verbatim(document) for c in chunks)
    assert (found.lost, found.offsets_wrong, found.out_of_order) == (0, 0, 0)


def test_of_a_hierarchy_the_leaves_are_compared():
    parser = parsers.HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64], chunk_overlap=0)
    chunks = as_chunker(parser).chunk(Document("d", LONG), MODELS)
    leaves = parsers.get_leaf_nodes(parser.get_nodes_from_documents([schema.Document(text=LONG)]))
    assert [c.text.split() for c in chunks] == [n.text.split() for n in leaves]


def test_what_is_no_parser_is_refused():
    with pytest.raises(SpecError, match="expected a LlamaIndex node parser, found str"):
        as_chunker("SentenceSplitter")
