# SPDX-License-Identifier: MIT
"""The targets, as tables, and what the results say about them."""
import collections
import statistics

Speed = collections.namedtuple("Speed", "name numerator denominator threshold cases")
Target = collections.namedtuple("Target", "name bound threshold values")  # bound: "≥" or "≤"; values: {where: number}

FAST, SLOW = ("hits-zstd", "hits-lz4"), ("hits-zlib", "hits-lzma", "events-")
EVERY = ("",)
LIBRARY, CODEC = "library, all processors", "codec alone, all processors"
CODEC_USED = "codec alone, on the processors used"

# Ratios of medians, in the cases whose names begin with one of `cases`.
SPEED = [
    Speed("library, all processors / codec alone, all processors", LIBRARY, CODEC, 0.9, EVERY),
    Speed("library, all processors / ROOT bulk", LIBRARY, "ROOT bulk", 2, EVERY),
    Speed("library, all processors / uproot", LIBRARY, "uproot", 2, EVERY),
    Speed("mount, first read of zstd and lz4 / ROOT bulk", "mount, whole", "ROOT bulk", 1.2, FAST),
    Speed("the same in pieces of 1 MiB", "mount, 1 MiB pieces", "ROOT bulk", 1.2, FAST),
    Speed("mount, first read of zstd / codec alone, 1 thread", "mount, whole", "codec alone, 1 thread", 0.5, FAST[:1]),
    Speed("the same in pieces of 1 MiB", "mount, 1 MiB pieces", "codec alone, 1 thread", 0.5, FAST[:1]),
    Speed("mount, first read of lz4 / codec alone, 1 thread", "mount, whole", "codec alone, 1 thread", 0.4, FAST[1:]),
    Speed("the same in pieces of 1 MiB", "mount, 1 MiB pieces", "codec alone, 1 thread", 0.4, FAST[1:]),
    Speed("mount, zlib, lzma, all of events / codec alone on the processors used", "mount, whole", CODEC_USED, 0.9, SLOW),
    Speed("mount, zlib, lzma, all of events / uproot", "mount, whole", "uproot", 1.5, SLOW),
    Speed("mount, second read / tmpfs", "mount, whole again", "tmpfs, whole", 0.9, EVERY),
    Speed("mount, mapped again and summed / tmpfs", "mount, mapped again", "tmpfs, mapped", 0.9, EVERY),
]
GROWTH, TOTAL, FAIR_SHARE, CALL_SECONDS = 1.3, 0.8, 0.5, 0.005

median = statistics.median


def threads_word(count):
    return f"{count} thread{'s' * (count > 1)}"


def codec_on_used(results, case, threads):
    """The codec's speed on as many processors as the daemon used, between that on one and that on all."""
    speed = results["speed"][case]
    one, most = (speed.get(f"codec alone, {threads_word(count)}") for count in (1, threads))
    used = results["processors"][case].get("mount, whole")
    if not one or not most or not used:
        return None
    share = (min(max(median(used), 1), threads) - 1) / (threads - 1) if threads > 1 else 0
    return median(one) + share * (median(most) - median(one))


def speed_of(results, case, what):
    threads = results["machine"]["threads"]
    if what == CODEC_USED:
        return codec_on_used(results, case, threads)
    values = results["speed"][case].get(what.replace("all processors", threads_word(threads)))
    return median(values) if values else None


def speed_targets(results):
    for target in SPEED:
        values = {}
        for case in results["speed"]:
            above, below = (speed_of(results, case, what) for what in (target.numerator, target.denominator))
            if case.startswith(target.cases) and above and below:
                values[case] = above / below
        yield Target(target.name, "≥", target.threshold, values)


def opening_targets(results, kind):
    files = list(results[kind].items())
    growth = {name: median(file["mount and stat"]) / file["count"] / (median(last["mount and stat"]) / last["count"])
              for (_, last), (name, file) in zip(files, files[1:])}
    yield Target(f"mount and stat for each of the {kind}, beside the next smaller file", "≤", GROWTH, growth)
    for what, ours, theirs in (("mount and stat / ROOT's process", "mount and stat", "ROOT, process"),
                               ("library's open / ROOT's, in the process", "library, open", "ROOT, open")):
        values = {name: median(file[ours]) / median(file[theirs]) for name, file in files if theirs in file}
        yield Target(f"{what}, by {kind}", "≤", 1, values)


def reader_targets(readers):
    speeds = median(readers["total"]) / median(readers["codec alone"])
    yield Target("16 readers together / codec alone, all processors", "≥", TOTAL, {"": speeds})
    yield Target("slowest of 16 readers / their mean", "≥", FAIR_SHARE, {"": min(readers["slowest reader"])})
    calls = {what: sorted(values) for what, values in readers["calls"].items()
             if values and "tmpfs" not in what}
    for name, choose in (("median", median), ("99 of 100", lambda values: values[99 * len(values) // 100]),
                         ("longest", max)):
        yield Target(f"calls for metadata meanwhile, ms, {name}", "≤", 1000 * CALL_SECONDS,
                     {what: 1000 * choose(values) for what, values in calls.items()})


def random_targets(files):
    yield Target("random reads: pages decoded / pages touched", "≤", 1,
                 {name: file["decoded"] / file["touched"] for name, file in files.items()})
    yield Target("random reads once more: pages decoded", "≤", 0,
                 {name: file["decoded again"] for name, file in files.items()})


def all_targets(results):
    """Those that something was measured for."""
    found = list(speed_targets(results))
    for kind in ("fields", "pages"):
        found += opening_targets(results, kind)
    if results["readers"]:
        found += reader_targets(results["readers"])
    found.append(Target("the daemon's memory / what it may occupy", "≤", 1,
                        {name: file["memory"] / file["bound"] for name, file in results["memory"].items()}))
    found += random_targets(results["random"])
    return [target for target in found if target.values]


def is_met(target, value):
    return value >= target.threshold if target.bound == "≥" else value <= target.threshold


def verdict(target):
    missed = [where for where, value in target.values.items() if not is_met(target, value)]
    if not missed:
        return "met"
    if len(missed) == len(target.values):
        return "**not met**"
    return "**not met** with " + ", ".join(missed)


def value_range(target):
    """Both ends, so that a value that misses the target is never hidden by its rounding."""
    low, high = min(target.values.values()), max(target.values.values())
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f}–{high:.2f}"


def table(results):
    found = all_targets(results)
    lines = ["| target | | today | |", "|---|---|---|---|"] if found else []
    for target in found:
        lines.append(f"| {target.name} | {target.bound} {target.threshold:g} | {value_range(target)} | {verdict(target)} |")
    return lines
