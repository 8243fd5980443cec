"""faircut cuts documents into chunks with every strategy that people use, and compares the cuts fairly."""

__version__ = "0.1.0"
