import pytest

from tests.stand_ins import make_backend

CUPY_ON_CPU = "cupy on the cpu"
BACKENDS = ("numpy-readonly", "strict", CUPY_ON_CPU)  # the first is NumPy's, and sees to it that inputs are only read


def pytest_generate_tests(metafunc):
    if "any_backend" in metafunc.fixturenames:
        chosen = metafunc.config.getoption("--backend")
        metafunc.parametrize("any_backend", [chosen] if chosen else BACKENDS, indirect=True)


@pytest.fixture
def any_backend(request):
    """As `backend`, with CupyBackend on the stand-in for CuPy too; not made the current one."""
    return request.getfixturevalue("device") if request.param == CUPY_ON_CPU else make_backend(request.param)
