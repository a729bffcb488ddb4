/* SPDX-License-Identifier: MIT
 *
 * What is a crowd of readers, and what is none.
 */
#include "fuse/operations.h"
#include "support.h"

enum { PROCESSORS = 2, MANY = 16 };

static struct nt_crowd crowd;

static void start(void)
{
    crowd = (struct nt_crowd){0};
}

/* Readers 1 to `readers`, in turns, so many reads each. */
static void read_in_turns(uint32_t readers, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++)
        for (uint32_t reader = 1; reader <= readers; reader++)
            nt_crowd_note(&crowd, reader, PROCESSORS);
}

TEST(no_more_than_there_are_processors_are_no_crowd, .setup = start)
{
    ck_assert(!nt_crowd_is(&crowd));
    read_in_turns(1, 100);
    ck_assert(!nt_crowd_is(&crowd));
    read_in_turns(PROCESSORS, 100);
    ck_assert(!nt_crowd_is(&crowd));
}

TEST(more_are_a_crowd_as_soon_as_they_come_back, .setup = start)
{
    read_in_turns(MANY, 1);
    ck_assert(!nt_crowd_is(&crowd));
    read_in_turns(MANY, 1);
    ck_assert(nt_crowd_is(&crowd));
    start();
    read_in_turns(PROCESSORS + 1, 2);
    ck_assert(nt_crowd_is(&crowd));
}

TEST(one_after_the_other_is_no_crowd, .setup = start)
{
    for (uint32_t reader = 1; reader <= 1000; reader++)
        for (unsigned reads = 0; reads < 3; reads++)
            nt_crowd_note(&crowd, reader, PROCESSORS);
    ck_assert(!nt_crowd_is(&crowd));
}

TEST(a_crowd_goes_home, .setup = start)
{
    read_in_turns(MANY, 100);
    read_in_turns(1, NT_CROWD_MOST + 1);
    ck_assert(!nt_crowd_is(&crowd));
}

TEST(who_cannot_be_seen_is_nobody, .setup = start)
{
    read_in_turns(MANY, 2);
    for (unsigned reads = 0; reads < 100; reads++)
        nt_crowd_note(&crowd, 0, PROCESSORS);
    ck_assert(nt_crowd_is(&crowd));
    start();
    for (unsigned reads = 0; reads < 100; reads++)
        nt_crowd_note(&crowd, reads % 4 ? 0 : 1, PROCESSORS);
    ck_assert(!nt_crowd_is(&crowd));
}

TEST(the_ring_goes_round_where_its_counter_does, .setup = start)
{
    atomic_store(&crowd.next, UINT32_MAX - MANY);
    read_in_turns(MANY, 4);
    ck_assert(nt_crowd_is(&crowd));
    read_in_turns(1, NT_CROWD_MOST + 1);
    ck_assert(!nt_crowd_is(&crowd));
}
