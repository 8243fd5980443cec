"""A language model whose answers are scripted: for every kind of request about questions a function of its prompt."""

import json
import re
from collections import Counter

from faircut.llm.contract import Answer, Failure

KINDS = {
    "Write one question that this text answers": "ask",
    "Write the question again": "reword",
    "Answer from what you know": "blind",
    "Which of these passages": "elsewhere",
}


def kind_of(prompt):
    return next(kind for words, kind in KINDS.items() if words in prompt)


def text_of(prompt):
    """What stands between the marks."""
    return re.search(r"<text>\n(.*?)\n</text>", prompt, re.DOTALL)[1]


def question_of(prompt):
    return re.search(r"Question: (.*?)\n\n", prompt, re.DOTALL)[1]


QUIET = {
    "ask": lambda prompt: {"question": "", "quotes": []},
    "reword": lambda prompt: {"question": question_of(prompt)},
    "blind": lambda prompt: {"answer": "unknown"},
    "elsewhere": lambda prompt: {"places": []},
}


class Scripted:
    """A ``LanguageModel``; an answer of None is a failure. ``asked`` counts prompts, ``stop_at`` raises there."""

    model = "scripted"

    def __init__(self, **answers):
        self.answers = QUIET | answers
        self.asked = Counter()
        self.prompts = []

    def complete(self, requests, *, progress=None):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        prompt = request.messages[-1].content
        self.asked[kind_of(prompt)] += 1
        self.prompts.append(prompt)
        value = self.answers[kind_of(prompt)](prompt)
        if value is None:
            return Answer(failure=Failure("invalid", "no JSON"))
        return Answer(json.dumps(value), value)


def from_list(pairs):
    """Asks the first question of (quote, question) whose quote the window holds."""

    def ask(prompt):
        for quote, question in pairs:
            if quote in text_of(prompt):
                return {"question": question, "quotes": [quote]}
        return {"question": "", "quotes": []}

    return ask
