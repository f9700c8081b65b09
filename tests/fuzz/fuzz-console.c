// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary lines at the console of a manager of a small fabric. The first byte says which user
 * types: bit 0: may act, bit 1: on a terminal, bit 2: no port is open. Whatever is typed, an answer
 * comes and the prompt after it; a user that may not act changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/console.h"
#include "tests/lib/rig.h"
#include "sim/gen/gen.h"
#include "util/log.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);
extern const unsigned fuzz_runs;
const unsigned fuzz_runs = 800; /* replay.c: a manager comes up for each */

#define MAX_LINES 12
#define MAX_TURNS 1000 /* in which a small fabric is copied */

struct world {
	struct rig *rig;
	struct conf *conf;
	struct daemon_api api;
	struct console *console;
	struct sm_job *job;
	bool busy, left, prompted;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void on_write(void *arg, char *text, size_t len)
{
	struct world *w = arg;
	size_t n = strlen(CONSOLE_PROMPT);

	must(strlen(text) == len);
	w->prompted = len >= n && !memcmp(text + len - n, CONSOLE_PROMPT, n);
	free(text);
}

static void on_busy(void *arg, bool busy)
{
	((struct world *)arg)->busy = busy;
}

static void on_quit(void *arg)
{
	((struct world *)arg)->left = true;
}

static void on_wake(void *arg)
{
}

static void on_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	*ret_now = sim_now(((struct world *)arg)->rig->sim);
	*ret_realtime = 0;
}

static void on_submit(void *arg, struct sm_job *job)
{
	((struct world *)arg)->job = job;
}

static void open_world(struct world *w, uint8_t kind)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 1, 1, 1);
	struct console_config config = {
		.api = &w->api,
		.local = kind & 2,
		.may_act = kind & 1,
		.client = "fuzz",
		.write = on_write,
		.busy = on_busy,
		.quit = on_quit,
		.arg = w,
	};

	w->rig = rig_new(sim_new(net, 1));
	w->conf = conf_new();
	free(w->conf->dump_files_dir);
	w->conf->dump_files_dir = xstrdup("/nonexistent");
	rig_start(w->rig, "h0", 0, w->conf, NULL);
	rig_run(w->rig, 3 * MONO_S);
	w->api = (struct daemon_api){
		.perf = perf_new(w->conf, NULL),
		.sm = kind & 4 ? NULL : w->rig->sms[0].sm,
		.conf = w->conf,
		.version = "4.0.0",
		.wake = on_wake,
		.clock = on_clock,
		.submit = on_submit,
		.arg = w,
	};
	w->console = console_new(&config);
}

/* The session is busy while the fabric is copied in turns, and while a worker prints. */
static void end_work(struct world *w)
{
	for (unsigned i = 0; w->busy && !w->job; i++) {
		must(i < MAX_TURNS && !console_next(w->console));
		console_tick(w->console, sim_now(w->rig->sim));
	}
	must(w->busy == (w->job != NULL));
	if (w->job) {
		struct sm_job *job = take(w->job);

		job->run(job);
		job->done(job);
	}
}

static void type(struct world *w, const uint8_t *bytes, size_t len)
{
	_cleanup_free_ char *line = xcalloc(1, len + 1);

	memcpy(line, bytes, len);
	w->prompted = false;
	console_line(w->console, line, sim_now(w->rig->sim));
	end_work(w);
	must(w->left || w->prompted || console_next(w->console) != MONO_NEVER);
	if (console_next(w->console) != MONO_NEVER)
		console_tick(w->console, console_next(w->console));
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	const struct log_config quiet = { .path = "/dev/null", .flags = 0, .quiet = true };
	const uint8_t *end = input + len, *at = input + 1;
	struct world w = { 0 };

	if (!len)
		return 0;
	log_open(&quiet);
	open_world(&w, input[0]);
	for (unsigned i = 0; i < MAX_LINES && at < end && !w.left; i++) {
		const uint8_t *stop = memchr(at, '\n', end - at);

		stop = stop ? stop : end;
		type(&w, at, MIN((size_t)(stop - at), (size_t)CONSOLE_LINE_MAX));
		at = stop + 1;
	}
	must((input[0] & 1) || (sm_priority(w.rig->sms[0].sm) == 0 &&
				sm_sweeping_enabled(w.rig->sms[0].sm)));
	rig_run(w.rig, sim_now(w.rig->sim) + MONO_S);
	console_free(w.console);
	perf_free(w.api.perf);
	rig_free(w.rig);
	conf_unref(w.conf);
	return 0;
}
