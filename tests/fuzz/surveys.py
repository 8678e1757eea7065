"""Mutants, one after the other: each is taken, or refused by an error of a type that is meant for it."""

import resource
import time
import traceback
import warnings

import nd

MOST_SECONDS = 5.0  # of the processor for one mutant: on a busy machine the clock says more
MOST_GROWTH = 512 << 10  # kilobytes of resident memory, over all mutants


def check(kind, run, count, most_seconds=MOST_SECONDS, most_growth=MOST_GROWTH):
    """Run mutants 0 to `count` - 1, ``run(number)``: some are taken, some refused, nothing else happens to any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of unknown and dropped fields, and of numbers that are no longer sensible
        taken, wrong = survey(run, count, most_seconds, most_growth)
    print(f"{kind}: {count} mutants, {taken} taken, {len(wrong)} wrong")
    assert wrong == {}
    assert 0 < taken < count


def survey(run, count, most_seconds, most_growth):
    """Return how many mutants were taken, and what must not have happened by number."""
    taken, wrong, before = 0, {}, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(count):
        started = time.process_time()
        try:
            run(number)
            taken += 1
        except (nd.NdError, OSError):
            pass
        except Exception as error:
            wrong[number] = "".join(traceback.format_exception(error)[-3:])[-900:]
        seconds = time.process_time() - started
        if seconds > most_seconds:
            wrong[number] = f"took {seconds:.1f} s"
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if growth > most_growth:
        wrong["memory"] = f"{growth} kB"
    return taken, wrong
