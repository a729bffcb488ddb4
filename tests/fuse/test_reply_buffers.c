/* SPDX-License-Identifier: MIT
 *
 * The pool of reply buffers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "fuse/operations.h"
#include "support.h"

enum { LIMIT = 4 << 20 };

static struct nt_reply_buffers buffers;

static void setup(void)
{
    ck_assert_int_eq(nt_reply_buffers_init(&buffers, LIMIT), 0);
}

static void teardown(void)
{
    nt_reply_buffers_deinit(&buffers);
}

TEST(the_buffer_that_was_returned_last_is_the_first_to_be_lent, .setup = setup, .teardown = teardown)
{
    struct nt_reply_buffer *first = nt_reply_buffer_borrow(&buffers, 4096);
    struct nt_reply_buffer *second = nt_reply_buffer_borrow(&buffers, 4096);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_nonnull(second);
    ck_assert_ptr_ne(first->bytes, second->bytes);
    nt_reply_buffer_return(&buffers, first);
    nt_reply_buffer_return(&buffers, second);
    ck_assert_ptr_eq(nt_reply_buffer_borrow(&buffers, 1), second);
    ck_assert_ptr_eq(nt_reply_buffer_borrow(&buffers, 1), first);
    nt_reply_buffer_return(&buffers, first);
    nt_reply_buffer_return(&buffers, second);
}

TEST(a_buffer_grows_to_what_is_requested, .setup = setup, .teardown = teardown)
{
    static const size_t sizes[] = {0, 1, 131072, 1048576, 4096, 3000000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct nt_reply_buffer *buffer = nt_reply_buffer_borrow(&buffers, sizes[i]);
        ck_assert_ptr_nonnull(buffer);
        ck_assert_uint_ge(buffer->capacity, sizes[i]);
        memset(buffer->bytes, 1, sizes[i]);
        nt_reply_buffer_return(&buffers, buffer);
    }
}

TEST(without_memory_there_is_no_buffer, .setup = setup, .teardown = teardown)
{
    ck_assert_ptr_null(nt_reply_buffer_borrow(&buffers, SIZE_MAX));
    nt_reply_buffer_return(&buffers, NULL);
}

TEST(what_is_larger_than_the_limit_is_lent_alone_and_not_kept, .setup = setup, .teardown = teardown)
{
    struct nt_reply_buffer *large = nt_reply_buffer_borrow(&buffers, LIMIT + 1);
    ck_assert_ptr_nonnull(large);
    ck_assert_uint_gt(large->capacity, LIMIT);
    nt_reply_buffer_return(&buffers, large);
    struct nt_reply_buffer *small = nt_reply_buffer_borrow(&buffers, 1);
    ck_assert_ptr_nonnull(small);
    ck_assert_uint_lt(small->capacity, LIMIT);
    nt_reply_buffer_return(&buffers, small);
}

static atomic_bool is_lent;

static void *borrow_and_return(void *unused)
{
    struct nt_reply_buffer *buffer = nt_reply_buffer_borrow(&buffers, LIMIT / 2);
    atomic_store(&is_lent, true);
    nt_reply_buffer_return(&buffers, buffer);
    return unused;
}

TEST(a_thread_over_the_limit_waits, .setup = setup, .teardown = teardown)
{
    const struct timespec while_waiting = {.tv_nsec = 30 * 1000 * 1000};
    struct nt_reply_buffer *first = nt_reply_buffer_borrow(&buffers, LIMIT - 4096);
    pthread_t thread;
    ck_assert_ptr_nonnull(first);
    ck_assert_int_eq(pthread_create(&thread, NULL, borrow_and_return, NULL), 0);
    nanosleep(&while_waiting, NULL);
    ck_assert(!atomic_load(&is_lent));
    nt_reply_buffer_return(&buffers, first);
    pthread_join(thread, NULL);
    ck_assert(atomic_load(&is_lent));
}
