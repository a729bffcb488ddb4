/* SPDX-License-Identifier: MIT
 *
 * A fake web server, which the test controls, and the backend that uses it. It has one file of SIZE bytes.
 * Each connection serves one request.
 */
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>

#include "asking.h"
#include "remote/helper/helper.h"
#include "settings.h"
#include "remote/protocol.h"

enum { MAX_CONNECTIONS = 256, MAX_TEXT = 4096 };

struct connection {
    int socket; /* -1: closed */
    size_t length;
    char text[MAX_TEXT]; /* of the request; */
    char what[512];      /* its method, its path, and the range: "GET /file bytes=0-9" */
};

static struct {
    int listener;
    char address[64]; /* "http://127.0.0.1:1234" */
    char file[80], folder[80];
    struct connection connections[MAX_CONNECTIONS];
    unsigned count;
    /* False: not yet; it is called again. */
    bool (*answer)(struct connection *connection);
} server;

static struct nt_http_backend web;

/* ---- answers ---- */

/* Its header lines except the last, and bytes of the file. */
static inline void send_answer(const struct connection *connection, const char *headers, uint64_t first,
                               uint64_t bytes)
{
    char *text = malloc(strlen(headers) + 32 + bytes);
    ck_assert_ptr_nonnull(text);
    size_t length = (size_t)sprintf(text, "HTTP/1.1 %s\r\n\r\n", headers);
    for (uint64_t i = 0; i < bytes; i++)
        text[length++] = byte_at(first + i);
    ck_assert_int_eq(send(connection->socket, text, length, MSG_NOSIGNAL), length);
    free(text);
}

/* With a text as its body, which ends with the connection. */
static inline void send_text(const struct connection *connection, const char *headers, const char *body)
{
    send_answer(connection, headers, 0, 0);
    ck_assert_int_eq(send(connection->socket, body, strlen(body), MSG_NOSIGNAL), strlen(body));
}

/* Like a server with `total` bytes and this tag as validator; `cut`: the connection breaks so many
 * bytes before the end. */
static inline void send_part(const struct connection *connection, uint64_t total, const char *tag,
                             uint64_t cut)
{
    char headers[512];
    uint64_t first = 0, last = 0;
    const char *range = strstr(connection->what, "bytes=");
    ck_assert_ptr_nonnull(range);
    if (sscanf(range, "bytes=%" SCNu64 "-%" SCNu64, &first, &last) == 2) {
        last = last < total ? last : total - 1;
    } else {
        ck_assert_int_eq(sscanf(range, "bytes=-%" SCNu64, &last), 1);
        first = last < total ? total - last : 0;
        last = total - 1;
    }
    snprintf(headers, sizeof(headers),
             "206 Part\r\nContent-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64
             "\r\nContent-Length: %" PRIu64 "\r\nETag: %s",
             first, last, total, last - first + 1, tag);
    send_answer(connection, headers, first, last - first + 1 - cut);
}

static inline bool answer_well(struct connection *connection)
{
    send_part(connection, SIZE, "\"1\"", 0);
    return true;
}

static inline bool answer_nothing(struct connection *connection)
{
    return false;
}

/* ---- the server's turn ---- */

static inline const char *header_of(const struct connection *connection, const char *name)
{
    static char value[256];
    const char *found = strcasestr(connection->text, name);
    value[0] = '\0';
    if (found)
        sscanf(found + strlen(name), " %255[^\r]", value);
    return value;
}

static inline bool has_asked(struct connection *connection)
{
    ssize_t count = recv(connection->socket, connection->text + connection->length,
                         sizeof(connection->text) - 1 - connection->length, MSG_DONTWAIT);
    connection->length += count > 0 ? (size_t)count : 0;
    connection->text[connection->length] = '\0';
    const char *end = strstr(connection->text, "\r\n\r\n");
    if (!end || strlen(end + 4) < (size_t)atoi(header_of(connection, "\r\nContent-Length:")))
        return false;
    int length = sscanf(connection->text, "%200[^\r]", connection->what);
    ck_assert_int_eq(length, 1);
    char *path_end = strstr(connection->what, " HTTP/");
    ck_assert_ptr_nonnull(path_end);
    snprintf(path_end, sizeof(connection->what) - (size_t)(path_end - connection->what), " %s",
             header_of(connection, "\r\nRange:"));
    return true;
}

static inline void serve_web(void)
{
    int socket;
    while ((socket = accept4(server.listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
        ck_assert_uint_lt(server.count, MAX_CONNECTIONS);
        server.connections[server.count++] = (struct connection){.socket = socket};
    }
    for (unsigned i = 0; i < server.count; i++) {
        struct connection *connection = &server.connections[i];
        if (connection->socket < 0 || !has_asked(connection) || !server.answer(connection))
            continue;
        close(connection->socket);
        connection->socket = -1;
    }
}

/* The number of requests for this. */
static inline unsigned times_asked(const char *what)
{
    unsigned times = 0;
    for (unsigned i = 0; i < server.count; i++)
        times += strcmp(server.connections[i].what, what) == 0;
    return times;
}

/* ---- Requests ---- */

static inline void set_up(void)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(place);
    forget();
    memset(&server, 0, sizeof(server));
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    ck_assert_int_eq(bind(server.listener, (struct sockaddr *)&place, bytes), 0);
    ck_assert_int_eq(listen(server.listener, MAX_CONNECTIONS), 0);
    ck_assert_int_eq(getsockname(server.listener, (struct sockaddr *)&place, &bytes), 0);
    snprintf(server.address, sizeof(server.address), "http://127.0.0.1:%u", ntohs(place.sin_port));
    snprintf(server.file, sizeof(server.file), "%s/file", server.address);
    snprintf(server.folder, sizeof(server.folder), "%s/folder/", server.address);
    server.answer = answer_well;
    serve = serve_web;
    begin_asking();
    ck_assert(nt_http_backend_init(&web, &files.jobs));
}

static inline void tear_down(void)
{
    ask((struct nt_fetch_request){.kind = NT_FETCH_CLOSE}, "");
    work();
    curl_multi_cleanup(web.multi);
    curl_global_cleanup();
    close(server.listener);
    for (unsigned i = 0; i < server.count; i++)
        if (server.connections[i].socket >= 0)
            close(server.connections[i].socket);
    end_asking();
}

static inline uint64_t request_open(void)
{
    return ask((struct nt_fetch_request){.kind = NT_FETCH_OPEN}, server.file);
}

static inline void open_well(void)
{
    uint64_t id = request_open();
    work_until(id, NT_FETCH_DONE);
    ck_assert_uint_eq(answers[id].size, SIZE);
    ck_assert_uint_eq(answers[id].bytes, 2 * NT_FETCH_END_BYTES);
}
