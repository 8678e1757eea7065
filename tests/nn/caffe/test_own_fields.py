"""Bytes beside Caffe's fields in the state of a solver: there for this library, not there for Caffe."""

import warnings

import h5py
import numpy as np
import pytest

import nd
from nn.caffe import SavedState, proto, read_message, read_state, unknown_fields, write_state
from nn.caffe.command_line import main
from tests.cells import every_row

NAMES = ["s.solverstate", "s.solverstate.h5"]
STATE = SavedState(7, "x.caffemodel", 2, [np.arange(3, dtype="float32")])
PAYLOADS = [b"a", bytes(range(256)), bytes(127), bytes(128), b"\xff" * 20_000]


@every_row("name", NAMES)
@every_row("extra", [b"", *PAYLOADS])
@every_row("isolated", [False, True])
def test_round_trip(name, extra, isolated, tmp_path):
    if isolated and len(extra) != 256:  # a process takes its time
        return
    write_state(STATE._replace(extra=extra), tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = read_state(tmp_path / name, isolated)
    assert got[:3] == STATE[:3]
    assert got.extra == extra
    np.testing.assert_array_equal(got.history[0], STATE.history[0])


def test_the_rest_is_what_caffe_writes(tmp_path):
    """Without them the bytes are the same; with them there is one more field behind Caffe's."""
    write_state(STATE, tmp_path / "plain.solverstate")
    write_state(STATE._replace(extra=b"abc"), tmp_path / "more.solverstate")
    plain, more = ((tmp_path / f"{name}.solverstate").read_bytes() for name in ("plain", "more"))
    assert more == plain + b"\xda\xec\x09\x03abc"  # 20171 * 8 + 2 in groups of seven bits, and the length
    write_state(STATE._replace(extra=b"abc"), tmp_path / "more.h5")
    with h5py.File(tmp_path / "more.h5") as file:
        assert sorted(file) == ["current_step", "history", "iter", "learned_net", "ndwright"]
    write_state(STATE, tmp_path / "plain.h5")
    with h5py.File(tmp_path / "plain.h5") as file:
        assert sorted(file) == ["current_step", "history", "iter", "learned_net"]


def test_they_are_no_unknown_field(tmp_path):
    write_state(STATE._replace(extra=b"abc"), tmp_path / "s.solverstate")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        message = read_message(tmp_path / "s.solverstate", "SolverState")
    assert unknown_fields(message) == []
    assert message.SerializeToString().endswith(b"abc")  # and are kept in the message
    other = proto.NetState.FromString(b"\xda\xec\x09\x03abc")
    assert [field.number for field in unknown_fields(other)] == [20171]
    number = proto.SolverState.FromString(b"\xd8\xec\x09\x03")  # of that number, but no bytes
    assert [field.number for field in unknown_fields(number)] == [20171]


def test_the_last_one_counts(tmp_path):
    path = tmp_path / "s.solverstate"
    write_state(STATE._replace(extra=b"abc"), path)
    path.write_bytes(path.read_bytes() + b"\xda\xec\x09\x01z")
    assert read_state(path).extra == b"z"


def test_a_conversion_keeps_them(tmp_path):
    first, second, third = (str(tmp_path / name) for name in ("a.solverstate", "b.solverstate.h5", "c.solverstate"))
    write_state(STATE._replace(extra=PAYLOADS[1]), first)
    assert main(["convert", first, second]) == 0
    assert main(["convert", second, third]) == 0
    assert read_state(third).extra == PAYLOADS[1]


def test_damaged_hdf5(tmp_path):
    path = tmp_path / "s.h5"
    write_state(STATE._replace(extra=b"abc"), path)
    with h5py.File(path, "a") as file:
        del file["ndwright/extra"]
        file["ndwright/extra"] = "no base"
    with pytest.raises(nd.FormatError, match=r"s\.h5: 'ndwright/extra' must be bytes in base 64, got "):
        read_state(path)
