"""The numbers below were printed by java.util.Random and java.util.Collections of OpenJDK 17."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from backends.errors import DataError
from nd.dataset.java_random import JavaRandom

JAVA_DRAWS = [
    (42, 10, [0, 3, 8, 4, 0, 5, 5, 8, 9, 3, 2, 2]),
    (42, 16, [11, 0, 10, 0, 4, 15, 4, 11, 10, 1, 14, 7]),
    (-1, 1000, [913, 225, 579, 439, 604, 438, 477, 478]),
    (0, 1 << 30, [784870680, 892752974, 258274014, 651058223, 684421757]),
    (7, 2147483647, [1569164236, 1371249164, 1608829485, 20678044, 747989380]),
    (-(2**63), 100, [60, 48, 29, 47, 15, 53]),
    (2**63 - 1, 100, [13, 25, 79, 39, 4, 38]),
    (5, 1, [0, 0, 0]),
]


@pytest.mark.parametrize(("seed", "bound", "expected"), JAVA_DRAWS)
def test_next_int_draws_what_java_draws(seed: int, bound: int, expected: list[int]) -> None:
    random = JavaRandom(seed)
    assert [random.next_int(bound) for _ in expected] == expected


def test_next_int_rejects_as_java_does() -> None:
    random = JavaRandom(7)
    expected = [20678044, 747989380, 1053566254, 755731200, 259278708, 542588911, 178712961, 234738279]
    # every second draw is refused with this bound: the first number came from the fourth
    assert [random.next_int((1 << 30) + 1) for _ in expected] == expected


@pytest.mark.parametrize("bound", [0, -3, 2**31])
def test_next_int_refuses_bounds_that_java_refuses(bound: int) -> None:
    with pytest.raises(DataError, match=rf"bound must be 1 to 2147483647, got {bound}"):
        JavaRandom(1).next_int(bound)


def test_repeated_shuffles_of_60000_match_collections_shuffle() -> None:
    first = [5310, 36545, 10388, 10768, 1311, 42299, 11497, 35849, 39700, 62]
    second = [40270, 325, 45894, 38983, 5913, 49764, 14395, 20285, 33035, 11924]
    checksums = [2127852141, 639413261, 3352064982, 1722670630, 1186277308]
    random = JavaRandom(12345)
    order = np.arange(60000)
    found = []
    for _ in checksums:
        random.shuffle(order)
        found.append(order.copy())
    assert found[0][:10].tolist() == first
    assert found[1][:10].tolist() == second
    assert [zlib.crc32(order.astype(">i4").tobytes()) for order in found] == checksums


def test_shuffle_takes_lists_and_rows() -> None:
    letters = list("abcdefghij")
    JavaRandom(3).shuffle(letters)
    assert "".join(letters) == "gfbdihjace"
    rows = np.arange(20).reshape(10, 2)
    JavaRandom(3).shuffle(rows)
    assert rows[:, 0].tolist() == [12, 10, 2, 6, 16, 14, 18, 0, 4, 8]
    assert rows[:, 1].tolist() == [13, 11, 3, 7, 17, 15, 19, 1, 5, 9]


def test_shuffle_of_a_view_reorders_only_that_part() -> None:
    order = np.arange(10)
    JavaRandom(1).shuffle(order[:4])
    assert sorted(order[:4].tolist()) == [0, 1, 2, 3]
    assert order[4:].tolist() == [4, 5, 6, 7, 8, 9]
