"""The blocks of a PDF document as the tests compare them, and a sentence to put into one."""

SENTENCE = "The council of the city meets on every second Monday of the month"


def blocks(document, kind=None):
    return [
        document.text[b.span.start : b.span.end].strip("\n") for b in document.blocks if kind is None or b.kind == kind
    ]


def outlined(document):
    return [(b.level, document.text[b.span.start : b.span.end].strip()) for b in document.blocks if b.kind == "heading"]
