/* SPDX-License-Identifier: MIT
 *
 * Rows of the tables of messages, for the files that have them.
 */
#ifndef NT_FORMAT_LANCE_ROWS_H
#define NT_FORMAT_LANCE_ROWS_H

#include "formats/lance/file/messages.h"

#define UINT(field, text)                                                                                    \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_UINT                                             \
    }
#define INT(field, text)                                                                                     \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_INT                                              \
    }
#define BOOL(field, text)                                                                                    \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_BOOL                                             \
    }
#define TEXT(field, text)                                                                                    \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_TEXT                                             \
    }
#define BYTES(field, text)                                                                                   \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_BYTES                                            \
    }
#define ENUM(field, text, list)                                                                              \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_ENUM, .names = (list)                            \
    }
#define MESSAGE(field, text, table)                                                                          \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_MESSAGE, .message = &(table)                     \
    }
/* Of a number: it has no default, and is nothing where it is absent. */
#define OPTIONAL_UINT(field, text)                                                                           \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_UINT, .is_optional = true                        \
    }
#define OPTIONAL_INT(field, text)                                                                            \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_INT, .is_optional = true                         \
    }
#define OPTIONAL_TEXT(field, text)                                                                           \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_TEXT, .is_optional = true                        \
    }
#define TEXTS(field, text)                                                                                   \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_TEXT, .is_repeated = true                        \
    }
#define UINTS(field, text)                                                                                   \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_UINT, .is_repeated = true                        \
    }
#define INTS(field, text)                                                                                    \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_INT, .is_repeated = true                         \
    }
#define ENUMS(field, text, list)                                                                             \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_ENUM, .is_repeated = true, .names = (list)       \
    }
#define MESSAGES(field, text, table)                                                                         \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_MESSAGE, .is_repeated = true,                    \
        .message = &(table)                                                                                  \
    }
/* The same, of which a document of its own tells. */
#define MESSAGES_APART(field, text, table)                                                                   \
    {                                                                                                        \
        .number = (field), .name = (text), .kind = NT_PROTO_MESSAGE, .is_repeated = true,                    \
        .is_told_apart = true, .message = &(table)                                                           \
    }

#define TABLE(text, rows)                                                                                    \
    {                                                                                                        \
        .name = (text), .fields = (rows), .count = sizeof(rows) / sizeof(*(rows))                            \
    }
#define CHOICE(text, rows)                                                                                   \
    {                                                                                                        \
        .name = (text), .fields = (rows), .count = sizeof(rows) / sizeof(*(rows)), .is_choice = true         \
    }

#endif
