// SPDX-License-Identifier: BSD-2-Clause
/*
 * One session: lines become commands, the prompt comes after each. The table of commands is in
 * console_commands.c, long output in console_print.c.
 */
#include "console/console.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "console/console_internal.h"
#include "util/mem.h"
#include "util/str.h"

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

void console_sm_gone(struct console *c)
{
	if (!c->copying)
		return;
	console_drop_copying(c);
	begin_answer(c);
	fputs("The port of the manager is gone. Try again later\n", c->out);
	print_prompt(c);
	end_answer(c);
	c->config.busy(c->config.arg, false);
}

/* ---- commands ------------------------------------------------------------------------------ */

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

static void print_detail(struct console *c, const char *name)
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
			print_detail(c, which);
		else
			list_commands(c);
	} else if (!cmd) {
		not_found(c, name);
	} else if (cmd->run && (!(cmd->flags & CONSOLE_ACTS) || console_may(c, name))) {
		cmd->run(c, w, now);
		if (c->help)
			print_detail(c, take(c->help));
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

void console_line(struct console *c, char *line, mono_t now)
{
	struct console_words w = { .at = line };
	const char *name = NULL;

	assert(line && !c->job && !c->copying);
	begin_answer(c);
	if (c->looping)
		console_status_hint(c, &w);
	else
		name = console_word(&w);
	if (!name || !leaves(c, name)) {
		if (name)
			run_command(c, name, &w, now);
		print_prompt(c);
	}
	end_answer(c);
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
		console_copy_some(c);
	if (!c->looping || now < c->loop_at)
		return;
	begin_answer(c);
	console_status_again(c, now);
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
	console_drop_output(c);
	free(as_owner(c->config.client));
	free(c);
	return NULL;
}
