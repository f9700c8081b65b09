// SPDX-License-Identifier: BSD-2-Clause
/* Conversations: messages whole and in order, limits, peers that hang up or do not read. */
#include "daemon/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/scratch.h"
#include "util/mem.h"

#define MAX_MESSAGE 100
#define MAX_LONG    1000
#define GIVEN	    (3u * 1000 * 1000) /* more than max_unsent */

struct desk {
	sd_event *event;
	struct stream_hub *ss;
	char dir[SCRATCH_PATH], path[96];
	char heard[8192]; /* messages, '|' after each */
	size_t len;
	char why[100];
	struct stream *last;
	bool hold, refuse, allow_long;
	unsigned opened, closed;
};

static bool on_opened(void *arg, struct stream *s)
{
	struct desk *d = arg;

	d->opened++;
	d->last = s;
	if (d->allow_long)
		stream_allow_long(s, MAX_LONG);
	return !d->refuse;
}

static void on_message(void *arg, struct stream *s, char *text, size_t len)
{
	struct desk *d = arg;

	d->len += (size_t)snprintf(d->heard + d->len, sizeof(d->heard) - d->len, "%s|",
				   text ? text : "TOO LONG");
	if (text)
		assert_int_equal(strlen(text), len);
	if (d->hold)
		stream_hold(s, true);
	if (text && !strcmp(text, "give"))
		stream_give(s, xcalloc(1, GIVEN), GIVEN);
	if (text && !strcmp(text, "echo"))
		stream_send(s, "echoed", strlen("echoed"));
	if (!text)
		stream_send(s, "too long", strlen("too long"));
}

static void on_closed(void *arg, struct stream *s, const char *why)
{
	struct desk *d = arg;

	d->closed++;
	snprintf(d->why, sizeof(d->why), "%s", why);
}

static struct stream_config config(struct desk *d, char end)
{
	return (struct stream_config){
		.end = end,
		.max_peers = 3,
		.max_message = MAX_MESSAGE,
		.max_long = 1,
		.max_unsent = 1000 * 1000,
		.busy = "busy",
		.busy_len = 4,
		.opened = on_opened,
		.message = on_message,
		.closed = on_closed,
		.arg = d,
	};
}

static int set_up(void **state)
{
	struct desk *d = xcalloc(1, sizeof(*d));
	const struct stream_config c = config(d, '\n');

	scratch_folder(d->dir);
	snprintf(d->path, sizeof(d->path), "%s/sock", d->dir);
	assert_true(sd_event_new(&d->event) >= 0);
	d->ss = stream_hub_new(d->event, &c);
	*state = d;
	return 0;
}

static int tear_down(void **state)
{
	struct desk *d = *state;

	stream_hub_free(d->ss);
	sd_event_unref(d->event);
	unlink(d->path);
	rmdir(d->dir);
	free(d);
	return 0;
}

/* All that can be done without waiting. */
static void turn(struct desk *d)
{
	while (sd_event_run(d->event, 0) > 0)
		;
}

static int call(const struct desk *d)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(at.sun_path, d->path, sizeof(d->path));
	assert_return_code(connect(fd, (struct sockaddr *)&at, sizeof(at)), errno);
	return fd;
}

