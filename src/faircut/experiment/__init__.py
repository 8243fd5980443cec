"""The pipeline: a plan in, a run folder with per-question scores out."""
