# SPDX-License-Identifier: MIT
"""Telling XRootD's servers who asks: proxy certificates and tickets of Kerberos, within the sandbox, also by way of another server."""
import contextlib
import os
import pwd
import shutil
import subprocess
import textwrap

from certificates import RSA, make_certificates
from harness import DATA, NTUPLE, Skip, case, command, mounted, output, run, same, scratch, wait_until
from trees import same_trees
from web import is_open, unused_port
from xrootd_server import xrootd

FILE = 'example.root'
NOTHING = 2
REALM = 'EXAMPLE.TEST'


def tool(name):
    path = shutil.which(name, path=f'{os.environ["PATH"]}:/usr/sbin:/sbin')
    if not path:
        raise Skip(f'{name} is not installed')
    return path


def give_to_server(path):
    if os.geteuid() == 0:  # it does not run as root
        os.chown(path, pwd.getpwnam('nobody').pw_uid, -1)


def asks_with(protocol, known_by):
    """What a server is told that wants to know who asks in one way alone."""
    return f'xrootd.seclib libXrdSec.so\nsec.protocol {protocol} {known_by}\nsec.protbind * only {protocol}\n'


def is_served_to(address, environment):
    """And to nobody else."""
    with mounted(DATA / FILE) as here, mounted(address, env=environment) as mountpoint:
        same_trees(here / 'Events', mountpoint / 'Events')
    result = command(NTUPLE, 'ls', address, env={**environment, 'X509_USER_PROXY': '/nothing', 'KRB5CCNAME': 'FILE:/nothing'})
    same((result.returncode, b'who asks' in result.stderr), (NOTHING, True), result.stderr)


@contextlib.contextmanager
def server_of_certificates(directory):
    make_certificates(directory, RSA)
    give_to_server(directory / 'server.key')
    output(tool('xrdgsiproxy'), 'init', '-cert', directory / 'user.pem', '-key', directory / 'user.key', '-certdir', directory / 'authorities',
           '-out', directory / 'proxy', '-valid', '1:00')
    environment = {**os.environ, 'X509_CERT_DIR': str(directory / 'authorities'), 'X509_USER_PROXY': str(directory / 'proxy'),
                   'XrdSecGSISRVNAMES': 'server'}
    with xrootd(directory, DATA, asks_with('gsi', f'-certdir:{directory}/authorities -cert:{directory}/server.pem -key:{directory}/server.key '
                                                  '-crl:0 -gmapopt:10')) as server:
        yield server, environment


@case
def a_proxy_certificate_tells_who_asks():
    with scratch() as directory, server_of_certificates(directory) as (server, environment):
        is_served_to(server.url(FILE), environment)


@case
def who_is_sent_to_another_server_tells_that_one():
    with scratch() as directory, scratch() as other, server_of_certificates(directory) as (server, environment):
        with xrootd(other, DATA, f'xrootd.redirect 127.0.0.1:{server.port} /') as first:
            is_served_to(first.url(FILE), environment)
            told = output(NTUPLE, 'stat', first.url(FILE), env=environment).decode()
            same(f'server: root://127.0.0.1:{server.port}\n' in told, True, told)


@contextlib.contextmanager
def key_distribution_center(directory):
    """Yields the environment of a user who has a ticket for it, and the keys of a server."""
    port = unused_port()
    (directory / 'krb5.conf').write_text(textwrap.dedent(f"""
        [libdefaults]
            default_realm = {REALM}
            dns_lookup_kdc = false
            dns_lookup_realm = false
            rdns = false
            dns_canonicalize_hostname = false
        [realms]
            {REALM} = {{
                kdc = 127.0.0.1:{port}
            }}
        [domain_realm]
            localhost = {REALM}
        """))
    (directory / 'kdc.conf').write_text(textwrap.dedent(f"""
        [kdcdefaults]
            kdc_listen = 127.0.0.1:{port}
            kdc_tcp_listen = 127.0.0.1:{port}
        [realms]
            {REALM} = {{
                database_name = {directory}/principals
                key_stash_file = {directory}/stash
                acl_file = {directory}/rights
            }}
        """))
    environment = {**os.environ, 'KRB5_CONFIG': str(directory / 'krb5.conf'), 'KRB5CCNAME': f'FILE:{directory}/tickets'}
    own = {**environment, 'KRB5_KDC_PROFILE': str(directory / 'kdc.conf')}
    output(tool('kdb5_util'), 'create', '-s', '-P', 'master', '-r', REALM, env=own)
    for name, keys in ('user', 'user.keys'), ('xrootd/localhost', 'server.keys'):
        for change in f'addprinc -randkey {name}', f'ktadd -k {directory}/{keys} {name}':
            output(tool('kadmin.local'), '-q', change, env=own)
    with subprocess.Popen([tool('krb5kdc'), '-n'], env=own, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as center:
        try:
            wait_until(lambda: is_open(port), 'krb5kdc')
            output(tool('kinit'), '-k', '-t', directory / 'user.keys', 'user', env=environment)
            yield environment, directory / 'server.keys'
        finally:
            center.kill()


@case
def a_ticket_of_kerberos_tells_who_asks():
    with scratch() as directory, key_distribution_center(directory) as (environment, keys):
        give_to_server(keys)
        own = f'setenv KRB5_CONFIG = {directory}/krb5.conf\n'
        with xrootd(directory, DATA, own + asks_with('krb5', f'{keys} xrootd/localhost@{REALM}')) as server:
            is_served_to(server.url(FILE).replace('127.0.0.1', 'localhost'), environment)


run(at_once=3)
