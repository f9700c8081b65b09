// SPDX-License-Identifier: BSD-2-Clause
/* The user of the process at the other end: ours, another, none any more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/tcp_peer.h"
#include "util/mem.h"

#define SOMEBODY 65534

struct line {
	int listener, near, far; /* far: the client's; -1: it is with another process */
	uint16_t port;
	char from[64];
};

static uint16_t port_of(int fd, bool peer, char *name, size_t cap)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	char host[48], port[8];
	int r = peer ? getpeername(fd, (struct sockaddr *)&addr, &len)
		     : getsockname(fd, (struct sockaddr *)&addr, &len);

	assert_int_equal(r, 0);
	assert_int_equal(getnameinfo((struct sockaddr *)&addr, len, host, sizeof(host), port,
				     sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV),
			 0);
	snprintf(name, cap, "%s:%s", host, port);
	return (uint16_t)strtoul(port, NULL, 10);
}

/* A socket on 127.0.0.1, bound to `port` ("0": any), or connected to it. */
static int loopback(const char *port, bool connects)
{
	const struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
	struct addrinfo *at;
	int fd;

	assert_int_equal(getaddrinfo("127.0.0.1", port, &hints, &at), 0);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connects ? connect(fd, at->ai_addr, at->ai_addrlen)
				  : bind(fd, at->ai_addr, at->ai_addrlen),
			 0);
	freeaddrinfo(at);
	return fd;
}

static void listen_somewhere(struct line *l)
{
	char name[64];

	l->listener = loopback("0", false);
	assert_int_equal(listen(l->listener, 5), 0);
	l->port = port_of(l->listener, false, name, sizeof(name));
}

static void take_call(struct line *l)
{
	l->near = accept(l->listener, NULL, NULL);
	assert_true(l->near >= 0);
	port_of(l->near, true, l->from, sizeof(l->from));
}

static struct line line_open(void)
{
	struct line l = { .far = -1 };
	char port[8];

	listen_somewhere(&l);
	snprintf(port, sizeof(port), "%u", l.port);
	l.far = loopback(port, true);
	take_call(&l);
	return l;
}

static void line_close(struct line *l)
{
	close(l->listener);
	close(l->near);
	if (l->far >= 0)
		close(l->far);
}

static void ours_is_known(void **state)
{
	struct line l = line_open();
	uid_t uid = 4711;

	assert_int_equal(tcp_peer_uid(l.from, l.port, &uid), 0);
	assert_int_equal(uid, getuid());
	/* "echo status | nc": one side is closed, and still has its user. */
	assert_int_equal(shutdown(l.far, SHUT_WR), 0);
	uid = 4711;
	assert_int_equal(tcp_peer_uid(l.from, l.port, &uid), 0);
	assert_int_equal(uid, getuid());
	line_close(&l);
}

/* Of older kernels (6.1) such an end is root's. */
static void what_was_closed_is_nobodys(void **state)
{
	struct line l = line_open();
	uid_t uid = 4711;

	close(l.far);
	l.far = -1;
	assert_int_equal(tcp_peer_uid(l.from, l.port, &uid), -ENOENT);
	assert_int_equal(uid, 4711);
	line_close(&l);
}

/* In a process of its own, which has the connection until we close until[1]. */
static pid_t call_as_somebody(const struct line *l, const int until[2])
{
	pid_t pid = fork();
	char port[8], c;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	close(until[1]);
	snprintf(port, sizeof(port), "%u", l->port);
	if (getuid() == 0 && setuid(SOMEBODY) < 0)
		_exit(1);
	loopback(port, true);
	_exit(read(until[0], &c, 1) == 0 ? 0 : 1);
}

static void somebody_elses_is_told_from_ours(void **state)
{
	uid_t uid = 4711, expected = getuid() == 0 ? SOMEBODY : getuid();
	struct line l = { .far = -1 };
	int wait[2], status;
	pid_t pid;

	listen_somewhere(&l);
	assert_int_equal(pipe(wait), 0);
	pid = call_as_somebody(&l, wait);
	close(wait[0]);
	take_call(&l);
	assert_int_equal(tcp_peer_uid(l.from, l.port, &uid), 0);
	assert_int_equal(uid, expected);
	close(wait[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 0);
	line_close(&l);
}

static void what_is_no_connection_is_not_known(void **state)
{
	static const char *const names[] = { "",
					     "127.0.0.1",
					     "127.0.0.1:",
					     "127.0.0.1:70000",
					     "[::1]:40022",
					     "localhost:40022",
					     "1.2.3.4.5:1",
					     "terminal" };
	struct line l = line_open();
	uid_t uid;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(tcp_peer_uid(names[i], l.port, &uid), -EINVAL);
	assert_true(tcp_peer_uid("127.0.0.1:1", l.port, &uid) < 0);
	assert_true(tcp_peer_uid(l.from, (uint16_t)(l.port + 1), &uid) < 0);
	line_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ours_is_known),
		cmocka_unit_test(what_was_closed_is_nobodys),
		cmocka_unit_test(somebody_elses_is_told_from_ours),
		cmocka_unit_test(what_is_no_connection_is_not_known),
	};

	return cmocka_run_group_tests_name("tcp-peer", tests, NULL, NULL);
}
