# SPDX-License-Identifier: MIT
"""Files by https and with credentials: certificates, tokens and passwords come from where users
keep them, go only to their server, and appear nowhere else. With nginx, with certificates made
here, and with two servers of which one redirects to the other."""
import contextlib
import errno
import os
import time

from certificates import make_certificates, make_user
from harness import (DATA, IN_TIME, NTUPLE, Skip, case, command, errors_of, fails, mounted, output, run, same,
                     scratch, wait_until)
from web import nginx, served

FILE = 'example.root'
UNREACHABLE, NOTHING = 9, 2
TOKEN, LATER_TOKEN, PASSWORD = 'first-token-abcdef', 'later-token-ghijkl', 'hidden-mnopqr'
SECRETS = (TOKEN, LATER_TOKEN, PASSWORD)
VARIABLES = ('NETRC', 'BEARER_TOKEN', 'BEARER_TOKEN_FILE', 'XDG_RUNTIME_DIR', 'X509_USER_PROXY',
             'X509_CERT_DIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR',
             'CURL_CA_BUNDLE')


def environment(**variables):
    return {**{name: value for name, value in os.environ.items() if name not in VARIABLES},
            **{name: str(value) for name, value in variables.items()}}


def locations(directory, token):
    crypted = output('openssl', 'passwd', '-apr1', PASSWORD).decode().strip()
    (directory / 'users').write_text(f'me:{crypted}\n')
    return f"""
        ssl_certificate {directory}/server.pem; ssl_certificate_key {directory}/server.key;
        ssl_client_certificate {directory}/ca.pem; ssl_verify_client optional;
        location /open/ {{ alias {DATA}/; }}
        location /token/ {{ if ($http_authorization != "Bearer {token}") {{ return 401; }} alias {DATA}/; }}
        location /password/ {{ auth_basic all; auth_basic_user_file {directory}/users; alias {DATA}/; }}
        location /user/ {{ if ($ssl_client_verify != SUCCESS) {{ return 403; }} alias {DATA}/; }}
        location /later/ {{ if ($ssl_client_s_dn != "CN=later") {{ return 403; }} alias {DATA}/; }}
        location /untold/ {{ if ($http_authorization) {{ return 418; }} alias {DATA}/; }}
        location /to-untold/ {{
            rewrite ^/to-untold/(.*)$ https://localhost:$server_port/untold/$1 redirect; }}
        location /to-user/ {{ rewrite ^/to-user/(.*)$ https://localhost:$server_port/user/$1 redirect; }}
        location /same-user/ {{ rewrite ^/same-user/(.*)$ /user/$1 redirect; }}
        location /moved/ {{ rewrite ^/moved/(.*)$ /token/$1 redirect; }}
        location /down/ {{ rewrite ^/down/(.*)$ http://127.0.0.1:1/$1 redirect; }}
        location /other/ {{ rewrite ^/other/(.*)$ https://localhost:$server_port/token/$1 redirect; }}"""


@contextlib.contextmanager
def secured():
    """A server, the directory of its files, and a function that reads a path in an environment with
    these variables: its address."""
    with scratch() as directory:
        make_certificates(directory)
        with nginx(directory, '', locations(directory, TOKEN), 'ssl') as server:
            yield server, directory, f'https://127.0.0.1:{server.port}'


def is_read(url, *options, **variables):
    same(b'Events' in output(NTUPLE, 'ls', *options, url, env=environment(**variables)), True,
         f'{url}, {variables}')


def is_refused(status, url, *words, options=(), **variables):
    start = time.monotonic()
    result = command(NTUPLE, 'ls', *options, url, env=environment(**variables))
    message = result.stderr.decode()
    same(result.returncode, status, f'{url}: {message}')
    for word in words:
        same(word in message, True, f'{word!r} in {message!r}')
    same([secret for secret in SECRETS if secret in message], [], message)
    # A retry goes on for a minute.
    same(time.monotonic() - start < IN_TIME, True, f'{url}: refused at once')


