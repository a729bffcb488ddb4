/* SPDX-License-Identifier: MIT
 *
 * Anchors of object stores, as ROOT writes them. libxxhash computed the checksum of the first one over the
 * text that nlohmann's JSON library writes.
 */
#include "formats/rntuple/rntuple.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "core/base/memory.h"
#include "core/base/text.h"
#include "core/base/scheme.h"
#include "support.h"

static struct nt_error error;
static struct nt_arena *arena;

static void start(void)
{
    arena = nt_arena_new();
}

static void stop(void)
{
    nt_arena_free(arena);
}

static enum nt_status read_anchor(const char *text, struct nt_store_anchor *anchor)
{
    return nt_store_anchor_read(nt_text_of(text), arena, anchor, &error);
}

static const char known[] =
    "{\n  \"anchorVersion\": 0,\n  \"checksum\": 17088890434332409528,\n"
    "  \"cloneTemplate\": \"${baseurl}/_clone/${name}\",\n  \"footerObjId\": 490,\n  \"footerOffset\": 0,\n"
    "  \"formatVersionEpoch\": 1,\n  \"formatVersionMajor\": 0,\n  \"formatVersionMinor\": 2,\n"
    "  \"formatVersionPatch\": 0,\n  \"headerObjId\": 0,\n  \"headerOffset\": 0,\n  \"lenFooter\": 148,\n"
    "  \"lenHeader\": 3000,\n  \"nBytesFooter\": 148,\n  \"nBytesHeader\": 461,\n"
    "  \"urlTemplate\": \"${baseurl}/${objid}\"\n}";

TEST(the_known_anchor_is_read, .setup = start, .teardown = stop)
{
    struct nt_store_anchor anchor;
    assert_ok(read_anchor(known, &anchor));
    ck_assert_uint_eq(anchor.anchor.checksum, UINT64_C(17088890434332409528));
    ck_assert_uint_eq(anchor.anchor.epoch, 1);
    ck_assert_uint_eq(anchor.anchor.major, 0);
    ck_assert_uint_eq(anchor.anchor.minor, 2);
    ck_assert_uint_eq(anchor.anchor.patch, 0);
    ck_assert_uint_eq(anchor.anchor.header.offset, 0);
    ck_assert_uint_eq(anchor.anchor.header.stored_bytes, 461);
    ck_assert_uint_eq(anchor.anchor.header.length, 3000);
    ck_assert_uint_eq(anchor.anchor.footer.offset, UINT64_C(490) << 32);
    ck_assert_uint_eq(anchor.anchor.footer.stored_bytes, 148);
    ck_assert_uint_eq(anchor.anchor.length, strlen(known));
    ck_assert_str_eq(anchor.name, "${objid}");
}

/* The parts of an anchor without its checksum, by the bytes of the keys. */
static const char *const plain[][2] = {
    {"anchorVersion", "0"},      {"footerObjId", "9"},
    {"footerOffset", "20"},      {"formatVersionEpoch", "1"},
    {"formatVersionMajor", "0"}, {"formatVersionMinor", "0"},
    {"formatVersionPatch", "0"}, {"headerObjId", "9"},
    {"headerOffset", "10"},      {"lenFooter", "40"},
    {"lenHeader", "30"},         {"nBytesFooter", "8"},
    {"nBytesHeader", "7"},       {"urlTemplate", "\"${baseurl}/a/${objid}.b\""},
};
enum { MEMBERS = sizeof(plain) / sizeof(*plain) };

/* With other values of some keys, NULL: without the key; as a document with the keys in reverse order. */
static char *written(const char *key, const char *value)
{
    struct nt_buffer compact = {0}, text = {0};
    for (size_t i = 0; i < MEMBERS; i++) {
        const char *put = key && strcmp(plain[i][0], key) == 0 ? value : plain[i][1];
        if (put)
            nt_buffer_append_format(&compact, "%s\"%s\":%s", compact.length ? "," : "{", plain[i][0], put);
    }
    nt_buffer_append_string(&compact, "}");
    nt_buffer_append_format(&text, "{\"checksum\" : %" PRIu64, XXH3_64bits(compact.bytes, compact.length));
    for (size_t i = MEMBERS; i-- > 0;) {
        const char *put = key && strcmp(plain[i][0], key) == 0 ? value : plain[i][1];
        if (put)
            nt_buffer_append_format(&text, " ,\n\t\"%s\" : %s", plain[i][0], put);
    }
    nt_buffer_append_string(&text, " }\n");
    nt_buffer_deinit(&compact);
    return nt_buffer_take(&text);
}

TEST(keys_may_be_in_any_order, .setup = start, .teardown = stop)
{
    struct nt_store_anchor anchor;
    char *text = written(NULL, NULL);
    assert_ok(read_anchor(text, &anchor));
    ck_assert_str_eq(anchor.name, "a/${objid}.b");
    ck_assert_uint_eq(anchor.anchor.header.offset, NT_OBJECT_SPACE * 9 + 10);
    ck_assert_uint_eq(anchor.anchor.footer.offset, NT_OBJECT_SPACE * 9 + 20);
    free(text);
}

