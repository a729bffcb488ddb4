# SPDX-License-Identifier: MIT
"""The targets as tables, with the results of the first build."""
import collections

from . import arrow, chains, remote, ttree
from .rounds import MET, MISSED, UNDECIDED, judge, median, quartiles, ratios, series

# Ratios of each round, for cases whose names begin with one of `cases`: of each alone, or their
# median.
Speed = collections.namedtuple("Speed", "name numerator denominator threshold cases in_median",
                               defaults=[False])
# values: {where: [number of each round]}; bound: "≥" or "≤"; bare: the same of a mount that does
# nothing, if measured
Target = collections.namedtuple("Target", "name bound threshold values is_exact bare", defaults=[False, {}])

ZSTD, LZ4, ZLIB, LZMA, PLAIN, EVENTS, SMALL = (
    ("hits-zstd",), ("hits-lz4",), ("hits-zlib",), ("hits-lzma",), ("hits-none",), ("events-",),
    ("wide2000-",))
EVERY, FAST, SLOW, LARGE = ("",), ZSTD + LZ4, ZLIB + LZMA + EVENTS, ZSTD + LZ4 + ZLIB + PLAIN
LIBRARY, CODEC, CODEC_ONE = "library, all processors", "codec alone, all processors", "codec alone, 1 thread"
CODEC_USED = "codec alone, on the processors used"
MOUNT, PIECES, DIRECT = "mount, whole", "mount, 1 MiB pieces", "mount direct, whole"
BARE = {MOUNT: "bare mount, whole", DIRECT: "bare mount direct, whole"}

SPEED = [
    Speed("library, all processors / codec alone, all processors", LIBRARY, CODEC, 0.9, EVERY),
    Speed("library, all processors / ROOT bulk", LIBRARY, "ROOT bulk", 2, EVERY),
    Speed("library, all processors / uproot", LIBRARY, "uproot", 2, EVERY),
    Speed("mount, first read of zstd and lz4 / ROOT bulk", MOUNT, "ROOT bulk", 1.4, FAST),
    Speed("the same in pieces of 1 MiB", PIECES, "ROOT bulk", 1.2, FAST),
    Speed("the same with direct I/O", DIRECT, "ROOT bulk", 1.6, FAST),
    Speed("mount, first read of zstd / codec alone, 1 thread", MOUNT, CODEC_ONE, 0.55, ZSTD),
    Speed("the same in pieces of 1 MiB", PIECES, CODEC_ONE, 0.5, ZSTD),
    Speed("the same with direct I/O", DIRECT, CODEC_ONE, 0.65, ZSTD),
    Speed("mount, first read of lz4 / codec alone, 1 thread", MOUNT, CODEC_ONE, 0.4, LZ4),
    Speed("the same in pieces of 1 MiB", PIECES, CODEC_ONE, 0.4, LZ4),
    Speed("mount, first read of zlib / codec alone, 1 thread", MOUNT, CODEC_ONE, 0.8, ZLIB),
    Speed("the same with direct I/O", DIRECT, CODEC_ONE, 1.1, ZLIB),
    Speed("mount, first read of lzma / ROOT bulk", MOUNT, "ROOT bulk", 1, LZMA),
    Speed("mount, first read of plain / ROOT bulk", MOUNT, "ROOT bulk", 0.8, PLAIN),
    Speed("the same with direct I/O", DIRECT, "ROOT bulk", 1.2, PLAIN),
    Speed("mount, zlib, lzma, all of events / codec alone on the processors used", MOUNT, CODEC_USED, 0.9,
          SLOW),
    Speed("mount, zlib, lzma / uproot", MOUNT, "uproot", 1.5, ZLIB + LZMA),
    Speed("mount, all of events / uproot", MOUNT, "uproot", 3.5, EVENTS),
    Speed("mount, 2,000 small columns / ROOT bulk", MOUNT, "ROOT bulk", 0.4, SMALL),
    Speed("mount, second read / tmpfs, median over files of 16 MB", "mount, whole again", "tmpfs, whole",
          0.9, LARGE, True),
    Speed("mount, mapped again and summed / tmpfs, median over files of 16 MB", "mount, mapped again",
          "tmpfs, mapped",
          0.9, LARGE, True),
]
OUT_OF_REACH = "out of reach"
GROWTH, TOTAL, FAIR_SHARE = 1.3, 0.8, 0.5
LANCE_WHOLE, LANCE_MEDIAN = 1.5, 2
LANCE_MOUNT = [("vectors", ("vectors",), 1), ("int64 and float64", ("int64", "float64"), 0.4)]
REMOTE_SECONDS = {"one column": {"20 ms": 0.17, "100 ms": 0.75},
                  "five columns": {"20 ms": 0.23, "100 ms": 0.95},
                  "60 columns": {"20 ms": 1.1, "100 ms": 2}, remote.OPEN: {"100 ms": 0.23},
                  remote.VALUE: {"100 ms": 0.35}, remote.VALUE_AGAIN: {"100 ms": 0.13}}
