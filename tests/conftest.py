import os

import pytest

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # as workers have it, so that bytes can be compared
os.environ.setdefault("KERAS_BACKEND", "torch")
os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where nothing may be skipped, a skip is a failure that says why."""
    report = yield
    if (
        report.skipped
        and os.environ.get("SNELLEN_SKIP_NOTHING")
        and not hasattr(report, "wasxfail")
    ):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {report.longrepr[-1]}"
    return report
