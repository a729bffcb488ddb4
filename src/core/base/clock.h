/* SPDX-License-Identifier: MIT
 *
 * The clock by which waiting is measured: it never goes back, and has no meaning to other machines.
 */
#ifndef NT_BASE_CLOCK_H
#define NT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NT_SECOND UINT64_C(1000000000)
#define NT_MILLISECOND UINT64_C(1000000)

/* Nanoseconds of the monotonic clock. Any thread. */
static inline uint64_t nt_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NT_SECOND + (uint64_t)now.tv_nsec;
}

/* The same in milliseconds. */
static inline uint64_t nt_milliseconds(void)
{
    return nt_nanoseconds() / NT_MILLISECOND;
}

/* Nanoseconds for who waits until then. */
static inline struct timespec nt_timespec(uint64_t nanoseconds)
{
    return (struct timespec){.tv_sec = (time_t)(nanoseconds / NT_SECOND),
                             .tv_nsec = (long)(nanoseconds % NT_SECOND)};
}

#endif
