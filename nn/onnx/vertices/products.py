"""Products of matrices: MatMul, Gemm, Einsum, Det."""

from __future__ import annotations

import math
from collections.abc import Sequence

import nd

from . import functions as f
from .call import Call
from .picking import elements, strides
from .values import Value


def matmul(call: Call) -> Value:
    """The product of matrices, or of stacks of them."""
    return f.matmul(call[0], call[1])


def gemm(call: Call) -> Value:
    """alpha A B + beta C, with A or B transposed where that is said."""
    a, b = call[0], call[1]
    a = f.permute(a, (1, 0)) if call.whole("transA", 0) else a
    b = f.permute(b, (1, 0)) if call.whole("transB", 0) else b
    alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
    product = f.matmul(a, b)
    product = product if alpha == 1.0 else product * alpha
    c = call.get(2)
    return product if c is None else product + (c if beta == 1.0 else c * beta)


# ---- Einsum


def einsum(call: Call) -> Value:
    """Products of elements, summed over the letters that the result has not."""
    values = call.inputs()
    given, arrow, wanted = call.text("equation", "").replace(" ", "").partition("->")
    terms = given.split(",")
    if len(terms) != len(values):
        raise call.refuse(f"an equation of {len(terms)} terms for {len(values)} inputs")
    ellipsis = max(value.ndim - len(term.replace("...", "")) for term, value in zip(terms, values, strict=True))
    hidden = "".join(chr(0x3B1 + number) for number in range(ellipsis))  # letters for the axes of "..."
    labels = [_spelled(term, value.ndim, hidden) for term, value in zip(terms, values, strict=True)]
    if arrow:
        result = wanted.replace("...", hidden)
    else:
        letters = "".join(labels)
        result = hidden + "".join(sorted({one for one in letters if letters.count(one) == 1 and one not in hidden}))
    value, own = _diagonal(values[0], labels[0])
    for number, (other, label) in enumerate(zip(values[1:], labels[1:], strict=True), 1):
        later = set(result).union(*labels[number + 1 :])
        value, own = _contracted(value, own, *_diagonal(other, label), later)
    gone = [axis for axis, letter in enumerate(own) if letter not in result]
    value, own = f.total(value, gone), [letter for letter in own if letter in result]
    return f.permute(value, [own.index(letter) for letter in result])


def _spelled(term: str, ndim: int, hidden: str) -> str:
    """Return a term with letters for the axes that "..." stands for."""
    count = ndim - len(term.replace("...", ""))
    return term.replace("...", hidden[len(hidden) - count :])


def _diagonal(x: Value, labels: Sequence[str]) -> tuple[Value, list[str]]:
    """Return x with a letter that stands there twice once: the elements whose numbers are equal."""
    own = list(dict.fromkeys(labels))
    if len(own) == len(labels):
        return x, own
    steps, shape = strides(x.shape), []
    places = nd.fill(nd.create_uninitialized((), dtype="int64"), 0)
    for number, letter in enumerate(own):
        axes = [axis for axis, label in enumerate(labels) if label == letter]
        shape.append(x.shape[axes[0]])
        position = nd.multiply(nd.arange(0, shape[-1], "int64"), sum(steps[axis] for axis in axes))
        places = nd.add(places, nd.reshape(position, (-1, *(1,) * (len(own) - number - 1))))
    return elements(x, nd.add(places, nd.fill(nd.create_uninitialized(tuple(shape), dtype="int64"), 0))), own


def _contracted(x: Value, of_x: list[str], y: Value, of_y: list[str], later: set[str]) -> tuple[Value, list[str]]:
    """Return the product of two, summed over the letters that nobody needs later, and its letters."""
    alone = [axis for axis, letter in enumerate(of_x) if letter not in later and letter not in of_y]
    x, of_x = f.total(x, alone), [letter for axis, letter in enumerate(of_x) if axis not in alone]
    alone = [axis for axis, letter in enumerate(of_y) if letter not in later and letter not in of_x]
    y, of_y = f.total(y, alone), [letter for axis, letter in enumerate(of_y) if axis not in alone]
    stacked = [letter for letter in of_x if letter in of_y and letter in later]
    summed = [letter for letter in of_x if letter in of_y and letter not in later]
    rows = [letter for letter in of_x if letter not in of_y]
    columns = [letter for letter in of_y if letter not in of_x]
    a = _arranged(x, of_x, stacked, rows, summed)
    b = _arranged(y, of_y, stacked, summed, columns)
    sizes = {**dict(zip(of_y, y.shape, strict=True)), **dict(zip(of_x, x.shape, strict=True))}
    for letter, size in zip(of_y, y.shape, strict=True):
        sizes[letter] = max(sizes[letter], size)
    return f.reshape(f.matmul(a, b), [sizes[one] for one in (*stacked, *rows, *columns)]), [*stacked, *rows, *columns]


def _arranged(x: Value, own: list[str], stacked: list[str], first: list[str], second: list[str]) -> Value:
    """Return x as a stack of matrices."""
    turned = f.permute(x, [own.index(letter) for letter in (*stacked, *first, *second)])
    sizes = dict(zip(own, x.shape, strict=True))
    return f.reshape(
        turned,
        [
            *(sizes[letter] for letter in stacked),
            math.prod(sizes[letter] for letter in first),
            math.prod(sizes[letter] for letter in second),
        ],
    )


# ---- determinants


def det(call: Call) -> Value:
    """The determinant of matrices, by their minors."""
    return _determinant(call[0])


def _determinant(x: Value) -> Value:
    """Return determinants of matrices ``[..., n, n]``, developed by their first rows."""
    size, last = x.shape[-1], x.ndim - 1
    if size == 1:
        return f.reshape(x, x.shape[:-2])
    below, result = f.stretch(x, last - 1, 1, size), None
    for column in range(size):
        rest = f.concat([f.stretch(below, last, 0, column), f.stretch(below, last, column + 1, size)], last)
        factor = f.stretch(f.stretch(x, last - 1, 0, 1), last, column, column + 1)
        term = f.reshape(factor, x.shape[:-2]) * _determinant(rest)
        result = term if result is None else result + term if column % 2 == 0 else result - term
    return result if result is not None else x