TEST(no_key_may_be_missing, .setup = start, .teardown = stop, .end = MEMBERS)
{
    struct nt_store_anchor anchor;
    char *text = written(plain[_i][0], NULL), message[80];
    assert_status(NT_CORRUPT, read_anchor(text, &anchor));
    snprintf(message, sizeof(message), "it has no \"%s\"", plain[_i][0]);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
    ck_assert_uint_eq(anchor.anchor.length, 0);
    free(text);
}

static const struct {
    const char *key, *value;
    enum nt_status status;
    const char *named;
} cases[] = {
    {"anchorVersion", "1", NT_UNSUPPORTED, "expected 0, found 1"},
    {"anchorVersion", "4294967296", NT_CORRUPT, "anchorVersion"},
    {"formatVersionMajor", "65536", NT_CORRUPT, "formatVersionMajor"},
    {"formatVersionMajor", "\"0\"", NT_CORRUPT, "formatVersionMajor"},
    {"lenHeader", "-1", NT_CORRUPT, "lenHeader"},
    {"lenHeader", "1.0", NT_CORRUPT, "lenHeader"},
    {"headerObjId", "2147483647", NT_OK, NULL},
    {"headerObjId", "2147483648", NT_UNSUPPORTED, "object 2147483648"},
    {"footerObjId", "18446744073709551615", NT_UNSUPPORTED, "footer"},
    {"footerOffset", "18446744073709551615", NT_UNSUPPORTED, "footer"},
    {"nBytesFooter", "4292870124", NT_OK, NULL},
    {"nBytesFooter", "4292870125", NT_UNSUPPORTED, "footer"},
    {"urlTemplate", "1", NT_CORRUPT, "urlTemplate"},
    {"urlTemplate", "\"${baseurl}\\/${objid}\"", NT_CORRUPT, "urlTemplate"},
    {"urlTemplate", "\"http://elsewhere/${objid}\"", NT_UNSUPPORTED, "http://elsewhere/"},
    {"urlTemplate", "\"${baseurl}${objid}\"", NT_UNSUPPORTED, "only objects below its address"},
    {"urlTemplate", "\"${baseurl}/objects\"", NT_UNSUPPORTED, "only objects below its address"},
    {"urlTemplate", "\"${baseurl}/../${objid}\"", NT_UNSUPPORTED, "only objects below its address"},
    {"urlTemplate", "\"${baseurl}//${objid}\"", NT_UNSUPPORTED, "only objects below its address"},
    {"urlTemplate", "\"${baseurl}/${objid}/${objid}\"", NT_UNSUPPORTED, "only objects below its address"},
    {"urlTemplate", "\"${baseurl}/${objid}?a=b\"", NT_UNSUPPORTED, "only objects below its address"},
};

TEST(what_is_not_understood_is_refused_by_its_name, .setup = start, .teardown = stop,
     .end = sizeof(cases) / sizeof(*cases))
{
    struct nt_store_anchor anchor;
    char *text = written(cases[_i].key, cases[_i].value);
    assert_status(cases[_i].status, read_anchor(text, &anchor));
    if (cases[_i].named)
        ck_assert_msg(strstr(error.message, cases[_i].named) != NULL, "%s", error.message);
    free(text);
}

TEST(a_wrong_checksum_is_reported_and_the_anchor_is_there, .setup = start, .teardown = stop)
{
    struct nt_store_anchor anchor;
    char *text = strdup(known);
    memcpy(strstr(text, "17088890434332409528"), "17088890434332409529", 20);
    assert_status(NT_CHECKSUM, read_anchor(text, &anchor));
    ck_assert_str_eq(error.expected, "17088890434332409529");
    ck_assert_str_eq(error.found, "17088890434332409528");
    ck_assert_str_eq(anchor.name, "${objid}");
    ck_assert_uint_ne(anchor.anchor.length, 0);
    free(text);
}

TEST(every_changed_digit_changes_the_checksum, .setup = start, .teardown = stop)
{
    struct nt_store_anchor anchor;
    char *text = strdup(known);
    for (char *at = text; *at; at++)
        if (*at >= '0' && *at <= '9') {
            *at ^= 1;
            ck_assert_msg(read_anchor(text, &anchor) != NT_OK, "byte %td", at - text);
            *at ^= 1;
        }
    free(text);
}

TEST(what_is_cut_off_is_no_anchor, .setup = start, .teardown = stop)
{
    struct nt_store_anchor anchor;
    for (size_t length = 0; length < strlen(known); length++)
        assert_status(NT_CORRUPT,
                      nt_store_anchor_read((struct nt_text){known, length}, arena, &anchor, &error));
}
