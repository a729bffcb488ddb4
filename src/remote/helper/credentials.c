/* SPDX-License-Identifier: MIT
 *
 * Credential files: the watchdog opens them and passes copies to the sandboxed worker, which looks again at
 * each use.
 */
#include "remote/helper/helper.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- Credential files ---- */

enum { MAX_BYTES = 8 << 20, PIECE_BYTES = 16 * 1024 };

/* Uses the first that exists: the file that a variable names; else one below the home, in the user's
 * session directory, or in a world-writable directory. The names in the last two end with the user id. */
static const struct row {
    const char *variable, *other_variable;
    const char *below_home, *in_session, *shared;
    bool is_for_libraries; /* libraries read the file themselves */
} rows[NT_CREDENTIALS] = {
    [NT_CREDENTIAL_NETRC] = {.variable = "NETRC", .below_home = ".netrc"},
    [NT_CREDENTIAL_TOKEN] = {.variable = "BEARER_TOKEN_FILE",
                             .in_session = "bt_u",
                             .shared = "/tmp/bt_u",
                             .is_for_libraries = true},
    [NT_CREDENTIAL_PROXY] = {.variable = "X509_USER_PROXY",
                             .other_variable = "XrdSecGSIUSERPROXY",
                             .shared = "/tmp/x509up_u",
                             .is_for_libraries = true},
    [NT_CREDENTIAL_CERTIFICATE] = {.variable = "X509_USER_CERT",
                                   .other_variable = "XrdSecGSIUSERCERT",
                                   .below_home = ".globus/usercert.pem",
                                   .is_for_libraries = true},
    [NT_CREDENTIAL_KEY] = {.variable = "X509_USER_KEY",
                           .other_variable = "XrdSecGSIUSERKEY",
                           .below_home = ".globus/userkey.pem",
                           .is_for_libraries = true},
    [NT_CREDENTIAL_CA_BUNDLE] = {.variable = "CURL_CA_BUNDLE"},
    [NT_CREDENTIAL_CA_BUNDLE_OPENSSL] = {.variable = "SSL_CERT_FILE", .is_for_libraries = true},
    [NT_CREDENTIAL_CA_BUNDLE_PACKAGED] = {.variable = "NTUPLE_CA_BUNDLE"},
    [NT_CREDENTIAL_AWS_CONFIG] = {.variable = "AWS_CONFIG_FILE", .below_home = ".aws/config"},
    [NT_CREDENTIAL_AWS_KEYS] = {.variable = "AWS_SHARED_CREDENTIALS_FILE", .below_home = ".aws/credentials"},
    [NT_CREDENTIAL_AWS_IDENTITY] = {.variable = "AWS_WEB_IDENTITY_TOKEN_FILE"},
    [NT_CREDENTIAL_AWS_CONTAINER] = {.variable = "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"},
    [NT_CREDENTIAL_KERBEROS] = {.variable = "KRB5CCNAME", .shared = "/tmp/krb5cc_", .is_for_libraries = true},
    [NT_CREDENTIAL_SSS] = {.variable = "XrdSecSSSKT",
                           .below_home = ".xrd/sss.keytab",
                           .is_for_libraries = true},
};

static const char *named(const struct row *row)
{
    const char *value = row->other_variable ? nt_environment(row->other_variable) : NULL;
    return value ? value : nt_environment(row->variable);
}

/* ---- Paths ---- */

struct candidate {
    char path[PATH_MAX];
    bool is_own; /* in a world-writable directory: must belong to the user */
};

