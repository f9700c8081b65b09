// SPDX-License-Identifier: BSD-2-Clause
/*
 * Forks, waits, ends. Input and result go through files without a name (memfd), which both
 * processes map only as long as they read or write; two pipes say that something is there.
 *
 * A fork shares more than it may: descriptors (umad, sockets, locks: closed at once), locks that
 * other threads held (of libraries that stand before libc: util/raw.h goes past them), handlers of
 * signals, bytes in buffers of stdio, and handlers of exit(). No MAD, no log record and no
 * byte to a client comes from here. Memory the child may have, in a bounded amount; and where the
 * system is out of it, the child goes first.
 */
#include "daemon/route_child.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/raw.h"
#include "util/str.h"

/* Interval in ms at which a computation is asked whether it is still wanted. */
#define SLICE 20
/* Times its limit that a computation has on a host that leaves it too little of a processor. */
#define STARVED 10
/* It sleeps if it had less of its time on a processor than one in so many. */
#define ASLEEP 50
/* From so many ms on that is seen of one that was just forked. */
#define ASLEEP_FROM 2000
/* Longest time of a starved computation in ms: the daemon takes a longer job for one that hangs. */
#define STARVED_MOST 300000
/* At most so much of a slice counts. */
#define SLICE_MOST 500
/* Descriptors that a child has: its pipes, its files, those of tables. */
#define KEEP_MAX 12
/* Number of descriptors to close if it cannot be determined. */
#define FDS_GUESSED 4096
/* With no memory for a child: number of tries, and pause between them in ms. */
#define SHORTAGE_TRIES 10
#define SHORTAGE_PAUSE 100
/* A killed one gives up its memory within some ms: looks at it, and pauses between, in ms. */
#define REAP_TRIES 5000
#define REAP_PAUSE 1
/* Results up to this size leave their pages for the next one. */
#define RESULT_KEPT (16u << 20)
/* Killed processes that the kernel has not ended yet: so many are remembered. */
#define UNREAPED_MAX 16
/* The status of a child that lost its pipe: it is not read. */
#define EXIT_ALONE 111

struct route_child {
	struct route_runner runner;
	uint64_t (*now_ms)(void);
	struct title title;
	pid_t pid;	    /* 0: none */
	int to, from;	    /* pipes: sizes of the contents of the files */
	int input, output;  /* files */
	struct route_progress *progress; /* shared with it */
	uint64_t memory; /* bytes that it may have more than this process when it was forked */
	uint64_t serial, last; /* of its last result; of the last result of all */
	pid_t unreaped[UNREAPED_MAX];
	unsigned n_unreaped;
	uint8_t *mapped;    /* result of the child, mapped */
	size_t n_mapped;
};

/* ---- in the child --------------------------------------------------------------------------- */

/* Code of an engine called exit(): nothing of the parent's is flushed or taken down here. */
static void end_at_once(int status, void *arg)
{
	_exit(status);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Closes descriptors one by one, where close_range() is missing (before Linux 5.9) or filtered. */
static void close_each(int first, int last)
{
	int dir = raw_open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent64) char entries[4096];
	long n;

	for (int fd = first; dir < 0 && fd <= MIN(last, FDS_GUESSED); fd++)
		raw_close(fd);
	while (dir >= 0 && (n = syscall(SYS_getdents64, dir, entries, sizeof(entries))) > 0)
		for (long at = 0; at < n;) {
			const struct dirent64 *e = (const struct dirent64 *)(entries + at);
			int fd = (int)strtol(e->d_name, NULL, 10); /* "." is 0, which stays */

			if (fd >= first && fd <= last && fd != dir)
				raw_close(fd);
			at += e->d_reclen;
		}
	if (dir >= 0)
		raw_close(dir);
}

static void close_from_to(int first, int last)
{
#ifdef SYS_close_range
	if (syscall(SYS_close_range, first, last, 0) == 0)
		return;
#endif
	close_each(first, last);
}

