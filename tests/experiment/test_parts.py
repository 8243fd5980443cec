"""What a job keeps on disk: a fault of the disk is told or made good, never written out as a result."""

import sqlite3
import zlib

import pytest

from faircut.errors import StoreError
from faircut.experiment.parts import Part, compressed, open_parts

LINES = (b'{"id": 1}\n{"id": 2}\n', b'{"id": 3}\n')


@pytest.fixture
def folder(tmp_path):
    """A folder with one finished document of three records in two pieces."""
    with open_parts(tmp_path / "parts") as store:
        for number, piece in enumerate(LINES):
            store.add_piece("key", number, compressed(piece))
        store.finish("key", Part("a.txt", 3, ("a warning",)))
    return tmp_path / "parts"


def change(folder, statement, *values):
    connection = sqlite3.connect(folder / "parts.sqlite")
    with connection:
        connection.execute(statement, values)
    connection.close()


def test_what_was_finished_is_there_again(folder):
    with open_parts(folder) as store:
        assert store.find("key") == Part("a.txt", 3, ("a warning",))
        assert tuple(store.lines("key")) == LINES


@pytest.mark.parametrize("found", [b"\0\1\2\3", compressed(LINES[0])[:-3], zlib.compress(b""), "text", None], ids=repr)
def test_a_changed_piece_is_an_error_that_says_what_to_do(folder, found):
    if found is None:
        change(folder, "DELETE FROM pieces WHERE number = 0")
    else:
        change(folder, "UPDATE pieces SET lines = ? WHERE number = 0", found)
    with open_parts(folder) as store, pytest.raises(StoreError, match=r"damaged \(.*\); use --fresh"):
        list(store.lines("key"))
    with open_parts(folder, fresh=True) as store:
        assert store.find("key") is None


@pytest.mark.parametrize("facts", ["[1,", "{}", '["a.txt", "many", []]', '["a.txt", 3]', "7"])
def test_changed_facts_make_a_document_unfinished(folder, facts):
    change(folder, "UPDATE parts SET facts = ?", facts)
    with open_parts(folder) as store:
        assert store.find("key") is None
        store.add_piece("key", 0, compressed(LINES[1]))
        store.finish("key", Part("a.txt", 1))
        assert tuple(store.lines("key")) == LINES[1:]


def test_tables_of_others_are_damage_not_a_full_disk(folder):
    change(folder, "ALTER TABLE parts RENAME COLUMN facts TO other")
    with open_parts(folder) as store, pytest.raises(StoreError, match=r"damaged \(.*\); use --fresh"):
        store.find("key")
