"""Damage done to files on purpose, the same in every run: bytes, lengths, pieces of others, and JSON's structure."""

import copy
import json
import random
import struct

NUMBERS = (
    0,
    1,
    -1,
    2,
    255,
    256,
    65535,
    65536,
    2**31 - 1,
    -(2**31),
    2**31,
    2**32 - 1,
    2**53,
    2**63 - 1,
    -(2**63),
    10**30,
)
BURIED = "the place of what lies deep"
TEXTS = ("", "NaN", "Infinity", "relu", "@class", "a.b.C", "\x00", "\ud800", "x" * 5000, "../../x", "1")
VALUES = (
    *NUMBERS, *TEXTS, None, True, False, 0.5, -0.0, 1e308, float("inf"), float("nan"), [], {}, [[]], {"@class": "a.B"},
    {"dense": {}}, {"": None}, [None] * 3,
)  # fmt: skip


# ---- bytes


def flip_bits(data, rng, others):
    for _ in range(rng.choice((1, 1, 2, 8, 64))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def overwrite(data, rng, others):
    start, count = rng.randrange(len(data)), rng.choice((1, 2, 4, 8, 32))
    data[start : start + count] = rng.randbytes(count) if rng.random() < 0.5 else bytes([rng.choice((0, 255))]) * count
    return data


def truncate(data, rng, others):
    return data[: rng.randrange(len(data))]


def remove(data, rng, others):
    start = rng.randrange(len(data))
    del data[start : start + rng.choice((1, 2, 4, 30, 500))]
    return data


def repeat(data, rng, others):
    start, count = rng.randrange(len(data)), rng.choice((1, 4, 30, 500))
    data[start:start] = data[start : start + count] * rng.choice((1, 2, 50))
    return data


def splice(data, rng, others):
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other)) :]


def edit_length(data, rng, others):
    """Put a number where a length may stand, big-endian as in arrays or little-endian as in zips."""
    layout = rng.choice((">H", ">i", ">q", "<H", "<I", "<Q"))
    size = struct.calcsize(layout)
    if len(data) < size:
        return data
    start = rng.randrange(len(data) - size + 1)
    value = rng.choice(NUMBERS) & ((1 << 8 * size) - 1)
    data[start : start + size] = value.to_bytes(size, "big" if layout[0] == ">" else "little")
    return data


BYTE_EDITS = (edit_length, flip_bits, overwrite, remove, repeat, splice, truncate)


def damaged_bytes(content, rng, others):
    """Return a damaged copy of bytes; `others` are what pieces come from."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice(BYTE_EDITS)(data, rng, others) if data else data
    return bytes(data)


# ---- JSON


def _places(document):
    """Return every container with each of its keys."""
    places, pending = [], [document]
    while pending:
        found = pending.pop()
        keys = found.keys() if isinstance(found, dict) else range(len(found))
        for key in keys:
            places.append((found, key))
            if isinstance(found[key], (dict, list)):
                pending.append(found[key])
    return places


def replace_value(parent, key, rng, places):
    parent[key] = copy.deepcopy(rng.choice(VALUES))


def change_number(parent, key, rng, places):
    if isinstance(parent[key], (int, float)):
        parent[key] = rng.choice(
            (-parent[key], parent[key] + 1, parent[key] * 1e9, str(parent[key]), rng.choice(NUMBERS))
        )


def remove_value(parent, key, rng, places):
    del parent[key]


def move_value(parent, key, rng, places):
    other, there = rng.choice(places)
    parent[key] = copy.deepcopy(other[there])


def wrap_value(parent, key, rng, places):
    for _ in range(rng.choice((1, 2, 12))):
        parent[key] = [parent[key]] if rng.random() < 0.5 else {rng.choice(("layer", "fwd", "underlying")): parent[key]}


def rename_key(parent, key, rng, places):
    if isinstance(parent, dict):
        there = rng.choice(places)[1]
        parent[str(there) if rng.random() < 0.7 else rng.choice(TEXTS)] = parent.pop(key)


def repeat_value(parent, key, rng, places):
    if isinstance(parent, list):
        parent[key:key] = [copy.deepcopy(parent[key]) for _ in range(rng.choice((1, 3, 30)))]


JSON_EDITS = (change_number, move_value, remove_value, rename_key, repeat_value, replace_value, wrap_value)


def damaged_json(text, rng, others):
    """Return a damaged copy of a JSON text: mostly still JSON, sometimes not even that."""
    if rng.random() < 0.1:
        return damaged_bytes(text, rng, others)
    document = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        places = _places(document)
        if places:
            rng.choice(JSON_EDITS)(*rng.choice(places), rng, places)
    places = _places(document)
    if places and rng.random() < 0.03:
        return _buried(document, rng, *rng.choice(places)).encode()
    return json.dumps(document).encode()


def _buried(document, rng, parent, key):
    """Return a text in which a value lies deep inside others; no encoder would get that far."""
    parent[key], depth, opened = BURIED, rng.choice((60, 300, 900, 20_000)), rng.choice(("[", '{"layer":'))
    buried = opened * depth + "1" + {"[": "]"}.get(opened, "}") * depth
    return json.dumps(document).replace(f'"{BURIED}"', buried)


def generator(seed, number):
    """Return the random numbers of one mutant: its number alone brings it back."""
    return random.Random(f"{seed}-{number}")
