/* SPDX-License-Identifier: MIT
 *
 * Generated texts: which are generated whole and kept, which are streamed, failures, and threads that
 * wait.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <ntuple/read.h>

#include "support.h"
#include "vfs/vfs.h"
#include "core/base/error.h"
#include "core/base/memory.h"
#include "core/model/budget.h"
#include "core/model/model.h"
#include "read/read.h"
#include "vfs/tree.h"

enum { PIECE = 1 << 16, SHORT_PIECES = 8, MAX_SHORT_PIECES = 64 }; /* that is, the 4 MiB of a short text */

static struct nt_generated *generated;
static struct nt_reader *reader;
static struct nt_text_pool *text_pool;
static struct nt_error error;
static atomic_uint made; /* streams that were opened */

/* ---- a text of pieces, all of one letter ---- */

static struct {
    unsigned pieces;
    unsigned failing; /* the piece that fails, counted from 1; 0: none */
    bool fails_once;
    enum nt_status status;
    bool is_short;
    bool gives_up;        /* in place of failing */
    pthread_mutex_t gate; /* the generator of a piece of node 1 passes it */
} script = {.gate = PTHREAD_MUTEX_INITIALIZER};

struct letters {
    struct nt_text_generator text;
    unsigned next;
    bool is_gated;
};

static enum nt_status next(struct nt_text_generator *text, struct nt_buffer *out, bool *more,
                           struct nt_error *failure)
{
    struct letters *letters = (struct letters *)text;
    if (letters->is_gated) {
        pthread_mutex_lock(&script.gate);
        pthread_mutex_unlock(&script.gate);
    }
    memset(nt_buffer_extend(out, PIECE), 'a' + (int)(letters->next % 26), PIECE);
    letters->text.is_given_up = script.gives_up && letters->next + 1 == script.failing;
    if (letters->text.is_given_up) /* the rest of a text that is kept, and one byte */
        ck_assert_uint_eq(letters->text.too_many_bytes, (MAX_SHORT_PIECES - letters->next) * PIECE + 1);
    if (++letters->next == script.failing && (!script.fails_once || made == 1))
        return nt_fail(failure, script.status, NT_NO_OFFSET, "as the test wants");
    *more = letters->next < script.pieces;
    return NT_OK;
}

static void free_letters(struct nt_text_generator *text)
{
    free(text);
}

static enum nt_status open_letters(const struct nt_resolved_node *resolved, struct nt_text_generator **text,
                                   struct nt_error *failure)
{
    struct letters *letters = calloc(1, sizeof(*letters));
    ck_assert_ptr_nonnull(letters);
    *letters = (struct letters){{.next = next, .free = free_letters}, 0, resolved->number == 1};
    atomic_fetch_add(&made, 1);
    *text = &letters->text;
    return NT_OK;
}

static enum nt_status report_short(const struct nt_resolved_node *resolved, bool *is_short,
                                   struct nt_error *failure)
{
    *is_short = script.is_short;
    return NT_OK;
}

static const struct nt_pseudo_file row = {"letters", NT_VFS_STREAMED, .open_text = open_letters,
                                          .is_short = report_short};

/* ---- */

/* Its reader and its text pool are filled in here. */
static void open_with(struct nt_generated_options options, size_t memory_bytes)
{
    struct nt_reader_options reading = NT_READER_OPTIONS_INIT;
    reading.cache_bytes = 8 * memory_bytes; /* an eighth of it is for kept texts */
    nt_generated_free(generated);
    nt_text_pool_free(text_pool);
    nt_reader_free(reader);
    assert_ok(nt_reader_new(&reading, &reader, &error));
    text_pool = nt_text_pool_new(reader);
    options.reader = reader;
    options.text_pool = text_pool;
    options.directory = "/tmp";
    generated = nt_generated_new(&options);
    ck_assert_ptr_nonnull(generated);
}

static void open_generated(bool generate_all, size_t memory_bytes, uint64_t disk_bytes)
{
    open_with((struct nt_generated_options){.disk_bytes = disk_bytes, .generate_all = generate_all},
              memory_bytes);
}

static void setup(void)
{
    script.pieces = SHORT_PIECES;
    script.failing = 0;
    script.fails_once = false;
    script.status = NT_CORRUPT;
    script.is_short = true;
    script.gives_up = false;
    made = 0;
    open_generated(false, 1 << 20, 0);
}

