"""How the figures are measured, and on what."""

import time

PAIRS = ("a_weather", "b_issues", "c_records", "d_fhir")

ROUNDS = 80
# Of a call that alone takes longer than a measurement of the others.
ROUNDS_OF_LONG = 15


def least(*works, clock=time.process_time):
    """The least time of one call of each, in microseconds. They take turns, so that a busy machine disturbs all alike."""
    counts = [count(work, clock) for work in works]
    best = [float("inf")] * len(works)
    for turn in range(ROUNDS):
        for index, work in enumerate(works):
            if counts[index] == 1 and turn >= ROUNDS_OF_LONG:
                continue
            start = clock()
            for _ in range(counts[index]):
                work()
            best[index] = min(best[index], (clock() - start) / counts[index])
    return [seconds * 1e6 for seconds in best]


def count(work, clock):
    """How many calls can be measured."""
    calls = 1
    while True:
        start = clock()
        for _ in range(calls):
            work()
        if clock() - start > 0.01:
            return calls
        calls *= 2
