/* SPDX-License-Identifier: MIT
 *
 * What the two processes of a mount say to each other, over a socket that keeps messages apart: a kind, a text,
 * descriptors.
 */
#ifndef NT_FUSE_CHANNEL_H
#define NT_FUSE_CHANNEL_H

#include <stdbool.h>

#define NT_NO_CHANNEL (-1)

enum nt_message_kind {
    NT_MESSAGE_END, /* the other process is gone */
    /* From the one that decodes: */
    NT_MESSAGE_LINE,   /* for the log */
    NT_MESSAGE_OPENED, /* the sources are open: mount. Answered by MOUNTED, or not at all */
    NT_MESSAGE_READY,  /* the kernel has accepted the mount. Answered by NOTED */
    NT_MESSAGE_KEPT,   /* what it has learned is written */
    NT_MESSAGE_LEFT,   /* it ends though it is mounted: somebody else told it to */
    NT_MESSAGE_IDLE,   /* nobody uses it: unmount. Answered by UNMOUNTED or BUSY */
    /* From the one that supervises: */
    NT_MESSAGE_MOUNTED, /* with descriptors */
    NT_MESSAGE_NOTED,
    NT_MESSAGE_UNMOUNTED,
    NT_MESSAGE_BUSY,
    NT_MESSAGE_COUNT
};

enum {
    NT_MESSAGE_BYTES = 16 * 1024, /* of a text; the rest is cut off */
    NT_MESSAGE_DESCRIPTORS = 2,   /* at most */
};

struct nt_message {
    enum nt_message_kind kind;
    int level;                       /* of a line: syslog's */
    char text[NT_MESSAGE_BYTES + 1]; /* ends with NUL */
};

/* False, with errno. Both ends are closed by exec. */
bool nt_channel_new(int ends_ret[2]);

/* Any thread. False where the other side is gone. */
bool nt_channel_send(int channel, enum nt_message_kind kind);
bool nt_channel_send_line(int channel, int level, const char *line);
/* The same without waiting, for who must not depend on the other: false, too, where that one does not read. */
bool nt_channel_answer(int channel, enum nt_message_kind kind);
bool nt_channel_answer_descriptors(int channel, enum nt_message_kind kind, const int *descriptors, int count);

/* Wait for the next message, in whose text there may be anything. */
void nt_channel_receive(int channel, struct nt_message *message);
/* The same where descriptors come with it, `descriptors_ret[NT_MESSAGE_DESCRIPTORS]` at most, numbered upwards. */
enum nt_message_kind nt_channel_receive_descriptors(int channel, int *descriptors_ret, int *count_ret);

#endif
