// SPDX-License-Identifier: BSD-2-Clause
/* Commands that ask something of the manager, the log, or about the configuration. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "console/console_internal.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"

#define LOG_LEVEL_MAX	   0xFFu
#define PRIORITY_MAX	   15u
/* A table of modules and levels; more is not shown. */
#define PER_MODULE_LOG_MAX (64u << 10)

/* ---- the log ------------------------------------------------------------------------------- */

static int read_level(const char *word, uint64_t *ret)
{
	bool zero_x = str_starts(word, "0x") || str_starts(word, "0X");

	if (zero_x || word[0] == 'x')
		return str_to_u64(word + (zero_x ? 2 : 1), 16, UINT32_MAX, ret);
	return str_to_u64(word, 10, UINT32_MAX, ret);
}

void console_loglevel(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	char shown[32];
	uint64_t level;

	if (!word) {
		fprintf(c->out, "Current log level is 0x%x\n", log_flags());
	} else if (read_level(word, &level) < 0) {
		fprintf(c->out, "Invalid log level %s\n",
			str_printable(word, strlen(word), shown, sizeof(shown)));
	} else if (level > LOG_LEVEL_MAX) {
		fprintf(c->out, "Invalid log level 0x%x\n", (unsigned)level);
	} else if (console_may(c, "loglevel")) {
		fprintf(c->out, "Setting log level to 0x%x\n", (unsigned)level);
		log_set_flags(level);
		log_sys("Setting log level to: 0x%02x", (unsigned)level);
	}
}

void console_logflush(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);

	if (word && (!strcmp(word, "on") || !strcmp(word, "off")))
		return; /* every record is one write() as it is */
	fputs("Invalid logflush command\n", c->out);
	c->help = "sweep"; /* as OpenSM does */
}

void console_permodlog(struct console *c, struct console_words *w, mono_t now)
{
	const char *path = c->config.api->conf->per_module_logging_file;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = path && *path ? file_read(path, PER_MODULE_LOG_MAX, &text, &len) : -ENOENT;

	if (r == 0)
		fprintf(c->out, "Per module logging file: %s\n%s\n", path, text);
	else if (r != -ENOENT)
		fprintf(c->out, "fopen(%s) failed: %s\n", path, strerror(-r));
}

/* ---- the manager --------------------------------------------------------------------------- */

void console_priority(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	struct sm *sm = console_sm(c);
	char shown[32];
	uint64_t priority;

	if (!sm)
		return;
	if (!word) {
		fprintf(c->out, "Current sm-priority is %u\n", sm_priority(sm));
	} else if (str_to_u64(word, 0, PRIORITY_MAX, &priority) < 0) {
		fprintf(c->out, "Invalid sm-priority %s; must be between 0 and 15\n",
			str_printable(word, strlen(word), shown, sizeof(shown)));
	} else if (console_may(c, "priority")) {
		fprintf(c->out, "Setting sm-priority to %u\n", (unsigned)priority);
		sm_set_priority(sm, priority);
		console_wake(c);
	}
}

void console_resweep(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	bool heavy = word && !strcmp(word, "heavy"), light = word && !strcmp(word, "light");
	struct sm *sm = console_sm_if(c, heavy || light, "Invalid resweep command\n", "resweep");

	if (!sm)
		return;
	if (heavy)
		sm_request_heavy(sm, NULL);
	else
		sm_request_light(sm);
	console_wake(c);
}

void console_reroute(struct console *c, struct console_words *w, mono_t now)
{
	struct sm *sm = console_sm(c);

	if (!sm)
		return;
	sm_request_reroute(sm);
	console_wake(c);
}

void console_sweep(struct console *c, struct console_words *w, mono_t now)
{
	const char *word = console_word(w);
	bool on = word && !strcmp(word, "on"), off = word && !strcmp(word, "off");
	struct sm *sm = console_sm_if(c, on || off, "Invalid sweep command\n", "sweep");

	if (!sm)
		return;
	sm_set_sweeping(sm, on);
	console_wake(c);
}

void console_update_desc(struct console *c, struct console_words *w, mono_t now)
{
	struct sm *sm = console_sm(c);

	if (!sm)
		return;
	sm_request_descriptions(sm);
	console_wake(c);
}

/* ---- configuration, version ---------------------------------------------------------------- */

/* Prints the configuration, with the priority set at run time. */
void console_dump_conf(struct console *c, struct console_words *w, mono_t now)
{
	const struct daemon_api *api = c->config.api;
	_cleanup_(conf_unrefp) struct conf *conf = conf_copy(api->conf);
	struct conf_report report = { 0 };

	if (api->sm)
		conf->sm_priority = sm_priority(api->sm);
	conf_write(conf, c->out, &report);
	conf_report_print(&report, c->out);
	conf_report_clear(&report);
}

void console_version(struct console *c, struct console_words *w, mono_t now)
{
	fprintf(c->out, "OpenSM %s build %s %s\n", c->config.api->version, __DATE__, __TIME__);
}
