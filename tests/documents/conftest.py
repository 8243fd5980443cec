"""What the tests of readers share."""

import pytest

from faircut.documents.pdf import PDF


@pytest.fixture
def read_pdf(tmp_path):
    def read(raw):
        path = tmp_path / "file.pdf"
        path.write_bytes(raw)
        return PDF.read(path, "file.pdf")

    return read
