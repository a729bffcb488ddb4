# SPDX-License-Identifier: MIT
"""Chains compared with their files, and selected entries compared with all: first reads of a
column through fresh mounts."""
import functools
import json
import os
import random
import shutil

from .mount import Mount, destination, read_into, read_whole, timed
from .rounds import take_turns

FILES = {"hits-zstd": "px"}
COPIES, SHARE = 8, 100
CHAIN, SINGLES, ALL = "chain", "its files", "all entries"
RUN, RANDOM = "1 % of them, in a run", "1 %, at random"


def copied(path, folder):
    """Separate files, because a chain has no file twice."""
    folder.mkdir()
    return [shutil.copy(path, folder / f"{number}.root") for number in range(COPIES)]


def read_together(paths):
    """Seconds to read files into memory, one after the other."""
    sizes = [os.path.getsize(path) for path in paths]
    memory, seconds = destination(sum(sizes)), 0
    for path, size in zip(paths, sizes):
        seconds += timed(read_into, path, memory[:size])
        memory = memory[size:]
    return seconds


def read_chain(build, folder, field):
    with Mount(build.ntuplefs, folder / "*.root", ("-o", "chain")) as mount:
        return build.named({CHAIN: read_together(mount.files(field))})


def read_singles(build, folder, field):
    with Mount(build.ntuplefs, folder) as mount:
        return build.named({SINGLES: read_together([mount.point / path.name / mount.dataset / field
                                                    / "data.bin"
                                                    for path in sorted(folder.iterdir())])})


def read_selection(build, folder, field, what, selection):
    with Mount(build.ntuplefs, folder / "*.root", ("-o", f"chain,select={selection}" if selection
                                                   else "chain")) as mount:
        [file] = mount.files(field)
        return build.named({what: read_whole(file), f"{what}: pages": mount.pages_decoded()})


def selections(files, build, folder):
    """{what: selection file}"""
    with Mount(build.ntuplefs, files / "*.root", ("-o", "chain")) as mount:
        entries = json.loads((mount.point / mount.dataset / "ntuple.json").read_text())["entries"]
    count, first = entries // SHARE, entries // 2
    chosen = {RUN: range(first, first + count), RANDOM: sorted(random.Random(1).sample(range(entries),
            count))}
    for number, numbers in enumerate(chosen.values()):
        (folder / f"chosen{number}.txt").write_text("".join(f"{entry}\n" for entry in numbers))
    return {ALL: None} | {what: folder / f"chosen{number}.txt" for number, what in enumerate(chosen)}


def measure(arguments, folder, results, save):
    for name, field in FILES.items():
        if arguments.only not in name:
            continue
        path = arguments.data / f"{name}.root"
        files = copied(path, folder / name)[0].parent
        chosen = selections(files, arguments.builds[0], folder)
        groups = [[functools.partial(read, build, files, field) for build in arguments.builds
                   for read in (read_chain, read_singles)]]
        groups += [[functools.partial(read_selection, build, files, field, *choice)
                    for build in arguments.builds]
                   for choice in chosen.items()]
        results["chains"][name] = take_turns(groups, arguments.rounds)
        save()
