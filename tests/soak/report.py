# SPDX-License-Identifier: MIT
"""The results of a soak: latencies, memory and descriptors over time, findings; as text and as
JSON."""
import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

from places import harness
from reader import STEPS

MEBIBYTE = 1 << 20
WARM_UP = 1 / 3  # of the time, which is ignored
STRETCHES = 12  # of the time after the warm-up
MOST_GROWTH = 2 * MEBIBYTE  # by the line through the minimum of each interval of one process
MAX_DESCRIPTORS = 2  # the same; and deleted files at any time
# requests at once, workers, and a few for all: they start on demand, and stay
MAX_THREADS = 8 + 2 * os.cpu_count()
LEAST_MINUTES = 15  # the fewest that can show growth


def occupied(process):
    """Private memory in bytes, descriptors, threads and descriptors of deleted files of a
    process; None if it has ended. Pages of programs and libraries, which the machine loads and
    drops, do not count."""
    try:
        status = Path(f'/proc/{process}/status').read_text()
        names = harness.open_in(process)
    except OSError:
        return None
    counts = {name: int(number) for name, number in re.findall(r'^(Rss\w+|Threads):\s+(\d+)', status,
                                                               re.MULTILINE)}
    # '#': it never had a name
    deleted = sum(name.endswith(' (deleted)') and '/#' not in name for name in names)
    return 'RssAnon' in counts and [(counts['RssAnon'] + counts['RssShmem']) * 1024, len(names),
                                    counts['Threads'], deleted]


def growth(times, values):
    """The rise of the least-squares line from the first of the times to the last, through the
    minimum of each interval: temporary memory is no growth, and lasting memory is in the
    minimum, too."""
    if len(times) < 3:
        return 0.0
    stretches = np.array_split(np.arange(len(times)), min(STRETCHES, len(times)))
    least = [min(stretch, key=lambda sample: values[sample]) for stretch in stretches]
    line = np.polyfit([times[sample] - times[0] for sample in least], [values[sample] for sample in least], 1)
    return float(line[0] * (times[-1] - times[0]))


def over_time(samples, seconds):
    """For each process: samples, bytes at first, at the end, growth, growth of descriptors,
    maximum threads, deleted files that are held."""
    rows = []
    for who, all_of_it in sorted(samples.items()):
        warm = [(time, *values) for time, *values in all_of_it if time >= seconds * WARM_UP]
        if len(warm) < 3:
            continue
        times, memory, descriptors, threads, deleted = map(list, zip(*warm))
        rows.append({'who': who, 'samples': len(warm), 'first_bytes': memory[0], 'last_bytes': memory[-1],
                     'growth_bytes': round(growth(times, memory)), 'descriptors': descriptors[-1],
                     'growth_descriptors': round(growth(times, descriptors), 2),
                     'threads': max(threads), 'deleted': min(deleted)})
    return rows


def is_flat(row):
    return row['growth_bytes'] <= MOST_GROWTH and row['growth_descriptors'] <= MAX_DESCRIPTORS \
        and row['threads'] <= MAX_THREADS and row['deleted'] <= MAX_DESCRIPTORS


def of_histogram(buckets):
    """Count, median, 99th percentile and maximum, in seconds: borders of their histogram steps."""
    total, seen, found = sum(buckets.values()), 0, []
    requested = [total / 2, total * 0.99, total]
    for step, count in sorted(buckets.items()):
        seen += count
        while len(found) < len(requested) and seen >= requested[len(found)]:
            found.append(10 ** ((step + 1) / STEPS))
    return {'count': total, 'median': found[0], 'p99': found[1], 'most': found[2]}


def gather(top):
    """The output of all readers."""
    reported = {'done': Counter(), 'expected': Counter(), 'bytes': 0, 'findings': []}
    latencies = defaultdict(Counter)
    for path in sorted(top.glob('reader-*.jsonl')):
        for line in path.read_text().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # its reader was killed while it wrote
            if 'finding' in entry:
                reported['findings'].append(entry)
                continue
            reported['done'].update(entry['done'])
            reported['expected'].update(entry['expected'])
            reported['bytes'] += entry['bytes']
            for what, buckets in entry['latencies'].items():
                latencies[what].update({int(step): count for step, count in buckets.items()})
    reported['latencies'] = {what: of_histogram(buckets) for what, buckets in sorted(latencies.items())}
    return reported


def milliseconds(seconds):
    return f'{seconds * 1000:.3g}'


def text(report):
    yield f"{report['minutes']:.1f} minutes, seed {report['seed']}: {report['sources']} sources in " \
        f"{report['mounts']} mounts, " \
        f"{report['files']} files"
    yield ''
    yield f"events: {', '.join(f'{count} {what}' for what, count in sorted(report['events'].items()))}"
    expected = ', '.join(f'{count} {what}' for what, count in sorted(report['expected'].items()))
    yield f"expected errors: {expected}"
    yield ''
    yield '| | count | median | 99 % | longest (ms) |'
    yield '|---|---|---|---|---|'
    for what, row in report['latencies'].items():
        yield f"| {what} | {row['count']} | {milliseconds(row['median'])} | " \
            f"{milliseconds(row['p99'])} | {milliseconds(row['most'])} |"
    yield ''
    yield '| process | MiB after warm-up | at the end | growth | descriptors | growth | ' \
        'of deleted files | threads | |'
    yield '|---|---|---|---|---|---|---|---|---|'
    for row in report['over_time']:
        yield f"| {row['who']} | {row['first_bytes'] / MEBIBYTE:.1f} | " \
            f"{row['last_bytes'] / MEBIBYTE:.1f} | " \
            f"{row['growth_bytes'] / MEBIBYTE:+.2f} | {row['descriptors']} | " \
            f"{row['growth_descriptors']:+.2f} | {row['deleted']} | {row['threads']} | " \
            f"{'' if is_flat(row) else '**not flat**'} |"
    yield ''
    for finding in report['findings'][:50]:
        yield f"{finding['finding']}: {finding['what']} ({finding.get('place')}: {finding.get('name')})"
    kinds = Counter(finding['finding'] for finding in report['findings'])
    growing = sum(not is_flat(row) for row in report['over_time'])
    yield f"{sum(report['done'].values()):,} reads and listings of {report['bytes'] / 1e9:.1f} GB, " \
        f"{kinds['wrong']} wrong, " \
        f"{sum(kinds.values()) - kinds['wrong']} other findings, {growing} growing processes"


def is_good(report):
    is_told = report['minutes'] >= LEAST_MINUTES
    return not report['findings'] and sum(report['done'].values()) > 0 \
        and (not is_told or all(map(is_flat, report['over_time'])))