static bool put(char path[PATH_MAX], const char *folder, const char *name)
{
    return (size_t)snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* A directory of ticket files has a file that names the primary one. */
static bool put_primary(char path[PATH_MAX], const char *folder)
{
    char name[NAME_MAX + 1];
    int descriptor =
        put(path, folder, "primary") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
    ssize_t count = descriptor < 0 ? -1 : read(descriptor, name, sizeof(name) - 1);
    if (descriptor >= 0)
        close(descriptor);
    name[count > 0 ? count : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (count < 0) /* the file exists only if there are several ticket files */
        strcpy(name, "tkt");
    return strncmp(name, "tkt", strlen("tkt")) == 0 && !strchr(name, '/') && put(path, folder, name);
}

/* Parses "FILE:/path", "DIR:/folder" or "DIR::/folder/tkt"; other kinds are not files. */
static bool put_tickets(char path[PATH_MAX], const char *value)
{
    const char *colon = strchr(value, ':');
    size_t kind = colon ? (size_t)(colon - value) : 0;
    bool is_folder = kind == strlen("DIR") && strncmp(value, "DIR", kind) == 0 && colon[1] != ':';
    bool is_file = !colon || *value == '/' || (kind == strlen("FILE") && strncmp(value, "FILE", kind) == 0) ||
                   (kind == strlen("DIR") && strncmp(value, "DIR:", kind + 1) == 0);
    const char *rest = !colon || *value == '/' ? value : colon + 1 + (colon[1] == ':');
    if (is_folder)
        return put_primary(path, rest);
    return is_file && (size_t)snprintf(path, PATH_MAX, "%s", rest) < PATH_MAX;
}

static bool put_named(enum nt_credential credential, struct candidate *candidate)
{
    const char *value = named(&rows[credential]);
    candidate->is_own = false;
    return credential == NT_CREDENTIAL_KERBEROS
               ? put_tickets(candidate->path, value)
               : (size_t)snprintf(candidate->path, PATH_MAX, "%s", value) < PATH_MAX;
}

static bool put_usual(const struct row *row, unsigned which, struct candidate *candidate)
{
    const char *home = nt_environment("HOME"), *session = nt_environment("XDG_RUNTIME_DIR");
    const unsigned user = (unsigned)geteuid();
    int length = PATH_MAX;
    if (which == 0 && row->below_home && home)
        length = snprintf(candidate->path, PATH_MAX, "%s/%s", home, row->below_home);
    else if (which == 1 && row->in_session && session)
        length = snprintf(candidate->path, PATH_MAX, "%s/%s%u", session, row->in_session, user);
    else if (which == 2 && row->shared)
        length = snprintf(candidate->path, PATH_MAX, "%s%u", row->shared, user);
    candidate->is_own = which > 0;
    return length < PATH_MAX;
}

/* ---- Opening ---- */

/* Identifies a file and its state. */
struct credential_version {
    bool is_there;
    bool is_new; /* modified a moment ago: a further write may leave the same time */
    struct stat attributes;
};

static bool is_same(const struct credential_version *one, const struct credential_version *other)
{
    const struct stat *a = &one->attributes, *b = &other->attributes;
    return one->is_there && other->is_there && !one->is_new && a->st_dev == b->st_dev &&
           a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec && a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Checks the owner of a link itself: another user's link could lead to any file. */
static bool is_users(const char *path)
{
    struct stat attributes;
    return lstat(path, &attributes) == 0 && attributes.st_uid == geteuid();
}

static int open_candidate(const struct candidate *candidate, struct credential_version *version_ret)
{
    struct stat *attributes = &version_ret->attributes;
    int descriptor = !candidate->is_own || is_users(candidate->path)
                         ? open(candidate->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
                         : -1;
    bool is_good = descriptor >= 0 && fstat(descriptor, attributes) == 0 && S_ISREG(attributes->st_mode) &&
                   (!candidate->is_own || (attributes->st_uid == geteuid() && attributes->st_size > 0));
    version_ret->is_there = is_good;
    version_ret->is_new = is_good && attributes->st_ctim.tv_sec + 1 >= time(NULL);
    if (is_good || descriptor < 0)
        return descriptor;
    close(descriptor);
    return -1;
}

static int open_credential(enum nt_credential credential, struct credential_version *version_ret)
{
    enum { USUAL_PLACES = 3 };
    struct candidate candidate;
    int descriptor = -1;
    *version_ret = (struct credential_version){.is_there = false};
    if (named(&rows[credential]))
        return put_named(credential, &candidate) ? open_candidate(&candidate, version_ret) : -1;
    for (unsigned i = 0; i < USUAL_PLACES && descriptor < 0; i++)
        if (put_usual(&rows[credential], i, &candidate))
            descriptor = open_candidate(&candidate, version_ret);
    return descriptor;
}

/* ---- Copies ---- */

/* Creates a file in memory, non-executable if the kernel supports it. */
static int new_copy(void)
{
    enum { NO_EXECUTION = 8 };
    int copy = memfd_create("credential", MFD_CLOEXEC | NO_EXECUTION);
    return copy >= 0 || errno != EINVAL ? copy : memfd_create("credential", MFD_CLOEXEC);
}

static bool fill(int copy, int from)
{
    char piece[PIECE_BYTES];
    ssize_t count = 0;
    off_t sum = 0;
    bool is_good = true;
    while (is_good && (count = read(from, piece, sizeof(piece))) > 0) {
        is_good = sum + count <= MAX_BYTES && pwrite(copy, piece, (size_t)count, sum) == count;
        sum += count;
    }
    explicit_bzero(piece, sizeof(piece));
    return is_good && count == 0;
}

/* Private to the user, as libraries require. The receiver cannot write to it. */
static int copy_of(int from)
{
    char path[64];
    int copy = new_copy(), opened = -1;
    if (copy < 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
    if (fill(copy, from) && fchmod(copy, S_IRUSR) == 0)
        opened = open(path, O_RDONLY | O_CLOEXEC);
    close(copy);
    return opened;
}

/* Returns a copy if the file differs from the known version; else -1. */
static int give(enum nt_credential credential, struct credential_version *known, bool *is_there_ret)
{
    struct credential_version version;
    int descriptor = open_credential(credential, &version), copy = -1;
    bool is_known = is_same(known, &version);
    if (descriptor >= 0 && !is_known)
        copy = copy_of(descriptor);
    if (descriptor >= 0)
        close(descriptor);
    *is_there_ret = descriptor >= 0 && (is_known || copy >= 0);
    *known = version;
    known->is_there = *is_there_ret;
    return copy;
}

/* ---- Socket messages ---- */

union credential_control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_copy(int socket, bool is_there, int copy)
{
    union credential_control control = {.bytes = ""};
    uint8_t byte = is_there;
    struct iovec part = {&byte, 1};
    const struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    if (copy < 0)
        return send(socket, &byte, 1, MSG_NOSIGNAL) == 1;
    control.header = (struct cmsghdr){
        .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), &copy, sizeof(copy));
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

static bool receive_copy(int socket, bool *is_there_ret, int *copy_ret)
{
    union credential_control control;
    uint8_t byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    ssize_t count = TEMP_FAILURE_RETRY(recvmsg(socket, &message, MSG_CMSG_CLOEXEC));
    const struct cmsghdr *header = count == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    *copy_ret = -1;
    if (header && header->cmsg_type == SCM_RIGHTS)
        memcpy(copy_ret, CMSG_DATA(header), sizeof(*copy_ret));
    *is_there_ret = count == 1 && byte;
    return count == 1;
}

void nt_credentials_serve(int socket)
{
    struct credential_version known[NT_CREDENTIALS] = {{.is_there = false}};
    uint8_t credential;
    bool is_there, goes_on = true;
    while (goes_on && recv(socket, &credential, 1, 0) == 1) {
        if (credential >= NT_CREDENTIALS)
            return;
        int copy = give((enum nt_credential)credential, &known[credential], &is_there);
        goes_on = send_copy(socket, is_there, copy);
        if (copy >= 0)
            close(copy);
    }
}

/* ---- Client ---- */

/* Global, like the environment. */
static struct {
    bool has_begun, are_checks_shared;
    int socket; /* -1: no credential server */
    struct slot {
        int descriptor;
        bool is_there, is_named, is_current; /* current: checked since checks are shared */
        struct credential_version known;     /* without a server */
        char path[32];
    } slots[NT_CREDENTIALS];
} state;

static bool look(enum nt_credential credential, bool *is_there_ret, int *copy_ret)
{
    uint8_t byte = (uint8_t)credential;
    if (state.socket >= 0)
        return send(state.socket, &byte, 1, MSG_NOSIGNAL) == 1 &&
               receive_copy(state.socket, is_there_ret, copy_ret);
    *copy_ret = give(credential, &state.slots[credential].known, is_there_ret);
    return true;
}

/* Replaces the old file atomically: a reader of the path gets one or the other. */
static void refresh(enum nt_credential credential)
{
    struct slot *slot = &state.slots[credential];
    bool is_there;
    int copy;
    if ((state.are_checks_shared && slot->is_current) || !look(credential, &is_there, &copy))
        return;
    slot->is_current = true;
    if (!is_there && slot->is_there)
        copy = open("/dev/null", O_RDONLY | O_CLOEXEC);
    slot->is_there = is_there;
    if (copy < 0)
        return;
    dup3(copy, slot->descriptor, O_CLOEXEC);
    close(copy);
}

/* Unsets variables of missing files, or libraries would fail. Kerberos also needs the file's type. */
static void export_credential(enum nt_credential credential)
{
    const struct row *row = &rows[credential];
    const struct slot *slot = &state.slots[credential];
    char value[512], path[PATH_MAX];
    bool is_tickets = credential == NT_CREDENTIAL_KERBEROS;
    if (!row->is_for_libraries || (!slot->is_named && !slot->is_there) ||
        (is_tickets && slot->is_named && !put_tickets(path, named(row))))
        return;
    snprintf(value, sizeof(value), "%s%s", is_tickets ? "FILE:" : "", slot->path);
    setenv(row->variable, value, 1);
    if (row->other_variable)
        unsetenv(row->other_variable);
}

void nt_credentials_begin(int socket)
{
    state.has_begun = true;
    state.socket = socket;
    for (int i = 0; i < NT_CREDENTIALS; i++) {
        struct slot *slot = &state.slots[i];
        *slot = (struct slot){.descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC),
                              .is_named = named(&rows[i]) != NULL};
        snprintf(slot->path, sizeof(slot->path), "/proc/self/fd/%d", slot->descriptor);
        refresh((enum nt_credential)i);
        if (socket >= 0)
            export_credential((enum nt_credential)i);
    }
}

void nt_credentials_share_checks(bool are_shared)
{
    state.are_checks_shared = are_shared;
    for (int i = 0; i < NT_CREDENTIALS; i++)
        state.slots[i].is_current = false;
}

static struct slot *slot_of(enum nt_credential credential)
{
    if (!state.has_begun)
        nt_credentials_begin(-1);
    else
        refresh(credential);
    return &state.slots[credential];
}

bool nt_credential_is_named(enum nt_credential credential)
{
    return slot_of(credential)->is_named;
}

const char *nt_credential_path(enum nt_credential credential)
{
    const struct slot *slot = slot_of(credential);
    return slot->is_there || slot->is_named ? slot->path : NULL;
}

bool nt_credential_read(enum nt_credential credential, struct nt_buffer *text)
{
    char piece[PIECE_BYTES];
    ssize_t count = 0;
    off_t at = 0;
    const struct slot *slot = slot_of(credential);
    while (slot->is_there && (count = pread(slot->descriptor, piece, sizeof(piece), at)) > 0) {
        nt_buffer_append(text, piece, (size_t)count);
        at += count;
    }
    explicit_bzero(piece, sizeof(piece));
    nt_buffer_append_byte(text, '\0');
    return slot->is_there && count == 0 && !text->failed;
}

void nt_credential_forget(struct nt_buffer *text)
{
    if (text->bytes)
        explicit_bzero(text->bytes, text->length);
    nt_buffer_deinit(text);
}

void nt_credentials_refresh(void)
{
    for (int i = 0; i < NT_CREDENTIALS; i++)
        if (rows[i].is_for_libraries)
            slot_of((enum nt_credential)i);
}
