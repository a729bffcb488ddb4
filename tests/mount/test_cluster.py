#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What packaging/cluster has for clusters: the image is unpacked, and mounts and reads in a namespace;
the wrapper of jobs mounts and unmounts, whatever ends the job; the manifest is what Kubernetes asks for."""
import json
import os
import signal
import subprocess
import sys
import tarfile

from harness import (DATA, MANUALS, NTUPLEFS, Skip, case, command, data, mounts, need, output, run, same,
                     scratch)

CLUSTER = MANUALS.parent.parent / 'packaging/cluster'
WRAPPER = CLUSTER / 'with-mount'
RUN = 'Events/run/data.bin'
FILTER = {'filter': 'tar'} if hasattr(tarfile, 'tar_filter') else {}  # Debian 12 has none


def expected_runs():
    return need('uproot').open(DATA / 'example.root')['Events'].arrays(['run'], library='np')['run'].tobytes()


# ---- image ----

def unpacked(archive, folder):
    """The root of an OCI image layout, by its own index, and its configuration."""
    layout = folder / 'layout'
    with tarfile.open(archive) as image:
        image.extractall(layout, **FILTER)

    def blob(description):
        path = layout / 'blobs' / description['digest'].replace(':', '/')
        same(path.stat().st_size, description['size'])
        return path
    manifest = json.loads(blob(json.loads((layout / 'index.json').read_text())['manifests'][0]).read_text())
    root = folder / 'root'
    for layer in manifest['layers']:
        with tarfile.open(blob(layer)) as files:
            files.extractall(root, **FILTER)
    return root, json.loads(blob(manifest['config']).read_text())['config']


@case
def the_image_mounts_and_reads_in_a_namespace():
    if os.geteuid() != 0 or not os.path.exists('/dev/fuse'):
        raise Skip('only root has namespaces with FUSE')
    with scratch() as directory:
        archive, again = directory / 'image.tar', directory / 'again.tar'
        for path in archive, again:
            output(sys.executable, CLUSTER / 'build-image', os.path.dirname(NTUPLEFS), path)
        same(archive.read_bytes() == again.read_bytes(), True, 'equal programs, equal images')
        root, config = unpacked(archive, directory)
        (root / 'mounts/example.root').write_bytes(data('example.root').read_bytes())
        (root / 'dev/fuse').touch()
        variables = dict(item.split('=', 1) for item in config['Env'])
        same(variables['PATH'], '/usr/bin:/bin')
        script = 'mount --bind /dev/fuse dev/fuse && mount -t proc proc proc && exec chroot . "$@"'
        inside = 'ntuplefs /mounts/example.root /mnt && cat /mnt/$1 && fusermount3 -u /mnt'
        words = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, 'sh',
                 '/bin/sh', '-c', inside, 'sh', RUN]
        result = subprocess.run(words, cwd=root, check=False, capture_output=True,
                                env={**variables, 'PATH': os.environ['PATH']})
        same((result.returncode, result.stderr.decode()), (0, ''))
        same(result.stdout == expected_runs(), True, RUN)
        same(config['Entrypoint'], ['/usr/bin/ntuplefs'])
        same((root / 'usr/libexec/ntuplefs-fetch').exists(), True)


# ---- jobs ----

def wrapped(directory, *arguments, **options):
    environment = os.environ | {'TMPDIR': str(directory),
                                'PATH': f'{os.path.dirname(NTUPLEFS)}:{os.environ["PATH"]}'}
    return subprocess.Popen([WRAPPER, *arguments], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def is_clean(directory):
    same([mount for mount in mounts() if str(directory) in str(mount)], [], 'mounts')
    same(list(directory.iterdir()), [], 'folders')


@case
def a_job_has_a_mount_that_ends_with_it():
    with scratch() as directory:
        job = wrapped(directory, '-o', 'text=sized', DATA / 'example.root', '--', 'sh', '-c',
                      f'cat "$NTUPLE_MOUNT/{RUN}"; exit 7')
        found, _ = job.communicate(timeout=30)
        same(job.returncode, 7)
        same(found == expected_runs(), True, RUN)
        is_clean(directory)


@case
def a_job_that_is_ended_is_unmounted():
    with scratch() as directory:
        for name in signal.SIGTERM, signal.SIGINT:
            job = wrapped(directory, DATA / 'example.root', '--', 'sh', '-c',
                          'trap "echo ended; exit 3" TERM INT; echo begins; while :; do sleep 0.05; done')
            same(job.stdout.readline(), b'begins\n')
            job.send_signal(name)
            same(job.communicate(timeout=30)[0], b'ended\n')
            same(job.returncode, 3, name)
            is_clean(directory)


@case
def a_job_without_a_mount_does_not_begin():
    with scratch() as directory:
        for arguments, word in (((directory / 'nothing.root', '--', 'echo', 'begins'), b'nothing.root'),
                                ((DATA / 'example.root',), b'usage'), (('--', 'true'), b'usage')):
            job = wrapped(directory, *arguments)
            found, message = job.communicate(timeout=30)
            same((job.returncode, found, word in message), (125, b'', True), message.decode())
            is_clean(directory)


# ---- Kubernetes ----

def pods(documents):
    """The pod of each object."""
    return {document['metadata']['name']: document['spec'].get('template', document)['spec']
            for document in documents}


@case
def the_manifest_shares_the_mount_with_other_pods():
    yaml = need('yaml')
    documents = list(yaml.safe_load_all((CLUSTER / 'daemonset.yaml').read_text()))
    same([(document['apiVersion'], document['kind']) for document in documents],
         [('apps/v1', 'DaemonSet'), ('v1', 'Pod')])
    server = documents[0]['spec']
    same(server['selector']['matchLabels'].items() <= server['template']['metadata']['labels'].items(), True)
    found = pods(documents)
    for pod in found.values():
        volumes = {volume['name']: volume['hostPath']['path'] for volume in pod['volumes']}
        for container in pod['containers']:
            same([mount['name'] in volumes for mount in container['volumeMounts']], [True])
    server, reader = (pod['containers'][0] for pod in found.values())
    same(server['securityContext'], {'privileged': True})  # Kubernetes asks for it with Bidirectional
    same([container['volumeMounts'][0]['mountPropagation'] for container in (server, reader)],
         ['Bidirectional', 'HostToContainer'])
    same(found['ntuplefs']['volumes'], found['ntuplefs-reader']['volumes'])
    # The arguments are those of ntuplefs, with a mountpoint below the shared directory.
    options = server['args'][:-2]
    result = command(NTUPLEFS, *options, '/nonexistent.root', server['args'][-1])
    same(b'/nonexistent.root' in result.stderr or server['args'][-1].encode() in result.stderr, True,
         result.stderr.decode())
    same(server['args'][-1].startswith(server['volumeMounts'][0]['mountPath']), True)


@case
def the_manifest_has_the_schema_of_kubernetes():
    validator, yaml = need('kubernetes_validate'), need('yaml')
    for document in yaml.safe_load_all((CLUSTER / 'daemonset.yaml').read_text()):
        validator.validate(document, validator.latest_version(), strict=True)


if __name__ == '__main__':
    sys.exit(run())