static void teardown(void)
{
    nt_generated_free(generated);
    nt_text_pool_free(text_pool);
    nt_reader_free(reader);
    generated = NULL;
    text_pool = NULL;
    reader = NULL;
}

static struct nt_resolved_node resolved_node(uint64_t node)
{
    static struct nt_vfs vfs;
    return (struct nt_resolved_node){
        .vfs = &vfs, .number = node, .node.type = NT_NODE_DATASET, .pseudo = &row};
}

static struct nt_content *open_node(uint64_t node)
{
    const struct nt_resolved_node resolved = resolved_node(node);
    struct nt_content *content = NULL;
    assert_ok(nt_generated_open(generated, &resolved, &content, &error));
    return content;
}

static uint64_t size_of(uint64_t node)
{
    struct nt_content *content = open_node(node);
    ck_assert_ptr_nonnull(content);
    uint64_t size = content->size;
    nt_content_close(content);
    return size;
}

static bool is_known(uint64_t node, bool *is_long)
{
    const struct nt_resolved_node resolved = resolved_node(node);
    uint64_t size;
    return nt_generated_has_size(generated, &resolved, false, is_long, &size);
}

static uint64_t counter(const char *name)
{
    const char *found;
    uint64_t value;
    for (uint32_t i = 0; nt_generated_counter(generated, i, &found, &value); i++)
        if (strcmp(found, name) == 0)
            return value;
    ck_abort_msg("no counter %s", name);
}

static void read_letters(struct nt_content *content, unsigned pieces)
{
    char bytes[PIECE];
    size_t got;
    for (unsigned i = 0; i < pieces; i++) {
        assert_ok(content->ops->read(content, (uint64_t)i * PIECE, bytes, PIECE, &got, &error));
        ck_assert_uint_eq(got, PIECE);
        ck_assert_int_eq(bytes[0], 'a' + (int)(i % 26));
        ck_assert_int_eq(bytes[PIECE - 1], bytes[0]);
    }
}

TEST(a_short_text_is_made_once_and_kept, .setup = setup, .teardown = teardown)
{
    bool is_long;
    ck_assert(!is_known(7, &is_long));
    ck_assert_uint_eq(size_of(7), SHORT_PIECES * PIECE);
    ck_assert(is_known(7, &is_long));
    ck_assert(!is_long);
    struct nt_content *content = open_node(7);
    read_letters(content, SHORT_PIECES);
    nt_content_close(content);
    ck_assert_uint_eq(made, 1);
    ck_assert_uint_eq(counter("documents_made"), 1);
    ck_assert_uint_ge(counter("documents_memory_bytes"), SHORT_PIECES * PIECE);
}

TEST(only_the_last_is_kept_if_sizes_are_all_that_is_wanted, .setup = setup, .teardown = teardown)
{
    bool is_long;
    open_with((struct nt_generated_options){.keeps_last = true, .disk_bytes = 1 << 20}, 1 << 20);
    ck_assert_uint_eq(size_of(7), SHORT_PIECES * PIECE);
    ck_assert(is_known(7, &is_long));
    ck_assert_uint_eq(size_of(8), SHORT_PIECES * PIECE);
    ck_assert(is_known(8, &is_long));
    ck_assert(!is_known(7, &is_long));
    ck_assert_uint_eq(made, 2);
    ck_assert_uint_lt(counter("documents_memory_bytes"), 2 * SHORT_PIECES * PIECE);
}

TEST(what_metadata_does_not_bound_is_not_begun, .setup = setup, .teardown = teardown)
{
    bool is_long;
    script.is_short = false;
    ck_assert_ptr_null(open_node(7));
    ck_assert_uint_eq(made, 0);
    ck_assert(is_known(7, &is_long));
    ck_assert(is_long);
}

TEST(a_text_that_turns_out_long_is_given_up_and_not_tried_again, .setup = setup, .teardown = teardown)
{
    script.pieces = MAX_SHORT_PIECES;
    ck_assert_uint_eq(size_of(7), (uint64_t)MAX_SHORT_PIECES * PIECE);
    script.pieces = MAX_SHORT_PIECES + 1;
    ck_assert_ptr_null(open_node(8));
    ck_assert_ptr_null(open_node(8));
    ck_assert_uint_eq(made, 2);
}

