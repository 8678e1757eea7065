"""The size of the second-level cache, from what Linux writes about it."""

import pytest

from backends.cpu.caches import USUAL_L2, l2_cache_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2048K\n", 2 << 20),
        ("512K", 512 << 10),
        ("1M\n", 1 << 20),
        ("", USUAL_L2),
        ("many", USUAL_L2),
        ("7\n", USUAL_L2),
    ],
)
def test_sizes_in_kilobytes_and_megabytes(text, size, tmp_path):
    path = tmp_path / "size"
    path.write_text(text)
    assert l2_cache_bytes(path) == size


def test_where_nothing_is_written_it_is_a_usual_one(tmp_path):
    assert l2_cache_bytes(tmp_path / "absent") == USUAL_L2
