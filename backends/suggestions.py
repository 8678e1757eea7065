"""The nearest of the allowed names to a wrong one: ``Did you mean 'n_out'?``

Worked out when an error is shown or raised, never before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

_LIKE_CHOICES, _LIKE_NAMES = 0.5, 0.65
"""How alike a word and the nearest name have to be: there are more names than choices."""
_SAME_PLACES = {"setting": "argument"}
"""Kind of name -> the one whose words it shares."""


def suggestion(place: str, word: object, allowed: Iterable[str]) -> str:
    """Return `` Did you mean ...?``, with what a wrong word means or the nearest name; empty where nothing is near.

    Parameters
    ----------
    place : str
        What kind of name it is: a key of `OTHER_WORDS`, or another. After " of " also whose, the nearest first:
        ``"argument of fit"``, ``"attribute of History JavaNames"``, ``"name of nd.dataset"``.
    word : object
        What was given.
    allowed : iterable of str
        The names that the place has.
    """
    names = list(allowed)
    ours, _, explanation = (meaning(place, str(word), names) or _nearest(place, str(word), names)).partition(": ")
    if not ours:
        return ""
    more = f" ({explanation})" if explanation else ""
    return f" Did you mean {repr(ours) if ours.isidentifier() else ours}{more}?"


def meaning(place: str, word: str, names: Sequence[str]) -> str:
    """Return what a word of another library, or in another spelling, is here; empty where that is not known."""
    from .other_words import OTHER_WORDS  # which programs without mistakes do not need

    kind, _, owners = place.partition(" of ")
    places = [*(f"{kind} of {owner}" for owner in owners.split()), _SAME_PLACES.get(kind, kind)]
    options = [option for each in places if each in OTHER_WORDS for option in _words(each).get(plain(word), ())]
    fitting = [option for option in options if _fits(option, names)]
    spelled = [name for name in names if plain(name) == plain(word) and name != word]
    if kind == "name":
        return next(iter([*fitting, *spelled]), "") or _path(word, options, owners)
    return next(iter([*fitting, *spelled, *filter(_stands_alone, options)]), "")


def _path(word: str, options: list[str], package: str) -> str:
    """Return what a name is that the package does not have: in a module of ours, or in another library."""
    from .other_modules import place_of
    from .other_words import OTHER_WORDS

    options = sorted(options, key=lambda option: _head(option).count("."))
    as_written = [option for option in options if word in OTHER_WORDS["name"][option].split()]
    return next(iter(as_written), "") or place_of(word, package) or next(iter(options), "")


@cache
def _words(place: str) -> dict[str, list[str]]:
    """Return word, without what spellings differ in -> what it may mean there."""
    from .other_words import OTHER_WORDS

    meanings: dict[str, list[str]] = {}
    for ours, words in OTHER_WORDS[place].items():
        for word in dict.fromkeys(map(plain, words.split())):
            meanings.setdefault(word, []).append(ours)
    return meanings


@lru_cache(10_000)
def plain(word: str) -> str:
    """Return a word without what spellings differ in: ``batchFirst`` and ``batch_first`` are ``batchfirst``."""
    return re.sub(r"[\W_]", "", word).lower()


def _head(option: str) -> str:
    """Return the path with which an option begins: ``n_out`` of ``n_out: how many``, ``optimize.Sgd``."""
    path = re.match(r"'?((?:[\w.]|:(?! ))*)", option)
    return path.group(1) if path else ""


def _fits(option: str, names: Sequence[str]) -> bool:
    """Tell whether an option begins with one of the names; a choice also where the choices are not known."""
    name = _head(option).rpartition(".")[2]
    if option[0] == "'":
        return not names or plain(name) in map(plain, names)
    return name in names


def _stands_alone(option: str) -> bool:
    """Tell whether an option says itself where it belongs."""
    ours, _, explanation = option.partition(": ")
    if re.match(r"'|[a-z]\w*($|=)", ours):  # a choice, an argument, an attribute
        return ours[0] != "'" and explanation.startswith(("in ", "of "))
    return True


def _nearest(place: str, word: str, names: list[str]) -> str:
    from difflib import get_close_matches

    cutoff = _LIKE_NAMES if place.partition(" of ")[0] in ("argument", "attribute", "name") else _LIKE_CHOICES
    by_plain = {plain(name): name for name in reversed(names)}
    near = get_close_matches(word.lower(), names, n=1, cutoff=cutoff)
    near = near or [by_plain[name] for name in get_close_matches(plain(word), by_plain, n=1, cutoff=cutoff)]
    return next(iter(near), "")
