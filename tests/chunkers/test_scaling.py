"""Eight times the text takes about eight times the CPU, whatever the text is made of: cutting, audit and records."""

import pytest
from test_contract import HashedVectors

from cpu_time import cpu_time
from faircut.chunkers import BUILT_IN, build
from faircut.chunkers.contract import Models
from faircut.chunkers.output import chunk_records
from faircut.documents.markdown import markdown_blocks
from faircut.documents.plain import plain_blocks
from faircut.embedding.minilm import Minilm
from faircut.evaluation.audit import audit
from faircut.records import Document

FAMILY = "👨‍👩‍👧‍👦"
REPEATED = {
    "thai": "ประเทศไทยเป็นประเทศในเอเชียตะวันออกเฉียงใต้",
    "thai with spaces": "ประเทศไทย เป็นประเทศ ในเอเชีย ",
    "korean without spaces": "한국어",
    "chinese without stops": "中文没有空格",
    "emoji": FAMILY + "🇩🇪🇫🇷",
    "half a flag": "🇩",
    "combining marks": "\u0301\u0302",
    "accents and spaces": " e\u0301\u0302 \u0301",
    "quotes that never close": "He said “well. Then he left (and came. ",
    "quotes": "“\" '",
    "digits": "0123456789",
    "numbers and stops": "1.2.3. 4. ",
    "abbreviations": "Dr. Prof. e.g. Art. U.S. v. No. ",
    "stops": "...?! ",
    "long words": "Hello there Dr. " + "x" * 150 + " word. ",
    "base64": "QmFzZTY0",
    "NUL": "\x00a",
    "lone surrogates": "\ud800",
    "zero-width spaces": "a\u200b",
    "brackets": "[(",
    "semicolons": "a;",
    "added tokens": "[SEP]",
    "white space": " \t\u00a0\u3000",
    "a word in much white space": "word." + " " * 500,
    "CR only": "A short line\r",
    "NEL": "A short line\u0085",
    "line separators": "A short line.\u2028",
}
BLOCKS = {
    "blank lines": ("\n", plain_blocks),
    "short lines": ("a\n", plain_blocks),
    "tiny paragraphs": ("ab.\n\n", plain_blocks),
    "tiny paragraphs, CRLF": ("ab.\r\n\r\n", plain_blocks),
    "headings": ("# One of many\n\n", markdown_blocks),
    "headings and words": ("# A\n\n## B\n\n### C\n\nword.\n\n", markdown_blocks),
    "a list": ("- an item\n", markdown_blocks),
    "a deep list": ("".join(f"{'  ' * depth}- item\n" for depth in range(20)), markdown_blocks),
    "quotes": ("> a b.\n", markdown_blocks),
    "many tables": ("| a | b |\n|---|---|\n| 1 | 2 |\n\n", markdown_blocks),
}
WHOLE = {
    "a long table": ("| a | b |\n|---|---|\n", "| one | two |\n", ""),
    "a table of one row": ("| a | b |\n|---|---|\n", "| one two ", "|\n"),
    "a wide table": ("|" + "a|" * 200 + "\n|" + "-|" * 200 + "\n", "| one | two |\n", ""),
    "code": ("```\n", "x = 1\n\n", "```\n"),
    "code of one line": ("```\n", "x = 1 ", "\n```\n"),
}


def repeated(piece, length):
    return (piece * (length // len(piece) + 1))[:length]


def document(kind, length):
    if kind in REPEATED:
        text = "a" + repeated(REPEATED[kind], length)
        return Document("d", text, plain_blocks(text))
    if kind in BLOCKS:
        piece, blocks = BLOCKS[kind]
        text = "a\n\n" + piece * (length // len(piece)) + "b"
        return Document("d", text, blocks(text))
    first, row, last = WHOLE[kind]
    text = first + row * (length // len(row)) + last
    return Document("d", text, markdown_blocks(text))


@pytest.fixture(scope="module")
def models():
    return Models.of(HashedVectors(Minilm().tokenizer))


def work(spec, document, models):
    """CPU seconds for the chunks, the audit and the records of one document."""
    with cpu_time() as spent:
        chunks = build(spec).chunk(document, models)
        audit(document, chunks, models)
        list(chunk_records(document, chunks, models.tokenizer))
    return spent[0]


def check_linear(specs, kind, length, models):
    small, large = document(kind, length), document(kind, 8 * length)
    for spec in specs:
        work(spec, small, models)  # what is loaded once is not measured
        once = min(work(spec, small, models) for _ in range(3))
        eight = work(spec, large, models)
        if eight > 24 * once + 0.2:  # a busy machine may slow one of them
            eight = min(eight, work(spec, large, models))
        assert eight <= 24 * once + 0.2, f"{spec}: {once:.3f} s, then {eight:.3f} s"


SOME = ("recursive(max=64t, overlap=16t)", "shuffled(sentence(max=64t, overlap=16t))")


@pytest.mark.parametrize("kind", [*REPEATED, *BLOCKS, *WHOLE])
def test_eight_times_any_kind_of_text_takes_at_most_about_eight_times_the_cpu(kind, models):
    check_linear(SOME, kind, 700 if kind in REPEATED else 2_000, models)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*REPEATED, *BLOCKS, *WHOLE])
def test_every_chunker_is_linear_on_every_kind_of_text(kind, models):
    check_linear(
        (*BUILT_IN, "fixed(64t, overlap=48t)", "shuffled(fixed(64t, overlap=48t))"),
        kind,
        2_000 if kind in REPEATED else 4_000,
        models,
    )
