/* SPDX-License-Identifier: MIT
 *
 * XRootD's own client as C sees it: a table of functions in a module (xrd_client.cc) that is loaded where it is needed, since its
 * libraries take longer to be loaded than most files to be opened. None of the functions waits, and none throws.
 */
#ifndef NT_FETCH_XRD_CLIENT_H
#define NT_FETCH_XRD_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "remote/helper/result.h"
#include "remote/helper/xrd_client.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nt_xrd_file;
struct nt_xrd_list;

enum { NT_XRD_SERVER_BYTES = 128, NT_XRD_ID_BYTES = 64 };

struct nt_xrd_attributes {
    uint64_t size;
    int64_t modified;                 /* seconds since 1970 */
    char id[NT_XRD_ID_BYTES];         /* of the file on its server */
    char server[NT_XRD_SERVER_BYTES]; /* that has the bytes */
};

/* What came of it; on a thread of the client's, or before the function returns. */
struct nt_xrd_answer {
    struct nt_result result; /* `got` and `wait_seconds` are not told */
    bool is_lost;            /* the file is not open any more */
    bool has_attributes;
    struct nt_xrd_attributes attributes;
};
typedef void nt_xrd_done(void *context, const struct nt_xrd_answer *answer);

struct nt_xrd_range {
    uint64_t offset;
    uint32_t bytes;
    char *buffer; /* there until the answer has arrived */
};

/* Of several ranges that are read at once. */
enum { NT_XRD_MAX_RANGES = 1024, NT_XRD_MAX_RANGE_BYTES = 2097136 };

/* Something in a folder; its name is there until the list is freed. */
struct nt_xrd_entry {
    const char *name;
    bool is_folder, has_attributes;
    uint64_t size;
    int64_t modified;
};

struct nt_xrd_client {
    /* NULL without memory. */
    struct nt_xrd_file *(*make)(void);
    /* Answered with attributes. */
    void (*open)(struct nt_xrd_file *file, const char *url, uint16_t seconds, nt_xrd_done *done,
                 void *context);
    /* All bytes of one range, or several; then attributes, as they are while it is read, where they are wanted. */
    void (*read)(struct nt_xrd_file *file, const struct nt_xrd_range *ranges, unsigned count,
                 bool has_attributes, uint16_t seconds, nt_xrd_done *done, void *context);
    void (*close)(struct nt_xrd_file *file, uint16_t seconds, nt_xrd_done *done, void *context);
    /* When all that was asked of it is answered. */
    void (*free)(struct nt_xrd_file *file);
    /* What is in a folder, on all servers that have a part of it. NULL without memory; to be freed once it is answered. */
    struct nt_xrd_list *(*list)(const char *url, uint16_t seconds, nt_xrd_done *done, void *context);
    /* By number; false behind the last. */
    bool (*entry)(const struct nt_xrd_list *list, unsigned number, struct nt_xrd_entry *entry_ret);
    void (*free_list)(struct nt_xrd_list *list);
};

/* The module's one symbol. */
extern __attribute__((visibility("default"))) const struct nt_xrd_client nt_xrd_client;
#define NT_XRD_CLIENT_SYMBOL "nt_xrd_client"

#ifdef __cplusplus
}
#endif

#endif
