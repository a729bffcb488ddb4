# SPDX-License-Identifier: MIT
"""A file on a server that seemed changed is read again once the server shows the version that was
mounted, but not by who had it open."""
import errno
import os
import time

from chains import by_uproot
from harness import case, errors_of, fails, mounted, need, run, same, scratch
from web import served

LOOK_AFTER = 30  # seconds
VALUES, FIELDS = 200_000, ('read', 'later', 'unread')


def settled(site):
    """The number of requests, after half a second without another: a read that fails leaves some on
    their way."""
    count = None
    while count != len(site.requests):
        count = len(site.requests)
        time.sleep(0.5)
    return count


@case
def a_source_revives_for_new_openings_only():
    random = need('numpy').random.default_rng(1)
    columns = {field: random.random(VALUES) for field in FIELDS}
    with scratch() as directory, served(directory) as site:
        content = by_uproot(directory / 'columns', 'data', dict.fromkeys(FIELDS, 'float64'),
                            columns).read_bytes()
        good, bad = (content, '"1"', 1000), (content, '"2"', 1000)
        site.files = {'returns.root': good, 'stays.root': good}
        with mounted(*map(site.url, site.files), options=('-o', 'remotecache=0,direct_io=on')) as top:
            def read(name, field):
                return (top / name / 'data' / field / 'data.bin').read_bytes()

            handles = {}
            for name in site.files:
                same(read(name, 'read'), columns['read'].tobytes(), name)
                handles[name] = os.open(top / name / 'data/read/data.bin', os.O_RDONLY)
                site.files[name] = bad
                fails(errno.ESTALE, read, name, 'later')
            start = time.monotonic()
            site.files['returns.root'], asked = good, settled(site)
            for name in site.files:
                fails(errno.ESTALE, read, name, 'read')
            same(len(site.requests), asked, 'no look before its time')
            time.sleep(max(0, start + LOOK_AFTER + 1 - time.monotonic()))
            for field in FIELDS:
                same(read('returns.root', field), columns[field].tobytes(), field)
                fails(errno.ESTALE, read, 'stays.root', field)
            for handle in handles.values():
                fails(errno.ESTALE, os.pread, handle, 4, 0)
                os.close(handle)
            same({error['status'] for error in errors_of(top)}, {'source changed'})


run()
