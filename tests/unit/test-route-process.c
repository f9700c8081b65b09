// SPDX-License-Identifier: BSD-2-Clause
/* Processes for routing: none can be started, one does not end, one leaves others behind. */
#include "daemon/route_child.h"

#include <errno.h>
#include <omp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/lib/topocut.h"
#include "tests/unit/child-desk.h"

/* Is left behind with all that the engine's process had open. */
static pid_t *left_behind;

static struct routes *leave_one_behind(void *arg, const struct route_job *job, char *why,
				       size_t why_len)
{
	pid_t pid = fork();

	for (volatile unsigned i = 0; i < 2 && !pid; i = 1)
		pause();
	*left_behind = pid;
	raise(SIGSEGV);
	return NULL;
}

/* Orphans are children of this process then. */
static void assert_is_dead(pid_t pid)
{
	unsigned i = 0;

	while (waitpid(pid, NULL, WNOHANG) == 0 && i++ < 10000)
		usleep(1000);
	assert_in_range(i, 0, 9999);
}

static void an_engine_that_dies_takes_along_what_it_started(void **state)
{
	const struct route_engine row = { .name = "forks", .compute_with = leave_one_behind };
	struct routes *r;
	struct desk desk;

	left_behind = mmap(NULL, sizeof(*left_behind), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(left_behind, MAP_FAILED);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	r = compute_with(&desk, &row, "forks,minhop");
	assert_non_null(r);
	assert_int_equal(desk.report.n_deaths, 1);
	assert_string_not_equal(desk.report.deaths[0].cause, "deadline");
	assert_true(*left_behind > 0);
	assert_is_dead(*left_behind);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
	munmap(left_behind, sizeof(*left_behind));
	routes_unref(r);
	close_desk(&desk);
}

/* A process that the kernel cannot end, for a time: it sleeps in a driver. */
static bool nothing_ends;

pid_t waitpid(pid_t pid, int *status, int options)
{
	return nothing_ends ? 0 : (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

static void a_process_that_does_not_end_is_waited_for_later(void **state)
{
	struct topo *t = topogen_fat_tree3(4, &(struct topogen){ .seed = 1 });
	struct routes *r, *again;
	struct desk desk;
	pid_t first;

	open_desk(&desk, "minhop", true);
	r = compute(&desk, t, NULL);
	first = child_of_ours();
	nothing_ends = true;
	again = compute(&desk, t, NULL);
	nothing_ends = false;
	assert_non_null(again);
	routes_unref(again);
	again = compute(&desk, t, NULL);
	assert_non_null(again);
	assert_int_equal(waitpid(first, NULL, WNOHANG), -1);
	routes_unref(again);
	routes_unref(r);
	close_desk(&desk);
	topo_unref(t);
}

static void set_descriptors(rlim_t n)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = n ? n : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Large enough for several threads, so that a child could not use them after its parent had. */
static void without_processes_tables_stay_until_there_are_some(void **state)
{
	struct topo *t = topogen_fat_tree3(28, &(struct topogen){ .seed = 1 }), *less;
	struct topocut *cut = topocut_new(t);
	uint32_t n, *cables = topocut_cables(t, &n);
	struct routes *first, *r;
	struct desk desk;

	assert_true((uint64_t)t->n_switches * t->max_lid > 4u << 20);
	omp_set_num_threads(4);
	cut->ports[cables[0]] = true;
	less = topocut_apply(t, cut);
	open_desk(&desk, "minhop", true);
	set_descriptors(3);
	first = compute(&desk, t, NULL); /* there are none to stay */
	assert_non_null(first);
	assert_int_equal(desk.report.no_child, EMFILE);
	assert_int_equal(route_memory_child_next(desk.memory), 10 * MONO_S);
	r = compute(&desk, t, first); /* no engine is asked */
	assert_ptr_equal(r, first);
	routes_unref(r);
	assert_null(compute(&desk, less, first));
	assert_int_equal(desk.report.no_child, EMFILE);
	assert_int_equal(desk.report.n_deaths, 0);
	set_descriptors(0);
	r = compute(&desk, less, first);
	assert_non_null(r);
	assert_int_equal(desk.report.no_child, 0);
	assert_int_equal(desk.report.n_deaths, 0);
	assert_int_not_equal(child_of_ours(), 0);
	assert_int_equal(route_memory_no_child(desk.memory), 0);
	routes_unref(r);
	routes_unref(first);
	close_desk(&desk);
	topo_unref(less);
	topo_unref(t);
	topocut_free(cut);
	free(cables);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_that_dies_takes_along_what_it_started),
		cmocka_unit_test(a_process_that_does_not_end_is_waited_for_later),
		cmocka_unit_test(without_processes_tables_stay_until_there_are_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
