/* SPDX-License-Identifier: MIT
 *
 * Simulates a long line to a server on this machine, for tests and measurements. It needs no rights and no
 * help of the kernel.
 *
 *   slow_line [--rtt MILLISECONDS] [--rate MEGABYTES_PER_SECOND] [--window KIBIBYTES] [--cut BYTES]
 *             [--stall BYTES [--stall-for MILLISECONDS]] PORT
 *
 * It accepts connections at a port of 127.0.0.1, which it chooses and prints, and forwards the bytes to and
 * from PORT. Bytes arrive half a round trip later, after all other bytes that were sent in the same
 * direction. The first bytes of a new connection take another round trip (RFC 9293, 3.5). A connection has at
 * most one window in flight. The window begins with ten segments, grows by the acknowledged bytes (slow
 * start, RFC 5681, 3.1; RFC 6928) up to --window, and begins again after idle time, as on Linux (RFC
 * 5681, 4.1). No bytes are lost.
 *
 * --cut closes all existing connections once, when the server has sent so many bytes. --stall then lets
 * nothing through, for a while or forever. The program prints "cut" and "stalled" when that happens, and
 * exits at the end of its standard input.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_WINDOW = 10 * 1460, PIECE_BYTES = 64 * 1024, MAX_CONNECTIONS = 256 };
static const double idle_seconds = 0.2; /* until a window begins again, or two round trips */

/* Bytes in transit, and then their acknowledgement. */
struct piece {
    struct piece *next;
    double arrives, acknowledged;
    size_t bytes, written;
    char data[];
};

/* One direction of a connection. */
struct flow {
    int from, to;
    struct piece *first, **last; /* not acknowledged */
    size_t on_its_way;
    double window, opens, last_sent;
    bool has_ended, is_blocked; /* the sender will send no more; the receiver cannot take more now */
};

struct connection {
    struct flow up, down;
};

static double round_trip, rate = 125e6, max_window = 4096 * 1024;
static double cut_after = INFINITY, stall_after = INFINITY, stall_seconds = INFINITY;
static double free_at[2], stalled_until; /* each direction of the line; seconds */
static double sent_by_server;

static struct connection connections[MAX_CONNECTIONS];
static size_t connection_count;

