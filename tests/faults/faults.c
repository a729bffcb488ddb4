/* SPDX-License-Identifier: MIT
 *
 * Wraps functions of the C library: each call succeeds as usual, or has the armed failure. Arguments are
 * not inspected.
 */
#include "faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

static struct {
    atomic_int site;
    atomic_uint_least64_t calls;
    struct fault fault;
    atomic_int_least64_t seconds;
} state;

void fault_arm(const struct fault *fault)
{
    state.fault = *fault;
    atomic_store(&state.calls, 0);
    atomic_store(&state.site, (int)fault->site);
}

uint64_t fault_disarm(void)
{
    atomic_store(&state.site, FAULT_NOWHERE);
    return atomic_load(&state.calls);
}

void fault_pass_time(int64_t seconds)
{
    atomic_fetch_add(&state.seconds, seconds);
}

void fault_restore_time(void)
{
    atomic_store(&state.seconds, 0);
}

struct walk {
    uint64_t place;
    unsigned left; /* callers */
};

/* FNV-1a of their return addresses. */
static _Unwind_Reason_Code add_caller(struct _Unwind_Context *caller, void *context)
{
    struct walk *walk = context;
    walk->place = (walk->place ^ (uint64_t)_Unwind_GetIP(caller)) * UINT64_C(0x100000001b3);
    return --walk->left ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

static uint64_t place_of_call(unsigned depth)
{
    enum { OWN = 2 }; /* this function and fault_at */
    struct walk walk = {UINT64_C(0xcbf29ce484222325), depth + OWN};
    _Unwind_Backtrace(add_caller, &walk);
    return walk.place;
}

int fault_at(enum fault_site site)
{
    const struct fault *fault = &state.fault;
    if (atomic_load_explicit(&state.site, memory_order_acquire) != (int)site)
        return 0;
    uint64_t call = atomic_fetch_add(&state.calls, 1) + 1;
    if (fault->places && call <= fault->place_count)
        fault->places[call - 1] = place_of_call(fault->depth);
    return call == fault->number || (fault->lasts && fault->number && call > fault->number) ? fault->error
                                                                                            : 0;
}

/* `fails` sets errno and returns true if the call must fail. */
static bool fails(enum fault_site site)
{
    int error = fault_at(site);
    if (error)
        errno = error;
    return error != 0;
}

/* The next definition of a function, found once; ISO C has no cast from an object's address to it. */
#define NEXT(function)                                                                                       \
    static __typeof__(&function) next;                                                                       \
    if (!next)                                                                                               \
    *(void **)&next = dlsym(RTLD_NEXT, #function)

/* ---- allocations ---- */

void *malloc(size_t bytes)
{
    NEXT(malloc);
    return fails(FAULT_ALLOCATION) ? NULL : next(bytes);
}

/* dlsym itself asks for zeroed memory; it works without. */
void *calloc(size_t count, size_t bytes)
{
    static _Thread_local bool is_searching;
    static __typeof__(&calloc) next;
    if (!next && !is_searching) {
        is_searching = true;
        *(void **)&next = dlsym(RTLD_NEXT, "calloc");
        is_searching = false;
    }
    return !next || fails(FAULT_ALLOCATION) ? NULL : next(count, bytes);
}

void *realloc(void *memory, size_t bytes)
{
    NEXT(realloc);
    return fails(FAULT_ALLOCATION) ? NULL : next(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    NEXT(aligned_alloc);
    return fails(FAULT_ALLOCATION) ? NULL : next(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    NEXT(posix_memalign);
    return fails(FAULT_ALLOCATION) ? ENOMEM : next(memory, alignment, bytes);
}

/* ---- reads ---- */

ssize_t pread64(int descriptor, void *buffer, size_t bytes, off64_t offset)
{
    NEXT(pread64);
    int error = fault_at(FAULT_READ);
    if (error == FAULT_SHORT)
        return next(descriptor, buffer, bytes > 1 ? bytes / 2 : bytes, offset);
    if (error) {
        errno = error;
        return -1;
    }
    return next(descriptor, buffer, bytes, offset);
}

/* ---- other calls ---- */

/* openat2 has no function of its own. */
long syscall(long number, ...)
{
    NEXT(syscall);
    long arguments[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(list, long);
    va_end(list);
    return number == SYS_openat2 && fails(FAULT_CALL) ? -1
                                                      : next(number, arguments[0], arguments[1], arguments[2],
                                                             arguments[3], arguments[4], arguments[5]);
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

int open64(const char *path, int flags, ...)
{
    NEXT(open64);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(FAULT_CALL) ? -1 : next(path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...)
{
    NEXT(openat64);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return fails(FAULT_CALL) ? -1 : next(directory, path, flags, mode);
}

int stat64(const char *restrict path, struct stat64 *restrict attributes)
{
    NEXT(stat64);
    return fails(FAULT_CALL) ? -1 : next(path, attributes);
}

int fstat64(int descriptor, struct stat64 *attributes)
{
    NEXT(fstat64);
    return fails(FAULT_CALL) ? -1 : next(descriptor, attributes);
}

int fstatat64(int directory, const char *restrict path, struct stat64 *restrict attributes, int flags)
{
    NEXT(fstatat64);
    return fails(FAULT_CALL) ? -1 : next(directory, path, attributes, flags);
}

char *realpath(const char *restrict path, char *restrict resolved)
{
    NEXT(realpath);
    return fails(FAULT_CALL) ? NULL : next(path, resolved);
}

DIR *fdopendir(int descriptor)
{
    NEXT(fdopendir);
    return fails(FAULT_CALL) ? NULL : next(descriptor);
}

struct dirent64 *readdir64(DIR *directory)
{
    NEXT(readdir64);
    return fails(FAULT_CALL) ? NULL : next(directory);
}

/* ---- threads and time ---- */

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*start)(void *), void *restrict argument)
{
    NEXT(pthread_create);
    int error = fault_at(FAULT_THREAD);
    return error ? error : next(thread, attributes, start, argument);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && clock == CLOCK_MONOTONIC)
        now->tv_sec += (time_t)atomic_load(&state.seconds);
    return result;
}
