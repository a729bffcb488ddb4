/* SPDX-License-Identifier: MIT
 *
 * Failures of a whole program. LD_PRELOAD loads this before the C library. It arms the failure that the
 * environment describes: NTUPLE_FAULT=SITE:ERROR:NUMBER:LASTS, all of them numbers. At the end it writes the
 * number of calls of the site into the file NTUPLE_FAULT_COUNT. It also lets reads and writes of a FUSE
 * daemon fail, which are requests and replies. A reply that fails with ENOENT belongs to a request that the
 * client has given up.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "faults.h"

__attribute__((constructor)) static void arm(void)
{
    int site, error, lasts;
    unsigned long long number;
    const char *setting = getenv("NTUPLE_FAULT");
    if (setting && sscanf(setting, "%d:%d:%llu:%d", &site, &error, &number, &lasts) == 4)
        fault_arm(&(struct fault){
            .site = (enum fault_site)site, .number = number, .error = error, .lasts = lasts != 0});
}

__attribute__((destructor)) static void report_calls(void)
{
    const char *path = getenv("NTUPLE_FAULT_COUNT");
    uint64_t calls = fault_disarm();
    FILE *file = path && *path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%llu", (unsigned long long)calls);
    fclose(file);
}

ssize_t read(int descriptor, void *buffer, size_t bytes)
{
    static __typeof__(&read) next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "read");
    int error = fault_at(FAULT_RECEIVE);
    if (!error)
        return next(descriptor, buffer, bytes);
    errno = error;
    return -1;
}

ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    static __typeof__(&writev) next;
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "writev");
    int error = fault_at(FAULT_WRITE);
    if (!error)
        return next(descriptor, parts, count);
    if (error == ENOENT) {
        struct fuse_out_header interrupted = *(const struct fuse_out_header *)parts[0].iov_base;
        interrupted.len = sizeof(interrupted);
        interrupted.error = -EINTR;
        if (next(descriptor, &(struct iovec){&interrupted, sizeof(interrupted)}, 1) < 0)
            error = errno;
    }
    errno = error;
    return -1;
}
