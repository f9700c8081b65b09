// SPDX-License-Identifier: BSD-2-Clause
/*
 * poll() on a signalfd tells that a signal waits for the process without taking it. The thread
 * uses system calls of its own: libumad2sim holds its lock while the simulator does not answer.
 */
#include "libvendor/stop_guard.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"
#include "util/raw.h"

#define LONG_WAIT_MS (60 * 60 * 1000)
#define LOG_PATIENCE_S 2u /* for the record: its disk, or the lock of libumad2sim, may not answer */
#define PATIENCE_S 6u	  /* time for the end if there is no guard */

struct stop_guard {
	unsigned patience_s;
	int waiting; /* signalfd: readable while a stop signal waits */
	int ended;   /* eventfd: ends the thread */
	pthread_t thread;
};

/* The exit code of the process, by whichever way it ends. */
static volatile sig_atomic_t leaving_with;

/* Ends the process, even with files open, as they are replaced by renaming. */
static void leave_at_once(int signal)
{
	static const char line[] =
		"opensm: the end is held up, probably by the InfiniBand device; leaving at once\n";

	_exit(raw_write(STDERR_FILENO, line, sizeof(line) - 1) < 0 && !leaving_with ? 1
										    : leaving_with);
}

static bool is_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return raw_poll(&p, 1, ms) > 0;
}

static void leave_unserved(const struct stop_guard *g)
{
	sigset_t set;

	signal(SIGALRM, leave_at_once);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm(LOG_PATIENCE_S);
	log_sys("The signal to stop has waited for %u s: the main thread is held up, probably by "
		"the InfiniBand device; leaving at once",
		g->patience_s);
	_exit(leaving_with);
}

static void *watch_signals(void *arg)
{
	const struct stop_guard *g = arg;
	struct pollfd fds[] = {
		{ .fd = g->ended, .events = POLLIN },
		{ .fd = g->waiting, .events = POLLIN },
	};

	prctl(PR_SET_NAME, "stop-guard");
	for (;;) {
		if (raw_poll(fds, ARRAY_SIZE(fds), LONG_WAIT_MS) <= 0)
			continue;
		if (fds[0].revents || is_readable(g->ended, (int)g->patience_s * 1000))
			return NULL;
		if (is_readable(g->waiting, 0))
			leave_unserved(g);
	}
}

static int start_thread(struct stop_guard *g)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&g->thread, NULL, watch_signals, g);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}

static void close_all(struct stop_guard *g)
{
	if (g->waiting >= 0)
		close(g->waiting);
	if (g->ended >= 0)
		close(g->ended);
	free(g);
}

struct stop_guard *stop_guard_new(unsigned patience_s)
{
	struct stop_guard *g = xcalloc(1, sizeof(*g));
	sigset_t stops;
	int r;

	assert(patience_s > 0);
	sigemptyset(&stops);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGINT);
	g->patience_s = patience_s;
	g->waiting = signalfd(-1, &stops, SFD_CLOEXEC | SFD_NONBLOCK);
	g->ended = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = g->waiting < 0 || g->ended < 0 ? errno : start_thread(g);
	if (r == 0)
		return g;
	close_all(g);
	errno = r;
	return NULL;
}

void stop_guard_ending(const struct stop_guard *g, int status)
{
	leaving_with = status;
	signal(SIGALRM, leave_at_once);
	alarm(g ? g->patience_s : PATIENCE_S);
}

struct stop_guard *stop_guard_free(struct stop_guard *g)
{
	const uint64_t one = 1;

	if (!g)
		return NULL;
	if (raw_write(g->ended, &one, sizeof(one)) == sizeof(one))
		pthread_join(g->thread, NULL);
	close_all(g);
	return NULL;
}
