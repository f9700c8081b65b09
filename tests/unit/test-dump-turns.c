// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files after a sweep are made from a copy that is taken in turns, between which the manager
 * goes on.
 *
 * `test-dump-turns bench [K]` measures the turns on a fat tree of K-port switches; 36 has 11,664
 * hosts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump/dump_turns.h"
#include "sim/gen/gen.h"
#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "util/file.h"
#include "util/log.h"

struct world {
	struct rig *rig;
	struct conf *conf;
	struct dump_turns *dumps;
	struct dump_config config;
	struct sm_job *job;
	unsigned n_jobs, n_failed;
	char dir[SCRATCH_PATH];
};

static void be_quiet(void *arg, unsigned bits, const char *text)
{
}

static void on_submit(void *arg, struct sm_job *job)
{
	struct world *w = arg;

	assert_null(w->job);
	w->job = job;
	w->n_jobs++;
}

static void on_failed(void *arg, const char *error)
{
	((struct world *)arg)->n_failed++;
}

static struct world *world_new(unsigned k)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_fat_tree3(k);
	struct world *w = xcalloc(1, sizeof(*w));

	log_set_sink(be_quiet, NULL);
	scratch_folder(w->dir);
	w->rig = rig_new(sim_new(net, 1));
	w->conf = conf_new();
	assert_int_equal(rig_start(w->rig, "h0", 0, w->conf, NULL), 0);
	rig_run(w->rig, 60 * MONO_S);
	assert_true(sm_stats(w->rig->sms[0].sm)->up);
	w->dumps = dump_turns_new(&(struct dump_hooks){ on_submit, on_failed, w });
	w->config = (struct dump_config){ .dir = w->dir, .engine = true };
	return w;
}

static void world_free(struct world *w)
{
	dump_turns_free(w->dumps);
	rig_free(w->rig);
	conf_unref(w->conf);
	scratch_remove(w->dir);
	free(w);
}

static const struct sm *sm_of(const struct world *w)
{
	return w->rig->sms[0].sm;
}

static void want(struct world *w)
{
	dump_turns_want(w->dumps, sm_of(w), &w->config, NULL);
}

/* How many turns until there is nothing to do at once. */
static unsigned go_on(struct world *w)
{
	unsigned n = 1;

	while (dump_turns_go_on(w->dumps, sm_of(w)))
		assert_true(n++ < 1000);
	return n;
}

static void write_files(struct world *w)
{
	struct sm_job *job = take(w->job);

	assert_non_null(job);
	job->run(job);
	job->done(job);
}

/* Size of the file; 0: there is none. It is taken away. */
static off_t take_file(const struct world *w, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", w->dir, name);
	struct stat st = { 0 };

	if (stat(path, &st) == 0)
		unlink(path);
	return st.st_size;
}

/* 3,456 hosts on 720 switches are more than a turn has room for. */
static void a_large_fabric_is_copied_in_turns(void **state)
{
	struct world *w = world_new(24);

	want(w);
	assert_true(dump_turns_pending(w->dumps));
	assert_true(go_on(w) >= 5);
	assert_int_equal(w->n_jobs, 1);
	assert_true(dump_turns_pending(w->dumps));
	write_files(w);
	assert_false(dump_turns_pending(w->dumps));
	assert_true(take_file(w, "opensm-subnet.lst") > 100000);
	assert_int_equal(w->n_failed, 0);
	world_free(w);
}

static char *take_text(const struct world *w, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s/%s", w->dir, name);
	char *text = NULL;
	size_t len;

	assert_int_equal(file_read(path, 1u << 24, &text, &len), 0);
	unlink(path);
	return text;
}

/* Right after a sweep, what hosts are answered from is the fabric as it stands. */
static void files_of_the_view_for_hosts_are_those_of_a_copy(void **state)
{
	struct world *w = world_new(4);
	_cleanup_free_ char *copied = NULL, *shared = NULL;

	want(w);
	go_on(w);
	write_files(w);
	copied = take_text(w, "opensm-subnet.lst");
	assert_non_null(sm_view_present(sm_of(w)));
	dump_turns_want(w->dumps, sm_of(w), &w->config, sm_view_present(sm_of(w)));
	assert_int_equal(w->n_jobs, 2);
	assert_false(dump_turns_go_on(w->dumps, sm_of(w)));
	write_files(w);
	shared = take_text(w, "opensm-subnet.lst");
	assert_string_equal(shared, copied);
	assert_int_equal(w->n_failed, 0);
	world_free(w);
}

