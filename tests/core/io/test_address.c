/* SPDX-License-Identifier: MIT */
#include "core/io/address.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/source.h"
#include "support.h"
#include <ntuple/source.h>

static struct nt_error error;

static const struct {
    const char *path;
    const char *named; /* expected in the message; NULL: a path like any other */
} paths[] = {
    {"root://server//file.root", NULL}, /* it can be read */
    {"GS://bucket/file.root", "AWS_ENDPOINT_URL"},
    {"http://server/file.root", NULL},
    {"https://server/file.root", NULL},
    {"s3://bucket/file.root", NULL},
    {"gs://bucket/file.root", "AWS_ENDPOINT_URL"},
    {"davs://server/file.root", NULL},
    {"x-new+kind.2://server", "copy it"},
    {"file:///etc/passwd", "the path alone"},
    {"", NULL},
    {"nothing.root", NULL},
    {"://server", NULL},
    {"./http://server", NULL},
    {"http:/server", NULL},
    {"9p://server", NULL},
    {"a b://server", NULL},
};

TEST(addresses_are_distinguished_from_paths, .end = sizeof(paths) / sizeof(*paths))
{
    const char *path = paths[_i].path;
    enum nt_status expected = paths[_i].named ? NT_UNSUPPORTED : NT_NOT_FOUND;
    ck_assert_int_eq(nt_fail_path(&error, ENOENT, path), expected);
    ck_assert_int_eq(error.status, expected);
    ck_assert_msg(strncmp(error.message, path, strlen(path)) == 0, "%s", error.message);
    if (paths[_i].named)
        ck_assert_msg(strstr(error.message, paths[_i].named) != NULL, "%s", error.message);
    ck_assert_int_eq(nt_fail_path(NULL, ENOENT, path), expected);
    ck_assert_int_eq(nt_fail_path(&error, EACCES, path), NT_IO);
}

static const struct {
    const char *path, *shown;
    bool is_address, is_good;
} addresses[] = {
    {"https://server/a/file.root", "https://server/a/file.root", true, true},
    {"HTTP://server:80/file.root?token=secret", "HTTP://server:80/file.root", true, true},
    {"https://server/file.root#secret", "https://server/file.root", true, true},
    {"https://me:secret@server/file@2.root?a=b@c", "https://server/file@2.root", true, false},
    {"https://me@secret@server?x", "https://server", true, false},
    {"https://server/@/file.root", "https://server/@/file.root", true, true},
    {"dav://server/file.root?token=secret", "dav://server/file.root", true, true},
    {"s3://bucket/a?b#c d.root", "s3://bucket/a?b#c d.root", true, true},
    {"root://server//file#1.root?authz=secret", "root://server//file#1.root", true, true},
    {"XROOTS://me@server:1094//file.root", "XROOTS://server:1094//file.root", true, true},
    {"root://me:secret@server//file.root", "root://server//file.root", true, false},
    {"ntpl+s3+https://server:9000/bucket/set", "ntpl+s3+https://server:9000/bucket/set", true, true},
    {"NTPL+S3+HTTP://server/bucket/set/", "NTPL+S3+HTTP://server/bucket/set/", true, true},
    {"ntpl+s3+https://server/bucket/set?secret", "ntpl+s3+https://server/bucket/set", true, false},
    {"ntpl+s3+https://server/bucket/set#secret", "ntpl+s3+https://server/bucket/set", true, false},
    {"ntpl+s3+https://me:secret@server/bucket/set", "ntpl+s3+https://server/bucket/set", true, false},
    {"ntpl+s3+https://server/bucket/secret@set", "ntpl+s3+https://server/bucket/secret@set", true, false},
    {"ntpl+s3://bucket/set", "ntpl+s3://bucket/set", false, true},
    {"xrootd://server//file.root?a", "xrootd://server//file.root?a", false, true},
    {"file?a.root", "file?a.root", false, true},
    {"http:/file.root?a", "http:/file.root?a", false, true},
    {"", "", false, true},
};

TEST(addresses_are_shown_without_secrets, .end = sizeof(addresses) / sizeof(*addresses))
{
    const char *path = addresses[_i].path;
    char *shown = nt_address_redact(path);
    ck_assert_str_eq(shown, addresses[_i].shown);
    free(shown);
    ck_assert_int_eq(nt_is_address(path), addresses[_i].is_address);
    if (!addresses[_i].is_address)
        return;
    ck_assert_int_eq(nt_address_check(path, &error), addresses[_i].is_good ? NT_OK : NT_INVALID);
    if (!addresses[_i].is_good)
        ck_assert_msg(!strstr(error.message, "secret"), "%s", error.message);
}

