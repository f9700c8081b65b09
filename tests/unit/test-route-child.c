// SPDX-License-Identifier: BSD-2-Clause
/*
 * Routing in a process of its own: the same tables as in this one, and engines that die of it in
 * every way.
 */
#include "daemon/route_child.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sm/routing/route_job.h"
#include "sm/routing/route_memory.h"
#include "tests/lib/rounds.h"
#include "tests/lib/topocut.h"
#include "tests/unit/child-desk.h"
#include "route/select/engines.h"
#include "util/random.h"

/*
 * Where a library stands before libc, as libumad2sim does, another thread may hold its lock when
 * the process is forked. Nothing of the sort may be called there: these stand for such a library.
 */
static pid_t tester;

static void assert_may_lock(void)
{
	if (tester && (pid_t)syscall(SYS_getpid) != tester)
		raise(SIGKILL);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, int) : 0;
	va_end(args);
	assert_may_lock();
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t read(int fd, void *to, size_t n)
{
	assert_may_lock();
	return syscall(SYS_read, fd, to, n);
}

ssize_t write(int fd, const void *from, size_t n)
{
	assert_may_lock();
	return syscall(SYS_write, fd, from, n);
}

int close(int fd)
{
	assert_may_lock();
	return (int)syscall(SYS_close, fd);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	assert_may_lock();
	return (int)syscall(SYS_ioctl, fd, request, arg);
}

DIR *opendir(const char *path)
{
	assert_may_lock();
	return NULL;
}

static void assert_same(const struct routes *a, const struct routes *b)
{
	size_t n = a->topo->n_switches;

	assert_same_tables(a, b);
	assert_string_equal(a->engine, b->engine);
	assert_string_equal(a->note, b->note);
	assert_int_equal(!a->hops, !b->hops);
	if (a->hops)
		assert_memory_equal(a->hops, b->hops, n * n);
	assert_int_equal(!a->lanes, !b->lanes);
	assert_int_equal(a->balanced_load, b->balanced_load);
}

/* Events one after the other, here and in a child that is killed now and then while it is idle. */
static void walk(const char *engine, const struct topo *whole, unsigned steps, unsigned kill_every)
{
	struct topocut *cut = topocut_new(whole);
	struct desk here, there;
	struct routes *a, *b;
	uint64_t seed = 5;
	unsigned forks = 0;
	pid_t last = 0;

	open_desk(&here, engine, false);
	open_desk(&there, engine, true);
	a = compute(&here, whole, NULL);
	b = compute(&there, whole, NULL);
	for (unsigned i = 0; i < test_rounds(steps); i++) {
		struct routes *before_a = a, *before_b = b;
		struct topo *t;

		topocut_event(cut, whole, &seed);
		t = topocut_apply(whole, cut);
		if (kill_every && i % kill_every == 1)
			kill(child_of_ours(), SIGKILL);
		a = compute(&here, t, before_a);
		b = compute(&there, t, before_b);
		assert_non_null(a);
		if (!b)
			fail_msg("step %u: %s; %s", i, there.report.why,
				 there.report.n_deaths ? there.report.deaths[0].how
						       : "nothing died");
		assert_same(a, b);
		assert_string_equal(here.report.verdict, there.report.verdict);
		assert_string_equal(here.report.refused, there.report.refused);
		assert_int_equal(there.report.n_deaths, 0);
		if (child_of_ours() != last)
			forks++;
		last = child_of_ours();
		assert_int_not_equal(last, 0);
		routes_unref(before_a);
		routes_unref(before_b);
		topo_unref(t);
	}
	if (!kill_every)
		assert_int_equal(forks, 1);
	else
		assert_true(forks > 1);
	routes_unref(a);
	routes_unref(b);
	close_desk(&here);
	close_desk(&there);
	topocut_free(cut);
	assert_int_equal(child_of_ours(), 0);
}

