// SPDX-License-Identifier: BSD-2-Clause
/*
 * One session: lines become commands, the prompt comes after each, `status loop` repeats itself,
 * and long output is printed by a worker. The table of commands is in console_commands.c.
 */
#include "console/console.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "console/console_internal.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"
#include "view/view_copy.h"

#define LOOP_INTERVAL (3 * MONO_S)
#define LOOP_HINT     "use \"q<ret>\" to quit loop\n"

/* ---- words --------------------------------------------------------------------------------- */

#define SEPARATORS " \t\r\n"

char *console_word(struct console_words *w)
{
	char *word = w->at + strspn(w->at, SEPARATORS);

	w->at = word + strcspn(word, SEPARATORS);
	if (*w->at)
		*w->at++ = '\0';
	return *word ? word : NULL;
}

char *console_rest(struct console_words *w)
{
	char *rest = w->at + strspn(w->at, SEPARATORS);

	w->at = rest + strcspn(rest, "\t\r\n");
	*w->at = '\0';
	return *rest ? rest : NULL;
}

/* ---- answers ------------------------------------------------------------------------------- */

static void begin_answer(struct console *c)
{
	c->out = open_memstream(&c->text, &c->len);
	if (!c->out)
		abort(); /* as every allocation that fails (util/mem.h) */
}

static void end_answer(struct console *c)
{
	fclose(c->out);
	c->out = NULL;
	if (c->len)
		c->config.write(c->config.arg, c->text, c->len);
	else
		free(c->text);
	c->text = NULL;
}

static void print_prompt(struct console *c)
{
	if (!c->looping && !c->job && !c->copying)
		fputs(CONSOLE_PROMPT, c->out);
}

/* ---- output of a worker -------------------------------------------------------------------- */

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

static void drop_copying(struct console *c)
{
	struct console_copying *copying = take(c->copying);

	if (!copying)
		return;
	view_copy_free(copying->copy);
	copying->viewer.drop(copying->viewer.snapshot);
	free(copying);
}

/* Copies for one turn. A complete view is passed to the worker. */
static void copy_some(struct console *c)
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

void console_sm_gone(struct console *c)
{
	if (!c->copying)
		return;
	drop_copying(c);
	begin_answer(c);
	fputs("The port of the manager is gone. Try again later\n", c->out);
	print_prompt(c);
	end_answer(c);
	c->config.busy(c->config.arg, false);
}

/* ---- commands ------------------------------------------------------------------------------ */

bool console_may(struct console *c, const char *what)
{
	if (!c->config.may_act) {
		fprintf(c->out, "%s: only root and the user that runs opensm may do this\n", what);
		return false;
	}
	log_info("console, %s: %s", c->config.client, what);
	return true;
}

struct sm *console_sm(struct console *c)
{
	const struct daemon_api *api = c->config.api;

	if (!api->sm)
		fprintf(c->out, "There is no subnet manager: %s\n", api->status);
	return api->sm;
}

struct sm *console_sm_if(struct console *c, bool good, const char *fault, const char *command)
{
	if (good)
		return console_sm(c);
	fputs(fault, c->out);
	console_detail(c, command);
	return NULL;
}

void console_wake(struct console *c)
{
	c->config.api->wake(c->config.api->arg);
}

const char *console_name(const struct console *c, const struct node *n)
{
	const struct conf_files *files = sm_files(c->config.api->sm);
	const struct conf_names *names = files ? conf_files_names(files) : NULL;
	const char *name = names ? conf_names_find(names, n->guid) : NULL;

	return name ? name : n->desc;
}

static const struct console_command *find_command(const char *name)
{
	for (const struct console_command *cmd = console_commands; cmd->name; cmd++)
		if (!strcmp(cmd->name, name))
			return cmd;
	return NULL;
}