static void no_view_is_present_once_something_has_changed(void **state)
{
	struct world *w = world_new(4);

	assert_non_null(sm_view_present(sm_of(w)));
	sim_link_down(w->rig->sim, sim_find(w->rig->sim, "h5"), 1);
	while (sm_view_present(sm_of(w)) && rig_step(w->rig, sim_now(w->rig->sim) + 60 * MONO_S))
		;
	assert_null(sm_view_present(sm_of(w)));
	world_free(w);
}

static void a_change_while_files_are_made_is_written_after(void **state)
{
	struct world *w = world_new(4);

	want(w);
	go_on(w);
	want(w); /* while they are written */
	go_on(w);
	assert_int_equal(w->n_jobs, 1);
	write_files(w);
	assert_true(dump_turns_pending(w->dumps));
	want(w); /* while it is copied, or is to be */
	go_on(w);
	assert_int_equal(w->n_jobs, 2);
	assert_true(take_file(w, "opensm-subnet.lst") > 0);
	write_files(w);
	assert_true(take_file(w, "opensm-subnet.lst") > 0);
	go_on(w);
	assert_null(w->job);
	assert_false(dump_turns_pending(w->dumps));
	world_free(w);
}

static void with_the_flag_tables_are_written_too(void **state)
{
	struct world *w = world_new(4);

	want(w);
	go_on(w);
	write_files(w);
	assert_int_equal(take_file(w, "opensm.fdbs"), 0);
	w->config.routing = true;
	want(w);
	go_on(w);
	write_files(w);
	assert_true(take_file(w, "opensm.fdbs") > 0);
	world_free(w);
}

/* The process ends, or the port of the manager is gone. */
static void what_is_half_copied_is_finished_or_dropped(void **state)
{
	struct world *w = world_new(24);

	want(w);
	assert_true(dump_turns_go_on(w->dumps, sm_of(w)));
	dump_turns_hurry(w->dumps);
	assert_int_equal(w->n_jobs, 1);
	write_files(w);
	assert_true(take_file(w, "opensm-subnet.lst") > 100000);
	want(w);
	assert_true(dump_turns_go_on(w->dumps, sm_of(w)));
	dump_turns_sm_gone(w->dumps);
	assert_false(dump_turns_pending(w->dumps));
	dump_turns_hurry(w->dumps);
	assert_int_equal(w->n_jobs, 1);
	world_free(w);
}

static void a_folder_that_is_not_there_is_told(void **state)
{
	struct world *w = world_new(4);

	w->config.dir = "/nonexistent";
	want(w);
	go_on(w);
	write_files(w);
	assert_int_equal(w->n_failed, 1);
	world_free(w);
}

/* ---- bench ---------------------------------------------------------------------------------- */

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void measure(struct world *w, const char *what)
{
	double began = cpu_ms(), most, all;
	unsigned turns = 0;
	bool more = true;

	want(w);
	most = all = cpu_ms() - began;
	for (; more; turns++) {
		began = cpu_ms();
		more = dump_turns_go_on(w->dumps, sm_of(w));
		most = MAX(most, cpu_ms() - began);
		all += cpu_ms() - began;
	}
	began = cpu_ms();
	write_files(w);
	printf("%-16s copied %5.1f ms in %u turns, most %4.1f ms; files %7.1f ms\n", what, all,
	       turns, most, cpu_ms() - began);
}

static int bench(unsigned k)
{
	struct world *w = world_new(k);

	measure(w, "subnet.lst");
	w->config.routing = true;
	measure(w, "and tables");
	world_free(w);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_large_fabric_is_copied_in_turns),
		cmocka_unit_test(files_of_the_view_for_hosts_are_those_of_a_copy),
		cmocka_unit_test(no_view_is_present_once_something_has_changed),
		cmocka_unit_test(a_change_while_files_are_made_is_written_after),
		cmocka_unit_test(with_the_flag_tables_are_written_too),
		cmocka_unit_test(what_is_half_copied_is_finished_or_dropped),
		cmocka_unit_test(a_folder_that_is_not_there_is_told),
	};

	if (argc > 1 && !strcmp(argv[1], "bench"))
		return bench(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 36);
	return cmocka_run_group_tests_name("dump-turns", tests, NULL, NULL);
}