static void close_others(int *keep, unsigned n)
{
	int first = STDERR_FILENO + 1;

	qsort(keep, n, sizeof(*keep), by_number);
	for (unsigned i = 0; i < n; i++) {
		if (keep[i] < first)
			continue;
		if (keep[i] > first)
			close_from_to(first, keep[i] - 1);
		first = keep[i] + 1;
	}
	close_from_to(first, INT_MAX);
}

/*
 * Signals for the daemon, also those that are sent to all its processes, mean nothing here: the
 * child ends when the daemon says so. Faults have their usual end, also those that the parent
 * catches.
 */
static void reset_signals(void)
{
	static const int ignored[] = { SIGHUP,	SIGINT,	 SIGQUIT, SIGTERM,
				       SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

static void write_text(const char *path, const char *text)
{
	int fd = raw_open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (raw_write(fd, text, strlen(text)) < 0)
		errno = 0; /* then it is no better victim than others */
	raw_close(fd);
}

/* Bytes of data of this process, as RLIMIT_DATA counts them; 0: not known. */
static uint64_t data_bytes(void)
{
	int fd = raw_open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	unsigned long long pages = 0;
	char text[256] = "";

	if (fd < 0)
		return 0;
	if (raw_read(fd, text, sizeof(text) - 1) < 0 ||
	    sscanf(text, "%*u %*u %*u %*u %*u %llu", &pages) != 1)
		pages = 0;
	raw_close(fd);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of stacks, which count as data as a whole, however little of them is used. */
static uint64_t stack_bytes(void)
{
	pthread_attr_t attr;
	size_t each = 8u << 20;

	if (pthread_getattr_default_np(&attr) == 0) {
		pthread_attr_getstacksize(&attr, &each);
		pthread_attr_destroy(&attr);
	}
	return (uint64_t)each * (unsigned)omp_get_max_threads();
}

static void bound_memory(uint64_t more)
{
	struct rlimit limit;
	uint64_t most = data_bytes();

	write_text("/proc/self/oom_score_adj", "800");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return; /* it maps all there is */
#endif
	if (!most || getrlimit(RLIMIT_DATA, &limit) < 0)
		return;
	most += more + stack_bytes();
	if (limit.rlim_max != RLIM_INFINITY && most > limit.rlim_max)
		return;
	limit.rlim_cur = most;
	/* a seccomp filter may refuse: then there is no bound but the system's */
	setrlimit(RLIMIT_DATA, &limit);
}

static void settle_in(const struct route_child *c, const struct run_order *order, pid_t parent)
{
	int keep[KEEP_MAX] = { c->to, c->from, c->input, c->output };
	unsigned n = 4;

	setpgid(0, 0); /* processes that an engine starts end with the child */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_ALONE);
	prctl(PR_SET_NAME, "opensm-routing");
	title_set(&c->title, "computes routes");
	reset_signals();
	for (unsigned i = 0; i < order->n_files && n < KEEP_MAX; i++)
		keep[n++] = order->files[i];
	close_others(keep, n);
	__fpurge(stdout);
	__fpurge(stderr);
	on_exit(end_at_once, NULL);
	bound_memory(c->memory);
}

static bool write_all(int fd, const uint8_t *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t r = pwrite(fd, bytes + done, n - done, (off_t)done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		done += (size_t)r;
	}
	return true;
}

static bool send_size(int fd, uint64_t n)
{
	ssize_t r;

	do
		r = raw_write(fd, &n, sizeof(n));
	while (r < 0 && errno == EINTR);
	return r == sizeof(n);
}

static bool receive_size(int fd, uint64_t *ret)
{
	ssize_t r;

	do
		r = raw_read(fd, ret, sizeof(*ret));
	while (r < 0 && errno == EINTR);
	return r == sizeof(*ret);
}

static uint8_t *map_input(int fd, size_t n)
{
	void *p = n ? mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	return p == MAP_FAILED ? NULL : p;
}

/* Works until the daemon is gone, or ends the child. */
static _Noreturn void serve_orders(const struct route_child *c, const struct run_order *order)
{
	struct unpack first = { 0 }, *more = NULL;
	uint64_t n = 0;

	for (;;) {
		struct pack ret = { 0 };
		uint8_t *input = NULL;

		if (more)
			first.at = input = map_input(c->input, n);
		first.left = input ? n : 0;
		first.bad = false;
		order->work(order->self, more, c->progress, &ret);
		if (input)
			munmap(input, n);
		if (!write_all(c->output, ret.bytes, ret.n) || !send_size(c->from, ret.n))
			_exit(EXIT_ALONE);
		free(ret.bytes);
		if (order->rest)
			order->rest(order->self);
		if (!receive_size(c->to, &n))
			_exit(EXIT_ALONE);
		more = &first;
	}
}

/* ---- in the parent -------------------------------------------------------------------------- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		raw_close(*fd);
	*fd = -1;
}

static void unmap_result(struct route_child *c)
{
	if (c->mapped)
		munmap(c->mapped, c->n_mapped);
	c->mapped = NULL;
}

/* Reaps children that the kernel has ended meanwhile. */
static void reap_late(struct route_child *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->n_unreaped; i++)
		if (waitpid(c->unreaped[i], NULL, WNOHANG) == 0)
			c->unreaped[n++] = c->unreaped[i];
	c->n_unreaped = n;
}

/*
 * Ends the child and what it started, and returns its status. One that the kernel cannot end now (0
 * then) is waited for when there is time.
 */
static int reap_process(struct route_child *c)
{
	int status = 0;
	pid_t r = 0;

	kill(-c->pid, SIGKILL);
	kill(c->pid, SIGKILL);
	for (unsigned i = 0; i < REAP_TRIES; i++) {
		r = waitpid(c->pid, &status, WNOHANG);
		if (r)
			return status;
		raw_poll(NULL, 0, REAP_PAUSE);
	}
	if (c->n_unreaped < UNREAPED_MAX)
		c->unreaped[c->n_unreaped++] = c->pid;
	return 0;
}

/* Is the child dead, and not reaped yet? */
static bool has_exited(const struct route_child *c)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid;
}

