"""Wrong arguments for everything public: an error of ours that says what is wrong, or a sensible answer.

``make fuzz-api`` calls everything; ``FUZZ_API=nd.dataset make fuzz-api`` what begins so.
"""

import os
from collections import Counter

import pytest

import nd
from tests.fuzz.api.left_out import EXEMPT, LONG
from tests.fuzz.api.probing import Probe
from tests.fuzz.api.surface import public
from tests.sweeps import rows_of, share

PREFIX = os.environ.get("FUZZ_API", "")
LEAST = 10_000  # calls, where everything is called


@pytest.fixture
def probe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nd.set_backend("numpy")
    return Probe(tmp_path)


def targets(probe):
    return [target for target in probe.targets() if target.name.startswith(PREFIX)]


@pytest.mark.slow
def test_everything_public_can_be_called_with_good_arguments(probe):
    for target in targets(probe):
        probe.check_good(target)
    assert sorted(set(probe.uncallable)) == []


def test_exceptions_are_named_after_what_there_is(probe):
    names = public()
    methods = {name for value in names.values() for name in dir(value)}
    for name in EXEMPT:
        owner, _, member = name.rpartition(".")
        assert (owner == "*" and member in methods) or name in names or hasattr(names.get(owner), member), name
    for name in LONG:
        owner, _, member = name.partition(":")[0].rpartition(".")
        assert hasattr(names[owner], member), name


@pytest.mark.slow
def test_no_wrong_argument_gives_an_error_from_inside_or_is_taken(probe):
    complaints = [complaint for target in rows_of(targets(probe)) for complaint in probe.complaints(target)]
    print(f"\n{probe.calls} calls, {len(complaints)} complaints: {dict(Counter(each.what for each in complaints))}")
    print(*(" | ".join(each) for each in complaints), sep="\n")
    assert PREFIX or probe.calls >= share(LEAST)
    assert complaints == []