static int listening(struct desk *d)
{
	assert_int_equal(stream_listen_unix(d->ss, d->path, 0666), 0);
	return call(d);
}

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* What has come in; "" when nothing has. */
static const char *hear(int fd)
{
	static char text[200];
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static bool has_ended(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

static void messages_come_whole(void **state)
{
	struct desk *d = *state;
	int fd = listening(d);

	say(fd, "one\ntw");
	turn(d);
	assert_string_equal(d->heard, "one|");
	say(fd, "o\r\n\nthree\n");
	turn(d);
	assert_string_equal(d->heard, "one|two||three|");
	close(fd);
	turn(d);
	assert_int_equal(d->closed, 1);
	assert_string_equal(d->why, "has hung up");
}

static void a_nul_ends_a_message(void **state)
{
	struct desk *d = *state;
	const struct stream_config c = config(d, '\0');
	int fd;

	stream_hub_free(d->ss);
	d->ss = stream_hub_new(d->event, &c);
	fd = listening(d);
	assert_int_equal(write(fd, "a\r\0b\nc\0half", 11), 11);
	turn(d);
	assert_string_equal(d->heard, "a\r|b\nc|");
	/* Half a message is none. */
	shutdown(fd, SHUT_WR);
	turn(d);
	assert_string_equal(d->heard, "a\r|b\nc|");
	assert_int_equal(d->closed, 1);
	close(fd);
}

static void a_last_line_needs_no_end(void **state)
{
	struct desk *d = *state;
	int fd = listening(d);

	say(fd, "first\necho");
	shutdown(fd, SHUT_WR);
	turn(d);
	assert_string_equal(d->heard, "first|echo|");
	assert_string_equal(hear(fd), "echoed");
	assert_true(has_ended(fd));
	close(fd);
}

static void too_long_a_message_ends_it(void **state)
{
	struct desk *d = *state;
	char text[MAX_MESSAGE + 3];
	int fd = listening(d);

	memset(text, 'x', sizeof(text));
	memcpy(text + MAX_MESSAGE, "\r\n", 3);
	say(fd, text);
	turn(d);
	assert_int_equal(d->len, MAX_MESSAGE + 1);
	d->len = 0;
	memset(text, 'y', MAX_MESSAGE + 2);
	say(fd, text);
	turn(d);
	assert_string_equal(d->heard, "TOO LONG|");
	assert_string_equal(hear(fd), "too long");
	assert_int_equal(d->closed, 1);
	assert_string_equal(d->why, "sent too long a message");
	close(fd);
}

/* `n` bytes and no end. */
static void say_bytes(struct desk *d, int fd, size_t n)
{
	char text[MAX_LONG + 3];

	memset(text, 'x', sizeof(text));
	assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), n);
	turn(d);
}

static void a_peer_that_may_sends_long_messages(void **state)
{
	struct desk *d = *state;
	int fd;

	d->allow_long = true;
	fd = listening(d);
	for (unsigned n = MAX_MESSAGE - 1; n <= MAX_LONG; n += n < MAX_MESSAGE + 3 ? 1 : 149) {
		d->len = 0;
		say_bytes(d, fd, n / 2);
		say_bytes(d, fd, n - n / 2);
		assert_int_equal(d->len, 0);
		say(fd, "\nshort\n");
		turn(d);
		assert_int_equal(d->len, n + strlen("|short|"));
	}
	d->len = 0;
	say_bytes(d, fd, MAX_LONG + 2);
	assert_string_equal(d->heard, "TOO LONG|");
	close(fd);
}

static void as_many_long_messages_as_may_come_in_at_a_time(void **state)
{
	struct desk *d = *state;
	int first, second;

	d->allow_long = true;
	first = listening(d);
	second = call(d);
	say_bytes(d, first, MAX_MESSAGE + 50);
	assert_int_equal(d->len, 0);
	say_bytes(d, second, MAX_MESSAGE);
	assert_int_equal(d->len, 0);
	say_bytes(d, second, 50);
	assert_string_equal(d->heard, "TOO LONG|");
	close(second);
	/* The end of the first one gives its place back. */
	say(first, "\n");
	turn(d);
	d->len = 0;
	second = call(d);
	say_bytes(d, second, MAX_MESSAGE + 50);
	say(second, "\n");
	turn(d);
	assert_int_equal(d->len, MAX_MESSAGE + 51);
	close(first);
	close(second);
}

static void limit(struct desk *d, unsigned per_uid, unsigned reserved, uint64_t time)
{
	struct stream_config c = config(d, '\n');

	c.max_peers = 8;
	c.max_long = 3;
	c.max_long_per_uid = per_uid;
	c.reserved_long = reserved;
	c.long_time = time;
	d->allow_long = true;
	d->ss = stream_hub_free(d->ss);
	d->ss = stream_hub_new(d->event, &c);
}