static void list_commands(struct console *c)
{
	fputs("Supported commands and syntax:\nhelp [<command>]\n", c->out);
	for (const struct console_command *cmd = console_commands; cmd->name; cmd++)
		if (!(cmd->flags & CONSOLE_HIDDEN))
			fprintf(c->out, "%s\n", cmd->syntax);
}

static void not_found(struct console *c, const char *name)
{
	char shown[64];

	fprintf(c->out, "%s : Command not found\n\n",
		str_printable(name, strlen(name), shown, sizeof(shown)));
	list_commands(c);
}

void console_detail(struct console *c, const char *name)
{
	const struct console_command *cmd = find_command(name);

	if (!cmd) {
		not_found(c, name);
		return;
	}
	fprintf(c->out, "%s\n", cmd->syntax);
	if (cmd->detail)
		fputs(cmd->detail, c->out);
}

static void run_command(struct console *c, const char *name, struct console_words *w, mono_t now)
{
	const struct console_command *cmd = find_command(name);
	const char *which;

	if (!strcmp(name, "help")) {
		which = console_word(w);
		if (which)
			console_detail(c, which);
		else
			list_commands(c);
	} else if (!cmd) {
		not_found(c, name);
	} else if (cmd->run && (!(cmd->flags & CONSOLE_ACTS) || console_may(c, name))) {
		cmd->run(c, w, now);
	}
}

/* The prompt of a shell that is left is not needed. */
static bool leaves(struct console *c, const char *name)
{
	if (strcmp(name, "quit") || c->config.local)
		return false;
	c->config.quit(c->config.arg);
	return true;
}

/* While the status repeats itself every line but "q" only gets the hint. */
static void answer_loop(struct console *c, struct console_words *w)
{
	const char *word = console_word(w);

	c->looping = !word || strcmp(word, "q") != 0;
	if (c->looping)
		fputs(LOOP_HINT, c->out);
}

void console_line(struct console *c, char *line, mono_t now)
{
	struct console_words w = { .at = line };
	const char *name = NULL;

	assert(line && !c->job && !c->copying);
	begin_answer(c);
	if (c->looping)
		answer_loop(c, &w);
	else
		name = console_word(&w);
	if (!name || !leaves(c, name)) {
		if (name)
			run_command(c, name, &w, now);
		print_prompt(c);
	}
	end_answer(c);
}

/* ---- status loop --------------------------------------------------------------------------- */

void console_status(struct console *c, struct console_words *w, mono_t now)
{
	const char *how = console_word(w);

	if (how && strcmp(how, "loop")) {
		console_detail(c, "status");
	} else if (!how) {
		console_status_print(c);
	} else {
		c->looping = true;
		c->loop_at = now + LOOP_INTERVAL;
		fputs("Looping on status command...\n", c->out);
		console_status_print(c);
		fputs(LOOP_HINT, c->out);
	}
}

mono_t console_next(const struct console *c)
{
	if (c->copying)
		return 0;
	return c->looping ? c->loop_at : MONO_NEVER;
}

void console_tick(struct console *c, mono_t now)
{
	assert((!c->job && !c->copying) || !c->looping);
	if (c->copying)
		copy_some(c);
	if (!c->looping || now < c->loop_at)
		return;
	c->loop_at = now + LOOP_INTERVAL;
	begin_answer(c);
	console_status_print(c);
	fputs(LOOP_HINT, c->out);
	end_answer(c);
}

/* ---- life ---------------------------------------------------------------------------------- */

struct console *console_new(const struct console_config *config)
{
	struct console *c = xcalloc(1, sizeof(*c));

	assert(config->api && config->client && config->write && config->busy && config->quit);
	c->config = *config;
	c->config.client = xstrdup(config->client);
	begin_answer(c);
	print_prompt(c);
	end_answer(c);
	return c;
}

struct console *console_free(struct console *c)
{
	if (!c)
		return NULL;
	if (c->job)
		c->job->console = NULL;
	drop_copying(c);
	free(as_owner(c->config.client));
	free(c);
	return NULL;
}
