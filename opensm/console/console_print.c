// SPDX-License-Identifier: BSD-2-Clause
/*
 * Long output: a worker prints it from a snapshot; output about the fabric from a view, which is
 * copied in turns before.
 */
#include <assert.h>
#include <stdlib.h>

#include "console/console_internal.h"
#include "util/mem.h"
#include "view/view_copy.h"

struct console_job {
	struct sm_job base;
	struct console *console; /* NULL: the session has ended */
	void *snapshot;
	void (*print)(void *snapshot, FILE *out);
	void (*drop)(void *snapshot);
	char *text;
	size_t len;
};

static void job_run(struct sm_job *base)
{
	struct console_job *job = (struct console_job *)base;
	FILE *out = open_memstream(&job->text, &job->len);

	if (!out)
		abort(); /* as every allocation that fails (util/mem.h) */
	if (!base->orphan)
		job->print(job->snapshot, out);
	fputs(CONSOLE_PROMPT, out);
	fclose(out);
}

/* The text may have tens of megabytes: it is not copied. */
static void write_job(struct console *c, struct console_job *job)
{
	c->job = NULL;
	if (job->text)
		c->config.write(c->config.arg, take(job->text), job->len);
	c->config.busy(c->config.arg, false);
}

static void job_done(struct sm_job *base)
{
	struct console_job *job = (struct console_job *)base;

	if (job->console && !base->orphan)
		write_job(job->console, job);
	else if (job->console)
		job->console->job = NULL;
	job->drop(job->snapshot);
	free(job->text);
	free(job);
}

void console_print(struct console *c, void *snapshot, void (*print)(void *snapshot, FILE *out),
		   void (*drop)(void *snapshot))
{
	const struct daemon_api *api = c->config.api;
	struct console_job *job = xcalloc(1, sizeof(*job));

	assert(!c->job && snapshot && print && drop);
	*job = (struct console_job){
		.base = { .run = job_run, .done = job_done, .what = "printing for the console" },
		.console = c,
		.snapshot = snapshot,
		.print = print,
		.drop = drop,
	};
	c->job = job;
	c->config.busy(c->config.arg, true);
	api->submit(api->arg, &job->base);
}

/* ---- output of a view ---------------------------------------------------------------------- */

struct console_copying {
	struct console_viewer viewer;
	struct view_copy *copy;
};

void console_print_view(struct console *c, const struct console_viewer *viewer)
{
	struct console_copying *copying = xcalloc(1, sizeof(*copying));

	assert(!c->job && !c->copying && c->config.api->sm && viewer->snapshot);
	copying->viewer = *viewer;
	copying->copy = sm_view_copy(c->config.api->sm, viewer->routes, 0, NULL);
	c->copying = copying;
	c->config.busy(c->config.arg, true);
}

void console_drop_copying(struct console *c)
{
	struct console_copying *copying = take(c->copying);

	if (!copying)
		return;
	view_copy_free(copying->copy);
	copying->viewer.drop(copying->viewer.snapshot);
	free(copying);
}

void console_copy_some(struct console *c)
{
	struct console_copying *copying = c->copying;
	const struct console_viewer *v = &copying->viewer;
	struct view *view;

	if (!view_copy_turn(&copying->copy, &view))
		return;
	c->copying = NULL;
	v->copied(v->snapshot, view, c->config.api->sm);
	console_print(c, v->snapshot, v->print, v->drop);
	free(copying);
}

void console_drop_output(struct console *c)
{
	if (c->job)
		c->job->console = NULL;
	console_drop_copying(c);
}
