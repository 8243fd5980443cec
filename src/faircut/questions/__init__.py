"""Questions with evidence: ``read_questions`` checks a file against the documents, ``write_questions`` writes one."""

from faircut.questions.native import read_questions, write_questions

__all__ = ["read_questions", "write_questions"]
