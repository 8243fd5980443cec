"""A language model made of rules, for tests: it answers from the request alone, with no network and no chance.

``ScriptedModel`` behaves; ``WildModel`` lies, runs out of tokens, gives numbers that do not exist, and fails, as the
hash of what it is asked decides.
"""

import json
import re
from hashlib import blake2b

import numpy as np

from faircut.llm import Answer, Failure, Usage

LINE = re.compile(r"^(\d+)\.? (.*)$", re.M)


class ScriptedModel:
    model = "scripted"

    def __init__(self):
        self.asked = []

    def complete(self, requests, *, progress=None):
        self.asked += requests
        return [self.answer(request) for request in requests]

    def answer(self, request):
        prompt = next(message.content for message in request.messages if message.role == "user")
        if request.schema is None:
            return self.said(self.context(prompt))
        if "statements" in request.schema["properties"]:
            return self.parsed({"statements": self.statements(prompt)})
        return self.parsed({"starts": self.starts(prompt)})

    def context(self, prompt):
        return "It is about " + " ".join(prompt.partition("Passage: ")[2].split()[:5])

    def statements(self, prompt):
        """Each numbered sentence as it is."""
        content = prompt.partition("Content:\n")[2]
        return [{"text": text, "sentences": [int(number)]} for number, text in LINE.findall(content)]

    def starts(self, prompt):
        """Every third line."""
        return list(range(1, len(LINE.findall(prompt)) + 1, 3))

    def parsed(self, value):
        return Answer(json.dumps(value), value, "stop", Usage(10, 5))

    def said(self, text):
        return Answer(text, None, "stop", Usage(10, 5))

    def failed(self, kind, finish="stop"):
        return Answer("{", None, finish, Usage(10, 5), failure=Failure(kind, f"{kind}, as scripted."))


class WildModel(ScriptedModel):
    model = "wild"

    def answer(self, request):
        prompt = request.messages[-1].content
        kind = blake2b(prompt.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] % 8
        if kind == 0:
            return self.failed("truncated", "length")
        if kind == 1:
            return self.failed("invalid")
        if kind == 2:
            return self.failed("refused")
        if request.schema is None:
            return self.said("\x1b[31m\u202e  \n\ud800" if kind == 3 else "word " * 400)
        lines = LINE.findall(prompt)
        if "starts" in request.schema["properties"]:
            return self.parsed({"starts": [[5, 1], [0], [10**9], [1, 1], []][kind - 3]})
        wild = [
            [],
            [{"text": "Martians built it in 1877.", "sentences": [1]}],
            [{"text": text[: len(text) // 2], "sentences": [int(n), 99, -1]} for n, text in lines[::2]],
            [{"text": "x" * 5000, "sentences": [1, 1]}, {"text": "", "sentences": [1]}, {"text": "a", "sentences": []}],
            [{"text": lines[-1][1] if lines else "a", "sentences": list(range(1, 50))}],
        ]
        return self.parsed({"statements": wild[kind - 3]})


class HashedEmbedder:
    """Vectors without meaning, at no cost: each is made of the hash of its text, so that cuts fall anywhere."""

    fingerprint, dimensions, max_tokens = "hashed", 64, 1_000_000

    def overhead(self, role):
        return 2

    def embed(self, texts, role, *, progress=None):
        digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass")).digest() for text in texts)
        vectors = np.frombuffer(digests, dtype=np.int8).reshape(len(texts), 64).astype(np.float32) + 8
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
