"""Text to spans and counts: sentence boundaries and exact token counts, without anything that knows documents."""
