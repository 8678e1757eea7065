"""ND4J's random generator: the same seed gives the same numbers on NumPy, on CuPy and in Java.

It is counter based: element i of a draw depends on the state and on i alone, and every draw then moves the state
on by the number of its elements. Source: libnd4j ``graph/RandomGenerator.h`` of 1.0.0-beta6/7.

Since 1.0.0-M1 libnd4j keeps 23 of the 32 random bits of a number. `set_release` chooses: with "1.0.0-M2.1" weights from
a seed are those of today's Java to the last bit, without it those of older releases.
"""

from __future__ import annotations

import itertools
import math
import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, cast

from backends.errors import ConfigurationError, DTypeError, ShapeError, check_choice
from backends.generic.random_bits import advanced
from nd.classes import ExplainedType
from nd.on_demand import names_on_demand
from nd.typing import Array

from .arguments import called, checked, converted, rule_of, shown
from .rules import EVEN_NAN, INTEGER, NUMBER, Refused, Rule
from .state import FLOAT_DTYPES, InForce, state

if TYPE_CHECKING:
    from collections.abc import Callable


_MASK64 = 0xFFFFFFFFFFFFFFFF
_BITS_DROPPED = 9
MOST_NUMBERS = 1 << 48
"""Of one draw: more than any memory holds."""
_EVEN_NAN = cast(Rule, rule_of(Annotated[float, EVEN_NAN]))


class _Releases:
    """The release whose numbers new generators draw."""

    keeps_23_bits = False
    since_m2 = False


_releases = _Releases()


@checked
def set_release(release: str) -> None:
    """Let generators constructed from now on, those of networks at `init` say, draw the numbers of Java's release.

    Parameters
    ----------
    release : str
        Of Deeplearning4j: "1.0.0-M1" and later, or an older one, such as "1.0.0-beta7", which is the default.

    Raises
    ------
    ConfigurationError
        It is no release.

    Notes
    -----
    The difference is less than 2^-23 in a uniform number. Since M2 the weights of a Convolution1DLayer are drawn as if
    its kernel and its stride were those of a square. With the newer releases a step with dropout or other noise is
    not recorded on CuPy, where it takes longer.
    """
    match = re.fullmatch(r"(0\.\d+\.\d+|1\.0\.0-(alpha|beta\d*|M\d+(\.\d+)?)|\d+\.\d+\.\d+)", release)
    if match is None:
        raise ConfigurationError(f"set_release: release must be one such as '1.0.0-M2.1', got {shown(release)}.")
    _releases.keeps_23_bits = not release.startswith(("0.", "1.0.0-alpha", "1.0.0-beta"))
    _releases.since_m2 = _releases.keeps_23_bits and not release.startswith("1.0.0-M1")