REMOTE_COUNTS = [(f"one column: {remote.REQUESTS}", "≤", remote.CLUSTERS + 3),
                 (f"{remote.VALUE}: {remote.REQUESTS}", "≤", 1),
                 (remote.AGAIN, "≤", 0), *((f"{what}: {remote.BEYOND}", "≤", 0.25)
                                           for what in remote.COLUMNS),
                 (remote.MEMORY, "≤", remote.CACHE_BYTES + (32 << 20))]
FASTEST_ROOT = "ROOT, the fastest way"
TTREE_WHOLE = [(ttree.CODEC, 0.8), (FASTEST_ROOT, 2), (ttree.UPROOT, 2)]
TTREE_MOUNT, TTREE_OPEN, TTREE_REMOTE = 1.2, [(ttree.UPROOT, 0.1), (ttree.ROOT_OPEN, 0.5)], 0.4
ARROW_PAGES = {arrow.OWN: 2, arrow.NONE: 1.3}
CALLS_MILLISECONDS = {"99 of 100": 2.5, "longest": 8}


def threads_word(count):
    return f"{count} thread{'s' * (count > 1)}"


def hundredth(values, share=99):
    """The given percentile."""
    return sorted(values)[share * len(values) // 100]


def codec_on_used(speed, used, threads):
    """For one round: the codec's speed on as many processors as the daemon used, interpolated
    between one and all."""
    one, most = (speed[f"codec alone, {threads_word(count)}"] for count in (1, threads))
    share = (min(max(used, 1), threads) - 1) / (threads - 1) if threads > 1 else 0
    return one + share * (most - one)


def with_codec_on_used(results, case):
    threads = results["machine"]["threads"]
    rounds = []
    for speed, used in zip(results["speed"][case], results["processors"][case]):
        is_known = MOUNT in used and f"codec alone, {threads_word(threads)}" in speed
        rounds.append(speed | {CODEC_USED: codec_on_used(speed, used[MOUNT], threads)} if is_known else speed)
    return rounds


def speed_targets(results):
    rounds = {case: with_codec_on_used(results, case) for case in results["speed"]}
    for target in SPEED:
        above, below = (what.replace("all processors", threads_word(results["machine"]["threads"]))
                        for what in (target.numerator, target.denominator))
        values, bare = ({case: ratios(found, what, below) for case, found in rounds.items()
                         if case.startswith(target.cases)}
                        for what in (above, BARE.get(above)))
        values = {case: found for case, found in values.items() if found}
        if target.in_median and values:
            values = {"": [median(of_round) for of_round in zip(*values.values())]}
        yield Target(target.name, "≥", target.threshold, values,
                     bare={case: found for case, found in bare.items() if found})


def opening_targets(results, kind):
    files = list(results[kind].items())
    growth = {}
    for (_, last), (name, file) in zip(files, files[1:]):
        each, before = ([value / of["count"] for value in series(of["rounds"], "mount and stat")]
                        for of in (file, last))
        growth[name] = [value / smaller for value, smaller in zip(each, before)]
    yield Target(f"mount and stat for each of the {kind}, beside the next smaller file", "≤", GROWTH, growth)
    for what, ours, theirs in (("mount and stat / ROOT's process", "mount and stat", "ROOT, process"),
                               ("library's open / ROOT's, in the process", "library, open", "ROOT, open")):
        yield Target(f"{what}, by {kind}", "≤", 1, {name: ratios(file["rounds"], ours, theirs) for name,
                                                    file in files})


def calls_of(rounds, prefix="", kind="calls"):
    """{what: [[seconds of each call] of each round]}, without rounds that have no call."""
    calls = {}
    for found in series(rounds, f"{prefix}{kind}"):
        for what, seconds in found.items():
            calls.setdefault(what, []).append(seconds)
    return {what: [seconds for seconds in of_rounds if seconds] for what, of_rounds in calls.items()
            if any(of_rounds)}


def reader_targets(rounds):
    yield Target("16 readers together / codec alone, all processors", "≥", TOTAL,
                 {"": ratios(rounds, "readers together", "codec alone")})
    yield Target("slowest of 16 readers / their mean", "≥", FAIR_SHARE,
                 {"": series(rounds, "slowest reader / mean")})
    calls = {what: of_rounds for what, of_rounds in calls_of(rounds).items() if "tmpfs" not in what}
    for name, choose in (("99 of 100", hundredth), ("longest", max)):
        yield Target(f"calls for metadata meanwhile, ms, {name}", "≤", CALLS_MILLISECONDS[name],
                     {what: [1000 * choose(seconds) for seconds in of_rounds] for what,
                      of_rounds in calls.items()})


def python_targets(cases):
    """Compared with the library with memory allocated before, and with uproot."""
    for above, below, bound, threshold in (("library", "ntuple, arrays that are there", "≤", 1.05),
                                           ("ntuple, arrays that are there", "uproot", "≥", 2),
                                           ("ntuple, new arrays", "uproot", "≥", 2)):
        yield Target(f"Python: {above} / {below}", bound, threshold,
                     {case: ratios(rounds, above, below) for case, rounds in cases.items()})


def random_targets(files):
    yield Target("random reads: pages decoded / pages touched", "≤", 1,
                 {name: [decoded / file["touched"] for decoded in series(file["rounds"], "decoded")]
                  for name, file in files.items()}, True)
    yield Target("random reads once more: pages decoded", "≤", 0,
                 {name: series(file["rounds"], "decoded again") for name, file in files.items()}, True)


def chains_targets(cases):
    for above, below, threshold in ((chains.CHAIN, chains.SINGLES, 1.05), (chains.RUN, chains.ALL, 0.1)):
        yield Target(f"first read: {above} / {below}", "≤", threshold,
                     {name: ratios(rounds, above, below) for name, rounds in cases.items()})


LANCE_REMOTE = 1.2


def remote_targets(cases):
    """Seconds by line, and counts. Peers are measured beside them."""
    datasets = {line: rounds for line, rounds in cases.items() if line.startswith(remote.OF_LANCE)}
    cases = {line: rounds for line, rounds in cases.items() if line not in datasets}
    for what in remote.COLUMNS:
        yield Target(f"remote, Lance: {what} / pylance", "≤", LANCE_REMOTE,
                     {line: ratios(rounds, what, f"pylance: {what}") for line, rounds in datasets.items()})
    for what, thresholds in REMOTE_SECONDS.items():
        for line, threshold in thresholds.items():
            yield Target(f"by a line of {line}: {what}, seconds", "≤", threshold,
                         {"": series(cases.get(line, []), what)})
    for what, bound, threshold in REMOTE_COUNTS:
        yield Target(f"remote: {what}", bound, threshold,
                     {line: series(rounds, what) for line, rounds in cases.items()}, True)
    for peer in ("uproot", "ROOT"):
        for what in list(remote.COLUMNS)[:2]:
            yield Target(f"remote: {what} / {peer}", "≤", 0.5,
                         {line: ratios(rounds, what, f"{peer}: {what}") for line, rounds in cases.items()})


def lance_targets(found):
    """Compared with pylance. {what: {file: ...}}, empty if nothing was measured."""
    whole = {file: ratios(rounds, "library", "pylance") for file, rounds in found.get("whole", {}).items()}
    yield Target("Lance: library / pylance, whole columns", "≥", LANCE_WHOLE, whole)
    in_rounds = [values for values in whole.values() if values]
    yield Target("Lance: the same, median over the columns", "≥", LANCE_MEDIAN,
                 {"": [median(of_round) for of_round in zip(*in_rounds)]})
    for name, cases, threshold in LANCE_MOUNT:
        yield Target(f"Lance: mount, first numpy.fromfile of {name} / pylance", "≥", threshold,
                     {file: ratios(rounds, "mount, numpy.fromfile", "pylance") for file,
                      rounds in found.get("whole", {}).items()
                      if file.startswith(cases)})
    reads = found.get("random", {})
    yield from (target._replace(name=f"Lance: {target.name}") for target in random_targets(reads))
    yield Target("Lance: random reads / pylance's take_rows of as many rows", "≤", 1,
                 {version: ratios(file["rounds"], "seconds per read", "pylance, take_rows of as many rows")
                  for version, file in reads.items()})
    files = found.get("open", {})
    yield Target("Lance: library's open / pylance's", "≤", 1,
                 {name: ratios(file["rounds"], "library, open", "pylance, open") for name,
                  file in files.items()})
    yield Target("Lance: open for each of the columns or fragments, beside a tenth of them", "≤", GROWTH,
                 lance_growth(files))


def arrow_targets(cases):
    for readahead, threshold in ARROW_PAGES.items():
        yield Target(f"pages that a query through table.arrow decodes / those of its columns, {readahead}",
                     "≤", threshold,
                     {f"{where}, {program}": ratios(rounds, f"{program}, {readahead}", arrow.BASE)
                      for where, rounds in cases.items() for program in arrow.PROGRAMS}, True)
    yield Target(arrow.SIZE, "≤", 1.1, {where: series(rounds, arrow.SIZE) for where, rounds in cases.items()},
                 True)


def with_fastest_root(rounds):
    """Compared with the fastest way of ROOT in each round, also with that of its first passes."""
    for when in "", ttree.IN_NEW_PROCESS:
        rounds = [found | {FASTEST_ROOT + when: max(ways)} if ways else found
                  for found in rounds
                  for ways in [[found[way + when] for way in ttree.WAYS.values() if way + when in found]]]
    return rounds


def ttree_targets(found):
    """Compared with the codec, ROOT and uproot. {what: {case: rounds}}, empty if nothing was
    measured."""
    whole, column = ({case: with_fastest_root(rounds) for case, rounds in found.get(part, {}).items()}
                     for part in ("whole", "column"))
    for below, threshold in TTREE_WHOLE:
        yield Target(f"TTree: library / {below}", "≥", threshold,
                     {case: ratios(rounds, ttree.LIBRARY, below) for case, rounds in whole.items()})
    for below in FASTEST_ROOT + ttree.IN_NEW_PROCESS, FASTEST_ROOT:
        yield Target(f"TTree: mount, first numpy.fromfile of a branch / {below}", "≥", TTREE_MOUNT,
                     {case: ratios(rounds, ttree.MOUNT, below) for case, rounds in column.items()})
    for below, threshold in TTREE_OPEN:
        yield Target(f"TTree: 1,000 branches, from opening to the first value, library / {below}", "≤",
                     threshold,
                     {case: ratios(rounds, ttree.LIBRARY, below) for case,
                      rounds in found.get("open", {}).items()})
    yield Target(f"TTree: a branch by http, line of {ttree.ROUND_TRIP} ms, library / uproot", "≤",
                 TTREE_REMOTE,
                 {case: ratios(rounds, ttree.LIBRARY, ttree.UPROOT) for case,
                  rounds in found.get("remote", {}).items()})


def lance_growth(files):
    """{name: [seconds per column of a file, divided by those of a file with a tenth of the
    columns, of each round]}."""
    growth = {}
    for (_, last), (name, file) in zip(files.items(), list(files.items())[1:]):
        if file["count"] > last["count"]:
            growth[name] = [value / smaller * last["count"] / file["count"]
                            for value, smaller in zip(*(series(of["rounds"], "library, open")
                                                        for of in (file, last)))]
    return growth


def all_targets(results):
    """Those with measurements."""
    found = list(speed_targets(results))
    for kind in ("fields", "pages"):
        found += opening_targets(results, kind)
    found += reader_targets(results["readers"])
    found.append(Target("the daemon's memory / what it may occupy", "≤", 1,
                        {name: [file["memory"] / file["bound"]] for name, file in results["memory"].items()},
                        True))
    found += random_targets(results["random"])
    found += arrow_targets(results["arrow"])
    found += chains_targets(results["chains"])
    found += python_targets(results["python"])
    found += remote_targets(results["remote"])
    found += lance_targets(results["lance"])
    found += ttree_targets(results["ttree"])
    found = [target._replace(values={where: values for where, values in target.values.items() if values})
             for target in found]
    return [target for target in found if target.values]


def judge_case(target, where):
    """A target that a mount without work also misses is out of reach."""
    found = judge(target.values[where], target.bound, target.threshold, target.is_exact)
    is_bounded = where in target.bare and judge(target.bare[where], target.bound, target.threshold) == MISSED
    return OUT_OF_REACH if found == MISSED and is_bounded else found


def verdict(target):
    judged = {where: judge_case(target, where) for where in target.values}
    parts = []
    for word, shown in ((MISSED, f"**{MISSED}**"), (OUT_OF_REACH, OUT_OF_REACH),
                        (UNDECIDED, UNDECIDED)):
        cases = [where for where, found in judged.items() if found == word]
        if len(cases) == len(judged):
            return shown
        if cases:
            parts.append(f"{shown} with {', '.join(cases)}")
    return "; ".join(parts) or MET


def today(values):
    """The median with its quartiles; for several medians the lowest and highest; empty without
    values."""
    found = [quartiles(of_case) for of_case in values.values()]
    if not found:
        return ""
    low, high = ((found[0].low, found[0].high) if len(found) == 1
                 else (min(one.median for one in found), max(one.median for one in found)))
    ends = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f}–{high:.2f}"
    return f"{found[0].median:.2f} ({ends})" if len(found) == 1 and low != high else ends


def table(results):
    found = all_targets(results)
    lines = ["| target | | today | bare mount | |", "|---|---|---|---|---|"] if found else []
    for target in found:
        lines.append(f"| {target.name} | {target.bound} {target.threshold:g} | {today(target.values)} | "
                     f"{today(target.bare)} | "
                     f"{verdict(target)} |")
    return lines
