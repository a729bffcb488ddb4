# SPDX-License-Identifier: MIT
"""Authentication with XRootD servers: proxy certificates, bearer tokens and Kerberos tickets,
within the sandbox, also through a redirecting server."""
import base64
import contextlib
import json
import os
import pwd
import shutil
import sqlite3
import subprocess
import textwrap
import time
from pathlib import Path

from certificates import RSA, make_certificates
from fetching import fetching
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
    """The request to a server that accepts only one way of authentication."""
    return f'xrootd.seclib libXrdSec.so\nsec.protocol {protocol} {known_by}\nsec.protbind * only {protocol}\n'


def is_served_to(address, environment, secret):
    """But none without such a secret."""
    with mounted(DATA / FILE) as here, mounted(address, env=environment) as mountpoint:
        same_trees(here / 'Events', mountpoint / 'Events')
    result = command(NTUPLE, 'ls', address, env={**environment, secret: '/nothing'})
    same((result.returncode, b'accepted no way to authenticate' in result.stderr), (NOTHING, True),
         result.stderr)


def is_known_once_it_is_there(address, environment, secret):
    """Renewed credentials: the same process asks again, and the file was renamed into place, or
    a link now leads elsewhere."""
    place = Path(environment[secret].removeprefix('FILE:'))
    with fetching(address, env=environment) as (process, _):
        same(process.ask('OPEN', address), 'DONE', secret)
    place.rename(place.with_name('kept'))
    with fetching(address, env=environment) as (process, _):
        same('DONE' in process.ask('OPEN', address), False, secret)
        folder = place.with_name('version')
        folder.mkdir()
        place.with_name('kept').rename(folder / place.name)
        place.symlink_to(folder / place.name)
        same(process.ask('OPEN', address), 'DONE', secret)


@contextlib.contextmanager
def server_of_certificates(directory):
    make_certificates(directory, RSA)
    give_to_server(directory / 'server.key')
    output(tool('xrdgsiproxy'), 'init', '-cert', directory / 'user.pem', '-key', directory / 'user.key',
           '-certdir', directory / 'authorities',
           '-out', directory / 'proxy', '-valid', '1:00')
    # XRootD 5.5 itself reads an unterminated string.
    sanitizers = {'ASAN_OPTIONS': f'{os.environ.get("ASAN_OPTIONS", "")}:strict_string_checks=0'}
    environment = {**os.environ, **sanitizers, 'X509_CERT_DIR': str(directory / 'authorities'),
                   'X509_USER_PROXY': str(directory / 'proxy'),
                   'XrdSecGSISRVNAMES': 'server'}
    with xrootd(directory, DATA, asks_with('gsi',
                                           f'-certdir:{directory}/authorities -cert:{directory}/server.pem '
                                           f'-key:{directory}/server.key '
                                                  '-crl:0 -gmapopt:10')) as server:
        yield server, environment


@case
def a_proxy_certificate_identifies_the_user():
    with scratch() as directory, server_of_certificates(directory) as (server, environment):
        is_served_to(server.url(FILE), environment, 'X509_USER_PROXY')
        is_known_once_it_is_there(server.url(FILE), environment, 'X509_USER_PROXY')


@case
def a_redirected_client_identifies_itself_to_the_other_server():
    with scratch() as directory, scratch() as other, server_of_certificates(directory) as (server,
            environment):
        with xrootd(other, DATA, f'xrootd.redirect 127.0.0.1:{server.port} /') as first:
            is_served_to(first.url(FILE), environment, 'X509_USER_PROXY')
            reported = output(NTUPLE, 'stat', first.url(FILE), env=environment).decode()
            same(f'server: root://127.0.0.1:{server.port}\n' in reported, True, reported)


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b'=')


def numbers_of_signature(content):
    """The two numbers of a signature in DER, one after the other."""
    at, numbers = 2, b''
    for _ in range(2):
        end = at + 2 + content[at + 1]
        numbers += content[at + 2:end].lstrip(b'\0').rjust(32, b'\0')
        at = end
    return numbers


