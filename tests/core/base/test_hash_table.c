/* SPDX-License-Identifier: MIT
 *
 * The hash table finds what was inserted, and nothing else.
 */
#include "core/base/hash_table.h"
#include "support.h"

struct thing {
    int number;
    struct nt_hash_link link;
};

enum { THINGS = 3000 };

static struct nt_hash_table table;
static struct thing things[THINGS];

static void setup(void)
{
    ck_assert(nt_hash_table_init(&table));
    for (int i = 0; i < THINGS; i++)
        things[i].number = i;
}

static void teardown(void)
{
    nt_hash_table_deinit(&table);
}

/* Three things have the same hash, and a thousand hashes share few buckets. */
static uint64_t hash_of(int i)
{
    return (uint64_t)(i / 3) << 32 | (uint64_t)(i / 3 % 7);
}

static bool is_found(int i)
{
    for (struct nt_hash_link *link = nt_hash_table_find(&table, hash_of(i)); link;
         link = nt_hash_table_next(link))
        if (NT_CONTAINER_OF(link, struct thing, link) == &things[i])
            return true;
    return false;
}

TEST(what_was_inserted_is_found_until_it_is_removed, .setup = setup, .teardown = teardown)
{
    for (int i = 0; i < THINGS; i++) {
        ck_assert(!is_found(i));
        nt_hash_table_insert(&table, &things[i].link, hash_of(i));
    }
    ck_assert_uint_eq(table.count, THINGS);
    for (int i = 0; i < THINGS; i += 2)
        nt_hash_table_remove(&table, &things[i].link);
    for (int i = 0; i < THINGS; i++)
        ck_assert_int_eq(is_found(i), i % 2);
    ck_assert_uint_eq(table.count, THINGS / 2);
}

TEST(only_links_of_the_hash_are_found, .setup = setup, .teardown = teardown)
{
    for (int i = 0; i < THINGS; i++)
        nt_hash_table_insert(&table, &things[i].link, hash_of(i));
    for (int i = 0; i < THINGS; i += 3) {
        int found = 0;
        for (struct nt_hash_link *link = nt_hash_table_find(&table, hash_of(i)); link;
             link = nt_hash_table_next(link)) {
            ck_assert_int_eq(NT_CONTAINER_OF(link, struct thing, link)->number / 3, i / 3);
            found++;
        }
        ck_assert_int_eq(found, 3);
    }
    ck_assert_ptr_null(nt_hash_table_find(&table, hash_of(THINGS)));
}

TEST(all_are_visited_once_also_while_they_are_removed, .setup = setup, .teardown = teardown)
{
    unsigned visits[THINGS] = {0};
    for (int i = 0; i < THINGS; i++)
        nt_hash_table_insert(&table, &things[i].link, hash_of(i));
    for (struct nt_hash_link *link = nt_hash_table_after(&table, NULL), *next; link; link = next) {
        next = nt_hash_table_after(&table, link);
        visits[NT_CONTAINER_OF(link, struct thing, link)->number]++;
        nt_hash_table_remove(&table, link);
    }
    for (int i = 0; i < THINGS; i++)
        ck_assert_uint_eq(visits[i], 1);
    ck_assert_uint_eq(table.count, 0);
    ck_assert_ptr_null(nt_hash_table_after(&table, NULL));
}

/* The lower bits are equal, or the upper ones: a file's writer chooses the ids of fields. */
static uint64_t chosen_hash(int choice, uint64_t i)
{
    static const unsigned shifts[] = {0, 16, 32, 47};
    return i << shifts[choice];
}

TEST(no_choice_of_hashes_makes_one_bucket_of_all, .setup = setup, .teardown = teardown, .end = 4)
{
    enum { MANY = 100000 };
    static struct thing many[MANY];
    size_t longest = 0;
    for (uint64_t i = 0; i < MANY; i++)
        nt_hash_table_insert(&table, &many[i].link, chosen_hash(_i, i));
    for (size_t i = 0; i < (size_t)1 << table.bucket_bits; i++) {
        size_t length = 0;
        for (const struct nt_hash_link *link = table.buckets[i]; link; link = link->next)
            length++;
        longest = length > longest ? length : longest;
    }
    ck_assert_uint_lt(longest, MANY / 100);
}

TEST(tables_have_seeds_of_their_own, .setup = setup, .teardown = teardown)
{
    struct nt_hash_table other;
    ck_assert(nt_hash_table_init(&other));
    ck_assert_uint_ne(table.seed, other.seed);
    nt_hash_table_deinit(&other);
}
