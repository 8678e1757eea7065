"""Calls everything public with one wrong argument at a time, and says what came of it."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import nd

from .cases import CASES
from .left_out import EXEMPT, LONG
from .prepared import PREPARED
from .surface import Target, is_data, methods, parameters_of, public
from .values import WRONG, annotation_of, fits, good_values, is_nonsense, wrong_values

LONGEST = 2000  # characters of a message, at most
SECONDS = 10  # more than any of these calls takes


class Complaint(NamedTuple):
    """What a wrong argument should not have done."""

    target: str
    parameter: str
    value: str
    what: str
    """"inside" for an error that is none of ours, "accepted" for nonsense, "hangs"."""
    text: str


class Probe:
    """Knows how to call everything.

    Parameters
    ----------
    folder : path
        Where files may be written.
    """

    def __init__(self, folder: Any) -> None:
        self.folder = folder
        self.good = good_values(folder)
        self.calls = 0
        self.uncallable: list[str] = []

    # ---- what there is

    def targets(self) -> Iterator[Target]:
        """Yield everything public: functions, constructors, methods of what these make."""
        seen: set[Any] = set()
        for name, value in public().items():
            if is_data(value) or self.exempt(name):
                continue
            yield Target(name, None, parameters_of(value), value)
            if isinstance(value, type):
                instance = self.instance(name, value)
                if instance is not None:
                    yield from (each for each in methods(name, instance, seen) if not self.exempt(each.name))

    @staticmethod
    def exempt(name: str) -> bool:
        """Tell whether a name, or the class that it belongs to, is in the list of exceptions."""
        return name in EXEMPT or f"*.{name.rpartition('.')[2]}" in EXEMPT or name.rpartition(".")[0] in EXEMPT

    def instance(self, name: str, made_by: Any) -> Any:
        """Make an instance from good arguments; None where it cannot be."""
        try:
            return self.prepared(name, made_by)
        except Exception as error:
            self.uncallable.append(f"{name}: {type(error).__name__}: {error}"[:200])
            return None

    def function(self, target: Target) -> Callable[..., Any]:
        """Return what to call: a method of a new instance, so that no call sees what another did."""
        if target.owner is None:
            return target.function
        owner = public()[target.owner]
        return getattr(self.prepared(target.owner, owner), target.name.rpartition(".")[2])

    def prepared(self, name: str, made_by: Any) -> Any:
        """Return an instance whose methods can be called."""
        make = PREPARED.get(name, made_by)
        return self.call(make, parameters_of(made_by), self.arguments(name, parameters_of(made_by)))

    def arguments(self, name: str, parameters: tuple[inspect.Parameter, ...]) -> dict[str, Any]:
        """Return good arguments for all that has no default, and for what the case of that name says."""
        own = CASES.get(name, {})
        if callable(own):
            own = own(self.folder)
        found = dict(own)
        if name.endswith(".restore"):
            owner = name.rpartition(".")[0]
            found["state"] = self.prepared(owner, public()[owner]).state()
        for parameter in parameters:
            required = parameter.default is inspect.Parameter.empty
            if parameter.name not in found and required and parameter.kind in _BY_NAME:
                found[parameter.name] = self.good[parameter.name]()
        return found

    # ---- calls

    def check_good(self, target: Target) -> None:
        """Note it where good arguments are refused: wrong ones would then say nothing."""
        with quiet():
            try:
                self.call(self.function(target), target.parameters, self.arguments(target.name, target.parameters))
            except Exception as error:
                self.uncallable.append(f"{target.name}: {type(error).__name__}: {error}"[:200])

    def complaints(self, target: Target) -> Iterator[Complaint]:
        """Yield what wrong arguments do that they should not."""
        for parameter in target.parameters:
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                continue
            annotation = annotation_of(
                target.function or getattr(self.function(target), "__func__", self.function(target)), parameter
            )
            for value in wrong_values(huge=f"{target.name}:{parameter.name}" not in LONG):
                if parameter.default is not inspect.Parameter.empty and value is parameter.default:
                    continue
                self.calls += 1
                suits = False if is_nonsense(parameter.annotation, value) else fits(annotation, value)
                said = self.outcome(target, parameter, value, suits)
                if said is not None:
                    yield Complaint(target.name, parameter.name, repr(value)[:60].replace("\n", " "), *said)

    def outcome(
        self, target: Target, parameter: inspect.Parameter, value: Any, suits: bool | None
    ) -> tuple[str, str] | None:
        """Call with one argument exchanged; return what is to complain of, None where all is well."""
        arguments = self.arguments(target.name, target.parameters) | {parameter.name: value}
        with quiet():
            try:
                self.call(self.function(target), target.parameters, arguments)
            except nd.NdError as error:
                return ("longer", f"{len(str(error)):,} characters") if len(str(error)) > LONGEST else None
            except TimeoutError:  # an OSError too
                return "hangs", f"longer than {SECONDS} s"
            except OSError as error:
                return None if error.filename is not None or error.errno is not None else ("inside", repr(error)[:200])
            except Exception as error:
                return "inside", f"{type(error).__name__}: {error}"[:200]
        return ("accepted", "") if suits is False else None

    @staticmethod
    def call(function: Callable[..., Any], parameters: tuple[inspect.Parameter, ...], arguments: dict[str, Any]) -> Any:
        """Call; variable arguments are one. What is made lazily begins."""
        variable = any(each.kind is inspect.Parameter.VAR_POSITIONAL and each.name in arguments for each in parameters)
        by_place = [
            each for each in parameters if each.kind in _BY_PLACE or (variable and each.kind in _BEFORE_VARIABLE)
        ]
        defaults = {each.name: each.default for each in by_place if each.default is not each.empty} if variable else {}
        given = defaults | arguments
        positional = [given[each.name] for each in by_place if each.name in given]
        arguments = {name: value for name, value in arguments.items() if name not in {each.name for each in by_place}}
        with time_limit():
            found = function(*positional, **arguments)
            if inspect.isgenerator(found):
                next(found, None)
            return found


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
_BEFORE_VARIABLE = (inspect.Parameter.POSITIONAL_OR_KEYWORD,)
_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_ONLY)


@contextlib.contextmanager
def time_limit() -> Iterator[None]:
    """Raise TimeoutError where the block takes too long."""

    def stop(number: int, frame: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Swallow what is printed and warned of, and put back the backend, the type, the generator and the hooks."""
    state = nd.random.get_random().get_state()
    folder = os.getcwd()
    standard = [os.dup(number) for number in range(3)]  # whoever takes an integer for a path closes one of these
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(io.StringIO()))
        stack.enter_context(contextlib.redirect_stderr(io.StringIO()))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            nd.set_backend("numpy")
            nd.set_default_dtype("float32")
            nd.random.get_random().set_state(state)
            for hook in filter(callable, WRONG):
                nd.remove_hook(hook)
            os.chdir(folder)
            for number, kept in enumerate(standard):
                os.dup2(kept, number)
                os.close(kept)
