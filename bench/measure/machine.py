# SPDX-License-Identifier: MIT
"""What was measured, and where: the build's commit and libraries, the machine, the load."""
import datetime
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import platform
import subprocess

LIBRARIES = ("libzstd", "liblz4", "libdeflate", "liblzma", "libxxhash", "fuse3")
PACKAGES = {"numpy": "numpy", "uproot": "uproot", "root": "ROOT"}


def output_of(*command):
    """The output of a command, or "" where it fails."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def commit_of(folder, *suffix):
    return output_of("git", "-C", str(folder), "describe", "--always", "--exclude", "*", "--abbrev=8", *suffix)


def introspect(build, what):
    path = build / "meson-info" / f"{what}.json"
    return json.loads(path.read_text()) if path.exists() else None


def build_option(build, name):
    return next((option["value"] for option in introspect(build, "intro-buildoptions") or ()
                 if option["name"] == name), "")


def describe_build(build):
    """Of the sources that the programs were built from, which need not be those that bench/run lies in."""
    about = introspect(build, "meson-info")
    commit = commit_of(about["directories"]["source"], "--dirty") if about else ""
    if commit and "no work to do" not in output_of("ninja", "-C", str(build), "-n", "ntuplefs"):
        commit += ", built before its last change"
    versions = {library["name"]: library["version"] for library in introspect(build, "intro-dependencies") or ()
                if library["name"] in LIBRARIES}
    return {"commit": commit or "unknown", "buildtype": build_option(build, "buildtype"),
            "version": next(iter(output_of(str(build / "ntuplefs"), "--version").splitlines()), ""), **versions}


def describe(arguments):
    processor = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                     "")
    versions = {name: importlib.metadata.version(name) for name, module in PACKAGES.items()
                if importlib.util.find_spec(module)}
    return {"date": datetime.date.today().isoformat(), "processor": processor, "processors": os.cpu_count(),
            "kernel": platform.release(), "load at start": os.getloadavg(), "threads": arguments.threads,
            "rounds": arguments.rounds, "bench commit": commit_of(pathlib.Path(__file__).parent, "--dirty"),
            "build": describe_build(arguments.build), **versions}
