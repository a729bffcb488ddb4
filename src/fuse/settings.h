/* SPDX-License-Identifier: MIT
 *
 * What a mount is told to do.
 */
#ifndef NT_FUSE_SETTINGS_H
#define NT_FUSE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether files of known size are read past the kernel's page cache: faster the first time, slower when the
 * same file is read or mapped again. */
enum nt_direct_io {
    NT_DIRECT_IO_AUTO, /* as measured to be best: not */
    NT_DIRECT_IO_ON,
    NT_DIRECT_IO_OFF,
};

struct nt_lead;

/* Texts and `lead` must outlive the mount. */
struct nt_mount_settings {
    const char *program;    /* for libfuse's messages */
    const char *mountpoint; /* absolute path of a directory */
    const char *source;     /* what mount(8) and df(1) show as the device; any text */
    const char *subtype;    /* the type is shown as fuse.<subtype> */
    const char *options;    /* mount options for libfuse and the kernel, separated by commas; may be empty */
    bool allow_other;       /* other users may use the mount, as far as the modes in it let them */
    bool auto_unmount;      /* unmount also when the program is killed */
    bool is_debugging;      /* print every request */
    bool is_single_threaded;
    unsigned threads; /* requests that are served at once */
    /* Reads ahead of readers that the kernel may have sent at once. All requests stand in one queue: more
     * than can be served at once keep calls waiting that a user waits for. */
    unsigned reads_ahead;
    uint64_t reply_bytes; /* memory for answers that are being made; a request waits while others have it */
    struct nt_lead *lead; /* of the threads; what the tree says is slow lets them go */
    enum nt_direct_io direct_io;
    unsigned idle_seconds;           /* unmount when nobody has used the mount for so long; 0: never */
    void (*on_ready)(void *context); /* once, when the kernel has accepted the mount; may be NULL */
    void (*on_gone)(void *context);  /* it was unmounted: nobody waits for answers; any thread; may be NULL */
    bool (*unmount)(void *context);  /* when it is over; false where somebody uses it */
    void *context;
};

#endif
