// SPDX-License-Identifier: BSD-2-Clause
/*
 * One session: lines become commands, the prompt comes after each, `status loop` repeats itself, and what
 * takes long is printed by a worker. The table of commands is in console_commands.c.
 */
#include "ctl/console.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/console_private.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define LOOP_INTERVAL (3 * MONO_S)
#define LOOP_HINT     "use \"q<ret>\" to quit loop\n"

/* ---- words --------------------------------------------------------------------------------- */

static bool is_separator(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n';
}

static void skip_separators(struct console_words *w)
{
	while (is_separator(*w->at))
		w->at++;
}

char *console_word(struct console_words *w)
{
	char *word;

	skip_separators(w);
	if (!*w->at)
		return NULL;
	word = w->at;
	while (*w->at && !is_separator(*w->at))
		w->at++;
	if (*w->at)
		*w->at++ = '\0';
	return word;
}

char *console_rest(struct console_words *w)
{
	char *rest;

	skip_separators(w);
	rest = w->at;
	w->at += strcspn(w->at, "\t\r\n");
	*w->at = '\0';
	return *rest ? rest : NULL;
}

/* ---- what is said -------------------------------------------------------------------------- */

static void begin(struct console *c)
{
	c->out = open_memstream(&c->text, &c->len);
	if (!c->out)
		abort(); /* as every allocation that fails (util/mem.h) */
}

static void end(struct console *c)
{
	fclose(c->out);
	c->out = NULL;
	if (c->len)
		c->config.write(c->config.arg, c->text, c->len);
	else
		free(c->text);
	c->text = NULL;
}

static void prompt(struct console *c)
{
	if (!c->looping && !c->job)
		fputs(CONSOLE_PROMPT, c->out);
}

/* ---- what is printed by a worker ----------------------------------------------------------- */

struct console_job {
	struct sm_job base;
	struct console *console; /* NULL: nobody waits for it any more */
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

/* It may be tens of megabytes: nothing is copied here. */
static void tell(struct console *c, struct console_job *job)
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
		tell(job->console, job);
	else if (job->console)
		job->console->job = NULL;
	job->drop(job->snapshot);
	free(job->text);
	free(job);
}

void console_print(struct console *c, void *snapshot, void (*print)(void *snapshot, FILE *out),
		   void (*drop)(void *snapshot))
{
	const struct scene *scene = c->config.scene;
	struct console_job *job = xcalloc(1, sizeof(*job));

	job->base = (struct sm_job){ .run = job_run, .done = job_done, .what = "printing for the console" };
	job->console = c;
	job->snapshot = snapshot;
	job->print = print;
	job->drop = drop;
	c->job = job;
	c->config.busy(c->config.arg, true);
	scene->submit(scene->arg, &job->base);
}

/* ---- commands ------------------------------------------------------------------------------ */

bool console_may(struct console *c, const char *what)
{
	if (!c->config.may_act) {
		fprintf(c->out, "%s: only root and the user that runs opensm may do this\n", what);
		return false;
	}
	log_info("console, %s: %s", c->who, what);
	return true;
}

struct sm *console_sm(struct console *c)
{
	const struct scene *scene = c->config.scene;

	if (!scene->sm)
		fprintf(c->out, "There is no subnet manager: %s\n", scene->status);
	return scene->sm;
}

void console_wake(struct console *c)
{
	c->config.scene->wake(c->config.scene->arg);
}

const char *console_name(const struct console *c, const struct node *n)
{
	const struct conf_files *files = sm_files(c->config.scene->sm);
	const struct conf_names *names = files ? conf_files_names(files) : NULL;
	const char *name = names ? conf_names_find(names, n->guid) : NULL;

	return name ? name : n->desc;
}

static const struct console_command *find(const char *name)
{
	for (const struct console_command *cmd = console_commands; cmd->name; cmd++)
		if (!strcmp(cmd->name, name))
			return cmd;
	return NULL;
}

static void list(struct console *c)
{
	fputs("Supported commands and syntax:\nhelp [<command>]\n", c->out);
	for (const struct console_command *cmd = console_commands; cmd->name; cmd++)
		if (!(cmd->flags & CONSOLE_HIDDEN))
			fprintf(c->out, "%s\n", cmd->syntax);
}

static void not_found(struct console *c, const char *name)
{
	char shown[64];

	fprintf(c->out, "%s : Command not found\n\n", str_printable(name, strlen(name), shown, sizeof(shown)));
	list(c);
}

void console_detail(struct console *c, const char *name)
{
	const struct console_command *cmd = find(name);

	if (!cmd) {
		not_found(c, name);
		return;
	}
	fprintf(c->out, "%s\n", cmd->syntax);
	if (cmd->detail)
		fputs(cmd->detail, c->out);
}

static void help(struct console *c, struct console_words *w)
{
	const char *name = console_word(w);

	if (name)
		console_detail(c, name);
	else
		list(c);
}

static void run(struct console *c, const char *name, struct console_words *w, mono_t now)
{
	const struct console_command *cmd;

	if (!strcmp(name, "help")) {
		help(c, w);
		return;
	}
	cmd = find(name);
	if (!cmd)
		not_found(c, name);
	else if (cmd->run && (!(cmd->flags & CONSOLE_ACTS) || console_may(c, name)))
		cmd->run(c, w, now);
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
	const char *name;

	begin(c);
	if (c->looping) {
		answer_loop(c, &w);
	} else {
		name = console_word(&w);
		if (name && leaves(c, name)) {
			end(c);
			return;
		}
		if (name)
			run(c, name, &w, now);
	}
	prompt(c);
	end(c);
}

/* ---- status loop --------------------------------------------------------------------------- */

void console_status(struct console *c, struct console_words *w, mono_t now)
{
	const char *how = console_word(w);

	if (how && strcmp(how, "loop")) {
		console_detail(c, "status");
		return;
	}
	if (!how) {
		console_status_print(c);
		return;
	}
	c->looping = true;
	c->loop_at = now + LOOP_INTERVAL;
	fputs("Looping on status command...\n", c->out);
	console_status_print(c);
	fputs(LOOP_HINT, c->out);
}

mono_t console_next(const struct console *c)
{
	return c->looping ? c->loop_at : MONO_NEVER;
}

void console_tick(struct console *c, mono_t now)
{
	if (!c->looping || now < c->loop_at)
		return;
	c->loop_at = now + LOOP_INTERVAL;
	begin(c);
	console_status_print(c);
	fputs(LOOP_HINT, c->out);
	end(c);
}

/* ---- life ---------------------------------------------------------------------------------- */

struct console *console_new(const struct console_config *config)
{
	struct console *c = xcalloc(1, sizeof(*c));

	c->config = *config;
	c->who = xstrdup(config->who);
	c->config.who = c->who;
	begin(c);
	prompt(c);
	end(c);
	return c;
}

struct console *console_free(struct console *c)
{
	if (!c)
		return NULL;
	if (c->job)
		c->job->console = NULL;
	free(c->who);
	free(c);
	return NULL;
}
