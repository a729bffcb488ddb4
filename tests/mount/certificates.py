# SPDX-License-Identifier: MIT
"""Certificates made for a test, if openssl is installed."""
import shutil
import subprocess

from harness import Skip


def openssl(directory, *arguments):
    subprocess.run(['openssl', *arguments], cwd=directory, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


ELLIPTIC = ('ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1')
RSA = ('rsa:2048',)


def make_certificates(directory, kind=ELLIPTIC):
    """Certificates of an unknown authority, a server and a user."""
    if not shutil.which('openssl'):
        raise Skip('openssl is not installed')
    new = ('-nodes', '-newkey', *kind)
    openssl(directory, 'req', '-x509', *new, '-days', '2', '-keyout', 'ca.key', '-out', 'ca.pem', '-subj',
            '/CN=authority')
    (directory / 'names').write_text('subjectAltName=IP:127.0.0.1,DNS:localhost')
    for name in ('server', 'user'):
        make_user(directory, name, kind)
    (directory / 'proxy').write_bytes((directory / 'user.pem').read_bytes()
                                      + (directory / 'user.key').read_bytes())
    (directory / 'proxy').chmod(0o600)
    (directory / 'authorities').mkdir()
    shutil.copy(directory / 'ca.pem', directory / 'authorities')
    openssl(directory, 'rehash', 'authorities')


def make_user(directory, name, kind=ELLIPTIC):
    openssl(directory, 'req', '-nodes', '-newkey', *kind, '-keyout', f'{name}.key', '-out', f'{name}.csr',
            '-subj', f'/CN={name}')
    openssl(directory, 'x509', '-req', '-in', f'{name}.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key',
            '-CAcreateserial', '-days', '2',
            '-out', f'{name}.pem', '-extfile', 'names')