static void a_long_message_has_its_time(void **state)
{
	struct desk *d = *state;
	int half, whole;

	limit(d, 0, 0, 200 * 1000);
	half = listening(d);
	whole = call(d);
	say_bytes(d, half, MAX_MESSAGE + 50);
	say_bytes(d, whole, MAX_MESSAGE + 50);
	say(whole, "\n");
	while (!d->closed)
		assert_true(sd_event_run(d->event, UINT64_MAX) >= 0);
	assert_string_equal(d->why, "did not end its message in time");
	assert_int_equal(d->closed, 1);
	assert_int_equal(d->len, MAX_MESSAGE + 51);
	assert_true(has_ended(half));
	assert_false(has_ended(whole));
	close(half);
	close(whole);
}

static int call_as(const struct desk *d, uid_t uid)
{
	int fd;

	assert_return_code(chmod(scratch_root, 0755) | chmod(d->dir, 0755), errno);
	assert_return_code(seteuid(uid), errno);
	fd = call(d);
	assert_return_code(seteuid(0), errno);
	return fd;
}

/* Three places: one of each user, one for root. */
static void long_messages_of_a_user_leave_places(void **state)
{
	struct desk *d = *state;
	int fds[5];

	if (geteuid())
		skip();
	limit(d, 1, 1, 0);
	fds[0] = listening(d);
	for (unsigned i = 1; i < 5; i++)
		fds[i] = call_as(d, (uid_t[]){ 0, 1001, 1001, 1002, 1003 }[i]);
	say_bytes(d, fds[1], MAX_MESSAGE + 50);
	assert_string_equal(d->heard, "");
	say_bytes(d, fds[2], MAX_MESSAGE + 50);
	assert_string_equal(d->heard, "TOO LONG|");
	say_bytes(d, fds[3], MAX_MESSAGE + 50);
	assert_string_equal(d->heard, "TOO LONG|");
	say_bytes(d, fds[4], MAX_MESSAGE + 50);
	assert_string_equal(d->heard, "TOO LONG|TOO LONG|");
	say_bytes(d, fds[0], MAX_MESSAGE + 50);
	assert_string_equal(d->heard, "TOO LONG|TOO LONG|");
	for (unsigned i = 0; i < 5; i++)
		close(fds[i]);
}

static void a_long_line_with_its_end_is_too_long(void **state)
{
	struct desk *d = *state;
	char text[MAX_MESSAGE + 3];
	int fd = listening(d);

	memset(text, 'x', sizeof(text));
	memcpy(text + MAX_MESSAGE + 1, "\n", 2);
	say(fd, text);
	turn(d);
	assert_string_equal(d->heard, "TOO LONG|");
	close(fd);
}

static void who_is_held_keeps_the_order(void **state)
{
	struct desk *d = *state;
	int fd = listening(d);

	d->hold = true;
	say(fd, "1\n2\n3");
	turn(d);
	assert_string_equal(d->heard, "1|");
	shutdown(fd, SHUT_WR);
	stream_hold(d->last, false);
	turn(d);
	assert_string_equal(d->heard, "1|2|");
	stream_hold(d->last, false);
	turn(d);
	assert_string_equal(d->heard, "1|2|3|");
	assert_int_equal(d->closed, 0);
	stream_send(d->last, "the answer", strlen("the answer"));
	stream_hold(d->last, false);
	turn(d);
	assert_string_equal(hear(fd), "the answer");
	assert_int_equal(d->closed, 1);
	close(fd);
}

static void who_hangs_up_while_held_is_noticed(void **state)
{
	struct desk *d = *state;
	int fd = listening(d);

	d->hold = true;
	say(fd, "1\n");
	turn(d);
	close(fd);
	turn(d);
	assert_int_equal(d->closed, 1);
	assert_int_equal(stream_count(d->ss), 0);
}

static void many_messages_are_no_flood(void **state)
{
	struct desk *d = *state;
	char text[2 * 90 + 1];
	int fd = listening(d);

	for (unsigned i = 0; i < 90; i++)
		memcpy(text + 2 * i, "m\n", 3);
	say(fd, text);
	turn(d);
	assert_int_equal(d->len, 180);
	close(fd);
}

