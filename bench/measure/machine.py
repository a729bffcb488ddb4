# SPDX-License-Identifier: MIT
"""The machine that was measured, its other load, and the versions of other readers."""
import datetime
import importlib.metadata
import importlib.util
import os
import pathlib
import platform
import subprocess
import time

PACKAGES = {"numpy": "numpy", "uproot": "uproot", "root": "ROOT"}


def output_of(*command):
    """The output of a command, or "" if it fails."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def commit_of(folder, *suffix):
    return output_of("git", "-C", str(folder), "describe", "--always", "--exclude", "*", "--abbrev=8",
                     *suffix)


def describe(arguments):
    processor = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                      if line.startswith("model name")),
                     "")
    versions = {name: importlib.metadata.version(name) for name, module in PACKAGES.items()
                if importlib.util.find_spec(module)}
    return {"date": datetime.date.today().isoformat(), "processor": processor, "processors": os.cpu_count(),
            "kernel": platform.release(), "load at start": os.getloadavg(), "threads": arguments.threads,
            "rounds": arguments.rounds, "bench commit": commit_of(pathlib.Path(__file__).parent, "--dirty"),
            **versions}


def busy_seconds(stat):
    """Busy seconds of all processors, from the text of /proc/stat."""
    user, nice, system, _idle, _waiting, *interrupts = map(int, stat.split("\n", 1)[0].split()[1:9])
    return sum((user, nice, system, *interrupts)) / os.sysconf("SC_CLK_TCK")


class Others:
    """The number of processors that other processes kept busy since the start, without us and
    our finished children."""

    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        return time.monotonic(), busy_seconds(pathlib.Path("/proc/stat").read_text()), sum(os.times()[:4])

    def processors(self):
        elapsed, busy, own = (now - start for now, start in zip(self.now(), self.start))
        return max(busy - own, 0) / elapsed