/* Ends the child in any state; its status is in `*ret_status`, if that is not NULL. */
static void end_child(struct route_child *c, int *ret_status)
{
	int status = 0;

	unmap_result(c);
	if (c->pid)
		status = reap_process(c);
	if (ret_status)
		*ret_status = status;
	c->pid = 0;
	c->serial = 0;
	close_fd(&c->to);
	close_fd(&c->from);
	close_fd(&c->input);
	close_fd(&c->output);
}

/* 0 or -errno. Pipes of the child are closed by the child, and here. */
static int start_child(struct route_child *c, const struct run_order *order)
{
	int down[2] = { -1, -1 }, up[2] = { -1, -1 };
	pid_t parent = getpid();
	int r = 0;

	c->memory = order->memory + order->memory / 4;
	c->input = memfd_create("routing input", MFD_CLOEXEC);
	c->output = memfd_create("routing result", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (c->input < 0 || c->output < 0 || pipe2(down, O_CLOEXEC) < 0 || pipe2(up, O_CLOEXEC) < 0)
		r = -errno;
	/* A result that is mapped here stays there when the child ends. */
	if (!r && fcntl(c->output, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		r = -errno;
	if (!r)
		c->pid = fork();
	if (!c->pid && !r) {
		c->to = down[0];
		c->from = up[1];
		settle_in(c, order, parent);
		serve_orders(c, order);
	}
	if (c->pid < 0) {
		r = -errno;
		c->pid = 0;
	}
	if (c->pid)
		setpgid(c->pid, c->pid); /* the child does it, too: whichever is first */
	close_fd(&down[0]);
	close_fd(&up[1]);
	c->to = down[1];
	c->from = up[0];
	if (r < 0)
		end_child(c, NULL);
	return r;
}

/* Passes an order to the idle child. False: it died while idle, or cannot be reached. */
static bool hand_on_order(struct route_child *c, const struct run_order *order)
{
	return ftruncate(c->input, 0) == 0 &&
	       write_all(c->input, order->more->bytes, order->more->n) &&
	       send_size(c->to, order->more->n);
}

/* 0 or -errno. */
static int begin_order(struct route_child *c, const struct run_order *order, bool may_go_on,
		       bool *ret_goes_on)
{
	memset(c->progress, 0, sizeof(*c->progress));
	*ret_goes_on = may_go_on && c->pid && order->follows && order->follows == c->serial &&
		       order->memory <= c->memory && hand_on_order(c, order);
	if (*ret_goes_on)
		return 0;
	end_child(c, NULL);
	return start_child(c, order);
}

static void map_result(struct route_child *c, size_t n, struct run_result *ret)
{
	off_t size = lseek(c->output, 0, SEEK_END);
	void *p = n && size >= 0 && (uint64_t)size >= n
			  ? mmap(NULL, n, PROT_READ, MAP_SHARED, c->output, 0)
			  : MAP_FAILED;

	ret->bytes = (struct unpack){ .bad = true };
	if (p == MAP_FAILED)
		return;
	c->mapped = p;
	c->n_mapped = n;
	ret->bytes = (struct unpack){ .at = p, .left = n };
}

static void take_death(struct route_child *c, struct run_result *ret)
{
	int status;

	end_child(c, &status);
	ret->end = WIFSIGNALED(status) ? RUN_SIGNALLED : RUN_EXITED;
	ret->number = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/* Processor time of all threads of the child in ms. False: it cannot be read. */
static bool processor_ms(const struct route_child *c, uint64_t *ret)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(c->pid, &clock) != 0 || clock_gettime(clock, &t) < 0)
		return false;
	*ret = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	return true;
}

/*
 * A computation on a busy host is not one that hangs: past the limit it goes on while it gets too
 * little of a processor to have used the limit up, at most STARVED times as long. One that sleeps
 * gets next to nothing.
 */
static bool is_too_long(const struct route_child *c, uint64_t wall, uint64_t processor_before,
			uint64_t limit)
{
	uint64_t used;

	if (wall < limit)
		return false;
	if (wall >= MIN(STARVED * limit, MAX(limit, STARVED_MOST)) || !processor_ms(c, &used))
		return true;
	used -= MIN(used, processor_before);
	return used >= limit || used < wall / ASLEEP;
}

/*
 * It got nowhere since it was forked. A library whose lock another thread held at that moment makes
 * it wait for ever: no engine is to blame, and another child has another moment.
 */
static bool is_asleep(const struct route_child *c, uint64_t wall, uint64_t processor_before)
{
	uint64_t used;

	return wall >= ASLEEP_FROM && processor_ms(c, &used) &&
	       used - MIN(used, processor_before) < wall / ASLEEP;
}

static bool order_is_cancelled(const struct run_order *order)
{
	return order->cancelled && *order->cancelled;
}

/*
 * Until it has a result, is dead, has no time left, or is not wanted any more. Time in which no
 * process ran (a machine that stood still, SIGSTOP to all) does not count. `has_second`: a child
 * that sleeps is ended early, as another one will be forked.
 */
static void await_result(struct route_child *c, const struct run_order *order, uint64_t began,
			 bool has_second, struct run_result *ret)
{
	struct pollfd pfd = { .fd = c->from, .events = POLLIN };
	uint64_t n, before = 0, last = c->now_ms(), had = 0;

	processor_ms(c, &before);
	for (;;) {
		/* Before its pipe: what it wrote is there then. Others may hold the pipe open. */
		bool exited = has_exited(c);
		int r = raw_poll(&pfd, 1, exited ? 0 : SLICE);
		uint64_t now = c->now_ms();

		had += MIN(now - last, SLICE_MOST);
		last = now;
		ret->ms = (unsigned)(now - began);
		if (order_is_cancelled(order)) {
			end_child(c, NULL);
			ret->end = RUN_CANCELLED;
			return;
		}
		if (r > 0 && receive_size(c->from, &n)) {
			map_result(c, n, ret);
			ret->end = RUN_DONE;
			ret->serial = c->serial = ++c->last;
			return;
		}
		if (r > 0 || exited) {
			take_death(c, ret);
			return;
		}
		ret->asleep = has_second && is_asleep(c, had, before);
		if (ret->asleep || is_too_long(c, had, before, order->limit_ms)) {
			end_child(c, NULL);
			ret->end = RUN_TOO_LONG;
			return;
		}
	}
}

static bool may_pass(int r)
{
	return r == -EAGAIN || r == -ENOMEM || r == -EMFILE || r == -ENFILE;
}

/* begin_order(), again for a while where processes, memory or descriptors are short. */
static int begin_order_patiently(struct route_child *c, const struct run_order *order,
				 bool may_go_on, bool *ret_goes_on)
{
	int r = begin_order(c, order, may_go_on, ret_goes_on);

	for (unsigned i = 0; i < SHORTAGE_TRIES && may_pass(r) && !order_is_cancelled(order); i++) {
		raw_poll(NULL, 0, SHORTAGE_PAUSE);
		r = begin_order(c, order, false, ret_goes_on);
	}
	return r;
}

/*
 * No engine's death: a child killed while idle (out of memory, most likely), or one that slept
 * since it was forked.
 */
static bool is_no_fault(const struct run_result *r, bool goes_on)
{
	bool died = r->end == RUN_SIGNALLED || r->end == RUN_EXITED;

	return r->asleep || (goes_on && died && !r->progress.engine[0]);
}

static void run_order(void *arg, const struct run_order *order, struct run_result *ret)
{
	struct route_child *c = arg;
	uint64_t began = c->now_ms();
	bool goes_on, slept = false;

	reap_late(c);
	for (unsigned i = 0; i < 2; i++) {
		int r = begin_order_patiently(c, order, i == 0, &goes_on);

		*ret = (struct run_result){ 0 };
		if (r < 0 && may_pass(r) && order_is_cancelled(order)) {
			ret->end = RUN_CANCELLED;
			return;
		}
		if (r < 0) {
			ret->end = RUN_IMPOSSIBLE;
			ret->number = -r;
			return;
		}
		await_result(c, order, began, i == 0 && !goes_on, ret);
		ret->progress = *c->progress;
		if (!is_no_fault(ret, goes_on))
			break;
		slept |= ret->asleep;
	}
	ret->asleep = slept;
}

static void release_result(void *arg, bool keep)
{
	struct route_child *c = arg;

	unmap_result(c);
	if (!keep)
		end_child(c, NULL);
	else if (c->n_mapped > RESULT_KEPT)
		fallocate(c->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
			  (off_t)c->n_mapped);
}

struct route_child *route_child_new(uint64_t (*now_ms)(void), struct title title)
{
	struct route_child *c = xcalloc(1, sizeof(*c));
	void *p = mmap(NULL, sizeof(*c->progress), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert(now_ms);
	if (p == MAP_FAILED)
		abort();
	c->progress = p;
	c->now_ms = now_ms;
	c->title = title;
	c->to = c->from = c->input = c->output = -1;
	c->runner = (struct route_runner){ .run = run_order, .release = release_result, .arg = c };
	return c;
}

struct route_child *route_child_free(struct route_child *c)
{
	if (!c)
		return NULL;
	end_child(c, NULL);
	reap_late(c);
	munmap(c->progress, sizeof(*c->progress));
	free(c);
	return NULL;
}

const struct route_runner *route_child_runner(struct route_child *c)
{
	return &c->runner;
}
