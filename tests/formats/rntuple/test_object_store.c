/* SPDX-License-Identifier: MIT
 *
 * Object stores as containers: what is accepted as an anchor, and the addresses of objects.
 */
#include "opened.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/scheme.h"
#include "core/json/json.h"
#include "container/container.h"
#include "core/base/memory.h"
#include "core/io/source.h"

static struct opened opened;
static struct nt_error error;

/* The checksum is wrong: the container reports it, and knows all the rest. */
static const char text[] =
    "{\"anchorVersion\": 0, \"checksum\": 1, \"footerObjId\": 5, \"footerOffset\": 0, "
    "\"formatVersionEpoch\": 1,\n"
    "\"formatVersionMajor\": 0, \"formatVersionMinor\": 0, \"formatVersionPatch\": 0, \"headerObjId\": 0,\n"
    "\"headerOffset\": 0, \"lenFooter\": 3, \"lenHeader\": 4, \"nBytesFooter\": 1, \"nBytesHeader\": 2,\n"
    "\"urlTemplate\": \"${baseurl}/a/${objid}\"}";

TEST(the_anchor_is_found_and_reported)
{
    assert_ok(open_bytes(&opened, text, strlen(text), &error));
    ck_assert_str_eq(opened.container.kind->name, "object store");
    ck_assert_uint_eq(opened.container.anchor_count, 1);
    const struct nt_anchor_object *anchor = find_anchor(&opened, "test.root", 0);
    ck_assert_uint_eq(anchor->length, strlen(text));
    ck_assert_mem_eq(anchor->bytes, text, strlen(text));
    ck_assert_int_eq(anchor->failure->status, NT_CHECKSUM);
    struct nt_buffer out = {0};
    struct nt_json json;
    nt_json_line(&json, &out);
    assert_ok(opened.file->describe(opened.file, &json, &error));
    nt_json_finish(&json);
    ck_assert_str_eq(out.bytes, "{\"kind\":\"object store\",\"anchor_version\":0,"
                                "\"url_template\":\"${baseurl}/a/${objid}\"}\n");
    nt_buffer_deinit(&out);
    opened_close(&opened);
}

TEST(a_file_has_no_objects_beneath_it)
{
    struct nt_source *objects;
    assert_ok(open_bytes(&opened, text, strlen(text), &error));
    assert_status(NT_UNSUPPORTED, opened.container.kind->open_objects(opened.file, &objects, &error));
    ck_assert_msg(strstr(error.message, "ntpl+s3+https://") != NULL, "%s", error.message);
    opened_close(&opened);
}

TEST(what_does_not_say_where_objects_are_has_none)
{
    struct nt_source *objects;
    char *changed = strdup(text);
    memcpy(strstr(changed, "baseurl"), "elsewhr", 7);
    assert_ok(open_bytes(&opened, changed, strlen(changed), &error));
    assert_status(NT_CORRUPT, opened.container.kind->open_objects(opened.file, &objects, &error));
    opened_close(&opened);
    free(changed);
}

static const char *const others[] = {"{}", "{\"version\": 0}", "[\"anchorVersion\"]",
                                     " {\"anchorVersion\": 0}", "{"};

TEST(other_texts_are_none, .end = sizeof(others) / sizeof(*others))
{
    assert_status(NT_NOT_THIS_FORMAT, open_bytes(&opened, others[_i], strlen(others[_i]), &error));
}

TEST(an_anchor_is_short)
{
    enum { BYTES = (1 << 20) + 1 };
    char *long_text = malloc(BYTES);
    memset(long_text, ' ', BYTES);
    memcpy(long_text, text, strlen(text));
    assert_ok(open_bytes(&opened, long_text, BYTES - 1, &error));
    opened_close(&opened);
    assert_status(NT_LIMIT, open_bytes(&opened, long_text, BYTES, &error));
    free(long_text);
}

/* ---- names of objects ---- */

TEST(places_are_named_by_their_objects)
{
    struct nt_source source = {.path = "a/${objid}.b"};
    struct nt_buffer name = {0};
    nt_source_append_name(&source, NT_OBJECT_SPACE * 17 + 3, &name);
    ck_assert_str_eq(nt_buffer_string(&name), "a/${objid}.b");
    ck_assert_uint_eq(nt_source_local_offset(&source, NT_OBJECT_SPACE * 17 + 3), NT_OBJECT_SPACE * 17 + 3);
    nt_buffer_clear(&name);
    source.is_object_store = true;
    nt_source_append_name(&source, NT_OBJECT_SPACE * 17 + 3, &name);
    ck_assert_str_eq(nt_buffer_string(&name), "a/17.b");
    ck_assert_uint_eq(nt_source_local_offset(&source, NT_OBJECT_SPACE * 17 + 3), 3);
    nt_buffer_deinit(&name);
}