@case
def https_servers_need_a_trusted_certificate():
    with secured() as (_, directory, site):
        url = f'{site}/open/{FILE}'
        is_refused(UNREACHABLE, url, 'certificate', 'CURL_CA_BUNDLE')
        for variables in ({'CURL_CA_BUNDLE': directory / 'ca.pem'}, {'SSL_CERT_FILE': directory / 'ca.pem'},
                          {'X509_CERT_DIR': directory / 'authorities'},
                          {'SSL_CERT_DIR': directory / 'authorities'}):
            is_read(url, **variables)
        is_refused(UNREACHABLE, url.replace('127.0.0.1', 'other.localhost'),
                   "the server's certificate is not for the name other.localhost",
                   CURL_CA_BUNDLE=directory / 'ca.pem')
        is_refused(UNREACHABLE, f'{site}/down/{FILE}', 'not allowed', CURL_CA_BUNDLE=directory / 'ca.pem')
        here, there = (directory / name for name in ('here', 'there'))
        output(NTUPLE, 'cp', '-r', url, 'Events', there, env=environment(CURL_CA_BUNDLE=directory / 'ca.pem'))
        output(NTUPLE, 'cp', '-r', DATA / FILE, 'Events', here)
        same(output('diff', '-rq', '-x', 'table.arrow', '-x', '*.json', '-x', 'pages.jsonl', '-x',
                    'layout.*', here, there), b'')


@case
def a_system_without_authorities_trusts_those_of_a_package():
    hide = ('for place in /etc/ssl /etc/pki; do [ ! -d $place ] || mount -t tmpfs none $place || exit; done; '
            'exec "$@"')
    bare = ('unshare', '--mount', 'sh', '-c', hide, 'sh', NTUPLE, 'ls')
    if command(*bare, DATA / FILE).returncode:
        raise Skip('this user may not mount')
    with secured() as (_, directory, site):
        url, package = f'{site}/open/{FILE}', directory / 'ca.pem'
        same(b'Events' in output(*bare, url, env=environment(NTUPLE_CA_BUNDLE=package)), True)
        same(command(*bare, url, env=environment()).returncode, UNREACHABLE, 'no authorities')
        is_refused(UNREACHABLE, url, 'certificate', NTUPLE_CA_BUNDLE=package)


@case
def users_show_what_they_have():
    with secured() as (_, directory, site):
        trusted = {'CURL_CA_BUNDLE': directory / 'ca.pem'}
        (directory / 'netrc').write_text(f'machine 127.0.0.1 login me password {PASSWORD}\n')
        (directory / 'token').write_text(f'\n  {TOKEN}\n')
        (directory / 'run').mkdir()
        (directory / 'run' / f'bt_u{os.geteuid()}').write_text(TOKEN)
        for variables in ({'BEARER_TOKEN': TOKEN, 'BEARER_TOKEN_FILE': '/nonexistent'},
                          {'BEARER_TOKEN_FILE': directory / 'token'},
                          {'XDG_RUNTIME_DIR': directory / 'run'}):
            is_read(f'{site}/token/{FILE}', **trusted, **variables)
        is_refused(NOTHING, f'{site}/token/{FILE}', '401', **trusted)
        is_refused(NOTHING, f'{site}/token/{FILE}', '401', BEARER_TOKEN=LATER_TOKEN, **trusted)
        is_read(f'{site}/password/{FILE}', NETRC=directory / 'netrc', **trusted)
        is_refused(NOTHING, f'{site}/password/{FILE}', '401', **trusted)
        is_read(f'{site}/user/{FILE}', X509_USER_PROXY=directory / 'proxy', **trusted)
        is_refused(NOTHING, f'{site}/user/{FILE}', '403', **trusted)
        is_refused(UNREACHABLE, f'{site}/user/{FILE}', 'X509_USER_PROXY',
                   X509_USER_PROXY=directory / 'names', **trusted)


