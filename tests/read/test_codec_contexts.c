/* SPDX-License-Identifier: MIT
 *
 * The pool of codec contexts: the most recently used first, and the limit of memory.
 */
#include "read/read.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "support.h"
#include "core/codec/codec.h"

enum { LIMIT = 1 << 20 };

static struct nt_error error;

TEST(the_context_that_was_returned_last_is_lent_first)
{
    struct nt_scratch_pool *scratch_pool = nt_scratch_pool_new(LIMIT);
    struct nt_borrowed_context first, second, again;
    assert_ok(nt_scratch_pool_borrow(scratch_pool, 100, &first, &error));
    assert_ok(nt_scratch_pool_borrow(scratch_pool, 100, &second, &error));
    ck_assert_ptr_ne(first.context, second.context);
    nt_scratch_pool_return(scratch_pool, &first);
    nt_scratch_pool_return(scratch_pool, &second);
    assert_ok(nt_scratch_pool_borrow(scratch_pool, 100, &again, &error));
    ck_assert_ptr_eq(again.context, second.context);
    nt_scratch_pool_return(scratch_pool, &again);
    nt_scratch_pool_free(scratch_pool);
}

/* More than a few are freed, the first returned first. */
TEST(few_contexts_are_kept)
{
    enum { MANY = 20, KEPT = 16 };
    struct nt_scratch_pool *scratch_pool = nt_scratch_pool_new(LIMIT);
    struct nt_borrowed_context loans[MANY];
    struct nt_codec_context *lent[MANY];
    for (int i = 0; i < MANY; i++) {
        assert_ok(nt_scratch_pool_borrow(scratch_pool, 100, &loans[i], &error));
        lent[i] = loans[i].context;
    }
    for (int i = 0; i < MANY; i++)
        nt_scratch_pool_return(scratch_pool, &loans[i]);
    for (int i = 0; i < KEPT; i++) {
        assert_ok(nt_scratch_pool_borrow(scratch_pool, 100, &loans[i], &error));
        ck_assert_ptr_eq(loans[i].context, lent[MANY - 1 - i]);
    }
    for (int i = 0; i < KEPT; i++)
        nt_scratch_pool_return(scratch_pool, &loans[i]);
    nt_scratch_pool_free(scratch_pool);
}

TEST(a_context_that_took_more_than_there_may_be_is_not_kept)
{
    struct nt_scratch_pool *scratch_pool = nt_scratch_pool_new(LIMIT);
    struct nt_borrowed_context borrowed;
    assert_ok(nt_scratch_pool_borrow(scratch_pool, 4 * LIMIT, &borrowed, &error));
    ck_assert_ptr_nonnull(nt_codec_scratch(borrowed.context, NT_SCRATCH_PAGE, 4 * LIMIT));
    nt_scratch_pool_return(scratch_pool, &borrowed);
    assert_ok(nt_scratch_pool_borrow(scratch_pool, 100, &borrowed, &error));
    ck_assert_uint_lt(nt_codec_context_bytes(borrowed.context), LIMIT);
    nt_scratch_pool_return(scratch_pool, &borrowed);
    nt_scratch_pool_free(scratch_pool);
}

struct borrowers {
    struct nt_scratch_pool *scratch_pool;
    atomic_uint_least64_t lent;
    atomic_bool is_too_much;
};

static void *borrow_and_fill(void *argument)
{
    struct borrowers *borrowers = argument;
    for (unsigned i = 0; i < 200; i++) {
        struct nt_borrowed_context borrowed;
        uint64_t bytes = (1 + i % 7) * LIMIT / 8;
        if (nt_scratch_pool_borrow(borrowers->scratch_pool, bytes, &borrowed, NULL) != NT_OK)
            return NULL;
        if (atomic_fetch_add(&borrowers->lent, bytes) + bytes > LIMIT)
            atomic_store(&borrowers->is_too_much, true);
        memset(nt_codec_scratch(borrowed.context, NT_SCRATCH_PAGE, bytes), 1, bytes);
        atomic_fetch_sub(&borrowers->lent, bytes);
        nt_scratch_pool_return(borrowers->scratch_pool, &borrowed);
    }
    return NULL;
}

TEST(threads_wait_for_memory_that_others_have)
{
    enum { THREADS = 8 };
    struct borrowers borrowers = {.scratch_pool = nt_scratch_pool_new(LIMIT)};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, borrow_and_fill, &borrowers), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert(!borrowers.is_too_much);
    nt_scratch_pool_free(borrowers.scratch_pool);
}
