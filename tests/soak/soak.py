#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Mount everything and read it for the given time, while readers and daemons are killed and
sources change.

Reads are compared with trees of ordinary files that `ntuple cp` made before anything was
mounted; these were compared with the values of other readers. Unchanged sources must be read
without an error. Each file of a changing source must have the contents of one state, from start
to end, or fail with a matching error. In copies with flipped bits each value must be right or an
error. Memory, descriptors and threads of all processes are recorded over time.
"""
import argparse
import ctypes
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from places import Material, harness
from reader import read_until, visit
from report import gather, is_good, occupied, over_time, text

SAMPLE = 5       # seconds
PAUSE = 1.5  # between two events, at most


class Soak:
    def __init__(self, top, minutes, seed, readers):
        self.top, self.seconds, self.seed = top, 60 * minutes, seed
        self.chance = random.Random(seed)
        self.material = Material(top, seed)
        self.places = self.material.places()
        self.events, self.findings = Counter(), []
        self.samples = defaultdict(list)
        self.remounts = []
        self.readers, self.started = {}, 0
        self.wanted = readers

    def find(self, finding, what, place=None):
        self.findings.append({'finding': finding, 'what': what, 'place': place})

    # ---- what happens ----

    def start_reader(self):
        self.started += 1
        process = multiprocessing.Process(target=read_until, args=(self.started, self.places, self.ends,
                                                                   self.top / f'reader-{self.started}.jsonl'))
        process.start()
        self.readers[process.pid] = process

    def kill_reader(self):
        victim = self.readers.pop(self.chance.choice(sorted(self.readers)))
        victim.kill()
        victim.join(harness.TIMEOUT)
        if victim.is_alive():
            self.find('stuck', 'a reader that cannot be killed')
        self.start_reader()
        return 'readers killed'

    def look_after_readers(self):
        for number, process in list(self.readers.items()):
            if not process.is_alive():
                del self.readers[number]
                if time.monotonic() < self.ends:
                    self.find('reader', f'ended by {process.exitcode}')
                    self.start_reader()

    def kill_daemon(self):
        """Each of the two processes, in each way; the mount must end with it, and come back."""
        place = self.places[-1]
        processes = harness.processes_of(place.mountpoint)
        way = self.chance.choice(['decoder killed', 'supervisor killed', 'told to end', 'unmounted'])
        if way == 'unmounted':
            harness.detach(place.mountpoint)
        else:
            os.kill(processes[way == 'decoder killed'], signal.SIGTERM if way == 'told to end'
                    else signal.SIGKILL)
        try:
            harness.wait_until(lambda: not harness.is_mounted(place.mountpoint), f'unmounted after {way}', 20)
            harness.wait_until(lambda: not any(map(harness.is_running, processes)),
                               f'both ended after {way}', 20)
            place.process.wait(harness.TIMEOUT)
        except AssertionError as error:
            self.find('left behind', str(error), place.name)
            harness.detach(place.mountpoint)
        start = time.monotonic()
        place.mount(self.top)
        self.remounts.append(time.monotonic() - start)
        return way

    def change(self):
        return f'sources {self.material.change().split()[1]}'

    def sample(self, now):
        for place in self.places:
            if place.name == 'killed':
                continue
            for which, process in zip(('supervisor', 'decoder'), harness.processes_of(place.mountpoint)):
                if found := occupied(process):
                    self.samples[f'{place.name} {which}'].append((now, *found))

    # ---- from the beginning to the end ----

    def run(self, each_minute):
        start = time.monotonic()
        self.ends = start + self.seconds
        for place in self.places:
            place.mount(self.top)
        visitor = multiprocessing.Process(target=visit,
                                          args=(self.places, self.ends, self.top / 'reader-0.jsonl'),
                                          daemon=True)
        visitor.start()
        for _ in range(self.wanted):
            self.start_reader()
        next_sample, next_report = start, start + 60
        while time.monotonic() < self.ends:
            time.sleep(self.chance.random() * PAUSE)
            if time.monotonic() >= self.ends:
                break  # readers end by themselves: none is left to be killed
            self.look_after_readers()
            event = self.chance.choice([self.kill_reader, self.kill_daemon, self.change, self.change])
            self.events[event()] += 1
            if time.monotonic() >= next_sample:
                self.sample(time.monotonic() - start)
                next_sample += SAMPLE
            if time.monotonic() >= next_report:
                each_minute(self.report((time.monotonic() - start) / 60))
                next_report += 60
        for process in [visitor, *self.readers.values()]:
            process.join(harness.TIMEOUT)
            if process.is_alive():
                self.find('stuck', 'a reader does not end')
                process.kill()

    def end(self):
        for place in self.places:
            processes = harness.processes_of(place.mountpoint)
            if place.is_sound:
                for message in place.messages(self.top):
                    self.find('message', message, place.name)
            if place.process.poll() is not None:
                self.find('ended', f'status {place.process.returncode}', place.name)
                continue
            place.process.send_signal(signal.SIGTERM)
            if status := place.process.wait(harness.TIMEOUT):
                self.find('ended', f'status {status}', place.name)
            if harness.is_mounted(place.mountpoint) or any(map(harness.is_running, processes)):
                self.find('left behind', 'a mount or a process', place.name)

    def report(self, minutes):
        reported = gather(self.top)
        wrong = [{'finding': 'wrong', 'what': what, 'place': 'before all mounts'}
                 for what in self.material.wrong]
        return {**reported, 'findings': wrong + self.findings + reported['findings'], 'minutes': minutes,
                'seed': self.seed,
                'sources': len(self.material.failing) + sum(1 for _ in self.material.truth.glob('*/*')),
                'mounts': len(self.places), 'files': len(self.places[0].files), 'events': self.events,
                'left_to_damaged': self.material.failing, 'remounts': len(self.remounts),
                'longest_remount': max(self.remounts, default=0),
                'over_time': over_time(self.samples, 60 * minutes)}

    def clean(self):
        for place in self.places:
            if place.process and place.process.poll() is None:
                place.process.kill()
            if place.mountpoint and harness.is_mounted(place.mountpoint):
                harness.detach(place.mountpoint)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--minutes', type=float, default=60)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--readers', type=int, default=6)
    parser.add_argument('--report', type=Path, help='a file for the report as JSON')
    return parser.parse_args()


def without_huge_pages():
    """For this process and its children: a huge page of which some is used counts as a whole,
    and the kernel makes them at any time."""
    PR_SET_THP_DISABLE = 41
    ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def main():
    arguments = parse()
    without_huge_pages()
    problem = harness.fuse_problem()
    if problem:
        print(f'skip everything: {problem}')
        sys.exit(77)
    top = Path(tempfile.mkdtemp(prefix='ntuplefs-soak-'))
    top.chmod(0o755)
    (top / 'mounts').mkdir()
    soak = Soak(top, arguments.minutes, arguments.seed, arguments.readers)

    def save(report):
        if arguments.report:
            arguments.report.write_text(json.dumps(report, indent=1) + '\n')

    try:
        soak.run(save)
        soak.end()
        report = soak.report(arguments.minutes)
    finally:
        soak.clean()
    save(report)
    if is_good(report):
        shutil.rmtree(top)
    else:
        print(f'kept: {top}')
    print('\n'.join(text(report)))  # the last line has the result
    sys.exit(not is_good(report))


if __name__ == '__main__':
    main()
