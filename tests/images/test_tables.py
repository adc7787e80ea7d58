import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from snellen.images.tables import quoted, rows, types

ROWS = 60_000

READ = """
import sys
from pathlib import Path
from snellen.images.tables import rows
print(sum(len(content) for content, in rows(Path(sys.argv[1]), "SELECT image")))
status = Path("/proc/self/status").read_text()  # a child's ru_maxrss begins at its parent's
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""


def read(file):
    told = subprocess.run(
        [sys.executable, "-c", READ, str(file)], capture_output=True, text=True, check=True
    )
    return [int(line) for line in told.stdout.split()]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells peaks on Linux only")
def test_a_large_table_is_never_held(tmp_path):
    """600 MB, in the groups of 2,048 rows that DuckDB writes at least: 20 MB each."""
    for name, count in (("few", 10), ("many", ROWS)):
        duckdb.sql(
            f"""COPY (SELECT encode(repeat('x', 9999) || n % 10) AS image
            FROM range({count}) AS numbers(n)) TO '{tmp_path / name}.parquet'
            (FORMAT parquet, ROW_GROUP_SIZE 2048, COMPRESSION zstd)"""
        )
    length, few = read(tmp_path / "few.parquet")
    assert length == 10 * 10_000
    length, many = read(tmp_path / "many.parquet")
    assert length == ROWS * 10_000
    assert many - few < 300


def test_rows_come_in_their_order_and_columns_by_any_name(tmp_path):
    duckdb.sql("""SELECT n AS "a ""b"" {c}" FROM range(20000) t(n)""").write_parquet(
        str(tmp_path / "t.parquet")
    )
    assert types(tmp_path / "t.parquet") == {'a "b" {c}': "BIGINT"}
    column = quoted('a "b" {c}')
    found = rows(tmp_path / "t.parquet", f"SELECT {column}")
    assert [n for (n,) in found] == list(range(20_000))
