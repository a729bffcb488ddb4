/* SPDX-License-Identifier: MIT
 *
 * Parsing listings of directories, as documented for both protocols and as servers send them; and refused
 * ones.
 */
#include "remote/helper/helper.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "remote/protocol.h"
#include "support.h"

/* RFC 4918, 9.1.5, without all but two of the properties that are not used here. */
static const char of_the_standard[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\" ?>\n"
    "<D:multistatus xmlns:D=\"DAV:\">\n"
    "  <D:response>\n"
    "    <D:href>/container/</D:href>\n"
    "    <D:propstat>\n"
    "      <D:prop xmlns:R=\"http://ns.example.com/boxschema/\">\n"
    "        <R:bigbox><R:BoxType>Box type A</R:BoxType></R:bigbox>\n"
    "        <R:author><R:Name>Hadrian</R:Name></R:author>\n"
    "        <D:creationdate>1997-12-01T17:42:21-08:00</D:creationdate>\n"
    "        <D:displayname>Example collection</D:displayname>\n"
    "        <D:resourcetype><D:collection/></D:resourcetype>\n"
    "      </D:prop>\n"
    "      <D:status>HTTP/1.1 200 OK</D:status>\n"
    "    </D:propstat>\n"
    "  </D:response>\n"
    "  <D:response>\n"
    "    <D:href>/container/front.html</D:href>\n"
    "    <D:propstat>\n"
    "      <D:prop xmlns:R=\"http://ns.example.com/boxschema/\">\n"
    "        <R:bigbox><R:BoxType>Box type B</R:BoxType></R:bigbox>\n"
    "        <D:creationdate>1997-12-01T18:27:21-08:00</D:creationdate>\n"
    "        <D:displayname>Example HTML resource</D:displayname>\n"
    "        <D:getcontentlength>4525</D:getcontentlength>\n"
    "        <D:getcontenttype>text/html</D:getcontenttype>\n"
    "        <D:getetag>\"zzyzx\"</D:getetag>\n"
    "        <D:getlastmodified>Mon, 12 Jan 1998 09:25:56 GMT</D:getlastmodified>\n"
    "        <D:resourcetype/>\n"
    "      </D:prop>\n"
    "      <D:status>HTTP/1.1 200 OK</D:status>\n"
    "    </D:propstat>\n"
    "  </D:response>\n"
    "</D:multistatus>\n";

/* Apache 2.4: properties that a collection lacks form a group of their own; names are percent-encoded
 * and XML-escaped. */
static const char of_apache[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<D:multistatus xmlns:D=\"DAV:\" xmlns:ns0=\"DAV:\">\n"
    "<D:response xmlns:lp1=\"DAV:\" xmlns:lp2=\"http://apache.org/dav/props/\" xmlns:g0=\"DAV:\">\n"
    "<D:href>/data%20sets/</D:href>\n"
    "<D:propstat>\n<D:prop>\n"
    "<lp1:resourcetype><D:collection/></lp1:resourcetype>\n"
    "<lp1:getlastmodified>Mon, 23 Nov 2026 16:54:27 GMT</lp1:getlastmodified>\n"
    "<lp1:getetag>\"1000-660f472637b6e\"</lp1:getetag>\n"
    "</D:prop>\n<D:status>HTTP/1.1 200 OK</D:status>\n</D:propstat>\n"
    "<D:propstat>\n<D:prop>\n<g0:getcontentlength/>\n</D:prop>\n"
    "<D:status>HTTP/1.1 404 Not Found</D:status>\n</D:propstat>\n"
    "</D:response>\n"
    "<D:response xmlns:lp1=\"DAV:\" xmlns:lp2=\"http://apache.org/dav/props/\" xmlns:g0=\"DAV:\">\n"
    "<D:href>/data%20sets/frag.lance/</D:href>\n"
    "<D:propstat>\n<D:prop>\n"
    "<lp1:resourcetype><D:collection/></lp1:resourcetype>\n"
    "<lp1:getlastmodified>Mon, 23 Nov 2026 16:54:27 GMT</lp1:getlastmodified>\n"
    "<lp1:getetag>\"1000-660f4726356b3\"</lp1:getetag>\n"
    "</D:prop>\n<D:status>HTTP/1.1 200 OK</D:status>\n</D:propstat>\n"
    "<D:propstat>\n<D:prop>\n<g0:getcontentlength/>\n</D:prop>\n"
    "<D:status>HTTP/1.1 404 Not Found</D:status>\n</D:propstat>\n"
    "</D:response>\n"
    "<D:response xmlns:lp1=\"DAV:\" xmlns:lp2=\"http://apache.org/dav/props/\">\n"
    "<D:href>/data%20sets/a%20b+c%2520&amp;%c3%a9.root</D:href>\n"
    "<D:propstat>\n<D:prop>\n"
    "<lp1:resourcetype/>\n<lp1:getcontentlength>80578</lp1:getcontentlength>\n"
    "<lp1:getlastmodified>Mon, 23 Nov 2026 16:54:27 GMT</lp1:getlastmodified>\n"
    "<lp1:getetag>W/\"13ac2-660f472636bce\"</lp1:getetag>\n"
    "</D:prop>\n<D:status>HTTP/1.1 200 OK</D:status>\n</D:propstat>\n"
    "</D:response>\n</D:multistatus>\n";

/* XRootD 5: no tags, nothing encoded, files have no type. */
static const char of_xrootd[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<D:multistatus xmlns:D=\"DAV:\" xmlns:ns1=\"http://apache.org/dav/props/\" xmlns:ns0=\"DAV:\">\n"
    "<D:response xmlns:lp1=\"DAV:\" xmlns:lp2=\"http://apache.org/dav/props/\" xmlns:lp3=\"LCGDM:\">\n"
    "<D:href>/store/</D:href>\n<D:propstat>\n<D:prop>\n"
    "<lp1:getcontentlength>4096</lp1:getcontentlength>\n"
    "<lp1:getlastmodified>Mon, 23 Nov 2026 16:54:29 GMT</lp1:getlastmodified>\n"
    "<lp1:resourcetype><D:collection/></lp1:resourcetype>\n<lp1:iscollection>1</lp1:iscollection>\n"
    "<lp1:executable>T</lp1:executable>\n<lp1:iscollection>1</lp1:iscollection>\n"
    "</D:prop>\n<D:status>HTTP/1.1 200 OK</D:status>\n</D:propstat>\n</D:response>\n"
    "<D:response xmlns:lp1=\"DAV:\" xmlns:lp2=\"http://apache.org/dav/props/\" xmlns:lp3=\"LCGDM:\">\n"
    "<D:href>/store/example.root</D:href>\n<D:propstat>\n<D:prop>\n"
    "<lp1:getcontentlength>80578</lp1:getcontentlength>\n"
    "<lp1:getlastmodified>Mon, 23 Nov 2026 16:54:29 GMT</lp1:getlastmodified>\n"
    "<lp1:iscollection>0</lp1:iscollection>\n<lp1:executable>F</lp1:executable>\n"
    "</D:prop>\n<D:status>HTTP/1.1 200 OK</D:status>\n</D:propstat>\n</D:response>\n"
    "</D:multistatus>\n";

/* Amazon S3 API Reference, ListObjectsV2: "Listing keys", "Listing keys using the prefix and delimiter
 * parameters", "Using a continuation token". */
static const char of_s3_keys[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\n"
    "    <Name>bucket</Name>\n    <Prefix/>\n    <KeyCount>205</KeyCount>\n    <MaxKeys>1000</MaxKeys>\n"
    "    <IsTruncated>false</IsTruncated>\n"
    "    <Contents>\n        <Key>my-image.jpg</Key>\n"
    "        <LastModified>2009-10-12T17:50:30.000Z</LastModified>\n"
    "        <ETag>\"fba9dede5f27731c9771645a39863328\"</ETag>\n"
    "        <Size>434234</Size>\n        <StorageClass>STANDARD</StorageClass>\n    </Contents>\n"
    "</ListBucketResult>\n";
static const char of_s3_folders[] =
    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\n"
    "  <Name>example-bucket</Name>\n  <Prefix>photos/2006/</Prefix>\n  <KeyCount>2</KeyCount>\n"
    "  <MaxKeys>1000</MaxKeys>\n  <Delimiter>/</Delimiter>\n  <IsTruncated>false</IsTruncated>\n"
    "  <CommonPrefixes>\n    <Prefix>photos/2006/February/</Prefix>\n  </CommonPrefixes>\n"
    "  <CommonPrefixes>\n    <Prefix>photos/2006/January/</Prefix>\n  </CommonPrefixes>\n"
    "</ListBucketResult>\n";
static const char of_s3_part[] =
    "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\n"
    "  <Name>bucket</Name>\n  <Prefix></Prefix>\n"
    "  <NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>\n"
    "  <KeyCount>1000</KeyCount>\n  <MaxKeys>1000</MaxKeys>\n  <IsTruncated>true</IsTruncated>\n"
    "  <Contents>\n    <Key>happyface.jpg</Key>\n"
    "    <LastModified>2014-11-21T19:40:05.000Z</LastModified>\n"
    "    <ETag>\"70ee1738b6b21e2c8a43f3a5ab0eee71\"</ETag>\n    <Size>11</Size>\n"
    "    <StorageClass>STANDARD</StorageClass>\n  </Contents>\n"
    "</ListBucketResult>\n";
/* moto 5, with a directory mark, and a key that no directory can contain. */
static const char of_moto[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<ListBucketResult "
    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>data</Name><Prefix>a&amp;b/</Prefix>"
    "<KeyCount>4</KeyCount><MaxKeys>1000</MaxKeys><Delimiter>/</Delimiter><IsTruncated>false</IsTruncated>"
    "<Contents><Key>a&amp;b/</Key><LastModified>2026-11-23T16:52:22Z</LastModified>"
    "<ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>0</Size></Contents>"
    "<Contents><Key>a&amp;b/x &lt;y&gt;+%20.root</Key><LastModified>2026-11-23T16:52:22Z</LastModified>"
    "<ETag>&quot;00000000000000000000000000000001-3&quot;</ETag><Size>5000000000</Size></Contents>"
    "<CommonPrefixes><Prefix>a&amp;b//</Prefix></CommonPrefixes>"
    "<CommonPrefixes><Prefix>a&amp;b/..</Prefix></CommonPrefixes>"
    "<CommonPrefixes><Prefix>a&amp;b/data/</Prefix></CommonPrefixes></ListBucketResult>";

static const struct {
    enum nt_service service;
    const char *folder, *text;
    /* name, d or f, size, time, tag, time for conditional requests */
    const char *reported;
    bool is_there;
    const char *token;
} good[] = {
    {NT_SERVICE_HTTP, "/container/", of_the_standard,
     "front.html f 4525 884597156 \"zzyzx\" Mon, 12 Jan 1998 09:25:56 GMT\n", true, NULL},
    {NT_SERVICE_HTTP, "/container", of_the_standard,
     "front.html f 4525 884597156 \"zzyzx\" Mon, 12 Jan 1998 09:25:56 GMT\n", true, NULL},
    {NT_SERVICE_HTTP, "/other/", of_the_standard, "", false, NULL},
    {NT_SERVICE_HTTP, "/container/front.html/", of_the_standard, "", false, NULL},
    {NT_SERVICE_HTTP, "/data\x20sets/", of_apache,
     "frag.lance d 0 1795452867 \"1000-660f4726356b3\" Mon, 23 Nov 2026 16:54:27 GMT\n"
     "a b+c%20&\xc3\xa9.root f 80578 1795452867  Mon, 23 Nov 2026 16:54:27 GMT\n",
     true, NULL},
    {NT_SERVICE_HTTP, "/data%20sets/", of_apache, "", false, NULL},
    {NT_SERVICE_HTTP, "//store//", of_xrootd,
     "example.root f 80578 1795452869  Mon, 23 Nov 2026 16:54:29 GMT\n", true, NULL},
    {NT_SERVICE_S3, "", of_s3_keys,
     "my-image.jpg f 434234 1255369830 \"fba9dede5f27731c9771645a39863328\" \n", true, NULL},
    {NT_SERVICE_S3, "my-image.jpg/", of_s3_keys, "", false, NULL},
    {NT_SERVICE_S3, "photos/2006/", of_s3_folders, "February d 0 none  \nJanuary d 0 none  \n", true, NULL},
    {NT_SERVICE_S3, "", of_s3_part, "happyface.jpg f 11 1416598805 \"70ee1738b6b21e2c8a43f3a5ab0eee71\" \n",
     true, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM="},
    {NT_SERVICE_S3, "a&b/", of_moto,
     "x <y>+%20.root f 5000000000 1795452742 \"00000000000000000000000000000001-3\" \ndata d 0 none  \n",
     true, NULL},
};

static void note(void *context, const struct nt_listed *entry)
{
    struct nt_buffer *reported = context;
    struct nt_validators validators;
    nt_validators_read(&validators, entry->validator, strlen(entry->validator));
    nt_buffer_append_format(reported, "%s %c %llu ", entry->name, entry->is_folder ? 'd' : 'f',
                            (unsigned long long)entry->size);
    if (entry->modified == NT_FETCH_NO_TIME)
        nt_buffer_append_string(reported, "none");
    else
        nt_buffer_append_format(reported, "%lld", (long long)entry->modified);
    nt_buffer_append_format(reported, " %s %s\n", validators.tag, validators.modified);
    ck_assert(!validators.is_weak);
}

/* In pieces of so many bytes. */
static struct nt_list_parser *fed(enum nt_service service, const char *folder, const char *text, size_t piece,
                                  struct nt_buffer *reported)
{
    struct nt_list_parser *list = nt_list_parser_new(service, folder, note, reported);
    size_t length = strlen(text), at = 0;
    bool is_good = true;
    for (; length - at > piece && is_good; at += piece)
        is_good = nt_list_parser_feed(list, text + at, piece, false);
    if (is_good)
        nt_list_parser_feed(list, text + at, length - at, true);
    return list;
}

TEST(lists_are_understood_however_they_come, .end = sizeof(good) / sizeof(*good), .timeout = 30)
{
    static const size_t pieces[] = {1, 7, 100, 1 << 20};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        struct nt_buffer reported = {0};
        struct nt_list_parser *list =
            fed(good[_i].service, good[_i].folder, good[_i].text, pieces[i], &reported);
        ck_assert_str_eq(nt_list_parser_problem(list), "");
        ck_assert_str_eq(nt_buffer_string(&reported), good[_i].reported);
        ck_assert_int_eq(nt_list_parser_is_there(list), good[_i].is_there);
        ck_assert_pstr_eq(nt_list_parser_token(list), good[_i].token);
        nt_list_parser_free(list);
        nt_buffer_deinit(&reported);
    }
}

#define DAV(text) "<multistatus xmlns=\"DAV:\"><response>" text "</response></multistatus>"
#define PROPERTIES(text) "<propstat><prop>" text "</prop><status>HTTP/1.1 200 OK</status></propstat>"
#define FILE_OF(bytes) PROPERTIES("<getcontentlength>" bytes "</getcontentlength>")

/* Of the directory /a/. */
static const struct {
    const char *text, *reported;
} cases[] = {
    {DAV("<href>/a/x</href>" FILE_OF("5")), "x f 5 none  \n"},
    {DAV("<href>http://elsewhere:80/a/x</href>" FILE_OF("5")), "x f 5 none  \n"},
    {DAV("<href>//a//x</href>" FILE_OF("5")), "x f 5 none  \n"},
    {DAV("<href>/a/x?y#z</href>" FILE_OF(" 5\n")), "x f 5 none  \n"},
    {DAV("<href>/%61/%78%</href>" FILE_OF("5")), "x% f 5 none  \n"},
    {DAV("<status>HTTP/1.1 403 Forbidden</status><href>/a/x</href>"), ""},
    {DAV("<href>/a/x</href><propstat><prop><getcontentlength>5</getcontentlength></prop>"
         "<status>HTTP/1.1 404 Not Found</status></propstat>"),
     ""},
    /* Paths elsewhere, and invalid names. */
    {DAV("<href>/b/x</href>" FILE_OF("5")), ""},
    {DAV("<href>/a/b/x</href>" FILE_OF("5")), ""},
    {DAV("<href>/a/../x</href>" FILE_OF("5")), ""},
    {DAV("<href>/a/..</href>" FILE_OF("5")), ""},
    {DAV("<href>/a/%2e%2E</href>" FILE_OF("5")), ""},
    {DAV("<href>/a/.</href>" FILE_OF("5")), ""},
    {DAV("<href>/a/x%2Fy</href>" FILE_OF("5")), ""},
    {DAV("<href>/a%2Fx</href>" FILE_OF("5")), ""},
    {DAV("<href>/a/x%00y</href>" FILE_OF("5")), ""},
    {DAV("<href>x</href>" FILE_OF("5")), ""},
    {DAV("<href></href>" FILE_OF("5")), ""},
    {DAV(FILE_OF("5")), ""},
    {DAV("<href>/a/x</href>" FILE_OF("-5")), ""},
    {DAV("<href>/a/x</href>" FILE_OF("5 6")), ""},
    {DAV("<href>/a/x</href>" FILE_OF("")), ""},
    {DAV("<href>/a/x</href>" FILE_OF("9223372036854775808")), ""},
    {DAV("<href>/a/x</href>" FILE_OF("99999999999999999999")), ""},
    /* A tag, or a time, that would add a header. */
    {DAV("<href>/a/x</href>" PROPERTIES(
         "<getcontentlength>5</getcontentlength><getetag>\"a&#10;X: b\"</getetag>"
         "<getlastmodified>now&#10;X: b</getlastmodified>")),
     "x f 5 none  \n"},
    /* From another namespace. */
    {"<multistatus xmlns=\"dav:\"><response><href>/a/x</href></response></multistatus>", ""},
};

TEST(only_what_is_in_the_folder_is_reported, .end = sizeof(cases) / sizeof(*cases), .timeout = 30)
{
    struct nt_buffer reported = {0};
    struct nt_list_parser *list = fed(NT_SERVICE_HTTP, "/a/", cases[_i].text, 1 << 20, &reported);
    ck_assert_str_eq(nt_buffer_string(&reported), cases[_i].reported);
    nt_list_parser_free(list);
    nt_buffer_deinit(&reported);
}

static const struct {
    const char *text, *problem;
} bad[] = {
    {"", "the server sends an empty list"},
    {"<html><body>It works!</body></html>", "the server does not send a list"},
    {"<multistatus xmlns=\"DAV:\">", "the server sends a list that is not XML"},
    {"<multistatus xmlns=\"DAV:\"></multistatus><more/>", "the server sends a list that is not XML"},
    {"not a list", "the server sends a list that is not XML"},
    /* The "billion laughs", an entity that is a file, and none of them. */
    {"<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;&b;\">]><multistatus "
     "xmlns=\"DAV:\">&c;</multistatus>",
     "the server's list declares a document type, which is not allowed"},
    {"<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><multistatus xmlns=\"DAV:\">&b;</multistatus>",
     "the server's list declares a document type, which is not allowed"},
    {"<!DOCTYPE multistatus SYSTEM \"http://elsewhere/\"><multistatus xmlns=\"DAV:\"/>",
     "the server's list declares a document type, which is not allowed"},
    {"<multistatus xmlns=\"DAV:\">&b;</multistatus>", "the server sends a list that is not XML"},
};

TEST(what_is_no_list_is_refused, .end = sizeof(bad) / sizeof(*bad), .timeout = 30)
{
    struct nt_buffer reported = {0};
    struct nt_list_parser *list = fed(NT_SERVICE_HTTP, "/a/", bad[_i].text, 1 << 20, &reported);
    ck_assert_str_eq(nt_list_parser_problem(list), bad[_i].problem);
    ck_assert(!nt_list_parser_feed(list, " ", 1, true) || !*bad[_i].problem);
    ck_assert_uint_eq(reported.length, 0);
    nt_list_parser_free(list);
    nt_buffer_deinit(&reported);
}

/* A list that begins so, and repeats a piece a thousand times: it is refused before so many
 * repetitions. */
static const struct {
    const char *begin, *piece, *problem;
    unsigned most;
} endless[] = {
    {"<multistatus xmlns=\"DAV:\">", "<x>", "elements of the server's list are nested too deeply", 1},
    {"<multistatus xmlns=\"DAV:\" x=\"", "aaaaaaaa", "the server's list has a tag that does not end", 20},
    {"<multistatus xmlns=\"DAV:\"><!-- ", "aaaaaaaa", "the server's list has a tag that does not end", 20},
    {"<multistatus xmlns=\"DAV:\"><response><href>", "/aaaaaaa", "a text in the server's list is too long",
     2},
    {"<multistatus xmlns=\"DAV:\"><a>", "                                                                ",
     "the server's list is too long", 1100},
};

TEST(lists_have_an_end, .end = sizeof(endless) / sizeof(*endless), .timeout = 30)
{
    struct nt_buffer reported = {0}, thousand = {0};
    struct nt_list_parser *list = nt_list_parser_new(NT_SERVICE_HTTP, "/a/", note, &reported);
    unsigned count = 0;
    for (int i = 0; i < 1000; i++)
        nt_buffer_append_string(&thousand, endless[_i].piece);
    ck_assert(nt_list_parser_feed(list, endless[_i].begin, strlen(endless[_i].begin), false));
    while (nt_list_parser_feed(list, thousand.bytes, thousand.length, false))
        ck_assert_uint_lt(++count, endless[_i].most);
    nt_buffer_deinit(&thousand);
    ck_assert_str_eq(nt_list_parser_problem(list), endless[_i].problem);
    nt_list_parser_free(list);
    nt_buffer_deinit(&reported);
}

TEST(a_long_token_is_refused, .timeout = 30)
{
    struct nt_buffer text = {0}, reported = {0};
    nt_buffer_append_string(&text,
                            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>");
    for (int i = 0; i < NT_FOLDER_LIST_TOKEN_BYTES; i++)
        nt_buffer_append_byte(&text, 't');
    nt_buffer_append_string(&text, "</NextContinuationToken></ListBucketResult>");
    struct nt_list_parser *list = fed(NT_SERVICE_S3, "", text.bytes, 1 << 20, &reported);
    ck_assert_str_eq(nt_list_parser_problem(list), "the server's continuation token is too long");
    nt_list_parser_free(list);
    list = fed(NT_SERVICE_S3, "", "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", 5,
               &reported);
    ck_assert_str_eq(nt_list_parser_token(list), "");
    nt_list_parser_free(list);
    nt_buffer_deinit(&text);
}