static void who_does_not_read_is_dropped(void **state)
{
	struct desk *d = *state;
	int fd = listening(d), r = 0;
	char block[50 * 1000] = "x";

	turn(d);
	for (unsigned i = 0; i < 100 && r >= 0; i++)
		r = stream_send(d->last, block, sizeof(block));
	assert_int_equal(r, -ENOBUFS);
	/* Still there until the loop turns. */
	assert_int_equal(stream_send(d->last, "x", 1), -EPIPE);
	assert_int_equal(d->closed, 0);
	turn(d);
	assert_int_equal(d->closed, 1);
	assert_string_equal(d->why, "does not read what it is sent");
	close(fd);
}

static void a_long_answer_arrives_whole(void **state)
{
	struct desk *d = *state;
	size_t len = 5 * 1000 * 1000, got = 0;
	int fd = listening(d);
	char block[65536];
	bool same = true;

	turn(d);
	char *answer = xmalloc(len);
	for (size_t i = 0; i < len; i++)
		answer[i] = (char)(i % 251);
	assert_int_equal(stream_give(d->last, answer, len), 0);
	stream_finish(d->last);
	for (;;) {
		ssize_t n = recv(fd, block, sizeof(block), MSG_DONTWAIT);

		if (n == 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			same = same && block[i] == (char)((got + (size_t)i) % 251);
		got += n > 0 ? (size_t)n : 0;
		sd_event_run(d->event, 0);
	}
	assert_int_equal(got, len);
	assert_true(same);
	assert_int_equal(d->closed, 1);
	close(fd);
}

/* Or a client that asks and never reads would have us keep all answers. */
static void who_does_not_read_is_asked_for_no_more(void **state)
{
	struct desk *d = *state;
	size_t taken = 0, all = 2 * (size_t)GIVEN + strlen("echoed");
	int fd = listening(d);
	char buf[65536];

	say(fd, "give\ngive\necho\n");
	shutdown(fd, SHUT_WR);
	turn(d);
	assert_string_equal(d->heard, "give|");
	while (taken < all) {
		ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);

		assert_true(n > 0 || (n < 0 && errno == EAGAIN));
		taken += n > 0 ? (size_t)n : 0;
		if (taken < GIVEN)
			assert_int_equal(d->closed, 0);
		turn(d);
	}
	assert_string_equal(d->heard, "give|give|echo|");
	assert_true(has_ended(fd));
	assert_int_equal(d->closed, 1);
	close(fd);
}

static void who_is_asked_for_no_more_and_hangs_up_is_noticed(void **state)
{
	struct desk *d = *state;
	int fd = listening(d);

	say(fd, "give\ngive\n");
	turn(d);
	close(fd);
	turn(d);
	assert_int_equal(d->closed, 1);
	assert_string_equal(d->heard, "give|");
}

static void there_are_never_more_than_max_peers(void **state)
{
	struct desk *d = *state;
	int fd[5];

	fd[0] = listening(d);
	for (unsigned i = 1; i < 5; i++)
		fd[i] = call(d);
	turn(d);
	assert_int_equal(stream_count(d->ss), 3);
	assert_string_equal(hear(fd[4]), "busy");
	assert_true(has_ended(fd[4]));
	close(fd[0]);
	turn(d);
	assert_int_equal(stream_count(d->ss), 2);
	for (unsigned i = 1; i < 5; i++)
		close(fd[i]);
}

static bool may_go(void *arg, const struct stream *s)
{
	return true;
}

/* A desk whose idle peers make room. */
static struct desk *with_eviction(void **state)
{
	struct desk *d = *state;
	struct stream_config c = config(d, '\n');

	c.is_idle = may_go;
	stream_hub_free(d->ss);
	d->ss = stream_hub_new(d->event, &c);
	return d;
}

