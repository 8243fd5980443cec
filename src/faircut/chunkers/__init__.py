"""Every chunker by its spec: ``build("semantic(threshold=p85)")``. A document goes in, chunks come out.

To add a chunker, write its file beside these and add its class to ``CHUNKERS``; the contract tests then cover it.
"""

from faircut.chunkers.contextual import Contextual
from faircut.chunkers.contract import Chunker, Models
from faircut.chunkers.cuts import CUT_RULES
from faircut.chunkers.fixed import Fixed
from faircut.chunkers.hybrid import Hybrid
from faircut.chunkers.llm import Llm
from faircut.chunkers.optimal import Optimal
from faircut.chunkers.paragraph import Paragraph
from faircut.chunkers.propositions import PropositionParagraph, Propositions, PropositionSemantic
from faircut.chunkers.python import PythonChunker
from faircut.chunkers.recursive import Recursive
from faircut.chunkers.semantic import Semantic
from faircut.chunkers.sentence import Sentence
from faircut.chunkers.shuffled import Shuffled
from faircut.chunkers.structure import Structure
from faircut.specs import Preset, Registry, Spec

__all__ = ["BUILT_IN", "CHUNKERS", "MODEL_MADE", "PRESETS", "Chunker", "Models", "build"]

PRESETS = (
    Preset(
        "auto",
        "optimal(mean=100t, max=256t)",
        "by structure, about 100 tokens, no embeddings; nowhere measured as worse than the best simple one",
        "bench/auto.py: found on half of the documents of five labelled sets, judged on the other half",
    ),
    Preset(
        "simple_500",
        "fixed(size=500c, at=space)",
        "500 characters, cut at the last space",
        'published comparison on EUR-Lex, row "simple"',
    ),
    Preset(
        "paragraph_500",
        "paragraph(max=500c)",
        "paragraphs packed to 500 characters, long ones cut at sentences",
        'published comparison on EUR-Lex, the paragraphs of its "proposition + paragraph" row',
    ),
    Preset(
        "fixed_512",
        "fixed(size=512w, overlap=64w)",
        "windows of 512 white-space words, overlap 64",
        "published comparisons of fixed with semantic chunking",
    ),
    Preset(
        "semantic_p85",
        "semantic(threshold=p85, min_sentences=1, max=none)",
        "a cut where the distance to the next sentence exceeds the document's 85th percentile; no other limit",
        "LangChain's SemanticChunker (percentile), without its buffer of neighbouring sentences",
    ),
)
"""Published chunkers under their names. ``recursive`` and ``semantic`` are the classes with their defaults."""

CHUNKERS = Registry(
    kind="chunker",
    classes=(
        *(Fixed, Recursive, Paragraph, Sentence, Semantic, Structure, Hybrid, Optimal, Shuffled),
        *(Llm, Contextual, Propositions, PropositionParagraph, PropositionSemantic, PythonChunker),
    ),
    presets=PRESETS,
    parts=CUT_RULES,
)
"""All chunkers; the cut rules (``CUT_RULES``) stand inside ``semantic`` only."""

BUILT_IN = (
    *("fixed", "recursive", "paragraph", "sentence", "semantic", "structure", "hybrid", "optimal"),
    *("optimal(local=true)", "optimal(vectors=true)", "shuffled(recursive)"),
    *(preset.name for preset in PRESETS),
)
"""Specs of every chunker that needs no more than its defaults; ``python:module:function`` needs the user's function."""

MODEL_MADE = ("llm", "contextual(recursive)", "propositions", "proposition_paragraph", "proposition_semantic")
"""Specs of the chunkers that ask a language model."""


def build(spec: str | Spec) -> Chunker:
    """The chunker that a spec describes.

    Raises:
        SpecError: unknown name or parameter, a value of the wrong kind or range, or a part that is no chunker itself.
    """
    chunker: Chunker = CHUNKERS.build(spec)
    return chunker