TEST(addresses_of_other_kinds_are_refused)
{
    struct nt_source *source;
    assert_status(NT_UNSUPPORTED, nt_source_open_file("gs://bucket/file.root", &source, &error));
    ck_assert_msg(strstr(error.message, "cannot read ") != NULL, "%s", error.message);
    assert_status(NT_INVALID, nt_source_open_address("file.root", NULL, &source, &error));
    assert_status(NT_INVALID, nt_source_open_address("https://me@server/file.root", NULL, &source, &error));
}

static const struct {
    const char *address, *folder, *name, *file, *inner;
    bool is_folder;
} below[] = {
    {"http://server/a/", "http://server/a", "b c/d%+?.root", "http://server/a/b%20c/d%25%2B%3F.root",
     "http://server/a/b%20c/d%25%2B%3F.root/", true},
    {"davs://server/a?token=/", "davs://server/a?token=/", "b", "davs://server/a/b?token=/",
     "davs://server/a/b/?token=/", false},
    {"https://server/", "https://server", "", "https://server/", "https://server/", true},
    {"https://server", "https://server", "b", "https://server/b", "https://server/b/", false},
    {"s3://bucket/a?b#/", "s3://bucket/a?b#", "c d%", "s3://bucket/a?b#/c d%", "s3://bucket/a?b#/c d%/",
     true},
    {"s3://bucket", "s3://bucket", "c", "s3://bucket/c", "s3://bucket/c/", false},
    {"root://server//a/?b", "root://server//a?b", "c%", "root://server//a/c%?b", "root://server//a/c%/?b",
     true},
    {"ntpl+s3+http://server/bucket/set//", "ntpl+s3+http://server/bucket/set", "1",
     "ntpl+s3+http://server/bucket/set/1", "ntpl+s3+http://server/bucket/set/1/", false},
    {"ntpl+s3+http:////", "ntpl+s3+http://", "1", "ntpl+s3+http://1", "ntpl+s3+http://1/", false},
    {"root://server//", "root://server//", "c", "root://server//c", "root://server//c/", true},
};

TEST(addresses_continue_below_folders, .end = sizeof(below) / sizeof(*below))
{
    char *folder = nt_address_folder_of(below[_i].address);
    ck_assert_str_eq(folder, below[_i].folder);
    ck_assert_int_eq(nt_address_is_folder(below[_i].address), below[_i].is_folder);
    char *file = nt_address_below(folder, below[_i].name, false);
    ck_assert_str_eq(file, below[_i].file);
    free(file);
    file = nt_address_below(folder, below[_i].name, true);
    ck_assert_str_eq(file, below[_i].inner);
    free(file);
    free(folder);
}

static const struct {
    const char *address, *folder, *pattern; /* NULL: it is none */
} patterns[] = {
    {"http://server/a b%20c/d%2A%20e%25*/f.root?a=*", "http://server/a b%20c?a=*", "d\\* e%*/f.root"},
    {"https://server/*.root?token=*", "https://server?token=*", "*.root"},
    {"https://server/a[0-9].root#*", "https://server#*", "a[0-9].root"},
    {"davs://server/a/%5b%2F%00%zz%3f*", "davs://server/a", "\\[%2F%00%zz\\?*"},
    {"http://[::1]:80/a.root?b=[*]", NULL, NULL},
    {"http://[::1]:80/a*", "http://[::1]:80", "a*"},
    {"http://server/%2A", NULL, NULL},
    {"https://ser*er", NULL, NULL},
    {"s3://bucket/a b%2A/c?d#.root", "s3://bucket/a b%2A", "c?d#.root"},
    {"s3://bucket/**/*.root", "s3://bucket", "**/*.root"},
    {"root://me@server//dir/**/*.root?authz=*", "root://me@server//dir?authz=*", "**/*.root"},
    {"root://server//*", "root://server//", "*"},
    {"roots://server//dir//a*//", "roots://server//dir//", "a*//"},
};

TEST(patterns_are_found_in_the_paths_of_addresses_alone, .end = sizeof(patterns) / sizeof(*patterns))
{
    char *folder, *pattern;
    ck_assert_int_eq(nt_address_is_pattern(patterns[_i].address), patterns[_i].folder != NULL);
    if (!patterns[_i].folder)
        return;
    ck_assert(nt_address_split_pattern(patterns[_i].address, &folder, &pattern));
    ck_assert_str_eq(folder, patterns[_i].folder);
    ck_assert_str_eq(pattern, patterns[_i].pattern);
    free(folder);
    free(pattern);
}
