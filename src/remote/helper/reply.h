/* SPDX-License-Identifier: MIT
 *
 * What the headers of a server's answer tell of a part of a file (RFC 9110, sections 8.8, 14.4 and 8.4).
 */
#ifndef NT_FETCH_REPLY_H
#define NT_FETCH_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NT_REPLY_TAG_BYTES = 256, NT_REPLY_TIME_BYTES = 64, NT_REPLY_MOST_BYTES = 128 * 1024 };

/* What tells one version of a file from another; "": the server does not say. */
struct nt_validators {
    char tag[NT_REPLY_TAG_BYTES];       /* with its quotes, without the sign of a weak one */
    bool is_weak;                       /* two versions may have the same */
    char modified[NT_REPLY_TIME_BYTES]; /* as the server wrote it */
};

struct nt_reply {
    struct nt_validators validators;
    bool has_range, has_total;
    uint64_t first, last, total; /* of Content-Range; the last byte belongs to it */
    bool is_encoded;             /* the bytes are not the file's */
    char region[64];             /* of S3, where a bucket is; "": not told */
    size_t bytes;                /* of headers, redirections among them */
    bool is_interim;             /* its code is one of 1xx: another one follows */
    bool is_whole;               /* what follows stands behind the body, and is not taken */
};

/* A line as it comes, with or without its end. Where it begins another answer, what the one before said is forgotten; behind the empty line that
 * ends the headers nothing is taken any more: by what they say the body is judged while it comes. False where it is more than anybody needs. */
bool nt_reply_take(struct nt_reply *reply, const char *line, size_t bytes);

/* Take a tag, or a time, as headers and lists of folders have them; what is none is not there. */
void nt_validators_take_tag(struct nt_validators *validators, const char *text, size_t bytes);
void nt_validators_take_time(struct nt_validators *validators, const char *text, size_t bytes);

/* Both as one text, which is the same of the same version whatever process asks; and back. */
size_t nt_validators_write(const struct nt_validators *validators, char *stamp, size_t room);
void nt_validators_read(struct nt_validators *validators, const char *stamp, size_t bytes);

/* Whether both may be of the same version, as far as both tell. */
bool nt_validators_agree(const struct nt_validators *one, const struct nt_validators *other);

#endif
