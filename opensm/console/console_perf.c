// SPDX-License-Identifier: BSD-2-Clause
/*
 * perfmgr, pm (console.md 6): the performance manager, and the counters it has read. Totals
 * are copied and printed by a worker: those of a large fabric are tens of megabytes of text.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "console/console_internal.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define NAME_STRLEN 80

/* ---- state --------------------------------------------------------------------------------- */

const char *console_perf_state(const struct perf_status *st)
{
	return st->state == PERF_ENABLED ? "Enabled" : "Disabled";
}

const char *console_perf_sweep(const struct perf_status *st)
{
	return st->sweep == PERF_SWEEPING ? "Active" : "Sleeping";
}

static void print_state(struct console *c)
{
	const struct perf_status *st = perf_status(c->config.api->perf);

	fprintf(c->out,
		"Performance Manager status:\n"
		"state                        : %s\n"
		"sweep state                  : %s\n"
		"sweep time                   : %us\n"
		"outstanding queries/max      : %u/%u\n"
		"remove missing nodes from DB : %s\n"
		"query ClassPortInfo          : %s\n",
		console_perf_state(st), console_perf_sweep(st), st->sweep_time_s, st->outstanding,
		st->max_outstanding, st->remove_missing ? "TRUE" : "FALSE",
		st->query_cpi ? "TRUE" : "FALSE");
}

/* ---- which node ---------------------------------------------------------------------------- */

/* "NAME", "GUID"; names may contain blanks. */
struct wanted {
	bool all;
	guid_t guid; /* 0: by name */
	const struct perf_node *node;
};

/* False, and printed: there is no such node. `text` NULL: all nodes. */
static bool find_node(struct console *c, const char *text, struct wanted *ret)
{
	char shown[NAME_STRLEN];

	*ret = (struct wanted){ .all = !text };
	if (!text)
		return true;
	if (str_to_u64(text, 0, UINT64_MAX, &ret->guid) < 0)
		ret->guid = 0;
	ret->node = perf_node_find(c->config.api->perf, ret->guid, text);
	if (ret->node)
		return true;
	if (ret->guid)
		fprintf(c->out, "Node 0x%" PRIx64 " not found...\n", ret->guid);
	else
		fprintf(c->out, "Node %s not found...\n",
			str_printable(text, strlen(text), shown, sizeof(shown)));
	return false;
}

/* ---- copies -------------------------------------------------------------------------------- */

struct copy {
	struct perf_node *nodes;
	unsigned n, cap;
	int port;      /* < 0: all */
	bool machine;  /* set for the format of the file */
	bool errors;   /* set if zeros are left out */
	char *path;    /* the file; NULL: for the session */
};

static void copy_node(struct copy *cp, const struct perf_node *n)
{
	GROW(cp->nodes, cp->n + 1, cp->cap);
	cp->nodes[cp->n] = *n;
	cp->nodes[cp->n].ports = xmemdup(n->ports, (n->n_ports + 1u) * sizeof(*n->ports));
	cp->n++;
}

static struct copy *copy_new(const struct console *c, const struct wanted *w)
{
	struct copy *cp = xcalloc(1, sizeof(*cp));
	const struct perf_node *n;

	cp->port = -1;
	if (!w->all) {
		copy_node(cp, w->node);
		return cp;
	}
	for (unsigned i = 0; (n = perf_node_at(c->config.api->perf, i)); i++)
		copy_node(cp, n);
	return cp;
}

static void copy_drop(void *snapshot)
{
	struct copy *cp = snapshot;

	for (unsigned i = 0; i < cp->n; i++)
		free(as_owner(cp->nodes[i].ports));
	free(cp->nodes);
	free(cp->path);
	free(cp);
}

static void print_nodes(const struct copy *cp, FILE *out)
{
	for (unsigned i = 0; i < cp->n; i++) {
		if (cp->machine)
			perf_print_machine(&cp->nodes[i], out);
		else if (cp->errors)
			perf_print_errors(&cp->nodes[i], out);
		else
			perf_print_node(&cp->nodes[i], cp->port, out);
	}
}

/* 0 or -errno. */
static int write_file(const struct copy *cp)
{
	struct file_replace *f = file_replace_open(cp->path, false);

	if (!f)
		return -errno;
	print_nodes(cp, file_replace_stream(f));
	return file_replace_commit(f, false);
}

static void copy_print(void *snapshot, FILE *out)
{
	const struct copy *cp = snapshot;
	int r = 0;

	if (cp->path)
		r = write_file(cp);
	else
		print_nodes(cp, out);
	if (r < 0)
		fprintf(out, "Could not open file %s: %s\n", cp->path, strerror(-r));
}

/* ---- counters ------------------------------------------------------------------------------ */

static void set_port(struct console *c, struct copy *cp, const char *text)
{
	const struct perf_node *n = &cp->nodes[0];
	char shown[NAME_STRLEN];
	uint64_t port;

	if (str_to_u64(text, 0, n->n_ports, &port) < 0 || (port == 0 && !n->has_port0))
		fprintf(c->out, "Warning: \"%s\" is not a valid port\n",
			str_printable(text, strlen(text), shown, sizeof(shown)));
	else
		cp->port = (int)port;
}

/* Copies the nodes that `text` names. */
static void print_copy(struct console *c, const char *text, const char *port, bool errors)
{
	struct wanted wanted;
	struct copy *cp;

	if (!find_node(c, text, &wanted))
		return;
	cp = copy_new(c, &wanted);
	cp->errors = errors;
	if (port && !wanted.all)
		set_port(c, cp, port);
	console_print(c, cp, copy_print, copy_drop);
}