static void many_events_come_to_the_same_tables(void **state)
{
	struct topo *tree = topogen_fat_tree3(8, &(struct topogen){ .seed = 3 });
	struct topo *torus =
		topogen_torus((unsigned[]){ 4, 4, 4 }, 2, &(struct topogen){ .seed = 4 });

	walk("auto", tree, 20, 0);
	walk("auto", tree, 20, 7);
	walk("nue", torus, 12, 3);
	walk("auto", torus, 20, 5);
	topo_unref(tree);
	topo_unref(torus);
}

/*
 * Tables that are mapped from files, whose descriptors a new child needs; one that goes on makes
 * them itself.
 */
static void large_tables_come_to_the_same(void **state)
{
	struct topo *t = topogen_fat_tree3(20, &(struct topogen){ .seed = 5 });

	walk("auto", t, 8, 6);
	topo_unref(t);
}

/* ---- engines that die ------------------------------------------------------------------------ */

static struct routes *hang(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	for (volatile unsigned i = 0; i < 2; i = 1)
		;
	return NULL;
}

static struct routes *fall_asleep(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	for (volatile unsigned i = 0; i < 2; i = 1)
		pause();
	return NULL;
}

static struct routes *crash(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	raise(SIGSEGV);
	return NULL;
}

static struct routes *give_up(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	abort();
}

static struct routes *leave(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	exit(7);
	return NULL;
}

/*
 * Pages of its own, so that a limit of the process counts them; no more than the machine can spare.
 */