def write_token(directory, issuer):
    """A token that is valid for an hour, and the server's cached keys of its issuer, so that it
    need not be contacted."""
    now = int(time.time())
    output(tool('openssl'), 'ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out',
           directory / 'issuer.key')
    point = output(tool('openssl'), 'ec', '-in', directory / 'issuer.key', '-pubout', '-outform', 'DER')[-64:]
    header = {'typ': 'JWT', 'alg': 'ES256', 'kid': 'key'}
    claims = {'iss': issuer, 'sub': 'user', 'aud': 'ANY', 'ver': 'scitoken:2.0', 'scope': 'read:/',
              'iat': now, 'nbf': now - 60, 'exp': now + 3600}
    text = b'.'.join(encoded(json.dumps(part).encode()) for part in (header, claims))
    (directory / 'text').write_bytes(text)
    signature = output(tool('openssl'), 'dgst', '-sha256', '-sign', directory / 'issuer.key',
                       directory / 'text')
    (directory / 'token').write_bytes(text + b'.' + encoded(numbers_of_signature(signature)))
    (directory / 'token').chmod(0o600)
    key = {'kid': 'key', 'kty': 'EC', 'crv': 'P-256', 'alg': 'ES256', 'use': 'sig',
           'x': encoded(point[:32]).decode(), 'y': encoded(point[32:]).decode()}
    known = {'expires': now + 3600, 'next_update': now + 3600, 'jwks': {'keys': [key]}}
    (directory / 'scitokens').mkdir()
    keys = directory / 'scitokens/scitokens_cpp.sqllite'
    with contextlib.closing(sqlite3.connect(keys)) as database, database:
        database.execute(
            'CREATE TABLE keycache (issuer text UNIQUE PRIMARY KEY NOT NULL, keys text NOT NULL)')
        database.execute('INSERT INTO keycache VALUES (?, ?)', (issuer, json.dumps(known)))
    for path in (directory / 'scitokens', directory / 'scitokens/scitokens_cpp.sqllite'):
        give_to_server(path)


@case
def a_bearer_token_identifies_the_user():
    issuer = 'https://issuer.invalid'
    with scratch() as directory:
        make_certificates(directory)
        give_to_server(directory / 'server.key')
        write_token(directory, issuer)
        (directory / 'issuers').write_text(f'[Global]\naudience = ANY\n[Issuer test]\nissuer = '
                                           f'{issuer}\nbase_path = /\n')
        with xrootd(directory, DATA, f"""
            setenv XDG_CACHE_HOME = {directory}
            xrd.tls {directory}/server.pem {directory}/server.key
            xrd.tlsca certdir {directory}/authorities
            xrootd.tls capable all
            ofs.authorize 1
            ofs.authlib libXrdAccSciTokens.so config={directory}/issuers
            """ + asks_with('ztn', '-tokenlib libXrdAccSciTokens.so')) as server:
            environment = {**os.environ, 'X509_CERT_DIR': str(directory / 'authorities')}
            is_served_to(server.url(FILE, 'roots'), {**environment,
                                                     'BEARER_TOKEN_FILE': str(directory / 'token')},
                         'BEARER_TOKEN_FILE')
            output(NTUPLE, 'verify', server.url(FILE, 'roots'),
                   env={**environment, 'BEARER_TOKEN': (directory / 'token').read_text()})
            is_known_once_it_is_there(server.url(FILE, 'roots'),
                                      {**environment, 'BEARER_TOKEN_FILE': str(directory / 'token')},
                                      'BEARER_TOKEN_FILE')


@contextlib.contextmanager
def key_distribution_center(directory):
    """Yields the environment of a user with a Kerberos ticket, and the keys of a server."""
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
    environment = {**os.environ, 'KRB5_CONFIG': str(directory / 'krb5.conf'),
                   'KRB5CCNAME': f'FILE:{directory}/tickets'}
    own = {**environment, 'KRB5_KDC_PROFILE': str(directory / 'kdc.conf')}
    output(tool('kdb5_util'), 'create', '-s', '-P', 'master', '-r', REALM, env=own)
    for name, keys in ('user', 'user.keys'), ('xrootd/localhost', 'server.keys'):
        for change in f'addprinc -randkey {name}', f'ktadd -k {directory}/{keys} {name}':
            output(tool('kadmin.local'), '-q', change, env=own)
    with subprocess.Popen([tool('krb5kdc'), '-n'], env=own, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as center:
        try:
            wait_until(lambda: is_open(port), 'krb5kdc')
            output(tool('kinit'), '-k', '-t', directory / 'user.keys', 'user', env=environment)
            yield environment, directory / 'server.keys'
        finally:
            center.kill()


@case
def a_kerberos_ticket_identifies_the_user():
    with scratch() as directory, key_distribution_center(directory) as (environment, keys):
        give_to_server(keys)
        own = f'setenv KRB5_CONFIG = {directory}/krb5.conf\n'
        with xrootd(directory, DATA, own + asks_with('krb5', f'{keys} xrootd/localhost@{REALM}')) as server:
            address = server.url(FILE).replace('127.0.0.1', 'localhost')
            is_served_to(address, environment, 'KRB5CCNAME')
            is_known_once_it_is_there(address, environment, 'KRB5CCNAME')


run(at_once=3)
