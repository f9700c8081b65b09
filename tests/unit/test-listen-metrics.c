// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file of metrics when the configuration changes while it is written; a thread that works when
 * told to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/listen.h"
#include "daemon/listen_metrics_http.h"
#include "tests/lib/scratch.h"
#include "util/log.h"
#include "util/mem.h"

struct world {
	sd_event *event;
	struct conf *conf;
	struct daemon_api api;
	struct listen_metrics *listener;
	struct sm_job *job;
	mono_t now;
	unsigned complaints;
	char dir[SCRATCH_PATH], one[80], two[80];
};

static void on_log(void *arg, unsigned bits, const char *text)
{
	((struct world *)arg)->complaints += (bits & LOGB_ERROR) != 0;
}

static void on_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	*ret_now = *ret_realtime = ((struct world *)arg)->now;
}

static void on_submit(void *arg, struct sm_job *job)
{
	struct world *w = arg;

	assert_null(w->job);
	w->job = job;
}

static void turn(struct world *w)
{
	while (sd_event_run(w->event, 0) > 0)
		;
}

/* The thread does what it was given. False: nothing. */
static bool work(struct world *w)
{
	struct sm_job *job;

	turn(w);
	job = take(w->job);
	if (!job)
		return false;
	job->run(job);
	job->done(job);
	w->now += MONO_S;
	return true;
}

static void set(char **option, const char *value)
{
	free(*option);
	*option = value ? xstrdup(value) : NULL;
}

static int set_up(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	*state = w;
	w->now = 1000 * MONO_S;
	log_set_sink(on_log, w);
	scratch_folder(w->dir);
	if (sd_event_new(&w->event) < 0)
		return -1;
	snprintf(w->one, sizeof(w->one), "%s/one.prom", w->dir);
	snprintf(w->two, sizeof(w->two), "%s/two.prom", w->dir);
	w->conf = conf_new();
	w->api = (struct daemon_api){ .conf = w->conf,
				      .version = "4.0.0",
				      .clock = on_clock,
				      .submit = on_submit,
				      .arg = w };
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	listen_metrics_close(w->listener);
	sd_event_unref(w->event);
	conf_unref(w->conf);
	unlink(w->one);
	unlink(w->two);
	assert_int_equal(rmdir(w->dir), 0);
	log_set_sink(NULL, NULL);
	free(w);
	return 0;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void open_with(struct world *w, const char *file)
{
	set(&w->conf->metrics_file, file);
	w->listener = listen_metrics_open(w->event, &w->api);
}

static void the_file_goes_with_the_listener(void **state)
{
	struct world *w = *state;

	open_with(w, w->one);
	assert_true(work(w));
	assert_true(is_there(w->one));
	w->listener = listen_metrics_close(w->listener);
	assert_false(is_there(w->one));
}

/* A reader that finds it would take it for the truth for ever. */
static void a_file_that_was_being_written_is_not_left_behind(void **state)
{
	struct world *w = *state;

	open_with(w, w->one);
	turn(w);
	assert_non_null(w->job);
	set(&w->conf->metrics_file, w->two);
	listen_metrics_reconfigure(w->listener);
	assert_true(work(w));
	assert_false(is_there(w->one));
	w->now += 60 * MONO_S;
	listen_metrics_reconfigure(w->listener);
	assert_true(work(w));
	assert_true(is_there(w->two));
}

static void another_interval_counts_at_once(void **state)
{
	struct world *w = *state;

	w->conf->metrics_interval = 3600;
	open_with(w, w->one);
	assert_true(work(w));
	w->now += 60 * MONO_S;
	assert_false(work(w));
	w->conf->metrics_interval = 10;
	listen_metrics_reconfigure(w->listener);
	assert_true(work(w));
}

/* "metrics_file /dev/null" is no way to make a file of /dev/null, nor to lose it. */
static void what_is_no_file_is_left_alone(void **state)
{
	struct world *w = *state;
	struct stat st;

	assert_int_equal(mkfifo(w->one, 0600), 0);
	open_with(w, w->one);
	assert_true(work(w));
	assert_int_equal(w->complaints, 1);
	w->listener = listen_metrics_close(w->listener);
	assert_int_equal(lstat(w->one, &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
}

static void an_address_that_was_taken_is_tried_again(void **state)
{
	struct world *w = *state;

	set(&w->conf->metrics_listen, w->two);
	assert_int_equal(mkdir(w->two, 0700), 0);
	open_with(w, NULL);
	assert_int_equal(w->complaints, 1);
	rmdir(w->two);
	listen_metrics_reconfigure(w->listener);
	assert_int_equal(w->complaints, 1);
	assert_true(is_there(w->two));
	w->listener = listen_metrics_close(w->listener);
	assert_false(is_there(w->two));
}

static void gzip_is_sent_to_clients_that_take_it(void **state)
{
	static const struct {
		const char *header;
		bool takes;
	} cases[] = {
		{ NULL, false },
		{ "", false },
		{ "gzip", true },
		{ "identity", false },
		{ "deflate, GZIP;q=1.0, *;q=0.5", true },
		{ "br , x-gzip ; q=0.1", true },
		{ "gzip;q=0", false },
		{ "gzip; q=0.000, identity", false },
		{ "*", true },
		{ "gzipped", false },
		{ ",;,=,", false },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(metrics_http_takes_gzip(cases[i].header), cases[i].takes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
		T(the_file_goes_with_the_listener),
		T(a_file_that_was_being_written_is_not_left_behind),
		T(another_interval_counts_at_once),
		T(what_is_no_file_is_left_alone),
		T(an_address_that_was_taken_is_tried_again),
		cmocka_unit_test(gzip_is_sent_to_clients_that_take_it),
	};

	return cmocka_run_group_tests_name("listen-metrics", tests, NULL, NULL);
}
