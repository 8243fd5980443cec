"""The local explorer of ``faircut serve``: documents and specs come in over HTTP, pages and cuts go out.

Reading order: ``limits.py``, ``allowed.py`` (which specs a page may ask for), ``forms.py`` (their parameters as
sliders), ``documents.py``, ``worker.py`` (the process that reads, cuts and searches), ``workers.py``, ``sessions.py``,
``guard.py`` and ``bodies.py`` (who may ask, and how much), ``handlers.py``, ``pages.py``, ``app.py``, ``running.py``.
"""
