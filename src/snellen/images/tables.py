"""What is in a table of Parquet or Arrow?

Parquet is read by DuckDB; an Arrow file is mapped into memory by pyarrow and read by DuckDB too.
"""

from __future__ import annotations

import glob
import json
from typing import TYPE_CHECKING, Any, TypeAlias

from snellen.errors import MissingExtra, Unloadable, extra

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Row: TypeAlias = tuple[Any, ...]

ROWS_AT_ONCE = 64
QUIETLY = "SET threads = 1; SET enable_progress_bar = false"
"""With more threads, more waits in memory; and DuckDB's own bar would go to standard output."""
FIRST_SAFE_PYARROW = 15
"""Before 14.0.1 it unpickled what a file said its types were (CVE-2023-47248)."""


def rows(file: Path, verb: str, source: str = "") -> Iterator[Row]:
    """Ask a table for something, a few rows at a time and in their order."""
    import duckdb

    parquet = file.suffix == ".parquet"
    source = source or ("read_parquet(?)" if parquet else "arrow_table")
    connection = duckdb.connect()
    try:
        connection.execute(QUIETLY)
        if not parquet:
            connection.register("arrow_table", _arrow_table(file))
        # a path is a pattern to DuckDB
        given = [glob.escape(str(file))] if parquet else []
        answer = connection.execute(f"{verb} FROM {source}", given)
        while some := answer.fetchmany(ROWS_AT_ONCE):
            yield from some
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise Unloadable(f"{file} cannot be read as a table: {reason}") from error
    finally:
        connection.close()


def types(file: Path) -> dict[str, str]:
    """Return what DuckDB calls the type of each column."""
    return {str(name): str(kind) for name, kind, *_ in rows(file, "DESCRIBE SELECT *")}


def features(file: Path) -> dict[str, Any]:
    """Return what the library `datasets` noted about the columns in the table's own schema."""
    if file.suffix == ".parquet":
        held = dict[Any, Any](rows(file, "SELECT key, value", "parquet_kv_metadata(?)"))
    else:
        held = _arrow_table(file).schema.metadata or {}
    try:
        found = json.loads(held.get(b"huggingface", b"{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError):  # another writer's note of that name
        return {}
    return found if isinstance(found, dict) else {}


def quoted(column: str) -> str:
    """Write the name of a column as SQL has it."""
    return '"' + column.replace('"', '""') + '"'


def _arrow_table(file: Path) -> Any:
    """Map a file into memory; what is not looked at is not loaded."""
    purpose = f"reading {file.name}, an Arrow file,"
    with extra("hf", purpose):
        import pyarrow as pa
    if int(pa.__version__.partition(".")[0]) < FIRST_SAFE_PYARROW:
        raise MissingExtra(
            f"{purpose} needs pyarrow {FIRST_SAFE_PYARROW} or newer, and {pa.__version__} is "
            "installed, which can be made to run what a file holds; update it with: "
            "pip install 'snellen[hf]'"
        )
    try:
        return pa.ipc.open_stream(pa.memory_map(str(file))).read_all()
    except (pa.ArrowException, OSError) as error:
        raise Unloadable(f"{file} cannot be read as an Arrow stream: {error}") from error