TEST(a_text_whose_generator_gives_up_is_long, .setup = setup, .teardown = teardown)
{
    bool is_long;
    script.failing = 3;
    script.status = NT_LIMIT;
    script.gives_up = true;
    ck_assert_ptr_null(open_node(7));
    ck_assert(is_known(7, &is_long));
    ck_assert(is_long);
    ck_assert_uint_eq(made, 1);
}

TEST(what_is_kept_is_bounded_and_the_oldest_goes_first, .setup = setup, .teardown = teardown)
{
    bool is_long;
    open_generated(false, 3 * SHORT_PIECES * PIECE, 0); /* buffers are larger than their contents */
    struct nt_content *held = open_node(11);
    for (uint64_t node = 12; node < 40; node++)
        size_of(node);
    ck_assert(!is_known(11, &is_long));
    ck_assert(is_known(39, &is_long));
    ck_assert_uint_le(counter("documents_memory_bytes"), 3 * SHORT_PIECES * PIECE);
    ck_assert_uint_gt(counter("documents_dropped"), 20);
    read_letters(held, SHORT_PIECES); /* its reader holds it */
    nt_content_close(held);
}

TEST(damage_ends_a_text_with_a_byte_that_fails, .setup = setup, .teardown = teardown)
{
    char bytes[2 * PIECE];
    size_t got;
    script.failing = 4;
    struct nt_content *content = open_node(7);
    ck_assert(content->is_streamed);
    ck_assert_uint_eq(content->size, 3 * PIECE + 1);
    read_letters(content, 3);
    assert_ok(content->ops->read(content, 2 * PIECE, bytes, PIECE + 1, &got, &error));
    ck_assert_uint_eq(got, PIECE);
    assert_status(NT_CORRUPT, content->ops->read(content, 3 * PIECE, bytes, 1, &got, &error));
    ck_assert_str_eq(error.message, "as the test wants");
    nt_content_close(content);
}

TEST(what_the_machine_refuses_fails_the_look_and_is_not_remembered, .setup = setup, .teardown = teardown)
{
    const struct nt_resolved_node resolved = resolved_node(7);
    struct nt_content *content;
    script.failing = 2;
    script.status = NT_NO_MEMORY;
    assert_status(NT_NO_MEMORY, nt_generated_open(generated, &resolved, &content, &error));
    script.failing = 0;
    ck_assert_uint_eq(size_of(7), SHORT_PIECES * PIECE);
}

TEST(a_text_without_room_in_the_budget_is_made_again_alone, .setup = setup, .teardown = teardown)
{
    script.status = NT_LIMIT;
    script.failing = 3;
    script.fails_once = true;
    ck_assert_uint_eq(size_of(7), SHORT_PIECES * PIECE);
    ck_assert_uint_eq(made, 2);
}

/* ---- texts that charge the budget of a file ---- */

enum { BUDGET = 1000 };

static struct nt_budget *budget;
static unsigned leaving; /* when this attempt fails, it leaves less of the budget in use; 0: none */
static bool joins_other; /* another text begins meanwhile */

static enum nt_status open_charging(const struct nt_resolved_node *resolved, struct nt_text_generator **text,
                                    struct nt_error *failure)
{
    struct nt_text_attempt other = {0};
    atomic_fetch_add(&made, 1);
    if (made == leaving)
        nt_budget_release(budget, NT_COST_ENVELOPE_BYTE, 1);
    if (joins_other && made == 1) {
        assert_ok(nt_text_pool_begin(text_pool, resolved, &other, failure));
        nt_text_pool_end(text_pool, resolved, &other);
    }
    return nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, BUDGET, NT_NO_OFFSET, failure);
}

static const struct {
    unsigned leaving, made;
    bool joins_other;
} attempts[] = {
    {0, 1, false}, /* the same again would be in vain */
    {1, 2, false}, /* others have released some */
    {0, 2, true},  /* others may have charged the budget meanwhile */
};