@case
def credentials_go_to_the_server_that_they_are_for():
    with secured() as (_, directory, site):
        variables = {'CURL_CA_BUNDLE': directory / 'ca.pem', 'BEARER_TOKEN': TOKEN}
        is_read(f'{site}/moved/{FILE}', **variables)
        is_refused(NOTHING, f'{site}/other/{FILE}', '401', **variables)
    with scratch() as directory, served(DATA) as site:
        (directory / 'netrc').write_text('machine 127.0.0.1 login me password hidden\n')
        output(NTUPLE, 'ls', site.url(FILE), env=environment(NETRC=directory / 'netrc',
                                                             BEARER_TOKEN='not-for-http'))
        same({headers.get('Authorization') for _, headers in site.requests}, {'Basic bWU6aGlkZGVu'}, 'netrc')


@case
def another_server_learns_nothing_about_the_user():
    """By http, by https, and from one to the other."""
    with scratch() as directory, served(DATA) as first, served(DATA) as other, secured() as (_, own, site):
        first.other = other.url('')
        (directory / 'netrc').write_text('default login me password hidden\n')
        variables = {'NETRC': directory / 'netrc', 'BEARER_TOKEN': TOKEN, 'CURL_CA_BUNDLE': own / 'ca.pem'}
        is_read(first.url(f'to-other/{FILE}'), **variables)
        same([headers for _, headers in other.requests if 'Authorization' in headers], [], 'who is sent to')
        same({headers.get('Authorization') for _, headers in first.requests}, {'Basic bWU6aGlkZGVu'},
             'who is named')
        same(len(other.requests) > 1, True)
        first.other = f'{site}/untold/'
        for url in f'{site}/to-untold/{FILE}', first.url(f'to-other/{FILE}'):
            is_read(url, **variables)
        is_refused(UNREACHABLE, f'{site}/untold/{FILE}', '418', **variables)


@case
def what_is_signed_is_sent_to_no_other_server():
    with served(DATA) as first, served(DATA) as other:
        first.other = other.url('')
        keys = {'AWS_ACCESS_KEY_ID': 'key', 'AWS_SECRET_ACCESS_KEY': 'secret', 'AWS_SESSION_TOKEN': TOKEN,
                'AWS_ENDPOINT_URL': first.url('to-other')}
        for address in f's3://bucket/{FILE}', f'ntpl+s3+{first.url("to-other")}/bucket/{FILE}':
            is_refused(UNREACHABLE, address, '302', **keys)
        same(other.requests, [])
        same({headers['Authorization'].split()[0] for _, headers in first.requests}, {'AWS4-HMAC-SHA256'})
        same({headers['x-amz-security-token'] for _, headers in first.requests}, {TOKEN})


@case
def a_name_of_a_metadata_service_is_not_contacted():
    """Neither a source nor where a server redirects to; the name does not show the address."""
    with scratch() as directory, served(DATA) as site:
        (directory / 'hosts').write_text('169.254.169.254 innocent.example\n')
        within = ('unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"',
                  directory / 'hosts')
        if command(*within, 'true').returncode:
            raise Skip('this user may not mount')
        site.other = 'http://innocent.example/'
        for url in f'http://innocent.example/{FILE}', site.url(f'to-other/{FILE}'):
            result = command(*within, NTUPLE, 'ls', '--timeout=5', url, env=environment())
            same((result.returncode, b'instance metadata' in result.stderr), (NOTHING, True), result.stderr)


@case
def a_certificate_is_shown_to_others_unless_it_is_the_origins():
    with secured() as (_, directory, site):
        variables = {'CURL_CA_BUNDLE': directory / 'ca.pem', 'X509_USER_PROXY': directory / 'proxy'}
        for place in 'user', 'to-user', 'same-user':
            is_read(f'{site}/{place}/{FILE}', **variables)
        for place in 'user', 'same-user':
            is_read(f'{site}/{place}/{FILE}', '--certificate=origin', **variables)
        is_refused(NOTHING, f'{site}/to-user/{FILE}', '403', options=['--certificate=origin'], **variables)
        with mounted(f'{site}/same-user/{FILE}', '-o', 'certificate=origin',
                     env=environment(**variables)) as mountpoint:
            same((mountpoint / 'Events').is_dir(), True)


