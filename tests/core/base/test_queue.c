/* SPDX-License-Identifier: MIT
 *
 * Queues from their ends, while items come and go: a compiler that takes an item and a head for unrelated
 * memory reads old pointers here.
 */
#include "core/base/queue.h"

#include <stdlib.h>

#include "support.h"

struct item {
    int before; /* the links are not at the start */
    unsigned number;
    TAILQ_ENTRY(item) links;
};

TAILQ_HEAD(items, item);

enum { ITEMS = 50 };

static void add(struct items *items, unsigned number)
{
    struct item *item = calloc(1, sizeof(*item));
    item->number = number;
    TAILQ_INSERT_HEAD(items, item, links);
}

TEST(the_oldest_item_is_the_last)
{
    struct items items = TAILQ_HEAD_INITIALIZER(items);
    ck_assert_ptr_null(NT_TAILQ_LAST(&items, item, links));
    for (unsigned number = 0; number < ITEMS; number++) {
        add(&items, number);
        ck_assert_uint_eq(NT_TAILQ_LAST(&items, item, links)->number, 0);
    }
    for (unsigned number = 0; number < ITEMS; number++) {
        struct item *oldest = NT_TAILQ_LAST(&items, item, links);
        ck_assert_uint_eq(oldest->number, number);
        TAILQ_REMOVE(&items, oldest, links);
        free(oldest);
    }
    ck_assert_ptr_null(NT_TAILQ_LAST(&items, item, links));
}

TEST(items_are_passed_from_the_last_to_the_first)
{
    struct items items = TAILQ_HEAD_INITIALIZER(items);
    struct item *item, *before;
    unsigned expected = 0;
    for (unsigned number = 0; number < ITEMS; number++)
        add(&items, number);
    NT_TAILQ_FOREACH_REVERSE (item, &items, item, links)
        ck_assert_uint_eq(item->number, expected++);
    ck_assert_uint_eq(expected, ITEMS);
    ck_assert_ptr_null(NT_TAILQ_PREV(TAILQ_FIRST(&items), &items, item, links));
    for (item = NT_TAILQ_LAST(&items, item, links); item; item = before) {
        before = NT_TAILQ_PREV(item, &items, item, links);
        TAILQ_REMOVE(&items, item, links);
        free(item);
    }
    ck_assert(TAILQ_EMPTY(&items));
}