static struct routes *gorge(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	for (unsigned i = 0; i < 64; i++) {
		void *p = mmap(NULL, 256u << 20, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			abort();
	}
	return hang(arg, job, why, why_len);
}

/* What it hands over cannot be: a lane that there is not, a tree that leads nowhere. */
static struct routes *lie(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	struct routes *r = route_engine_find("minhop")->compute(job, why, why_len);

	r->master_tree = xcalloc(r->topo->n_switches, 1);
	memset(r->master_tree, 0xEE, r->topo->n_switches);
	return r;
}

/* Into tables in force, which the parent and the child map from the same file. */
static struct routes *overwrite(const struct route_job *job, char *why, size_t why_len)
{
	if (job->previous)
		memset(job->previous->lft, 7,
		       (size_t)job->previous->topo->n_switches * job->previous->row_size);
	return route_engine_find("minhop")->compute(job, why, why_len);
}

static void stray_writes_do_not_reach_tables_in_force(void **state)
{
	const struct route_engine row = { .name = "overwrites", .compute = overwrite };
	struct topo *t = topogen_fat_tree3(20, &(struct topogen){ .seed = 5 });
	struct topocut *cut = topocut_new(t);
	uint32_t n, *cables = topocut_cables(t, &n);
	struct routes *first, *then;
	struct topo *less;
	struct desk desk;
	uint8_t *was;
	size_t size;

	open_desk(&desk, "minhop", true);
	first = compute(&desk, t, NULL);
	assert_non_null(first);
	routes_settle(first);
	assert_true(routes_fd(first) >= 0);
	size = (size_t)t->n_switches * first->row_size;
	was = xmemdup(first->lft, size);
	close_desk(&desk);
	open_desk(&desk, "overwrites,minhop", true);
	desk.engines = (struct route_engines){ .rows = &row, .n = 1 };
	cut->ports[cables[0]] = true;
	less = topocut_apply(t, cut);
	then = compute(&desk, less, first);
	assert_non_null(then);
	assert_int_equal(desk.report.n_deaths, 1);
	assert_memory_equal(first->lft, was, size);
	routes_unref(then);
	routes_unref(first);
	free(was);
	close_desk(&desk);
	topo_unref(less);
	topocut_free(cut);
	free(cables);
	topo_unref(t);
}

/* What is shared is not only for it. */
static struct routes *scribble(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	memset(job->progress, 0xA5, sizeof(*job->progress));
	raise(SIGSEGV);
	return NULL;
}

struct way_to_die {
	const char *name;
	struct routes *(*compute)(void *arg, const struct route_job *job, char *why,
				  size_t why_len);
	const char *cause, *or;
};

static const struct way_to_die ways[] = {
	{ "hangs", hang, "deadline", "" },
	{ "sleeps", fall_asleep, "deadline", "" },
	{ "crashes", crash, "SIGSEGV", "exit" }, /* sanitizers say it, and exit */
	{ "aborts", give_up, "SIGABRT", "exit" },
	{ "leaves", leave, "exit", "" },
	{ "gorges", gorge, "SIGABRT", "deadline" }, /* sanitizers have no limit */
	{ "lies", lie, "garbage", "" },
};

static void assert_next_engine_is_asked(const struct way_to_die *w)
{
	const struct route_engine row = { .name = w->name, .compute_with = w->compute };
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	const struct route_death *d;
	struct routes *r, *again;
	char list[64];
	struct desk desk;

	snprintf(list, sizeof(list), "%s,minhop", w->name);
	open_desk(&desk, list, true);
	desk.engines = (struct route_engines){ .rows = &row, .n = 1 };
	desk.limit_ms = w->compute == hang || w->compute == fall_asleep || w->compute == gorge
				? 1500
				: 60000;
	r = compute(&desk, t, NULL);
	assert_non_null(r);
	assert_string_equal(r->engine, "minhop");
	assert_int_equal(desk.report.n_deaths, 1);
	d = &desk.report.deaths[0];
	assert_string_equal(d->engine, w->name);
	if (strcmp(d->cause, w->cause) && strcmp(d->cause, w->or))
		fail_msg("%s: died of %s", w->name, d->cause);
	assert_non_null(strstr(desk.report.refused, d->how));
	if (w->compute == leave)
		assert_non_null(strstr(d->how, "exit(7)"));
	/* The next job does not ask it, until some time has passed. */
	again = compute(&desk, t, r);
	assert_non_null(again);
	assert_int_equal(desk.report.n_deaths, 0);
	assert_int_equal(route_memory_next(desk.memory), 60 * MONO_S);
	routes_unref(again);
	routes_unref(r);
	close_desk(&desk);
	topo_unref(t);
}

static void engines_that_die_cost_themselves(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		assert_next_engine_is_asked(&ways[i]);
}

/* Says that it was another one. */
static struct routes *slander(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	memset(job->progress, 0, sizeof(*job->progress));
	snprintf(job->progress->engine, sizeof(job->progress->engine), "minhop");
	raise(SIGSEGV);
	return NULL;
}

/* Which engine it was cannot be told then: the first that was asked is left out. */
static void one_that_scribbles_over_its_name_costs_itself(void **state)
{
	const struct route_engine row = { .name = "scribbles", .compute_with = scribble };
	struct desk desk;
	struct routes *r = compute_with(&desk, &row, "scribbles,minhop");

	assert_non_null(r);
	assert_string_equal(r->engine, "minhop");
	assert_int_equal(desk.report.n_deaths, 1);
	assert_string_equal(desk.report.deaths[0].engine, "scribbles");
	assert_false(desk.report.deaths[0].last);
	routes_unref(r);
	close_desk(&desk);
	assert_null(compute_with(&desk, &row, "scribbles,no_fallback"));
	assert_int_equal(desk.report.n_deaths, 1);
	close_desk(&desk);
}

/* One that was left out already cannot have died: the second time it is the first of the list. */
static void one_that_takes_the_name_of_another_ends_too(void **state)
{
	const struct route_engine row = { .name = "slanders", .compute_with = slander };
	struct desk desk;
	struct routes *r = compute_with(&desk, &row, "slanders,minhop,updn");

	assert_non_null(r);
	assert_string_equal(r->engine, "updn");
	assert_int_equal(desk.report.n_deaths, 2);
	assert_string_equal(desk.report.deaths[0].engine, "minhop");
	assert_string_equal(desk.report.deaths[1].engine, "slanders");
	routes_unref(r);
	close_desk(&desk);
}

/* Of all processes: how often it is to die or to sleep yet. */
static unsigned *deaths_left;

static void share_deaths_left(unsigned n)
{
	deaths_left = mmap(NULL, sizeof(*deaths_left), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(deaths_left, MAP_FAILED);
	*deaths_left = n;
}

static struct routes *oversleep(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	if (!*deaths_left)
		return route_engine_find("minhop")->compute(job, why, why_len);
	--*deaths_left;
	return fall_asleep(arg, job, why, why_len);
}

/* A lock of a library that another thread held at the fork: no engine is to blame at first. */
static void a_child_that_sleeps_from_its_start_is_replaced_once(void **state)
{
	const struct route_engine row = { .name = "sleeps", .compute_with = oversleep };
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct desk desk;

	share_deaths_left(0);
	for (unsigned n = 1; n <= 2; n++) {
		struct routes *r;

		open_desk(&desk, "sleeps,updn", true);
		desk.engines = (struct route_engines){ .rows = &row, .n = 1 };
		desk.limit_ms = 2500;
		*deaths_left = n;
		r = compute(&desk, t, NULL);
		assert_non_null(r);
		assert_string_equal(r->engine, n == 1 ? "minhop" : "updn");
		assert_true(desk.report.asleep);
		assert_int_equal(desk.report.n_deaths, n - 1);
		assert_int_equal(*deaths_left, 0);
		routes_unref(r);
		close_desk(&desk);
	}
	munmap(deaths_left, sizeof(*deaths_left));
	topo_unref(t);
}

static struct routes *die_unbegun(void *arg, const struct route_job *job, char *why, size_t why_len)
{
	if (!*deaths_left)
		return route_engine_find("minhop")->compute(job, why, why_len);
	--*deaths_left;
	memset(job->progress, 0, sizeof(*job->progress));
	_exit(3);
}

/*
 * A process that ends before it came to an engine is no engine's fault: it is begun again, a few
 * times.
 */
static void deaths_before_any_engine_blame_none(void **state)
{
	const struct route_engine row = { .name = "shy", .compute_with = die_unbegun };
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *r;
	struct desk desk;

	share_deaths_left(0);
	open_desk(&desk, "shy", true);
	desk.engines = (struct route_engines){ .rows = &row, .n = 1 };
	*deaths_left = ROUTE_DEATHS_UNBEGUN - 1;
	r = compute(&desk, t, NULL);
	assert_non_null(r);
	assert_int_equal(desk.report.n_deaths, ROUTE_DEATHS_UNBEGUN - 1);
	for (unsigned i = 0; i < desk.report.n_deaths; i++) {
		assert_string_equal(desk.report.deaths[i].engine, "");
		assert_false(desk.report.deaths[i].last);
	}
	assert_string_equal(desk.report.refused, "");
	routes_unref(r);
	/* One that takes its name away every time is left out at last, until the next job. */
	for (unsigned i = 0; i < 2; i++) {
		*deaths_left = 100;
		r = compute(&desk, t, NULL);
		assert_non_null(r);
		assert_string_equal(r->engine, "auto");
		assert_int_equal(desk.report.n_deaths, ROUTE_DEATHS_UNBEGUN);
		assert_non_null(strstr(desk.report.refused, "shy: it called exit(3)"));
		assert_int_equal(*deaths_left, 100 - ROUTE_DEATHS_UNBEGUN);
		routes_unref(r);
	}
	close_desk(&desk);
	open_desk(&desk, "shy,no_fallback", true);
	desk.engines = (struct route_engines){ .rows = &row, .n = 1 };
	*deaths_left = 100;
	assert_null(compute(&desk, t, NULL));
	assert_int_equal(desk.report.n_deaths, ROUTE_DEATHS_UNBEGUN);
	assert_non_null(strstr(desk.report.why, "exit(3)"));
	munmap(deaths_left, sizeof(*deaths_left));
	close_desk(&desk);
	topo_unref(t);
}

static void when_all_die_there_are_no_tables_and_no_more(void **state)
{
	const struct route_engine rows[] = {
		{ .name = "auto", .compute_with = give_up },
		{ .name = "minhop", .compute_with = give_up },
		{ .name = "updn", .compute_with = give_up },
	};
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	const struct route_engine one = { .name = "aborts", .compute_with = give_up };
	struct routes *r;
	struct desk desk;

	open_desk(&desk, "aborts,no_fallback", true);
	desk.engines = (struct route_engines){ .rows = &one, .n = 1 };
	assert_null(compute(&desk, t, NULL));
	assert_int_equal(desk.report.n_deaths, 1);
	assert_non_null(strstr(desk.report.why, "it died of SIGABRT")
				? desk.report.why
				: strstr(desk.report.why, "exit"));
	close_desk(&desk);
	/* auto of this name dies, and the plain ones behind it are those of the program. */
	open_desk(&desk, "auto", true);
	desk.engines = (struct route_engines){ .rows = rows, .n = 1 };
	r = compute(&desk, t, NULL);
	assert_non_null(r);
	assert_int_equal(desk.report.n_deaths, 1);
	assert_string_equal(r->engine, "updn");
	routes_unref(r);
	close_desk(&desk);
	topo_unref(t);
}

static void *cancel_soon(void *arg)
{
	struct sm_job *job = arg;

	while (!child_of_ours() && usleep(1000) == 0 && !job->orphan)
		job->orphan = true;
	job->orphan = true;
	return NULL;
}

static void a_job_that_is_not_wanted_ends_its_child(void **state)
{
	const struct route_engine row = { .name = "hangs", .compute_with = hang };
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct desk desk;
	struct sm_job *job;
	pthread_t thread;

	open_desk(&desk, "hangs", true);
	desk.engines = (struct route_engines){ .rows = &row, .n = 1 };
	job = job_of(&desk, t, NULL);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, job), 0);
	job->run(job);
	pthread_join(thread, NULL);
	job->done(job);
	assert_int_equal(desk.done, 0);
	assert_int_equal(child_of_ours(), 0);
	close_desk(&desk);
	topo_unref(t);
}

