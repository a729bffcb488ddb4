/* SPDX-License-Identifier: MIT
 *
 * Specifications of RDataFrame: what is parsed, in which order, and the messages of refused ones.
 */
#include "chain/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "core/base/error.h"
#include "core/base/memory.h"

static struct nt_error error;
static struct nt_arena *arena;
static char taken[1024]; /* "sample:dataset:file:metadata " of each; "friend=name" for a sample */

static void set_up(void)
{
    arena = nt_arena_new();
    ck_assert_ptr_nonnull(arena);
    taken[0] = '\0';
}

static void tear_down(void)
{
    nt_arena_free(arena);
}

static enum nt_status note(void *context, const struct nt_chain_sample *sample, const char *name,
                           struct nt_error *failure)
{
    size_t length = strlen(taken);
    if (strcmp(name, "refused") == 0)
        return nt_fail(failure, NT_NOT_FOUND, NT_NO_OFFSET, "the file is refused");
    snprintf(taken + length, sizeof(taken) - length, "%s%s:%s:%s:%s ", sample->is_friend ? "friend=" : "",
             sample->name, sample->dataset, name, sample->metadata ? sample->metadata : "");
    return NT_OK;
}

static enum nt_status read_text(const char *text)
{
    taken[0] = '\0';
    return nt_specification_read(text, strlen(text), arena, note, NULL, &error);
}

TEST(files_come_in_the_order_of_the_text_with_what_is_reported_of_them, .setup = set_up,
     .teardown = tear_down)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"{\"samples\": {\"z\": {\"trees\": [\"T\"], \"files\": [\"b\", \"a*\"]}, \"a\": {\"trees\": "
         "[\"D/U\"], \"files\": [\"c\"]}}}",
         "z:T:b: z:T:a*: a:D/U:c: "},
        {" \n{\"samples\": {\"s\": {\"files\": [\"b\", \"b\"], \"trees\": [\"T\", \"U\"], \"metadata\": "
         "{}}}}",
         "s:T:b:{} s:U:b:{} "},
        {"{\"samples\": {\"s\": {\"metadata\": {\"z\": -1, \"a\": 0.1, \"\\u00e4\\n\": \"\\\"x\\\"\", \"n\": "
         "9007199254740993},"
         "\"trees\": [\"T\"], \"files\": [\"f\"]}}}",
         "s:T:f:{\"z\":-1,\"a\":0.1,\"ä\\n\":\"\\\"x\\\"\",\"n\":9007199254740993} "},
        {"{\"friends\": {\"z\": {\"trees\": [\"F\"], \"files\": [\"c\", \"b\"]}, \"y\": {\"trees\": "
         "[\"F\", \"G\"], \"files\": [\"d\", \"a\"]}}, \"samples\": {\"s\": {\"trees\": [\"T\"], \"files\": "
         "[\"a\"]}}}",
         "s:T:a: friend=z:F:c: friend=z:F:b: friend=y:F:d: friend=y:G:a: "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert(nt_is_specification(cases[i].text, strlen(cases[i].text)));
        assert_ok(read_text(cases[i].text));
        ck_assert_str_eq(taken, cases[i].expected);
    }
}

#define SAMPLE(members) "{\"samples\": {\"s\": {" members "}}}"

