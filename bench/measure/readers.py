# SPDX-License-Identifier: MIT
"""Sixteen processes that read a column each at the same time, and the latency of metadata calls
meanwhile."""
import errno
import functools
import itertools
import math
import multiprocessing
import os
import subprocess
import time

from .mount import Mount, read_into, timed
from .rounds import take_turns

FILE, READERS = "columns16-zstd", 16
context = multiprocessing.get_context("fork")


def read_column(path, start, results):
    memory = memoryview(bytearray(b"\1") * os.path.getsize(path))
    start.wait()
    begin = time.perf_counter()
    read_into(path, memory)
    results.put(("read", (begin, time.perf_counter()), len(memory)))


def stat_absent(path):
    try:
        os.stat(path)
    except FileNotFoundError:
        return
    raise OSError(errno.EEXIST, "is there", path)


def ask(data, plain, start, stop, results):
    """Make metadata calls one after the other until stopped; returns (begin, seconds) of each. A
    file on tmpfs shows what the machine adds."""
    calls = {}
    start.wait()
    for number in itertools.count():
        field = data / f"field{number % READERS}"
        for what, call, path in (("stat, new name", os.stat, data / "rows.d" / f"{number}.json"),
                                 ("stat, absent name", stat_absent, field / f"absent{number}"),
                                 ("listdir", os.listdir, field),
                                 ("getxattr", lambda path: os.getxattr(path, "user.ntuplefs.elements"),
                                  field),
                                 ("stat on tmpfs", os.stat, plain)):
            calls.setdefault(what, []).append((time.perf_counter(), timed(call, path)))
        if stop.is_set():
            break
    results.put(("asked", calls, None))


def run_once(ntuplefs, path, readers):
    """Seconds and bytes of each reader, the seconds of all together, and the seconds of each
    call that began meanwhile. Without readers, the calls of half a second."""
    with Mount(ntuplefs, path) as mount:
        data = mount.point / "data"
        start, stop, results = context.Barrier(readers + 2), context.Event(), context.Queue()
        asking = context.Process(target=ask, args=(data, path, start, stop, results))
        reading = [context.Process(target=read_column, args=(data / f"field{number}" / "data.bin", start,
                                                             results))
                   for number in range(readers)]
        for process in (asking, *reading):
            process.start()
        start.wait()
        begin, end = time.perf_counter(), math.inf
        if not readers:
            time.sleep(0.5)
        reported = [results.get() for _ in reading]
        stop.set()
        reported.append(results.get())
        for process in (asking, *reading):
            process.join()
        if mount.process.poll() is not None:
            raise SystemExit(f"{ntuplefs} ended")
    [asked] = [calls for what, calls, _ in reported if what == "asked"]
    reads = [(times, size) for what, times, size in reported if what == "read"]
    if reads:
        begin, end = min(begin for (begin, _), _ in reads), max(end for (_, end), _ in reads)
    meanwhile = {what: [seconds for at, seconds in calls if begin <= at <= end] for what,
                 calls in asked.items()}
    return [(last - first, size) for (first, last), size in reads], end - begin, meanwhile


def codec_speed(build, path, threads):
    size, *seconds = subprocess.run([build.tool("decode_pages"), path, "*", str(threads), "3"], check=True,
                                    stdout=subprocess.PIPE, text=True).stdout.split()
    return build.named({"codec alone": int(size) / float(seconds[-1])})


def through_mount(build, path):
    reads, elapsed, asked = run_once(build.ntuplefs, path, READERS)
    speeds = [size / seconds for seconds, size in reads]
    return build.named({"readers together": sum(size for _, size in reads) / elapsed,
                        "slowest reader / mean": min(speeds) / (sum(speeds) / len(speeds)),
                        "calls": asked, "calls without readers": run_once(build.ntuplefs, path, 0)[2]})


def measure(arguments, folder, results, save):
    if arguments.only not in FILE:
        return
    path = arguments.data / f"{FILE}.root"
    groups = [[functools.partial(codec_speed, build, path, arguments.threads) for build in arguments.builds],
              [functools.partial(through_mount, build, path) for build in arguments.builds]]
    results["readers"] = take_turns(groups, arguments.rounds)
    save()