static void the_longest_idle_peer_makes_room(void **state)
{
	struct desk *d = with_eviction(state);
	int fd[5];

	fd[0] = listening(d);
	fd[1] = call(d);
	fd[2] = call(d);
	turn(d);
	say(fd[0], "still here\n");
	turn(d);
	fd[3] = call(d);
	turn(d);
	assert_int_equal(stream_count(d->ss), 3);
	assert_true(has_ended(fd[1]));
	assert_int_equal(d->closed, 1);
	/* The client that spoke last goes last. */
	fd[4] = call(d);
	turn(d);
	assert_true(has_ended(fd[2]));
	say(fd[0], "echo\n");
	turn(d);
	assert_string_equal(hear(fd[0]), "echoed");
	for (unsigned i = 0; i < 5; i++)
		close(fd[i]);
}

static void a_crowd_that_says_nothing_keeps_nobody_out(void **state)
{
	struct desk *d = with_eviction(state);
	int fd[200], caller;

	fd[0] = listening(d);
	for (unsigned i = 1; i < ARRAY_SIZE(fd); i++) {
		fd[i] = call(d);
		turn(d);
	}
	assert_int_equal(stream_count(d->ss), 3);
	caller = call(d);
	say(caller, "echo\n");
	turn(d);
	assert_string_equal(hear(caller), "echoed");
	close(caller);
	for (unsigned i = 0; i < ARRAY_SIZE(fd); i++)
		close(fd[i]);
}

/* An answer under way, or one that was not taken: a newcomer gets none of these places. */
static void a_peer_that_waits_for_an_answer_keeps_its_place(void **state)
{
	struct desk *d = with_eviction(state);
	int fd[4];

	d->hold = true;
	fd[0] = listening(d);
	for (unsigned i = 1; i < 3; i++)
		fd[i] = call(d);
	for (unsigned i = 0; i < 3; i++)
		say(fd[i], "what?\n");
	turn(d);
	fd[3] = call(d);
	turn(d);
	assert_string_equal(hear(fd[3]), "busy");
	assert_int_equal(d->closed, 0);
	for (unsigned i = 0; i < 4; i++)
		close(fd[i]);
}

static void a_refused_peer_says_nothing(void **state)
{
	struct desk *d = *state;
	int fd;

	d->refuse = true;
	fd = listening(d);
	say(fd, "let me in\n");
	turn(d);
	assert_string_equal(d->heard, "");
	assert_int_equal(d->closed, 1);
	close(fd);
}

static void a_peer_is_known_by_its_user(void **state)
{
	struct desk *d = *state;
	int fd = listening(d);
	struct stream_peer p;

	turn(d);
	p = stream_peer(d->last);
	assert_true(p.known);
	assert_int_equal(p.uid, getuid());
	assert_int_equal(p.pid, getpid());
	assert_true(stream_peer_in_group(d->last, getgid()));
	assert_false(stream_peer_in_group(d->last, 64321));
	close(fd);
}

