# SPDX-License-Identifier: MIT
"""How many times as fast as the first build the others are: ratios of each round."""
from . import remote, ttree
from .rounds import are_decided, median, names, ratios
from .tables import heading, row, spread
from .targets import hundredth

OPENING = ["mount", "first stat", "list and stat all", "again", "first MiB", "ls -l column.0", "whole",
           "library, process", "library, open"]
RANDOM = ["seconds per read", "seconds per read again"]
CALLS = ["stat, new name", "stat, absent name", "listdir", "getxattr"]


def compared(title, columns, rows):
    """How many times as fast another build is. A row is (what, function of a column's rounds to
    its ratios). Values that differ significantly from 1 are bold."""
    lines = heading(title, *columns)
    for what, describe in rows:
        found = [describe(rounds) for rounds in columns.values()]
        if any(found):
            lines.append(row(what, *(f"**{spread(values)}**" if values and are_decided(values)
                                     else spread(values)
                                     for values in found)))
    return lines if len(lines) > 3 else []


def speeds_of(columns, prefix):
    """More is faster."""
    shared = dict.fromkeys(what for rounds in columns.values() for what in names(rounds)
                           if prefix + what in names(rounds))
    return [(what, lambda rounds, what=what: ratios(rounds, prefix + what, what)) for what in shared]


def times_of(whats, prefix):
    """Less is faster."""
    return [(what, lambda rounds, what=what: ratios(rounds, what, prefix + what)) for what in whats]


def row_times(rounds, prefix):
    def describe(what):
        return lambda rounds: [found[what][0] / found[prefix + what][0] for found in rounds
                               if what in found and prefix + what in found]
    return [(what, describe(what)) for what in names(rounds) if prefix + what in names(rounds)]


def call_times(prefix):
    def describe(what, choose):
        def of(rounds):
            both = [(found["calls"][what], found[f"{prefix}calls"][what]) for found in rounds]
            return [choose(first) / choose(other) for first, other in both if first and other]
        return of
    return [(f"{what}, {name}", describe(what, choose)) for what in CALLS
            for name, choose in (("median", median), ("99 of 100", hundredth))]


def comparison(results, label, first):
    """Tables of each build's speed relative to the first."""
    prefix, title = f"{label}: ", f"{label} / {first}, times as fast"
    lines = compared(title, results["speed"], speeds_of(results["speed"], prefix)) if results["speed"] else []
    for kind in ("fields", "pages"):
        if results[kind]:
            columns = {f"{file['count']:,} {kind}": file["rounds"] for file in results[kind].values()}
            lines += compared(title, columns, times_of(OPENING, prefix))
    if results["readers"]:
        columns = {"16 columns at once": results["readers"]}
        together = "readers together"
        lines += compared(title, columns, [(together, lambda rounds: ratios(rounds, prefix + together,
                together)),
                                           *call_times(prefix)])
    if results["random"]:
        columns = {name: file["rounds"] for name, file in results["random"].items()}
        lines += compared(title, columns, times_of(RANDOM, prefix))
    if results["rows"]:
        lines += compared(title, {"a million rows as text": results["rows"]},
                          row_times(results["rows"], prefix))
    if results["chains"]:
        every_round = [found for rounds in results["chains"].values() for found in rounds]
        lines += compared(title, results["chains"], times_of([what for what in names(every_round) if prefix
                                                              + what in names(every_round)
                                                              and not what.endswith(": pages")], prefix))
    for part in ("whole", "column"):
        columns = results["ttree"].get(part)
        lines += compared(f"{title}: TTree, {part}", columns, speeds_of(columns, prefix)) if columns else []
    for part in ("open", "remote"):
        columns = {name: rounds for name, rounds in results["ttree"].get(part, {}).items() if rounds}
        lines += compared(f"{title}: TTree, {part}", columns,
                          times_of([ttree.LIBRARY], prefix)) if columns else []
    if results["remote"]:
        lines += compared(title, results["remote"], times_of([*remote.COLUMNS, remote.OPEN, remote.VALUE,
                                                              remote.VALUE_AGAIN], prefix))
    return lines


def comparisons(results):
    first, *others = (build["label"] for build in results["machine"]["builds"])
    lines = [line for label in others for line in comparison(results, label, first)]
    return [*lines, "",
            "Bold: if both were equal, so many rounds on one side of 1 would be rarer than 1 in 20."
    ] if lines else []