static void pm_print_counters(struct console *c, struct console_words *w)
{
	char *text = console_rest(w);
	char *port = text ? strchr(text, ':') : NULL;

	if (port)
		*port++ = '\0';
	print_copy(c, text && *text ? text : NULL, port, false);
}

static void pm_print_errors(struct console *c, struct console_words *w)
{
	print_copy(c, console_rest(w), NULL, true);
}

static void pm_dump_counters(struct console *c, struct console_words *w)
{
	const struct conf *conf = c->config.api->conf;
	const struct wanted all = { .all = true };
	const char *how = console_word(w);
	struct copy *cp = copy_new(c, &all);

	cp->machine = how && !strcmp(how, "mach");
	cp->path = conf->event_db_dump_file
			   ? xstrdup(conf->event_db_dump_file)
			   : xasprintf("%s/opensm_port_counters.log", conf->dump_files_dir);
	console_print(c, cp, copy_print, copy_drop);
}

static void pm_clear_counters(struct console *c, struct console_words *w)
{
	const struct daemon_api *api = c->config.api;
	mono_t now = daemon_api_now(api);

	perf_clear_totals(api->perf, daemon_api_realtime(api, now) / MONO_S);
}

static void pm_clear_inactive(struct console *c, struct console_words *w)
{
	fprintf(c->out, "Removed %u nodes from Database\n",
		perf_remove_inactive(c->config.api->perf));
}

/* ---- orders -------------------------------------------------------------------------------- */

static void pm_sweep(struct console *c, struct console_words *w)
{
	fputs("sweep initiated...\n", c->out);
	perf_sweep_now(c->config.api->perf);
}

static void pm_sweep_time(struct console *c, struct console_words *w)
{
	const char *word = console_word(w);
	uint64_t seconds;

	if (!word)
		fputs("sweep_time requires a time period (in seconds) to be specified\n", c->out);
	else if (str_to_u64(word, 0, UINT16_MAX, &seconds) < 0 || !seconds)
		fputs("sweep_time requires a positive time period (in seconds) to be specified\n",
		      c->out);
	else
		perf_set_sweep_time(c->config.api->perf, (unsigned)seconds);
}

/* ---- redirection --------------------------------------------------------------------------- */

static bool follows_redirection(struct console *c)
{
	if (!c->config.api->conf->perfmgr_redir)
		fputs("Perfmgr redirection not enabled\n", c->out);
	return c->config.api->conf->perfmgr_redir;
}

static void pm_dump_redir(struct console *c, struct console_words *w)
{
	const struct perf *perf = c->config.api->perf;
	const struct perf_node *n;
	struct wanted wanted;

	if (!follows_redirection(c))
		return;
	fputs("\nRedirection Table\n-----------------\n", c->out);
	if (!find_node(c, console_rest(w), &wanted))
		return;
	if (!wanted.all)
		perf_print_redirections(perf, wanted.node, c->out);
	for (unsigned i = 0; wanted.all && (n = perf_node_at(perf, i)); i++)
		perf_print_redirections(perf, n, c->out);
}

static void pm_clear_redir(struct console *c, struct console_words *w)
{
	struct wanted wanted;

	if (follows_redirection(c) && find_node(c, console_rest(w), &wanted))
		perf_clear_redirections(c->config.api->perf, wanted.all ? 0 : wanted.node->guid);
}

/* ---- the table ----------------------------------------------------------------------------- */

static const struct pm_command {
	const char *name;
	void (*run)(struct console *c, struct console_words *w);
	bool acts;
	void (*set)(struct perf *p, bool on); /* in place of run() */
	bool on;
} pm_commands[] = {
	{ "enable", .acts = true, .set = perf_enable, .on = true },
	{ "disable", .acts = true, .set = perf_enable, .on = false },
	{ "sweep", .run = pm_sweep, .acts = true },
	{ "sweep_time", .run = pm_sweep_time, .acts = true },
	{ "clear_counters", .run = pm_clear_counters, .acts = true },
	{ "dump_counters", .run = pm_dump_counters, .acts = true },
	{ "print_counters", .run = pm_print_counters },
	{ "pc", .run = pm_print_counters },
	{ "print_errors", .run = pm_print_errors },
	{ "pe", .run = pm_print_errors },
	{ "set_rm_nodes", .acts = true, .set = perf_set_remove_missing, .on = true },
	{ "clear_rm_nodes", .acts = true, .set = perf_set_remove_missing, .on = false },
	{ "set_query_cpi", .acts = true, .set = perf_set_query_cpi, .on = true },
	{ "clear_query_cpi", .acts = true, .set = perf_set_query_cpi, .on = false },
	{ "clear_inactive", .run = pm_clear_inactive, .acts = true },
	{ "dump_redir", .run = pm_dump_redir },
	{ "clear_redir", .run = pm_clear_redir, .acts = true },
};

void console_perfmgr(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	char shown[NAME_STRLEN], what[NAME_STRLEN];

	if (!word) {
		print_state(c);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(pm_commands); i++) {
		const struct pm_command *cmd = &pm_commands[i];

		if (strcmp(cmd->name, word))
			continue;
		snprintf(what, sizeof(what), "perfmgr %s", word);
		if (cmd->acts && !console_may(c, what))
			return;
		if (cmd->set)
			cmd->set(c->config.api->perf, cmd->on);
		else
			cmd->run(c, w);
		console_wake(c);
		return;
	}
	fprintf(c->out, "\"%s\" option not found\n",
		str_printable(word, strlen(word), shown, sizeof(shown)));
}