static void a_dead_socket_is_replaced_a_living_one_is_not(void **state)
{
	struct desk *d = *state;
	const struct stream_config c = config(d, '\n');
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct stream_hub *second = stream_hub_new(d->event, &c);
	int dead = socket(AF_UNIX, SOCK_STREAM, 0);
	struct stat st;

	memcpy(at.sun_path, d->path, sizeof(d->path));
	assert_return_code(bind(dead, (struct sockaddr *)&at, sizeof(at)), errno);
	close(dead);
	close(listening(d));
	assert_int_equal(stat(d->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	assert_int_equal(stream_listen_unix(second, d->path, 0666), -EADDRINUSE);
	stream_hub_free(second);
	/* The one that was not ours to open is not ours to remove. */
	assert_int_equal(access(d->path, F_OK), 0);
	d->ss = stream_hub_free(d->ss);
	assert_int_equal(access(d->path, F_OK), -1);
}

static void what_is_no_socket_is_left_alone(void **state)
{
	struct desk *d = *state;
	int fd = open(d->path, O_CREAT | O_WRONLY, 0600);

	close(fd);
	assert_int_equal(stream_listen_unix(d->ss, d->path, 0666), -EADDRINUSE);
	assert_int_equal(access(d->path, F_OK), 0);
	char path[200];
	memset(path, 'a', sizeof(path));
	path[199] = '\0';
	assert_int_equal(stream_listen_unix(d->ss, path, 0666), -ENAMETOOLONG);
}

static void tcp_is_served_too(void **state)
{
	struct desk *d = *state;
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	uint16_t port = 0, again;
	int fd;

	assert_int_equal(stream_listen_tcp(d->ss, "127.0.0.1", 0, &port), 0);
	assert_int_not_equal(port, 0);
	assert_int_equal(stream_listen_tcp(d->ss, "127.0.0.1", port, &again), -EADDRINUSE);
	assert_int_equal(stream_listen_tcp(d->ss, "localhost", 0, NULL), -EINVAL);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in *in = (struct sockaddr_in *)&at;
	*in = (struct sockaddr_in){ .sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_return_code(connect(fd, (struct sockaddr *)&at, sizeof(*in)), errno);
	say(fd, "echo\n");
	for (unsigned i = 0; i < 1000 && !d->len; i++)
		sd_event_run(d->event, 10 * 1000);
	assert_string_equal(d->heard, "echo|");
	assert_int_equal(strncmp(stream_name(d->last), "127.0.0.1:", 10), 0);
	assert_false(stream_peer(d->last).known);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	close(fd);
}

static void a_pair_of_pipes_keeps_its_flags(void **state)
{
	struct desk *d = *state;
	int in[2], out[2];
	char text[20] = "";

	assert_int_equal(pipe(in) | pipe(out), 0);
	assert_int_equal(stream_add(d->ss, in[0], out[1], "stdin"), 0);
	assert_string_equal(stream_name(d->last), "stdin");
	assert_int_equal(fcntl(in[0], F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(fcntl(out[1], F_GETFL) & O_NONBLOCK, 0);
	say(in[1], "echo\n");
	turn(d);
	assert_int_equal(read(out[0], text, sizeof(text)), 6);
	assert_string_equal(text, "echoed");
	close(in[1]);
	turn(d);
	assert_int_equal(d->closed, 1);
	close(in[0]);
	close(out[0]);
	close(out[1]);
}

static void a_regular_file_is_read_to_its_end(void **state)
{
	struct desk *d = *state;
	int fd = open(d->path, O_CREAT | O_RDWR, 0600), null = open("/dev/null", O_RDWR);

	say(fd, "a\necho\nb");
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(stream_add(d->ss, fd, null, "file"), 0);
	turn(d);
	assert_string_equal(d->heard, "a|echo|b|");
	assert_int_equal(d->closed, 1);
	close(fd);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		T(messages_come_whole),
		T(a_nul_ends_a_message),
		T(a_last_line_needs_no_end),
		T(too_long_a_message_ends_it),
		T(a_long_line_with_its_end_is_too_long),
		T(a_peer_that_may_sends_long_messages),
		T(as_many_long_messages_as_may_come_in_at_a_time),
		T(a_long_message_has_its_time),
		T(long_messages_of_a_user_leave_places),
		T(who_is_held_keeps_the_order),
		T(who_hangs_up_while_held_is_noticed),
		T(many_messages_are_no_flood),
		T(who_does_not_read_is_dropped),
		T(a_long_answer_arrives_whole),
		T(who_does_not_read_is_asked_for_no_more),
		T(who_is_asked_for_no_more_and_hangs_up_is_noticed),
		T(there_are_never_more_than_max_peers),
		T(the_longest_idle_peer_makes_room),
		T(a_crowd_that_says_nothing_keeps_nobody_out),
		T(a_peer_that_waits_for_an_answer_keeps_its_place),
		T(a_refused_peer_says_nothing),
		T(a_peer_is_known_by_its_user),
		T(a_dead_socket_is_replaced_a_living_one_is_not),
		T(what_is_no_socket_is_left_alone),
		T(tcp_is_served_too),
		T(a_pair_of_pipes_keeps_its_flags),
		T(a_regular_file_is_read_to_its_end),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
