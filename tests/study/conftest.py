"""Studies to be tried, and the databases to try them on."""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from snellen.errors import MissingExtra
from study_files import write_study

try:
    from snellen.study.design import read
    from snellen.study.serving import opened
    from snellen.study.store import Store
except MissingExtra:  # without the extra 'study' there is nothing here to be tried
    if os.environ.get("SNELLEN_SKIP_NOTHING"):
        raise
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """The address of a PostgreSQL server of our own, that ends with the tests."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not places:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    with tempfile.TemporaryDirectory(prefix="snellen-pg-") as folder:
        server = Cluster(places[-1], Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop("fast")


class Cluster:
    """A PostgreSQL server in a folder, reached by a socket in it.

    It does not sync: what these tests kill are programs, not the machine.
    """

    def __init__(self, programs, folder):
        self.programs, self.folder, self.count = programs, folder, 0
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        if os.geteuid() == 0:  # PostgreSQL refuses to be run by root
            shutil.chown(folder, self.user)
        self._run("initdb", "-D", folder / "data", "-A", "trust", "-U", "snellen", "--no-sync")

    def start(self):
        settings = f"-k {self.folder} -c listen_addresses= -c max_connections=60 -c fsync=off"
        log = self.folder / "log"
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-l", log, "-o", settings, "start")

    def stop(self, how):
        self._run("pg_ctl", "-D", self.folder / "data", "-w", "-m", how, "stop")

    def database(self):
        """Make a new database and return its address."""
        self.count += 1
        name = f"study{self.count}"
        self._run("createdb", "-h", self.folder, "-U", "snellen", name)
        return f"postgresql+psycopg://snellen@/{name}?host={self.folder}"

    def _run(self, program, *arguments):
        as_user = {"user": self.user} if os.geteuid() == 0 else {}
        subprocess.run(
            [self.programs / program, *arguments],
            check=True, stdout=subprocess.DEVNULL, cwd=self.folder, **as_user,
        )  # fmt: skip


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """A new store's address, on either kind of database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/study.db"
    return request.getfixturevalue("postgres").database()


@pytest.fixture
def store(url):
    made = Store(url)
    yield made
    made.close()


@pytest.fixture
def tiny(tmp_path):
    """The quickest of studies: one problem's pictures, a few items."""
    path = write_study(
        tmp_path, "reasoning", {"problems": "1,4", "repeats": 3},
        "each = 2", "rest = 1",
    )  # fmt: skip
    return read(path)


@pytest.fixture
def open_study():
    """Open a study over loopback; the address is returned."""
    from contextlib import ExitStack

    with ExitStack() as held:
        yield lambda design, store, **options: held.enter_context(opened(design, store, **options))
