// SPDX-License-Identifier: BSD-2-Clause
/* Files in, struct choose_input out. */
#include "launch/gather.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

/* In how many keys the base configuration says something else than the program does by itself. */
static unsigned count_settings(const struct launch_paths *p)
{
	_cleanup_free_ char *path = xasprintf("%s/opensm.conf", p->conf_dir);
	_cleanup_(conf_unrefp) struct conf *c = conf_new();
	struct conf_report findings = { 0 };
	unsigned n = 0;

	conf_read(c, path, &findings);
	conf_report_clear(&findings);
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		if (!conf_value_is_default(c, id))
			n++;
	}
	return n;
}

static int looks_like_conf(const struct dirent *e)
{
	return str_starts(e->d_name, "opensm.conf");
}

/* -errno: whether there are numbered files is unknown; "none" would start the wrong instances. */
static int list_names(const char *dir, char ***ret_names, size_t *ret_n, struct conf_report *r)
{
	struct dirent **entries = NULL;
	int n = scandir(dir, &entries, looks_like_conf, versionsort);
	int fault = n < 0 && errno != ENOENT ? -errno : 0;
	char **names = xcalloc(n > 0 ? (size_t)n : 1, sizeof(*names));

	if (fault < 0)
		conf_report_add(r, CONF_ERROR, dir, 0, 0,
				"cannot be read: %s; expected the folder of opensm.conf.N; nothing "
				"is started",
				strerror(-fault));
	*ret_n = n > 0 ? (size_t)n : 0;
	for (int i = 0; i < n; i++) {
		names[i] = xstrdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	*ret_names = names;
	return fault;
}

int gather(const struct launch_paths *p, const uint64_t *ports, size_t n_ports, struct choice *ret,
	   struct conf_report *r)
{
	struct choose_input in = { .conf_dir = p->conf_dir, .ports = ports, .n_ports = n_ports };
	int first = sysconfig_read(p->sysconfig, &in.settings, r);
	int second = sysconfig_read(p->defaults, &in.settings, r);
	char **names;
	int third = list_names(p->conf_dir, &names, &in.n_names, r);
	int fault = first < 0 ? first : second < 0 ? second : third;

	*ret = (struct choice){ 0 };
	in.names = (const char *const *)names;
	in.base_settings = count_settings(p);
	if (!fault)
		choose(&in, ret, r);
	for (size_t i = 0; i < in.n_names; i++)
		free(names[i]);
	free(names);
	sysconfig_clear(&in.settings);
	return fault;
}

char *gather_first_error(const struct conf_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->findings[i].severity == CONF_ERROR)
			return conf_finding_text(&r->findings[i]);
	return NULL;
}
