// SPDX-License-Identifier: BSD-2-Clause
/*
 * The service starts without them, so that the journal and `systemctl status` say which file is
 * missing: a condition of the unit would say only that it failed.
 */
#include "rest/setup/missing.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"

#ifndef OPENSM_EXAMPLES_DIR
#define OPENSM_EXAMPLES_DIR "/usr/share/doc/opensm/examples"
#endif

static bool is_missing(const char *path)
{
	return path && access(path, F_OK) < 0 && errno == ENOENT;
}

static bool needs_tls(const struct rest_conf *c)
{
	for (unsigned i = 0; i < c->n_listen; i++)
		if (c->listen[i].tls)
			return true;
	return false;
}

/* "opensm-rest", or with the option that a configuration elsewhere needs. */
static char *command(const char *conf_path)
{
	if (!strcmp(conf_path, OPENSM_CONF_DIR "/opensm-rest.conf"))
		return xstrdup("opensm-rest");
	return xasprintf("opensm-rest --config %s", conf_path);
}

static unsigned say_conf(const char *conf_path, void (*say)(const char *sentence))
{
	_cleanup_free_ char *text = NULL;

	if (!is_missing(conf_path))
		return 0;
	text = xasprintf("%s: no such file; begin with the example: cp %s/opensm-rest.conf %s",
			 conf_path, OPENSM_EXAMPLES_DIR, conf_path);
	say(text);
	return 1;
}

unsigned missing_files(const char *conf_path, const struct rest_conf *conf,
		       void (*say)(const char *sentence))
{
	assert(conf_path && say);
	if (!conf)
		return say_conf(conf_path, say);

	_cleanup_free_ char *program = command(conf_path);
	const bool tls = needs_tls(conf);
	const struct {
		const char *path, *what, *option;
	} rows[] = {
		{ tls ? conf->certificate : NULL,
		  "copy the certificate of this host there, or make one that the host signs "
		  "itself:",
		  "--make-certificate" },
		{ tls ? conf->key : NULL,
		  "copy the key of the certificate there (mode 0600), or make both:",
		  "--make-certificate" },
		{ conf->users, "make the first user:", "--add-user NAME --right tenant" },
	};
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *text = NULL;

		if (!is_missing(rows[i].path))
			continue;
		text = xasprintf("%s: no such file; %s %s %s", rows[i].path, rows[i].what, program,
				 rows[i].option);
		say(text);
		n++;
	}
	return n;
}
