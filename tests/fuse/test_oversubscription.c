/* SPDX-License-Identifier: MIT
 *
 * When there are more readers than CPUs.
 */
#include "fuse/operations.h"
#include "support.h"

enum { PROCESSORS = 2, MANY = 16 };

static struct nt_oversubscription oversubscription;

static void start(void)
{
    oversubscription = (struct nt_oversubscription){0};
}

/* Readers 1 to `readers`, in turns, so many reads each. */
static void read_in_turns(uint32_t readers, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++)
        for (uint32_t reader = 1; reader <= readers; reader++)
            nt_oversubscription_note(&oversubscription, reader, PROCESSORS);
}

TEST(as_many_readers_as_processors_do_not_oversubscribe, .setup = start)
{
    ck_assert(!nt_is_oversubscribed(&oversubscription));
    read_in_turns(1, 100);
    ck_assert(!nt_is_oversubscribed(&oversubscription));
    read_in_turns(PROCESSORS, 100);
    ck_assert(!nt_is_oversubscribed(&oversubscription));
}

TEST(readers_oversubscribe_as_soon_as_they_return, .setup = start)
{
    read_in_turns(MANY, 1);
    ck_assert(!nt_is_oversubscribed(&oversubscription));
    read_in_turns(MANY, 1);
    ck_assert(nt_is_oversubscribed(&oversubscription));
    start();
    read_in_turns(PROCESSORS + 1, 2);
    ck_assert(nt_is_oversubscribed(&oversubscription));
}

TEST(sequential_readers_do_not_oversubscribe, .setup = start)
{
    for (uint32_t reader = 1; reader <= 1000; reader++)
        for (unsigned reads = 0; reads < 3; reads++)
            nt_oversubscription_note(&oversubscription, reader, PROCESSORS);
    ck_assert(!nt_is_oversubscribed(&oversubscription));
}

TEST(oversubscription_ends, .setup = start)
{
    read_in_turns(MANY, 100);
    read_in_turns(1, NT_OVERSUBSCRIPTION_MAX + 1);
    ck_assert(!nt_is_oversubscribed(&oversubscription));
}

TEST(an_invisible_process_is_unknown, .setup = start)
{
    read_in_turns(MANY, 2);
    for (unsigned reads = 0; reads < 100; reads++)
        nt_oversubscription_note(&oversubscription, 0, PROCESSORS);
    ck_assert(nt_is_oversubscribed(&oversubscription));
    start();
    for (unsigned reads = 0; reads < 100; reads++)
        nt_oversubscription_note(&oversubscription, reads % 4 ? 0 : 1, PROCESSORS);
    ck_assert(!nt_is_oversubscribed(&oversubscription));
}

TEST(the_ring_goes_round_where_its_counter_does, .setup = start)
{
    atomic_store(&oversubscription.next, UINT32_MAX - MANY);
    read_in_turns(MANY, 4);
    ck_assert(nt_is_oversubscribed(&oversubscription));
    read_in_turns(1, NT_OVERSUBSCRIPTION_MAX + 1);
    ck_assert(!nt_is_oversubscribed(&oversubscription));
}