/* Tables in force that grew are at fault: the same engine, without them. */
static struct routes *die_of_former(const struct route_job *job, char *why, size_t why_len)
{
	if (job->previous)
		raise(SIGKILL);
	return route_engine_find("minhop")->compute(job, why, why_len);
}

static void an_engine_that_died_of_former_tables_is_asked_without(void **state)
{
	const struct route_engine row = { .name = "minhop", .compute = die_of_former };
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 }), *other;
	struct topocut *cut = topocut_new(t);
	struct routes *r, *next;
	struct desk desk;
	uint32_t n, *cables = topocut_cables(t, &n);

	cut->ports[cables[0]] = true;
	other = topocut_apply(t, cut);
	open_desk(&desk, "minhop", true);
	desk.engines = (struct route_engines){ .rows = &row, .n = 1 };
	r = compute(&desk, t, NULL);
	assert_int_equal(desk.report.n_deaths, 0);
	next = compute(&desk, other, r);
	assert_non_null(next);
	assert_string_equal(next->engine, "minhop");
	assert_int_equal(desk.report.n_deaths, 1);
	assert_true(desk.report.deaths[0].had_tables);
	assert_string_equal(desk.report.deaths[0].cause, "SIGKILL");
	assert_string_equal(desk.report.refused, "");
	routes_unref(r);
	routes_unref(next);
	close_desk(&desk);
	topo_unref(t);
	topo_unref(other);
	topocut_free(cut);
	free(cables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stray_writes_do_not_reach_tables_in_force),
		cmocka_unit_test(many_events_come_to_the_same_tables),
		cmocka_unit_test(large_tables_come_to_the_same),
		cmocka_unit_test(engines_that_die_cost_themselves),
		cmocka_unit_test(one_that_scribbles_over_its_name_costs_itself),
		cmocka_unit_test(one_that_takes_the_name_of_another_ends_too),
		cmocka_unit_test(a_child_that_sleeps_from_its_start_is_replaced_once),
		cmocka_unit_test(deaths_before_any_engine_blame_none),
		cmocka_unit_test(when_all_die_there_are_no_tables_and_no_more),
		cmocka_unit_test(a_job_that_is_not_wanted_ends_its_child),
		cmocka_unit_test(an_engine_that_died_of_former_tables_is_asked_without),
	};

#ifndef __clang__ /* LLVM's OpenMP opens files when it begins; gcc's does not */
	tester = getpid();
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
