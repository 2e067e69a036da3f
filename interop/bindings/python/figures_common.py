"""How the figures are measured, and on what."""

import time

PAIRS = ("a_weather", "b_issues", "c_records", "d_fhir")


def least(work, clock=time.process_time):
    """The least time of one call, in microseconds."""
    count = 1
    while True:
        start = clock()
        for _ in range(count):
            work()
        if clock() - start > 0.02:
            break
        count *= 2
    best = float("inf")
    for _ in range(9):
        start = clock()
        for _ in range(count):
            work()
        best = min(best, (clock() - start) / count)
    return best * 1e6
