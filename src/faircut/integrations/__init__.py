"""faircut inside LangChain, LlamaIndex and Haystack, and their splitters inside faircut.

``langchain.py``, ``llama_index.py`` and ``haystack.py`` need their framework (an extra each) and are imported by name.
``as_chunker`` takes a splitter object of any of them, or of chonkie, semchunk and text-splitter, and needs none.
"""

from faircut.integrations.given import as_chunker

__all__ = ["as_chunker"]
