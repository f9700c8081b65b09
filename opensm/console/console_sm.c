// SPDX-License-Identifier: BSD-2-Clause
/* How a command reaches the manager: whether the session may act, the manager if there is one. */
#include "console/console_internal.h"
#include "util/log.h"

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
	c->help = command;
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
