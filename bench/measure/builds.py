# SPDX-License-Identifier: MIT
"""The builds to measure. Targets apply to the first one; the others are compared with it."""
import json
import pathlib
import re
import subprocess
import sys

from .machine import commit_of, output_of

LIBRARIES = ("libzstd", "liblz4", "libdeflate", "liblzma", "libxxhash", "fuse3")


class Build:
    """Results of the first build have no prefix."""

    def __init__(self, directory, label, is_first):
        self.directory, self.label, self.prefix = directory, label, "" if is_first else f"{label}: "

    @property
    def ntuplefs(self):
        return self.directory / "ntuplefs"

    @property
    def ntuple(self):
        return self.directory / "ntuple"

    def tool(self, name):
        return self.directory / "bench" / name

    def named(self, found):
        return {self.prefix + what: value for what, value in found.items()}


def labels(directories):
    """The shortest distinct ends of the directories' paths."""
    for count in range(1, max(len(directory.parts) for directory in directories)):
        short = ["/".join(directory.parts[-count:]) for directory in directories]
        if len(set(short)) == len(directories):
            return short
    return [str(directory) for directory in directories]


def introspect(directory, what):
    path = directory / "meson-info" / f"{what}.json"
    return json.loads(path.read_text()) if path.exists() else None


def build_option(directory, name):
    return next((option["value"] for option in introspect(directory, "intro-buildoptions") or ()
                 if option["name"] == name), "")


def values_of(version_text):
    """{name: version} in the lines of --version."""
    return dict(re.findall(r"^(\S+) (\S+)$", version_text, re.MULTILINE))


def describe(build, commit=None):
    """The commit and the libraries that the program prints. Older programs do not print their
    commit."""
    reported = values_of(output_of(str(build.ntuplefs), "--version"))
    versions = {library["name"]: library["version"] for library in introspect(build.directory,
            "intro-dependencies") or ()
                if library["name"] in LIBRARIES}
    return {"label": build.label, "commit": commit or reported.get("commit", "unknown"),
            "buildtype": build_option(build.directory, "buildtype"), "version": reported.get("ntuplefs", ""),
            **versions,
            **{name: version for name, version in reported.items() if name in LIBRARIES}}


def build_commit(commit, like, repository, folder):
    """The build directory of another commit of the repository, with the options of `like`."""
    source = folder / f"source-{commit}"
    build = folder / commit
    source.mkdir()
    with subprocess.Popen(["git", "-C", repository, "archive", commit], stdout=subprocess.PIPE) as archive:
        subprocess.run(["tar", "x", "-C", source], stdin=archive.stdout, check=True)
    kind = f"-Dbuildtype={build_option(like, 'buildtype') or 'release'}"
    is_boolean = "option('tests', type: 'boolean'" in (source / "meson_options.txt").read_text()
    no_tests = f"-Dtests={'false' if is_boolean else 'disabled'}"  # older commits have a boolean
    for command in (["meson", "setup", build, source, no_tests, "-Dbench=true", kind],
                    ["ninja", "-C", build]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(f"--against: {commit} does not build:\n" + "\n".join(done.stdout.splitlines()[-10:]))
    return build


def chosen(directories, against, repository, folder):
    """The list of Build for the directories and the commit."""
    directories = [directory.resolve() for directory in directories]
    commits = [None] * len(directories)
    if against:
        number = commit_of(repository, against)
        if not number:
            sys.exit(f"--against: {against} is no commit of {repository}")
        directories.append(build_commit(number, directories[0], repository, pathlib.Path(folder)))
        commits.append(number)
    if len(set(directories)) < len(directories):
        sys.exit("--build: the same directory twice")
    for directory in directories:
        if not (directory / "ntuplefs").exists() or not (directory / "bench" / "decode_pages").exists():
            sys.exit(f"{directory} is no build with ntuplefs and -Dbench=true")
    builds = [Build(directory, label, number == 0) for number, (directory, label) in
              enumerate(zip(directories, labels(directories)))]
    return builds, [describe(build, commit) for build, commit in zip(builds, commits)]