class Random(metaclass=ExplainedType):
    """A stream of random numbers.

    Parameters
    ----------
    seed : int, optional
        Signed 64-bit. As in ND4J, 0 (and no seed) takes the current time and cannot be repeated.

    Raises
    ------
    ConfigurationError
        The seed is no such integer; when drawing, a probability is outside of 0..1, or low > high, or std < 0.
    ShapeError
        When drawing, n is negative or too large.
    DTypeError, ChoiceError
        When drawing, n is no integer, or the dtype is no floating one.

    Notes
    -----
    A draw that raises leaves the generator as it was.
    """

    def __init__(self, seed: int = 0) -> None:
        self.keeps_23_bits, self.since_m2 = _releases.keeps_23_bits, _releases.since_m2
        self.set_seed(seed)

    def set_seed(self, seed: int) -> None:
        """Start the stream of that seed again."""
        seed = checked_seed("set_seed", seed)
        self.seed = seed
        self.root = (seed or time.time_ns() // 1_000_000) & _MASK64
        self.node = (seed ^ 0xFFFFFFFFDEADBEEF) & _MASK64 if seed else 1298567341

    def get_state(self) -> tuple[int, int]:
        """Return the state, for `set_state`."""
        return self.root, self.node

    @checked
    def set_state(self, saved: tuple[int, int]) -> None:
        """Continue where `get_state` was called."""
        self.root, self.node = saved

    def copy(self) -> Random:
        """Return another generator in the same state."""
        twin = Random.__new__(Random)
        twin.seed, twin.root, twin.node = self.seed, self.root, self.node
        twin.keeps_23_bits, twin.since_m2 = self.keeps_23_bits, self.since_m2
        return twin

    def uniform(self, n: int, dtype: str = "float32", low: float | Array = 0.0, high: float | Array = 1.0) -> Array:
        """Draw ``[n]`` numbers uniform in low .. high."""
        n = _checked_count("Random.uniform", n, dtype)
        low, high = (_number("Random.uniform", name, value) for name, value in (("low", low), ("high", high)))
        if not low <= high:
            raise ConfigurationError(f"Random.uniform: low must be <= high, got {low} and {high}. Exchange them.")

        def draw() -> Array:
            u = self._numbers(n, dtype)
            self._rewind(n)
            return u if (low, high) == (0.0, 1.0) else low + u * (high - low)

        return self._drawn(draw, "UniformDistribution", n, dtype, low=low, high=high)

    def gaussian(self, n: int, dtype: str = "float32", mean: float | Array = 0.0, std: float | Array = 1.0) -> Array:
        """Draw ``[n]`` normally distributed numbers, by Box and Muller on the pairs (e, e + ceil(n / 2))."""
        n = _checked_count("Random.gaussian", n, dtype)
        mean, std = _checked_moments("Random.gaussian", mean, std)

        def draw() -> Array:
            z = self._box_muller(n, dtype)[0] * std + mean
            self._rewind(n)
            return z

        return self._drawn(draw, "GaussianDistribution", n, dtype, mean=mean, std=std)

    def truncated_normal(
        self, n: int, dtype: str = "float32", mean: float | Array = 0.0, std: float | Array = 1.0
    ) -> Array:
        """Draw ``[n]`` normal numbers within two standard deviations of the mean.

        Notes
        -----
        As libnd4j: an outlier is drawn again from positions e and e + ceil(n / 2); for the first half that is the
        same number, and a number that is still outside becomes the mean.
        """
        n = _checked_count("Random.truncated_normal", n, dtype)
        mean, std = _checked_moments("Random.truncated_normal", mean, std)
        backend = state.backend
        z, half = self._box_muller(n, dtype)
        r = self._open_interval(half + n)
        radius = backend.rounded("sqrt", -2.0 * backend.rounded("log", r[:n]))
        again = backend.astype(radius * backend.rounded("cos", (2.0 * math.pi) * r[half:]), dtype)
        z = backend.where(backend.absolute(z) > 2.0, again, z)
        z = backend.where(backend.absolute(z) > 2.0, 0.0, z)
        self._rewind(n)
        return z * std + mean

    def bernoulli(self, n: int, dtype: str = "float32", p: float | Array = 0.5) -> Array:
        """Draw ``[n]`` numbers that are 1 with probability p (a float, or an array ``[]``; where u <= p), else 0."""
        _checked_count("Random.bernoulli", n, dtype)
        threshold = _threshold("Random.bernoulli", p)
        draw = lambda: state.backend.astype(self.uniform(n) <= threshold, dtype)  # noqa: E731
        return self._drawn(draw, "BernoulliDistribution", n, dtype, p=p)

    def retained(self, n: int, dtype: str = "float32", p: float | Array = 0.5) -> Array:
        """Draw ``[n]`` numbers that are 1 with probability p (a float, or an array ``[]``; where u < p), else 0."""
        _checked_count("Random.retained", n, dtype)
        threshold = _threshold("Random.retained", p)
        draw = lambda: state.backend.astype(state.backend.greater(threshold, self.uniform(n)), dtype)  # noqa: E731
        return self._drawn(draw, "DropOut", n, dtype, p=p)

    def dropout_factors(self, out: Array, p: float | Array) -> Array:
        """Write 1 / p where an element stays, with probability p, else 0; draws one number per element, in c order.

        A p that is an array ``[]`` is read when the numbers are drawn, also where that has been recorded.
        """
        backend, known = state.backend, isinstance(p, (int, float))  # else the host does not look: it is on the device
        if known and not 0.0 < p <= 1.0:
            raise ConfigurationError(
                f"Random.dropout_factors: p, the probability to retain, must be 0 < p <= 1, got {p}."
            )
        if backend.reports:
            fields = {"p": p}
            return backend.computed(
                "draw", lambda *_: self._dropout_factors(out, p), "DropOutInverted", self, out, fields
            )
        return self._dropout_factors(out, p)

    def _dropout_factors(self, out: Array, p: float | Array) -> Array:
        backend, n = state.backend, math.prod(out.shape)
        if self.keeps_23_bits or not isinstance(p, (int, float)):
            backend.assign(out, backend.reshape(self.retained(n, backend.dtype_name(out), p), out.shape))
            return backend.divide(out, p, out)
        backend.dropout_factors(self.root, self.node, float(p), out)  # a kernel takes 1 for the bits of an integer
        self._rewind(n)
        return out

    def binomial(self, n: int, dtype: str = "float32", trials: int = 1, p: float | Array = 0.5) -> Array:
        """Draw ``[n]`` counts of successes among `trials` of probability p."""
        n = _checked_count("Random.binomial", n, dtype)
        trials = _checked_integer("Random.binomial", "trials", trials)
        if n * trials >= MOST_NUMBERS:
            raise ShapeError(f"Random.binomial: n times trials must be < {MOST_NUMBERS:,}, got {n:,} x {trials:,}.")
        p = _threshold("Random.binomial", p)
        return self._drawn(
            lambda: self._binomial(n, dtype, trials, p), "BinomialDistribution", n, dtype, trials=trials, p=p
        )

    def _binomial(self, n: int, dtype: str, trials: int, p: float | Array) -> Array:
        backend = state.backend
        u = self._numbers(n * trials + 1, "float32")
        count = backend.full((n,), 0.0, dtype)
        for trial in range(1, trials + 1):
            positions = u[trial::trial][:n]  # element i reads position (i + 1) * trial
            backend.add(count, backend.astype(positions < p, dtype), count)
        self._rewind(n)
        return count

    def _drawn(self, draw: Callable[[], Array], kind: str, n: int, dtype: str, **fields: object) -> Array:
        """Draw; where somebody listens, as the op of that class of `nd.ops`."""
        backend = state.backend
        given = (kind, self, backend.empty((n,), dtype), fields) if backend.reports else None
        return draw() if given is None else backend.computed("draw", lambda *_: draw(), *given)

    def _box_muller(self, n: int, dtype: str) -> tuple[Array, int]:
        backend = state.backend
        half = -(-n // 2)
        r = self._open_interval(2 * half)
        radius = backend.rounded("sqrt", -2.0 * backend.rounded("log", r[:half]))
        angle = (2.0 * math.pi) * r[half:]
        z = backend.concat([radius * backend.rounded("cos", angle), radius * backend.rounded("sin", angle)], 0)[:n]
        return backend.astype(z, dtype), half

    def _open_interval(self, n: int) -> Array:
        """Return uniform numbers in 1e-5 .. 1, so that the logarithm is finite."""
        return 1e-5 + self._numbers(n, "float32") * (1.0 - 1e-5)

    def _numbers(self, n: int, dtype: str) -> Array:
        """Return ``[n]`` numbers in 0..1, of the positions that come next."""
        backend = state.backend
        if not self.keeps_23_bits:
            return backend.random_uniform(self.root, self.node, n, dtype)
        bits = backend.random_raw(self.root, self.node, n) >> _BITS_DROPPED
        return backend.astype(backend.astype(bits, "float32") * 2.0**-23, dtype)

    def _rewind(self, n: int) -> None:
        """Move the state on by a draw of n elements."""
        self.node = advanced(self.node, n)
        state.backend.random_moved(n)


def _threshold(who: str, p: float | Array) -> float | Array:
    """Return the number that uniform numbers are compared with: in their precision, as a float is."""
    p = _number(who, "p", p, _EVEN_NAN)
    if not isinstance(p, float):
        return state.backend.astype(p, "float32")
    if not 0.0 <= p <= 1.0:
        raise ConfigurationError(f"{who}: p must be a probability, 0 <= p <= 1, got {p}.")
    return p


def _checked_moments(who: str, mean: float | Array, std: float | Array) -> tuple[float | Array, float | Array]:
    mean, std = _number(who, "mean", mean), _number(who, "std", std)
    if isinstance(std, float) and not std >= 0.0:
        raise ConfigurationError(f"{who}: std must be >= 0, got {std}.")
    return mean, std


def _number(who: str, name: str, value: float | Array, rule: Rule = NUMBER) -> float | Array:
    """Return a number as a float; an array ``[]``, at which the host does not look, as it is."""
    if getattr(value, "shape", None) == () and hasattr(value, "__setitem__"):  # which NumPy's scalars have not
        return value
    return converted(who, name, rule, value)


def _checked_integer(who: str, name: str, value: object) -> int:
    try:
        number = INTEGER.convert(value)
    except Refused:
        raise DTypeError(f"{who}: {name} must be an integer, got {shown(value)}. Give a whole number.") from None
    if not 0 <= number < MOST_NUMBERS:
        raise ShapeError(f"{who}: {name} must be in 0 .. {MOST_NUMBERS - 1:,}, got {number}.")
    return number


def _checked_count(who: str, n: object, dtype: str) -> int:
    """Return the number of draws as an int; raise errors for it, or for a dtype that is not of floating point."""
    if not isinstance(dtype, str) or dtype not in FLOAT_DTYPES:
        check_choice(who, "dtype", dtype, FLOAT_DTYPES)
    return _checked_integer(who, "n", n)


def checked_seed(who: str, seed: object) -> int:
    """Return a seed as an integer of 64 bits with a sign; raise ConfigurationError for anything else."""
    try:
        number = INTEGER.convert(seed)
    except Refused:
        raise ConfigurationError(f"{who}: seed must be an integer, got {shown(seed)}. Give a whole number.") from None
    if not -(1 << 63) <= number < 1 << 63:
        raise ConfigurationError(f"{who}: seed must fit 64 bits with a sign, got {number}.")
    return number


# ---- the generator that is drawn from


class _Thread(threading.local):
    """A thread's current generator."""

    def __init__(self) -> None:
        self.current = Random()
        self.current.root += next(_threads)  # threads that begin within a millisecond draw different numbers too


_threads = itertools.count()
_thread = _Thread()


def drawing(generator: Random) -> InForce:
    """Do as `use_random`; a block that raises has drawn nothing."""
    return InForce(None, generator, gives_back=True)


@checked
def use_random(generator: Random) -> InForce:
    """Let this thread draw all numbers inside the block from a generator; networks compute so, with their own."""
    return InForce(None, generator)


@checked
def set_random(generator: Random) -> None:
    """Make a generator this thread's current one, as `MultiLayerNetwork.init` does with the network's."""
    _thread.current = generator


def get_random() -> Random:
    """Return the generator that this thread draws from.

    Notes
    -----
    Inside a `use_random` block, and so while a network trains, that is the block's. Otherwise it is the thread's
    current one: at first its own, seeded from the time, then that of the network last initialised in this thread.
    Source: ND4J's ``Nd4j.getRandom``, one per thread. Differs: a network keeps its own, so that neither another network
    nor another thread changes its draws.
    """
    return state.generator or _thread.current


def set_seed(seed: int) -> None:
    """Seed the generator that this thread draws from, see `get_random`: that of the network last initialised, say."""
    get_random().set_seed(seed)


@called
def rand(*shape: int | Sequence[int], dtype: str | None = None) -> Array:
    """Draw an array of numbers uniform in 0..1 from this thread's generator, filled in c order.

    Raises
    ------
    ShapeError, DTypeError
        An axis is negative or no integer, or there are too many numbers.
    ChoiceError
        The dtype is neither float32 nor float64.
    """
    return _shaped("rand", get_random().uniform, shape, dtype)


@called
def randn(*shape: int | Sequence[int], dtype: str | None = None) -> Array:
    """Draw an array of standard normal numbers from this thread's generator, filled in c order. Errors as `rand`."""
    return _shaped("randn", get_random().gaussian, shape, dtype)


def _shaped(who: str, draw: Callable[..., Array], shape: tuple[object, ...], dtype: str | None) -> Array:
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    axes = tuple(_checked_integer(who, "an axis", length) for length in lengths)
    dtype = state.dtype if dtype is None else dtype
    n = _checked_count(f"{who}{list(axes)}", math.prod(axes), dtype)
    state.backend.check_memory(who, 8 * n, f"{n:,} numbers and their bits", "Draw fewer at once.")
    return state.backend.reshape(draw(n, dtype), axes)


__getattr__, _ = names_on_demand(__name__, {})  # which knows other libraries' names
