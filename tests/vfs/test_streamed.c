/* SPDX-License-Identifier: MIT
 *
 * Streamed texts between reads: the least recently read ones are suspended, and their memory counts as
 * cache.
 */
#include "vfs/vfs.h"

#include <ntuple/read.h>

#include "read/page.h"
#include "support.h"
#include "read/read.h"

enum { TEXTS = 10 };

static struct nt_error error;
static struct nt_reader *reader;
static struct nt_text_pool *texts;
static struct nt_pooled_text waiting[TEXTS];
static bool is_aside[TEXTS], is_refused[TEXTS], takes_budget[TEXTS];

static bool suspend(struct nt_pooled_text *text, bool for_budget)
{
    is_aside[text - waiting] = !is_refused[text - waiting];
    return is_aside[text - waiting];
}

static void setup(void)
{
    const struct nt_reader_options options = {.struct_bytes = sizeof(options), .cache_bytes = 1 << 20};
    assert_ok(nt_reader_new(&options, &reader, &error));
    texts = nt_text_pool_new(reader);
    for (int i = 0; i < TEXTS; i++)
        waiting[i].suspend = suspend;
}

static void teardown(void)
{
    for (int i = 0; i < TEXTS; i++)
        nt_text_pool_remove(texts, &waiting[i]);
    nt_text_pool_free(texts);
    nt_reader_free(reader);
}

static void read_once(int number, size_t bytes)
{
    is_aside[number] = false;
    nt_text_pool_use(texts, &waiting[number]);
    nt_text_pool_idle(texts, &waiting[number], bytes, takes_budget[number]);
}

TEST(those_that_were_not_read_for_longest_are_put_aside, .setup = setup, .teardown = teardown)
{
    size_t third = nt_reader_idle_bytes(reader) / 3;
    for (int i = 0; i < 4; i++)
        read_once(i, third);
    ck_assert(is_aside[0] && !is_aside[1] && !is_aside[2] && !is_aside[3]);
    read_once(1, third);
    read_once(4, third);
    ck_assert(!is_aside[1] && is_aside[2] && !is_aside[3] && !is_aside[4]);
}

TEST(one_that_is_too_large_alone_stays_until_another_is_read, .setup = setup, .teardown = teardown)
{
    read_once(0, 10 * nt_reader_idle_bytes(reader));
    ck_assert(!is_aside[0]);
    read_once(1, 1);
    ck_assert(is_aside[0] && !is_aside[1]);
}

TEST(one_that_is_being_read_is_left_alone, .setup = setup, .teardown = teardown)
{
    size_t half = nt_reader_idle_bytes(reader) / 2;
    read_once(0, half);
    nt_text_pool_use(texts, &waiting[0]);
    is_refused[1] = true;
    for (int i = 1; i < 5; i++)
        read_once(i, half);
    ck_assert(!is_aside[0] && !is_aside[1] && is_aside[2] && !is_aside[3] && !is_aside[4]);
    is_refused[1] = false;
}

TEST(those_that_take_from_a_budget_are_put_aside_for_others, .setup = setup, .teardown = teardown)
{
    struct nt_vfs vfs = {.text_pool = texts};
    ck_assert(!nt_vfs_suspend_texts(&vfs));
    takes_budget[1] = takes_budget[3] = is_refused[3] = true;
    for (int i = 0; i < 4; i++)
        read_once(i, i / 2); /* those with memory and those without */
    ck_assert(nt_vfs_suspend_texts(&vfs));
    ck_assert(!is_aside[0] && is_aside[1] && !is_aside[2] && !is_aside[3]);
    ck_assert(!nt_vfs_suspend_texts(&vfs));
    is_refused[3] = false;
    read_once(3, 0);
    read_once(0, 10 * nt_reader_idle_bytes(reader)); /* what takes no memory is not put aside for it */
    ck_assert(is_aside[2] && !is_aside[3]);
    ck_assert(nt_vfs_suspend_texts(&vfs));
    ck_assert(is_aside[3]);
    takes_budget[1] = takes_budget[3] = false;
}

TEST(those_that_take_from_a_budget_keep_it_when_they_free_memory, .setup = setup, .teardown = teardown)
{
    struct nt_vfs vfs = {.text_pool = texts};
    takes_budget[0] = true;
    read_once(0, 10 * nt_reader_idle_bytes(reader));
    read_once(1, 1);
    ck_assert(is_aside[0] && !is_aside[1]);
    is_aside[0] = false;
    read_once(2, 10 * nt_reader_idle_bytes(reader)); /* it has no more memory */
    ck_assert(!is_aside[0] && is_aside[1]);
    ck_assert(nt_vfs_suspend_texts(&vfs));
    ck_assert(is_aside[0]);
    takes_budget[0] = false;
}