def renamed(directory, name, content):
    (directory / 'new').write_text(content)
    (directory / 'new').chmod(0o600)
    (directory / 'new').rename(directory / name)


def switched(directory, name, content):
    """As Kubernetes replaces mounted files: all are behind a link, which then changes."""
    folder = directory / f'version-{time.monotonic_ns()}'
    folder.mkdir()
    (folder / name).write_text(content)
    (folder / name).chmod(0o600)
    (directory / 'new').symlink_to(folder.name)
    (directory / 'new').rename(directory / '..data')
    if not (directory / name).exists():
        (directory / name).symlink_to(f'..data/{name}')


@case
def a_token_that_is_renewed_is_used_and_none_is_seen():
    for renew in renamed, switched:
        check_token(renew)


def check_token(renew):
    with secured() as (server, directory, site):
        renew(directory, 'token', TOKEN)
        variables = environment(CURL_CA_BUNDLE=directory / 'ca.pem', BEARER_TOKEN_FILE=directory / 'token')
        with mounted(f'{site}/token/{FILE}', env=variables) as mountpoint:
            first, *others = sorted(mountpoint.glob('Events/**/column.*/data.bin'))
            first.read_bytes()
            server.write('', locations(directory, LATER_TOKEN), 'ssl')
            server.read_again()
            refused = [path for path in others if not can_be_read(path)]
            fails(errno.EACCES, refused[0].read_bytes)
            renew(directory, 'token', LATER_TOKEN)
            path = refused[0]
            same(eventually_read(path), output(NTUPLE, 'cat', DATA / FILE, path.relative_to(mountpoint)))
            reported = '\n'.join(path.read_text() for path in (*mountpoint.glob('.ntuplefs/*'),
                                                           mountpoint / 'file.json'))
            same([secret for secret in SECRETS if secret in reported], [], 'what the mount tells')
            same({line['status'] for line in errors_of(mountpoint)}, {'unreachable'}, 'errors.jsonl')


@case
def a_certificate_that_is_renewed_is_shown():
    for renew in renamed, switched:
        check_certificate(renew)


def check_certificate(renew):
    """For each new connection."""
    with secured() as (server, directory, site):
        make_user(directory, 'later')
        renew(directory, 'shown', (directory / 'proxy').read_text())
        variables = environment(CURL_CA_BUNDLE=directory / 'ca.pem', X509_USER_PROXY=directory / 'shown')
        is_refused(NOTHING, f'{site}/later/{FILE}', '403', CURL_CA_BUNDLE=directory / 'ca.pem',
                   X509_USER_PROXY=directory / 'shown')
        with mounted(f'{site}/user/{FILE}', env=variables) as mountpoint:
            path = sorted(mountpoint.glob('Events/**/column.*/data.bin'))[0]
            server.write('', locations(directory, TOKEN).replace('location /user/',
                                                                 'location /user-before/').replace(
                                                                         'location /later/',
                                                                                 'location /user/'), 'ssl')
            server.read_again()
            fails(errno.EACCES, path.read_bytes)
            renew(directory, 'shown', (directory / 'later.pem').read_text()
                  + (directory / 'later.key').read_text())
            server.read_again()
            same(eventually_read(path), output(NTUPLE, 'cat', DATA / FILE, path.relative_to(mountpoint)))


def can_be_read(path):
    try:
        return path.read_bytes() is not None
    except OSError:
        return False


def eventually_read(path):
    """After a failure there is no new request for some seconds."""
    wait_until(lambda: can_be_read(path), f'{path} can be read')
    return path.read_bytes()


run()