static void check(bool is_good, const char *what)
{
    if (is_good)
        return;
    perror(what);
    exit(EXIT_FAILURE);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- one direction ---- */

static double first_window(void)
{
    return fmin(FIRST_WINDOW, max_window);
}

static void flow_init(struct flow *flow, int from, int to, double opens)
{
    *flow = (struct flow){.from = from, .to = to, .window = first_window(), .opens = opens};
    flow->last = &flow->first;
}

static void drop_first(struct flow *flow)
{
    struct piece *piece = flow->first;
    flow->first = piece->next;
    if (!flow->first)
        flow->last = &flow->first;
    free(piece);
}

static void take_acknowledgements(struct flow *flow, double now)
{
    while (flow->first && flow->first->acknowledged <= now && flow->first->written == flow->first->bytes) {
        size_t bytes = flow->first->bytes;
        flow->on_its_way -= bytes;
        flow->window = fmin(flow->window + (double)bytes, max_window);
        drop_first(flow);
    }
}

/* The time when bytes sent now have left: after all others of their direction, but a connection that is not
 * open yet does not stop those of others. */
static double leaves_at(const struct flow *flow, int direction, double now, size_t bytes)
{
    free_at[direction] = fmax(free_at[direction], now) + (double)bytes / rate;
    return fmax(free_at[direction], flow->opens);
}

static bool is_idle(const struct flow *flow, double now)
{
    return !flow->first && now - flow->last_sent > fmax(2 * round_trip, idle_seconds);
}

static bool has_room(const struct flow *flow)
{
    return !flow->has_ended && (double)flow->on_its_way < flow->window;
}

static void add_piece(struct flow *flow, const char *data, size_t bytes, double left)
{
    struct piece *piece = malloc(sizeof(*piece) + bytes);
    check(piece, "memory");
    *piece =
        (struct piece){.arrives = left + round_trip / 2, .acknowledged = left + round_trip, .bytes = bytes};
    memcpy(piece->data, data, bytes);
    *flow->last = piece;
    flow->last = &piece->next;
    flow->on_its_way += bytes;
}

/* As much as the window has space for. */
static void send_more(struct flow *flow, int direction, double now)
{
    static char data[PIECE_BYTES];
    if (is_idle(flow, now))
        flow->window = first_window();
    while (has_room(flow)) {
        double room = flow->window - (double)flow->on_its_way;
        ssize_t bytes = read(flow->from, data, room < PIECE_BYTES ? (size_t)ceil(room) : PIECE_BYTES);
        if (bytes <= 0) {
            flow->has_ended = bytes == 0 || (errno != EAGAIN && errno != EINTR);
            return;
        }
        flow->last_sent = now;
        add_piece(flow, data, (size_t)bytes, leaves_at(flow, direction, now, (size_t)bytes));
        sent_by_server += direction ? (double)bytes : 0;
    }
}

/* False if the other side is closed. */
static bool deliver(struct flow *flow, double now)
{
    flow->is_blocked = false;
    for (struct piece *piece = flow->first; piece && piece->arrives <= now; piece = piece->next)
        while (piece->written < piece->bytes) {
            ssize_t bytes =
                send(flow->to, piece->data + piece->written, piece->bytes - piece->written, MSG_NOSIGNAL);
            if (bytes < 0) {
                flow->is_blocked = true;
                return errno == EAGAIN || errno == EINTR;
            }
            piece->written += (size_t)bytes;
        }
    return true;
}

/* Steps that depend on time. */
static double next_event(const struct flow *flow)
{
    if (flow->is_blocked)
        return INFINITY;
    double next = flow->first ? flow->first->acknowledged : INFINITY;
    for (const struct piece *piece = flow->first; piece; piece = piece->next)
        if (piece->written < piece->bytes)
            return piece->arrives < next ? piece->arrives : next;
    return next;
}

static bool run_flow(struct flow *flow, int direction, double now)
{
    take_acknowledgements(flow, now);
    send_more(flow, direction, now);
    bool is_open = deliver(flow, now);
    if (flow->has_ended && !flow->first)
        shutdown(flow->to, SHUT_WR);
    return is_open;
}

/* ---- connections ---- */

static int new_socket(void)
{
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(descriptor >= 0, "socket");
    return descriptor;
}

static struct sockaddr_in local_address(int port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void prepare(int descriptor)
{
    int yes = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    fcntl(descriptor, F_SETFL, O_NONBLOCK);
}

static void accept_one(int listener, int port)
{
    int client = accept(listener, NULL, NULL);
    if (client < 0)
        return;
    int server = new_socket();
    struct sockaddr_in address = local_address(port);
    if (connection_count == MAX_CONNECTIONS ||
        connect(server, (struct sockaddr *)&address, sizeof(address))) {
        close(client);
        close(server);
        return;
    }
    prepare(client);
    prepare(server);
    struct connection *connection = &connections[connection_count++];
    flow_init(&connection->up, client, server, seconds_now() + round_trip);
    flow_init(&connection->down, server, client, 0);
}

static void end_flow(struct flow *flow)
{
    while (flow->first)
        drop_first(flow);
}

/* As if the line had broken: bytes in transit are lost. */
static void end_connection(size_t index)
{
    const struct linger at_once = {.l_onoff = 1};
    struct connection *connection = &connections[index];
    setsockopt(connection->up.from, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(connection->up.from);
    close(connection->up.to);
    end_flow(&connection->up);
    end_flow(&connection->down);
    size_t last = --connection_count;
    if (index == last)
        return;
    *connection = connections[last];
    for (struct flow *flow = &connection->up; flow <= &connection->down; flow++)
        if (!flow->first)
            flow->last = &flow->first;
}

static bool is_over(const struct flow *flow)
{
    return flow->has_ended && !flow->first;
}

static void run_connections(double now)
{
    for (size_t i = connection_count; i-- > 0;) {
        struct connection *connection = &connections[i];
        bool up = run_flow(&connection->up, 0, now), down = run_flow(&connection->down, 1, now);
        if (!up || !down || (is_over(&connection->up) && is_over(&connection->down)))
            end_connection(i);
    }
}

/* ---- the line ---- */

static bool is_due(double *after, const char *what)
{
    if (sent_by_server < *after)
        return false;
    *after = INFINITY;
    puts(what);
    fflush(stdout);
    return true;
}

static void break_if_set(double now)
{
    if (is_due(&cut_after, "cut"))
        while (connection_count)
            end_connection(connection_count - 1);
    if (is_due(&stall_after, "stalled"))
        stalled_until = now + stall_seconds;
}

/* The events that a connection waits for besides time. A closed peer is not polled, because poll would
 * report it again and again. */
static void add_events(struct pollfd *events, const struct connection *connection)
{
    const struct flow *up = &connection->up, *down = &connection->down;
    events[0] = (struct pollfd){
        .fd = up->from, .events = (short)((has_room(up) ? POLLIN : 0) | (down->is_blocked ? POLLOUT : 0))};
    events[1] = (struct pollfd){
        .fd = down->from, .events = (short)((has_room(down) ? POLLIN : 0) | (up->is_blocked ? POLLOUT : 0))};
    for (size_t i = 0; i < 2; i++)
        if (!events[i].events)
            events[i].fd = -1;
}

static void wait_until(double next, struct pollfd *events, size_t count)
{
    double wait = fmin(fmax(next - seconds_now(), 0), 3600);
    const struct timespec time = {(time_t)wait, (long)((wait - floor(wait)) * 1e9)};
    ppoll(events, count, &time, NULL);
    if (events[0].revents)
        exit(EXIT_SUCCESS);
}

static void wait_for_events(int listener)
{
    struct pollfd events[2 + 2 * MAX_CONNECTIONS] = {{.fd = STDIN_FILENO, .events = POLLIN},
                                                     {.fd = listener, .events = POLLIN}};
    double next = INFINITY;
    for (size_t i = 0; i < connection_count; i++) {
        add_events(events + 2 + 2 * i, &connections[i]);
        next = fmin(next, fmin(next_event(&connections[i].up), next_event(&connections[i].down)));
    }
    wait_until(next, events, 2 + 2 * connection_count);
}

static void wait_for_stall(void)
{
    struct pollfd event = {.fd = STDIN_FILENO, .events = POLLIN};
    wait_until(stalled_until, &event, 1);
}

static int listen_anywhere(void)
{
    struct sockaddr_in address = local_address(0);
    socklen_t bytes = sizeof(address);
    int listener = new_socket();
    check(!bind(listener, (struct sockaddr *)&address, bytes) && !listen(listener, MAX_CONNECTIONS) &&
              !getsockname(listener, (struct sockaddr *)&address, &bytes),
          "listen");
    fcntl(listener, F_SETFL, O_NONBLOCK);
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

/* The names of options, and their units. */
static const struct {
    double *value, unit;
} settings[] = {{&round_trip, 1e-3}, {&rate, 1e6},      {&max_window, 1024},
                {&cut_after, 1},     {&stall_after, 1}, {&stall_seconds, 1e-3}};
static const struct option options[] = {{"rtt", required_argument, NULL, 0},
                                        {"rate", required_argument, NULL, 1},
                                        {"window", required_argument, NULL, 2},
                                        {"cut", required_argument, NULL, 3},
                                        {"stall", required_argument, NULL, 4},
                                        {"stall-for", required_argument, NULL, 5},
                                        {0}};

static int parse(int count, char **arguments)
{
    int option;
    while ((option = getopt_long(count, arguments, "", options, NULL)) >= 0 && option != '?')
        *settings[option].value = strtod(optarg, NULL) * settings[option].unit;
    if (option == '?' || optind + 1 != count || !(rate > 0) || !(max_window >= 1)) {
        fprintf(stderr,
                "usage: slow_line [--rtt MILLISECONDS] [--rate MEGABYTES_PER_SECOND] [--window KIBIBYTES]\n"
                "                 [--cut BYTES] [--stall BYTES [--stall-for MILLISECONDS]] PORT\n");
        exit(EXIT_FAILURE);
    }
    return atoi(arguments[optind]);
}

int main(int count, char **arguments)
{
    int port = parse(count, arguments), listener = listen_anywhere();
    for (;;) {
        double now = seconds_now();
        if (now < stalled_until) {
            wait_for_stall();
            continue;
        }
        accept_one(listener, port);
        run_connections(now);
        break_if_set(now);
        wait_for_events(listener);
    }
}
