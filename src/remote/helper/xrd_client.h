/* SPDX-License-Identifier: MIT
 *
 * C interface to XRootD's own client: a table of functions in a module (xrd_client.cc). The module is
 * loaded on demand, since loading its libraries takes longer than opening most files. No function
 * blocks or throws.
 */
#pragma once

#include <stdbool.h>

#include "remote/helper/result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nt_xrd_file;
struct nt_xrd_list;

enum { NT_XRD_SERVER_BYTES = 128, NT_XRD_ID_BYTES = 64 };

struct nt_xrd_attributes {
    uint64_t size;
    int64_t modified;                 /* seconds since 1970 */
    char id[NT_XRD_ID_BYTES];         /* the file's id on its server */
    char server[NT_XRD_SERVER_BYTES]; /* data server */
};

/* The answer; arrives on a thread of the client, or before the function returns. */
struct nt_xrd_answer {
    struct nt_result result; /* without `got` and `wait_seconds` */
    bool is_lost;            /* the file is no longer open */
    bool has_attributes;
    struct nt_xrd_attributes attributes;
};
typedef void nt_xrd_done(void *context, const struct nt_xrd_answer *answer);

struct nt_xrd_range {
    uint64_t offset;
    uint32_t bytes;
    char *buffer; /* valid until the answer arrives */
};

/* The limit of one read with several ranges. */
enum { NT_XRD_MAX_RANGES = 1024 };

/* An item of a directory; its name is valid until the list is freed. */
struct nt_xrd_entry {
    const char *name;
    bool is_folder, has_attributes;
    uint64_t size;
    int64_t modified;
};

struct nt_xrd_client {
    /* NULL if out of memory. */
    struct nt_xrd_file *(*make)(void);
    /* The answer has attributes. */
    void (*open)(struct nt_xrd_file *file, const char *url, uint16_t seconds, nt_xrd_done *done,
                 void *context);
    /* Reads all bytes of one or several ranges. Then fetches the current attributes, if requested. */
    void (*read)(struct nt_xrd_file *file, const struct nt_xrd_range *ranges, unsigned count,
                 bool has_attributes, uint16_t seconds, nt_xrd_done *done, void *context);
    void (*close)(struct nt_xrd_file *file, uint16_t seconds, nt_xrd_done *done, void *context);
    /* Call after the answers to all requests. */
    void (*free)(struct nt_xrd_file *file);
    /* Lists a directory on all its servers. NULL if out of memory; free the list after the answer. */
    struct nt_xrd_list *(*list)(const char *url, uint16_t seconds, nt_xrd_done *done, void *context);
    /* By index; false after the last. */
    bool (*entry)(const struct nt_xrd_list *list, unsigned number, struct nt_xrd_entry *entry_ret);
    void (*free_list)(struct nt_xrd_list *list);
};

/* The module's only symbol. */
extern __attribute__((visibility("default"))) const struct nt_xrd_client nt_xrd_client;
#define NT_XRD_CLIENT_SYMBOL "nt_xrd_client"

#ifdef __cplusplus
}
#endif
