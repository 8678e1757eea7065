import logging

import pytest

from backends.cuda.graphs import say_once
from tests.stand_ins import make_backend

BACKENDS = ("numpy-readonly", "strict")  # the first is NumPy's, and sees to it that inputs are only read


def pytest_generate_tests(metafunc):
    if "any_backend" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--backend")
        metafunc.parametrize("any_backend", [chosen] if chosen else BACKENDS, indirect=True)


@pytest.fixture
def any_backend(request):
    """As `backend`, one test for each; not made the current one."""
    return make_backend(request.param)


@pytest.fixture
def says(caplog):
    """What is logged, once in each test."""
    say_once.cache_clear()
    with caplog.at_level(logging.INFO, logger="nd"):
        yield lambda: [record.message for record in caplog.records if record.levelno == logging.INFO]
    say_once.cache_clear()
