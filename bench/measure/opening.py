# SPDX-License-Identifier: MIT
"""How the time to open a file grows with its fields and pages, compared with ROOT on the same
file."""
import os
import subprocess
import time

from .mount import MEBIBYTE, Mount, destination, most_memory, read_into, read_whole, timed
from .peers import compile_with_root
from .rounds import take_turns

FIELDS = {"wide2000-zstd": 2_000, "wide20000-zstd": 20_000, "wide200000-zstd": 200_000}
PAGES = {"pages10-zstd": 10, "pages1000-zstd": 1_000, "pages100000-zstd": 100_000,
         "pages1000000-zstd": 1_000_000}


def first_open(program, path):
    """A process that opens the file once: seconds until it answers, seconds of opening, and its
    memory."""
    start = time.perf_counter()
    with subprocess.Popen([program, path, "1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        answer = process.stdout.readline().split()
        seconds = time.perf_counter() - start
        if not answer:
            raise SystemExit(f"{program} does not open {path}")
        return {"process": seconds, "open": float(answer[1]), "memory": most_memory(process.pid)}


def list_and_stat(folder):
    return timed(lambda: [entry.stat() for entry in os.scandir(folder)])


def through_mount(ntuplefs, path, fields):
    """A fresh mount; reads the size of the last field first."""
    with Mount(ntuplefs, path) as mount:
        field = mount.point / f"data/field{fields - 1}"
        results = {"mount": mount.seconds, "first stat": timed(os.stat, field / "data.bin")}
        results["mount and stat"] = results["mount"] + results["first stat"]
        results["memory"] = mount.memory()
        if fields > 1:
            results["list and stat all"] = list_and_stat(mount.point / "data")
            results["again"] = list_and_stat(mount.point / "data")
        else:
            size = os.path.getsize(field / "data.bin")
            memory = destination(min(size, MEBIBYTE))
            results["first MiB"] = timed(read_into, field / "data.bin", memory)
            results["ls -l column.0"] = timed(lambda: subprocess.run(["ls", "-l", field / "column.0"],
                                                                     check=True,
                                                                     stdout=subprocess.DEVNULL))
            results["whole"] = read_whole(field / "data.bin")
            results["whole, bytes a second"] = size / results["whole"]
        results["memory at last"] = mount.memory()
        return results


def first_opens(name, program, path):
    return lambda: {f"{name}, {what}": value for what, value in first_open(program, path).items()}


def mounts(build, path, fields):
    return lambda: build.named(through_mount(build.ntuplefs, path, fields))


def measure_file(path, fields, arguments, root_open):
    """Rounds of {what: value}: seconds, and bytes of memory."""
    groups = [[mounts(build, path, fields) for build in arguments.builds],
              [first_opens(f"{build.prefix}library", build.tool("open_file"), path)
               for build in arguments.builds]]
    if root_open:
        groups.append([first_opens("ROOT", root_open, path)])
    return take_turns(groups, arguments.rounds)


def measure(arguments, folder, results, save, kind):
    files = {name: count for name, count in {"fields": FIELDS, "pages": PAGES}[kind].items()
             if arguments.only in name}
    root_open = compile_with_root("root_open.cxx", folder) if files and arguments.peers else None
    for name, count in files.items():
        rounds = measure_file(arguments.data / f"{name}.root", count if kind == "fields" else 1, arguments,
                              root_open)
        results[kind][name] = {"count": count, "rounds": rounds}
        save()


def measure_fields(*arguments):
    measure(*arguments, "fields")


def measure_pages(*arguments):
    measure(*arguments, "pages")
