#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Objects of S3, from a server that checks signatures (moto); configured like the tools of AWS."""
import contextlib
import errno
import http.server
import json
import logging
import os
import shutil
import sys
import threading
import urllib.parse
import urllib.request
from pathlib import Path

from harness import DATA, NTUPLE, case, command, need, mounted, output, run, same, scratch
from trees import same_trees, tree
from web import served

sys.path.insert(0, str(Path(__file__).parent.parent / 'support'))
from object_store import Objects

ODD = "runs 1/a+b=c&d,e;(f)*'g'!@$#%:~é/example.root"
NOTHING = 2
NOBODY = {'AWS_ACCESS_KEY_ID': 'nobody', 'AWS_SECRET_ACCESS_KEY': 'nobody', 'AWS_DEFAULT_REGION': 'us-east-1'}
TOLD = ('AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_ENDPOINT_URL', 'AWS_REGION',
        'AWS_DEFAULT_REGION',
        'AWS_PROFILE', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE')


class Store:
    """A bucket `data` with files, a user who may read it, and one who may for an hour."""

    def __init__(self, url, connect):
        self.url = url
        self.s3, iam, sts = (connect(name, endpoint_url=url) for name in ('s3', 'iam', 'sts'))
        self.s3.create_bucket(Bucket='data')
        for key, name in ((ODD, 'example.root'), ('plain.root', 'compression_zstd.root'),
                          ('damaged.root', 'damaged_page.root')):
            self.s3.upload_file(str(DATA / name), 'data', key)
        self.s3.put_object(Bucket='data', Key='empty.root', Body=b'')
        allow = json.dumps({'Version': '2012-10-17', 'Statement': [{'Effect': 'Allow', 'Action': '*',
                                                                    'Resource': '*'}]})
        iam.create_user(UserName='reader')
        iam.put_user_policy(UserName='reader', PolicyName='all', PolicyDocument=allow)
        self.key = self.of(iam.create_access_key(UserName='reader')['AccessKey'])
        iam.create_role(RoleName='visitor', AssumeRolePolicyDocument=allow)
        iam.put_role_policy(RoleName='visitor', PolicyName='all', PolicyDocument=allow)
        role = 'arn:aws:iam::123456789012:role/visitor'
        self.visitor = self.of(sts.assume_role(RoleArn=role, RoleSessionName='visit')['Credentials'])

    @staticmethod
    def of(key):
        found = {'AWS_ACCESS_KEY_ID': key['AccessKeyId'], 'AWS_SECRET_ACCESS_KEY': key['SecretAccessKey']}
        return found | ({'AWS_SESSION_TOKEN': key['SessionToken']} if 'SessionToken' in key else {})

    def environment(self, key=None, **reported):
        usual = {name: value for name, value in os.environ.items() if name not in TOLD}
        return usual | {'AWS_ENDPOINT_URL': self.url} | (self.key if key is None else key) | reported

    def ask(self, *words, **options):
        return command(NTUPLE, *words, env=self.environment(**options))


def set_server(url, what, value=''):
    request = urllib.request.Request(f'{url}/moto-api/{what}', data=value.encode(),
                                     headers={'Content-Type': 'text/plain'})
    urllib.request.urlopen(request).read()


@contextlib.contextmanager
def stored():
    moto, boto3 = need('moto.server'), need('boto3')
    logging.getLogger('werkzeug').setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
    server.start()
    with reported(NOBODY):
        try:
            url = 'http://{}:{}'.format(*server.get_host_and_port())
            set_server(url, 'reset')  # of earlier servers in this process
            set_server(url, 'reset-auth', '1000')  # the number of requests that are not checked
            store = Store(url, boto3.client)
            set_server(url, 'reset-auth', '0')
            yield store
        finally:
            server.stop()


@contextlib.contextmanager
def reported(variables):
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@case
def objects_are_read_whatever_they_are_called():
    with stored() as store:
        for key, name in ((ODD, 'example.root'), ('plain.root', 'compression_zstd.root')):
            here, there = command(NTUPLE, 'verify', DATA / name), store.ask('verify', f's3://data/{key}')
            same((there.returncode, there.stdout.decode().split(': ', 1)[1]),
                 (0, here.stdout.decode().split(': ', 1)[1]), key)
        with reported(store.environment()), mounted(f's3://data/{ODD}') as mountpoint:
            path = 'Events/weight/data.bin'
            same((mountpoint / path).read_bytes(), output(NTUPLE, 'cat', DATA / 'example.root', path))
        damaged = store.ask('verify', 's3://data/damaged.root')
        same(damaged.returncode, command(NTUPLE, 'verify', DATA / 'damaged_page.root').returncode,
             damaged.stderr)


@case
def objects_of_a_dataset_are_requested_with_signatures():
    need('uproot')
    objects = Objects(DATA / 'late_fields.root', 'late', need('xxhash').xxh3_64_intdigest)
    with stored() as store:
        set_server(store.url, 'reset-auth', '1000')
        for number, content in objects.files.items():
            store.s3.put_object(Bucket='data', Key=f'a set/{number}'.rstrip('/'), Body=content)
        set_server(store.url, 'reset-auth', '0')
        address = f'ntpl+s3+{store.url}/data/a%20set'
        found = store.ask('verify', address)
        same((found.returncode, found.stdout.decode()), (0, f'{address}: 9 pages, 379 bytes: ok\n'),
             found.stderr)
        names = {'S3_ACCESS_KEY': store.key['AWS_ACCESS_KEY_ID'],
                 'S3_SECRET_KEY': store.key['AWS_SECRET_ACCESS_KEY'], 'S3_REGION': 'us-east-1'}
        same(store.ask('verify', address, key=names).returncode, 0)
        found = store.ask('verify', address, key={})
        same((found.returncode, found.stderr.decode()),
             (NOTHING, f'ntuple: {address}: the server does not allow it (403)\n'))


@case
def only_permitted_users_can_read():
    with stored() as store:
        address, words = 's3://data/plain.root', ('ls', 's3://data/plain.root')
        for key in store.key, store.visitor:
            same(store.ask(*words, key=key).returncode, 0, key)
        wrong = store.key | {'AWS_SECRET_ACCESS_KEY': 'wrong'}
        without_token = {name: value for name, value in store.visitor.items() if name != 'AWS_SESSION_TOKEN'}
        for key in wrong, without_token, {}:
            found = store.ask(*words, key=key)
            same((found.returncode, found.stderr.decode()),
                 (NOTHING, f'ntuple: {address}: the server does not allow it (403)\n'), key)


@case
def keys_that_a_program_would_print_are_explained():
    """The server would accept the keys; the program leaves a file."""
    with scratch() as directory, stored() as store:
        for line in f'credential_process = touch {directory}/ran', 'sso_session = lab':
            (directory / 'config').write_text(f'[default]\nregion = us-east-1\n{line}\n')
            found = store.ask('ls', 's3://data/plain.root',
                              key={'AWS_CONFIG_FILE': str(directory / 'config')})
            same((found.returncode, found.stderr.decode()),
                 (NOTHING, "ntuple: s3://data/plain.root: the server does not allow it (403); the profile's "
                           "credential_process or single sign-on is not used: see 'aws configure "
                           "export-credentials'\n"), line)
        same((directory / 'ran').exists(), False)


ROLE = 'arn:aws:iam::1:role/r'


class RoleService(http.server.BaseHTTPRequestHandler):
    """Gives the keys of a role: by STS to a web identity, to a container, and to a machine."""

    def log_message(self, *_):
        pass

    def answer(self, text, status=200):
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_PUT(self):
        self.answer('a-session', 200 if self.path == '/latest/api/token' else 404)

    def do_GET(self):
        key, role = self.server.key, '/latest/meta-data/iam/security-credentials/'
        names = {'AccessKeyId': key['AWS_ACCESS_KEY_ID'], 'SecretAccessKey': key['AWS_SECRET_ACCESS_KEY']}
        query = urllib.parse.parse_qs(self.path.partition('?')[2])
        self.server.asked += 1
        if query.get('WebIdentityToken') == ['identity.of+me'] and query['RoleArn'] == [ROLE]:
            members = {**names, 'SessionToken': key['AWS_SESSION_TOKEN'],
                       'Expiration': '2099-01-01T00:00:00Z'}
            self.answer('<R><Credentials>' + ''.join(f'<{name}>{value}</{name}>' for name, value
                                                     in members.items()) + '</Credentials></R>')
        elif self.path == role and self.headers['X-aws-ec2-metadata-token'] == 'a-session':
            self.answer('visitor')
        elif (self.path == f'{role}visitor' and self.headers['X-aws-ec2-metadata-token'] == 'a-session'
              or self.path == '/container' and self.headers['Authorization'] == 'of the container'):
            self.answer(json.dumps({**names, 'Token': key['AWS_SESSION_TOKEN'],
                                    'Expiration': '2099-01-01T00:00:00Z'}))
        else:
            self.answer('no', 403)


@contextlib.contextmanager
def role_service(key):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), RoleService)
    server.key, server.asked = key, 0
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server, f'http://127.0.0.1:{server.server_port}'
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@case
def keys_of_roles_are_fetched():
    with stored() as store, scratch() as directory, role_service(store.visitor) as (service, url):
        for name, text in ('identity', 'identity.of+me\n'), ('token', 'of the container\n'), ('bad', 'x'):
            (directory / name).write_text(text)
        identity = {'AWS_ROLE_ARN': ROLE, 'AWS_ENDPOINT_URL_STS': url}
        container = {'AWS_CONTAINER_CREDENTIALS_FULL_URI': f'{url}/container'}
        ways = ({**identity, 'AWS_WEB_IDENTITY_TOKEN_FILE': str(directory / 'identity')},
                {**container, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE': str(directory / 'token')},
                {**container, 'AWS_CONTAINER_AUTHORIZATION_TOKEN': 'of the container'},
                {'AWS_EC2_METADATA_SERVICE_ENDPOINT': url})
        for way in ways:
            before = service.asked
            found = store.ask('verify', 's3://data/plain.root', key={}, **way)
            same(found.returncode, 0, f'{way}: {found.stderr}')
            same(1 <= service.asked - before <= 2, True, f'{way}: keys are kept')
        bad = {'AWS_WEB_IDENTITY_TOKEN_FILE': str(directory / 'bad')}
        elsewhere = {'AWS_CONTAINER_CREDENTIALS_FULL_URI': 'http://other.example:1/container'}
        disguised = {**ways[2], 'AWS_CONTAINER_CREDENTIALS_FULL_URI':
                     f'http://127.0.0.1:x@localhost:{service.server_port}/container'}
        for way, words in (({**identity, **bad}, 'web identity'),
                           ({**container, 'AWS_CONTAINER_AUTHORIZATION_TOKEN': 'wrong'}, 'container'),
                           (elsewhere, 'container'), (disguised, 'container')):
            found = store.ask('ls', 's3://data/plain.root', key={}, **way)
            same((found.returncode != 0, 'cannot get keys' in found.stderr.decode()
                  and words in found.stderr.decode()), (True, True), found.stderr)
        before = service.asked
        same(store.ask('ls', 's3://data/plain.root', key=store.key, **ways[0]).returncode, 0)
        same(service.asked, before, 'keys in variables come first')


@case
def profiles_of_the_tools_are_found():
    with stored() as store, scratch() as directory:
        keys = '\n'.join(f'{name.lower()} = {value}' for name, value in store.visitor.items())
        (directory / 'credentials').write_text(f'[default]\naws_access_key_id = x\n[lab]\n{keys}\n')
        (directory / 'config').write_text(f'[profile lab]\nregion = us-east-1\ns3 =\n  addressing_style = '
                                          f'path\nendpoint_url = {store.url}\n')
        files = {'AWS_CONFIG_FILE': str(directory / 'config'),
                 'AWS_SHARED_CREDENTIALS_FILE': str(directory / 'credentials')}
        environment = store.environment(key={}, AWS_PROFILE='lab', **files)
        del environment['AWS_ENDPOINT_URL']
        for words in ({}, {'HOME': str(directory)}):
            (directory / '.aws').mkdir(exist_ok=True)
            for name in ('config', 'credentials'):
                (directory / '.aws' / name).write_bytes((directory / name).read_bytes())
            told_so = {name: value for name, value in environment.items() if not words
                       or name not in files} | words
            found = command(NTUPLE, 'ls', 's3://data/plain.root', env=told_so)
            same(found.returncode, 0, (words, found.stderr))


@case
def what_is_not_there_is_reported():
    with stored() as store:
        for address, status, message in (
                ('s3://data/none.root', NOTHING, 'the server has no such file (404)'),
                ('s3://none/none.root', NOTHING, 'the server has no such file (404)')):
            found = store.ask('ls', address)
            same((found.returncode, found.stderr.decode()), (status, f'ntuple: {address}: {message}\n'),
                 address)
        empty = store.ask('ls', 's3://data/empty.root')
        with scratch() as directory:
            (directory / 'empty.root').write_bytes(b'')
            here = command(NTUPLE, 'ls', directory / 'empty.root')
        same((empty.returncode, empty.stderr.decode().rsplit(': ', 1)[1]),
             (here.returncode, here.stderr.decode().rsplit(': ', 1)[1]))


def put(store, prefix, folder):
    """Then stop checking signatures: moto decodes encoded slashes of a query, and then refuses
    all signatures."""
    set_server(store.url, 'reset-auth', '10000')
    for path in folder.rglob('*'):
        if path.is_file():
            store.s3.upload_file(str(path), 'data', f'{prefix}/{path.relative_to(folder)}')


@case
def datasets_that_are_folders_are_what_they_are_here():
    source = DATA / 'lance_datasets' / 'fragments_2.2'
    prefix = "runs 1/a+b=c&d,e;(f)*'g'!@$#%:~\u00e9/fragments_2.2"
    with stored() as store, scratch() as directory:
        put(store, prefix, source)
        same(tree(f's3://data/{prefix}/', directory / 'there', env=store.environment()),
             tree(source, directory / 'here'))
        same_trees(directory / 'here', directory / 'there')
        here, there = command(NTUPLE, 'verify', source), store.ask('verify', f's3://data/{prefix}')
        same((there.returncode, there.stdout.rsplit(b': ', 2)[1:]), (0, here.stdout.rsplit(b': ', 2)[1:]))
        none = store.ask('ls', 's3://data/none/')
        same((none.returncode, none.stderr), (NOTHING,
                                              b'ntuple: s3://data/none/: the server has no such directory\n'))


@case
def a_bucket_is_mirrored_as_a_folder_is():
    backend = need('moto.s3.models').s3_backends['123456789012']['aws']
    with stored() as store:
        put(store, 'more/set.lance', DATA / 'lance_datasets' / 'fragments_2.2')
        store.s3.put_object(Bucket='data', Key='more/', Body=b'')  # as tools mark directories
        # in this process: clients refuse some
        for key in 'more/../up.root', 'more//none.root', 'more/line\nbreak.root':
            backend.put_object('data', key, (DATA / 'compression_zstd.root').read_bytes())
        with mounted('s3://data', env=store.environment()) as mountpoint:
            same(sorted(os.listdir(mountpoint)), ['.ntuplefs', 'damaged.root', 'empty.root', 'more',
                                                  'plain.root', 'runs 1'])
            same(sorted(os.listdir(mountpoint / 'more')), ['line%0Abreak.root', 'set.lance'],
                 'names that would lead elsewhere are left out')
            for name in 'plain.root', ODD:
                same((mountpoint / name / 'file.json').exists(), True, name)
            same((mountpoint / 'more/set.lance/set/versions.d/1/ntuple.json').exists(), True)


@case
def patterns_are_what_they_are_here():
    names = ['runs 1/a?b/run1.root', 'runs 1/a?b/run2.root', 'runs 1/run0.root', 'runs 1/.hidden/run9.root']
    with stored() as store, scratch() as directory:
        for name in names:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(DATA / 'example.root', directory / name)
        put(store, 'data', directory)
        for pattern in ('runs*/**/run?.root', 'runs 1/a[?]b/*', '**/*0.root'):
            found = output(NTUPLE, 'cat', '--chain', f's3://data/data/{pattern}', 'Events/files.jsonl',
                           env=store.environment()).decode().splitlines()
            here = output(NTUPLE, 'cat', '--chain', directory / pattern,
                          'Events/files.jsonl').decode().splitlines()
            same([json.loads(line)['file'].removeprefix('s3://data/data') for line in found],
                 [json.loads(line)['file'].removeprefix(str(directory)) for line in here], pattern)
            path = 'Events/weight/data.bin'
            same(output(NTUPLE, 'cat', '--chain', f's3://data/data/{pattern}', path, env=store.environment()),
                 output(NTUPLE, 'cat', '--chain', directory / pattern, path), pattern)


@case
def lists_of_many_parts_are_read_to_their_end():
    backend = need('moto.s3.models').s3_backends['123456789012']['aws']
    with stored() as store:
        put(store, 'set', DATA / 'lance_datasets' / 'fragments_2.2')
        for number in range(2100):  # before and after the requested ones; in this process, which is faster
            backend.put_object('data', f'set/data/{number % 3}-{number}', b'')
        found = store.ask('verify', 's3://data/set/')
        same(found.returncode, 0, found.stderr)


@case
def lists_are_requested_with_the_signature_that_botocore_makes():
    auth, request, keys = (need(f'botocore.{name}') for name in ('auth', 'awsrequest', 'credentials'))
    key = {'AWS_ACCESS_KEY_ID': 'some', 'AWS_SECRET_ACCESS_KEY': 'secret', 'AWS_SESSION_TOKEN': 'told/+='}
    with served(DATA) as site:
        usual = {name: value for name, value in os.environ.items() if name not in TOLD}
        command(NTUPLE, 'ls', "s3://bucket/a b/\u00e9=+(x)'/",
                env=usual | key | {'AWS_ENDPOINT_URL': site.url('').rstrip('/')})
        path, headers = site.requests[0]
        signer = auth.S3SigV4Auth(keys.Credentials('some', 'secret', 'told/+='), 's3', 'us-east-1')
        told_names = headers['Authorization'].split('SignedHeaders=')[1].split(',')[0].split(';')
        signed = {name: value for name, value in headers.items() if name.lower() in told_names}
        made = request.AWSRequest('GET', f'http://{headers["Host"]}{path}', headers=signed)
        made.context['timestamp'] = next(value for name, value in headers.items()
                                         if name.lower() == 'x-amz-date')
        text = signer.string_to_sign(made, signer.canonical_request(made))
        same(headers['Authorization'].rsplit('Signature=', 1)[1], signer.signature(text, made), path)
        same({'host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token'} <= set(told_names), True,
             told_names)
        same(path, "/bucket/?delimiter=%2F&list-type=2&prefix=a%20b%2F%C3%A9%3D%2B%28x%29%27%2F")


@case
def an_object_that_is_replaced_is_never_mixed():
    fields = 'run', 'event', 'weight', 'muons', 'comment'
    here = {field: output(NTUPLE, 'cat', DATA / 'example.root', f'Events/{field}/rows.jsonl')
            for field in fields}
    with stored() as store, reported(store.environment()), mounted(f's3://data/{ODD}') as mountpoint:
        set_server(store.url, 'reset-auth', '10')
        store.s3.put_object(Bucket='data', Key=ODD, Body=bytes((DATA / 'example.root').stat().st_size))
        set_server(store.url, 'reset-auth', '0')
        stale = 0
        for field in fields:
            try:
                same((mountpoint / 'Events' / field / 'rows.jsonl').read_bytes(), here[field], field)
            except OSError as error:
                same(error.errno, errno.ESTALE, field)
                stale += 1
        assert stale, 'nothing was asked of the server'


if __name__ == '__main__':
    sys.exit(run())