TEST(what_is_no_specification_is_refused_with_its_place, .setup = set_up, .teardown = tear_down)
{
    static const struct {
        const char *text, *message;
        enum nt_status status;
    } cases[] = {
        {"{", "JSON, line 1", NT_CORRUPT},
        {"{\"samples\": {\"s\": 1, \"s\": 2}}", "duplicate", NT_CORRUPT},
        {"{}", "\"samples\": expected a non-empty object, found nothing", NT_INVALID},
        {"{\"samples\": []}", "\"samples\": expected a non-empty object, found a list", NT_INVALID},
        {"{\"samples\": {}}", "found an empty one", NT_INVALID},
        {"{\"range\": [1, 2]}", "\"range\": use the option entries=FIRST:END to select entries", NT_INVALID},
        {"{\"Samples\": {}}", "\"Samples\": unknown key", NT_INVALID},
        {"{\"samples\": {\"s\": null}}", "sample \"s\": it: expected a non-empty object, found null",
         NT_INVALID},
        {SAMPLE("\"trees\": [\"T\"], \"files\": [\"f\"], \"weight\": 1"),
         "sample \"s\": \"weight\": unknown key", NT_INVALID},
        {SAMPLE("\"files\": [\"f\"]"), "\"trees\": expected a list of strings, found nothing", NT_INVALID},
        {SAMPLE("\"trees\": \"T\", \"files\": [\"f\"]"),
         "\"trees\": expected a list of strings, found a string", NT_INVALID},
        {SAMPLE("\"trees\": [\"T\"]"), "\"files\": expected a list of strings, found nothing", NT_INVALID},
        {SAMPLE("\"trees\": [\"T\"], \"files\": []"),
         "\"files\": expected a list of strings, found an empty one", NT_INVALID},
        {SAMPLE("\"trees\": [\"T\"], \"files\": [3]"), "found an integer", NT_INVALID},
        {SAMPLE("\"trees\": [\"\"], \"files\": [\"f\"]"), "found an empty string in it", NT_INVALID},
        {SAMPLE("\"trees\": [\"T\"], \"files\": [\"a\\u0000b\"]"), "JSON, line 1", NT_CORRUPT},
        {SAMPLE("\"trees\": [\"T\", \"U\"], \"files\": [\"f\"]"),
         "as many as in \"files\"): expected 1, found 2", NT_INVALID},
        {SAMPLE("\"trees\": [\"T\"], \"files\": [\"f\"], \"metadata\": 1"),
         "\"metadata\": expected an object, found an integer", NT_INVALID},
        {SAMPLE("\"trees\": [\"T\"], \"files\": [\"f\"], \"metadata\": {\"k\": true}"),
         "\"metadata\": \"k\": expected a string or a number, found true", NT_INVALID},
        {SAMPLE("\"trees\": [\"T\"], \"files\": [\"refused\"]"), "sample \"s\": the file is refused",
         NT_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        error = (struct nt_error){0};
        assert_status(cases[i].status, read_text(cases[i].text));
        ck_assert_msg(strstr(error.message, cases[i].message), "%s: %s", cases[i].text, error.message);
        ck_assert_str_eq(taken, "");
    }
}

#define FRIENDS(value)                                                                                       \
    "{\"samples\": {\"s\": {\"trees\": [\"T\"], \"files\": [\"f\"]}}, \"friends\": " value "}"

TEST(friends_are_refused_with_their_place, .setup = set_up, .teardown = tear_down)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {FRIENDS("[]"), "\"friends\": expected a non-empty object, found a list"},
        {FRIENDS("{}"), "\"friends\": expected a non-empty object, found an empty one"},
        {FRIENDS("{\"w\": {\"trees\": [\"T\"]}}"),
         "friend \"w\": \"files\": expected a list of strings, found nothing"},
        {FRIENDS("{\"w\": {\"trees\": [\"T\", \"U\"], \"files\": [\"g\"]}}"),
         "friend \"w\": \"trees\": number of names (1, or as many as in \"files\"): expected 1, found 2"},
        {FRIENDS("{\"w\": {\"trees\": [\"T\"], \"files\": [\"g\"], \"metadata\": {}}}"),
         "friend \"w\": \"metadata\": unknown key"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        error = (struct nt_error){0};
        assert_status(NT_INVALID, read_text(cases[i].text));
        ck_assert_msg(strstr(error.message, cases[i].message), "%s: %s", cases[i].text, error.message);
        ck_assert_str_eq(taken, "s:T:f: ");
    }
}

TEST(too_large_requests_are_refused, .setup = set_up, .teardown = tear_down)
{
    enum { DEPTH = 100000 };
    char *deep = malloc(DEPTH);
    ck_assert_ptr_nonnull(deep);
    memset(deep, '[', DEPTH);
    memcpy(deep, "{\"a\":", 5);
    assert_status(NT_CORRUPT, nt_specification_read(deep, DEPTH, arena, note, NULL, &error));
    free(deep);
    char *large = calloc(1, NT_SPECIFICATION_BYTES + 1);
    ck_assert_ptr_nonnull(large);
    assert_status(NT_LIMIT,
                  nt_specification_read(large, NT_SPECIFICATION_BYTES + 1, arena, note, NULL, &error));
    free(large);
}

TEST(a_list_is_no_specification, .setup = set_up, .teardown = tear_down)
{
    static const char *const lists[] = {"", " \n", "run1.root\n{a}.root\n", "# {\n", "./{x}.root"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
        ck_assert_msg(!nt_is_specification(lists[i], strlen(lists[i])), "%s", lists[i]);
}