TEST(a_text_that_a_limit_refuses_is_made_again_only_if_others_were_in_the_way, .setup = setup,
     .teardown = teardown, .end = COUNT_OF(attempts))
{
    static const struct nt_pseudo_file charging = {"charging", NT_VFS_STREAMED, .takes_budget = true,
                                                   .open_text = open_charging, .is_short = report_short};
    struct nt_file file = {0};
    struct nt_resolved_node resolved = resolved_node(7);
    struct nt_content *content;
    resolved.pseudo = &charging;
    resolved.file = &file;
    budget = &file.budget;
    nt_budget_init(budget, BUDGET, BUDGET);
    assert_ok(nt_budget_take(budget, NT_COST_ENVELOPE_BYTE, BUDGET - 1, NT_NO_OFFSET, &error));
    leaving = attempts[_i].leaving;
    joins_other = attempts[_i].joins_other;
    assert_status(NT_LIMIT, nt_generated_open(generated, &resolved, &content, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "metadatasize"));
    ck_assert_uint_eq(made, attempts[_i].made);
    nt_budget_deinit(budget);
}

TEST(where_all_is_made_long_texts_are_on_disk, .setup = setup, .teardown = teardown)
{
    open_generated(true, 1 << 20, 100 << 20);
    script.is_short = false;
    script.pieces = 2 * MAX_SHORT_PIECES;
    struct nt_content *content = open_node(7);
    ck_assert_uint_eq(content->size, 2ull * MAX_SHORT_PIECES * PIECE);
    read_letters(content, 2 * MAX_SHORT_PIECES);
    nt_content_close(content);
    ck_assert_uint_eq(counter("documents_disk_bytes"), 2ull * MAX_SHORT_PIECES * PIECE);
    ck_assert_uint_lt(counter("documents_memory_bytes"), 1 << 20);
    ck_assert_uint_eq(size_of(7), 2ull * MAX_SHORT_PIECES * PIECE);
    ck_assert_uint_eq(made, 1);
}

TEST(a_text_that_the_disk_has_no_room_for_fails_and_says_so, .setup = setup, .teardown = teardown)
{
    const struct nt_resolved_node resolved = resolved_node(7);
    struct nt_content *content;
    open_generated(true, 1 << 20, 5 << 20);
    script.pieces = 2 * MAX_SHORT_PIECES;
    assert_status(NT_LIMIT, nt_generated_open(generated, &resolved, &content, &error));
    ck_assert_ptr_nonnull(strstr(error.message, "textsize"));
}

/* ---- waiting ---- */

static void *open_one(void *context)
{
    struct nt_resolved_node resolved = resolved_node(1);
    struct nt_content *content = NULL;
    struct nt_error own = {0};
    resolved.caller = context;
    enum nt_status status = nt_generated_open(generated, &resolved, &content, &own);
    nt_content_close(content);
    return status == NT_OK ? NULL : (void *)nt_status_name(status);
}

static bool is_gone(void *context)
{
    return true;
}

TEST(only_readers_of_the_same_page_wait, .setup = setup, .teardown = teardown)
{
    pthread_t first, second;
    void *problem;
    pthread_mutex_lock(&script.gate);
    ck_assert_int_eq(pthread_create(&first, NULL, open_one, NULL), 0);
    while (atomic_load(&made) == 0)
        sched_yield();
    ck_assert_int_eq(pthread_create(&second, NULL, open_one, NULL), 0);
    ck_assert_uint_eq(size_of(2), SHORT_PIECES * PIECE); /* another node's, meanwhile */
    pthread_mutex_unlock(&script.gate);
    pthread_join(first, &problem);
    ck_assert_ptr_null(problem);
    pthread_join(second, &problem);
    ck_assert_ptr_null(problem);
    ck_assert_uint_eq(made, 2);
}

TEST(a_caller_that_gives_up_returns, .setup = setup, .teardown = teardown)
{
    struct nt_vfs_caller caller = {is_gone, NULL};
    pthread_t first, second;
    void *problem;
    ck_assert_str_eq(open_one(&caller), nt_status_name(NT_CANCELED)); /* while it generates */
    made = 0;
    pthread_mutex_lock(&script.gate);
    ck_assert_int_eq(pthread_create(&first, NULL, open_one, NULL), 0);
    while (atomic_load(&made) == 0)
        sched_yield();
    ck_assert_int_eq(pthread_create(&second, NULL, open_one, &caller), 0);
    pthread_join(second, &problem); /* while it waits */
    ck_assert_str_eq(problem, nt_status_name(NT_CANCELED));
    pthread_mutex_unlock(&script.gate);
    pthread_join(first, &problem);
    ck_assert_ptr_null(problem);
}
