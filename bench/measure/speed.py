# SPDX-License-Identifier: MIT
"""The speed of reading columns, in turns: the codec alone, the library, the mount, plain files,
peers."""
import functools
import os
import subprocess
import sys

from .mount import Mount, read_pieces, read_whole, sum_mapping, use_memory
from .peers import compile_with_root, jsroot_peer, python_peer
from .rounds import take_turns

CASES = [("hits-zstd", "px"), ("hits-lz4", "px"), ("hits-zlib", "px"), ("hits-lzma", "px"),
         ("hits-none", "px"),
         ("events-zstd", "*"), ("events-zlib", "*"), ("deep-zstd", "*"), ("wide2000-zstd", "*")]
PASSES = 3
MAX_BYTES = 256 << 20  # CPU seconds of reading a file: the daemon's, and the kernel's
READS = {"whole": (read_whole, True), "1 MiB pieces": (read_pieces, False), "mapped": (sum_mapping, True)}


def title(case, field):
    return f"{case} {'all' if field == '*' else field}"


# ---- contenders: each a function from (file, field) to {what: (bytes, seconds, processors in use
# or None)} ----

def total(files, read, mount=None):
    before = mount.processor_seconds() if mount else 0
    seconds = sum(read(path) for path in files)
    processors = (mount.processor_seconds() - before) / seconds if mount else None
    return sum(os.path.getsize(path) for path in files), seconds, processors


def through_mount(build, what, options=(), suffix=""):
    read, again = READS[what]

    def run(path, field):
        with Mount(build.ntuplefs, path, options) as mount:
            use_memory(MAX_BYTES)
            files = mount.files(field)
            results = {f"mount{suffix}, {what}": total(files, read, mount)}
            if again:
                results[f"mount{suffix}, {what} again"] = total(files, read)
        return build.named(results)
    return run


def bare_mount(build, folder, options=(), suffix=""):
    """Files of the same sizes, whose bytes are not decoded."""
    def run(path, field):
        with Mount(build.tool("bare_mount"), folder, options) as mount:
            mount.set_readahead()
            use_memory(MAX_BYTES)
            files = [mount.point / file.name for file in sorted(folder.iterdir())]
            return {f"bare mount{suffix}, whole": total(files, read_whole)}
    return run


def program(name, *command, all_columns=True):
    """A program that prints bytes (0: as many as the mount's files have) and seconds. None and
    ... are replaced by file and field."""
    def run(path, field):
        if field == "*" and not all_columns:
            return {}
        parts = [path if part is None else field if part is ... else str(part) for part in command]
        result = subprocess.run(parts, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if result.returncode:  # some peers cannot read some files
            print(f"{name} does not read {path}: {result.stderr.splitlines()[:2]}", file=sys.stderr)
            return {}
        size, *seconds = result.stdout.split()
        return {name: (int(size), float(seconds[-1]), None)}
    return run


def plain_files(folder):
    def run(path, field):
        copies = sorted(folder.iterdir())
        return {"tmpfs, whole": total(copies, read_whole), "tmpfs, mapped": total(copies, sum_mapping)}
    return run


def own_groups(arguments, folder):
    """A group for each measurement, with a contender for each build."""
    for what, tool in (("codec alone", "decode_pages"), ("library", "read_columns")):
        for count in dict.fromkeys((1, arguments.threads)):
            yield [program(f"{build.prefix}{what}, {count} thread{'s' * (count > 1)}", build.tool(tool),
                           None, ...,
                           count, PASSES) for build in arguments.builds]
    for what in READS:
        yield [through_mount(build, what) for build in arguments.builds]
        yield [through_mount(build, what, ["-o", "direct_io=on"], " direct") for build in arguments.builds]
    yield [plain_files(folder / "plain")]
    first = arguments.builds[0]
    if first.tool("bare_mount").exists():  # libfuse may be too old
        yield [bare_mount(first, folder / "plain"), bare_mount(first, folder / "plain",
                                                               ["-o", "direct_io=on"], " direct")]


def peer_groups(arguments, folder):
    root_bulk = compile_with_root("root_bulk.cxx", folder)
    for name, command, all_columns in (("ROOT bulk", root_bulk and [root_bulk], True),
                                       ("uproot", python_peer("uproot"), True),
                                       # all columns: minutes
                                       ("RDataFrame", python_peer("rdataframe"), False),
                                       ("JSROOT", jsroot_peer(), False)):
        if command and name.lower() not in arguments.without:
            yield [program(name, *command, None, ..., PASSES, all_columns=all_columns)]


def copy_plain(path, field, ntuplefs, folder):
    """Copies of the decoded files on tmpfs, as many as the mount has."""
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    with Mount(ntuplefs, path) as mount:
        for number, file in enumerate(mount.files(field)):
            (folder / f"{number:06}").write_bytes(file.read_bytes())
    return sum(file.stat().st_size for file in folder.iterdir())


def measure_case(path, field, groups, arguments, folder):
    """{"speed": rounds of bytes per second, "processors": rounds of the processors that the
    daemon used}"""
    size = copy_plain(path, field, arguments.builds[0].ntuplefs, folder / "plain")
    rounds = take_turns([[functools.partial(run, str(path), field) for run in group] for group in groups],
                        arguments.rounds)
    return {"speed": [{what: (given or size) / seconds for what, (given, seconds, _) in found.items()}
                      for found in rounds],
            "processors": [{what: used for what, (_, _, used) in found.items() if used is not None}
                           for found in rounds]}


def measure(arguments, folder, results, save):
    cases = [(case, field) for case, field in CASES if arguments.only in case]
    groups = [*own_groups(arguments, folder), *(peer_groups(arguments, folder) if cases and arguments.peers
                                                else ())]
    for case, field in cases:
        found = measure_case(arguments.data / f"{case}.root", field, groups, arguments, folder)
        for what, rounds in found.items():
            results[what][title(case, field)] = rounds
        save()
