"""A study is opened on this machine alone, says where, and closes when it is told to."""

import os
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from snellen.errors import SnellenError
from snellen.study.serving import serve
from snellen.study.store import Store
from study_files import write_study


def test_serve_says_where_it_is_and_is_closed_by_ctrl_c(tmp_path):
    study = write_study(tmp_path, "reasoning", {"problems": "1"})
    command = [sys.executable, "-m", "snellen", "study", "serve", str(study), "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        told = [process.stdout.readline() for _ in range(4)]
        people, control, desk = (line.split()[-1] for line in told[:3])
        assert people.startswith("http://127.0.0.1:")
        assert httpx.get(people).status_code == 200
        assert "group=" in control
        with httpx.Client(follow_redirects=True) as client:
            assert "How far the study is" in client.get(desk).text
        port = int(people.split(":")[2].strip("/"))
        with pytest.raises(OSError, match=r"refused|timed out"):
            socket.create_connection(("127.0.0.2", port), 1)  # another address of this machine
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert "Traceback" not in process.stderr.read()
    assert (tmp_path / "study.db").exists()


def test_a_port_that_is_taken_is_told(tiny, tmp_path):
    store = Store(f"sqlite:///{tmp_path}/study.db")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SnellenError, match=f"port {port} .* choose another with --port"):
            serve(tiny, store, port, "", print)
    store.close()
