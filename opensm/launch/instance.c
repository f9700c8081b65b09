// SPDX-License-Identifier: BSD-2-Clause
/* What an instance is started with. */
#include "launch/instance.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/cli.h"
#include "conf/conf.h"
#include "launch/seed.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"
#include "util/title.h"

static char *base_conf(const struct launch_paths *p)
{
	return xasprintf("%s/opensm.conf", p->conf_dir);
}

struct instance *instance_new(char *name)
{
	struct instance *i = xcalloc(1, sizeof(*i));

	assert(name);
	i->name = name;
	return i;
}

struct instance *instance_free(struct instance *i)
{
	if (!i)
		return NULL;
	free(i->name);
	free(i->conf);
	free(i->fault);
	free(i->log);
	free(i->cache_dir);
	free(i->dump_dir);
	free(i);
	return NULL;
}

bool instance_is_named(const struct instance *i)
{
	return !str_equal(i->name, INSTANCE_UNNAMED);
}

bool instance_equal(const struct instance *a, const struct instance *b)
{
	return str_equal(a->name, b->name) && str_equal(a->conf, b->conf) &&
	       str_equal(a->fault, b->fault) && a->strict == b->strict && a->prefix == b->prefix &&
	       a->guid_given == b->guid_given && (!a->guid_given || a->guid == b->guid) &&
	       a->priority_given == b->priority_given &&
	       (!a->priority_given || a->priority == b->priority);
}

/* ---- its configuration --------------------------------------------------------------------- */

/* Reads the configuration like the daemon, which will report its findings. */
static struct conf *read_conf(const struct instance *i, const struct launch_paths *p)
{
	const struct cli_env env = { .version = PACKAGE_VERSION };
	struct conf_report findings = { 0 };
	_cleanup_free_ char *base = base_conf(p);
	struct conf *c = NULL;

	cli_read_config(i->conf ? i->conf : base, &env, &c, &findings);
	conf_settle(c);
	conf_report_clear(&findings);
	return c;
}

void instance_place(struct instance *i, const struct launch_paths *p)
{
	_cleanup_(conf_unrefp) struct conf *c = read_conf(i, p);
	bool named = instance_is_named(i), own = named || !launch_paths_standard_log(p);

	i->log_given = own && conf_value_is_default(c, CONF_ID_log_file);
	i->dump_given = own && conf_value_is_default(c, CONF_ID_dump_files_dir);
	if (!i->log_given)
		i->log = xstrdup(c->log_file ? c->log_file : "stdout");
	else
		i->log = named ? xasprintf("%s/opensm.%s.log", p->log_dir, i->name)
			       : xasprintf("%s/opensm.log", p->log_dir);
	if (!i->dump_given)
		i->dump_dir = xstrdup(c->dump_files_dir ? c->dump_files_dir : "");
	else
		i->dump_dir = named ? xasprintf("%s/opensm/%s", p->log_dir, i->name)
				    : xstrdup(p->log_dir);
	i->guid = i->guid_given ? i->guid : c->guid;
	i->priority = i->priority_given ? i->priority : c->sm_priority;
	i->cache_dir = named ? xasprintf("%s/%s", p->cache_dir, i->name) : xstrdup(p->cache_dir);
}

int instance_folders(const struct instance *i, const struct launch_paths *p, char **ret_what)
{
	int r = file_mkdirs(p->cache_dir, 0755);

	if (r >= 0 && instance_is_named(i))
		r = seed_cache(p->cache_dir, i->name);
	if (r < 0) {
		*ret_what = xasprintf("cannot make %s: %s", i->cache_dir, strerror(-r));
		return r;
	}
	r = i->dump_given ? file_mkdirs(i->dump_dir, 0755) : 0;
	if (r < 0)
		*ret_what = xasprintf("cannot make %s: %s", i->dump_dir, strerror(-r));
	return r;
}

/* ---- arguments and environment ------------------------------------------------------------- */

struct strv {
	char **v;
	size_t n, cap;
};

static void add_word(struct strv *s, char *word)
{
	GROW(s->v, s->n + 2, s->cap);
	s->v[s->n++] = word;
	s->v[s->n] = NULL;
}

__attribute__((format(printf, 3, 4))) static void add_option(struct strv *s, const char *name,
							     const char *value, ...)
{
	va_list ap;

	add_word(s, xstrdup(name));
	va_start(ap, value);
	add_word(s, xvasprintf(value, ap));
	va_end(ap);
}

char **strv_free(char **v)
{
	for (char **s = v; s && *s; s++)
		free(*s);
	free(v);
	return NULL;
}

char **instance_argv(const struct instance *i, const struct launch_paths *p)
{
	_cleanup_free_ char *text = xasprintf("%s: starting", i->name);
	_cleanup_free_ char *base = base_conf(p);
	struct strv s = { 0 };

	add_word(&s, xstrdup(p->program));
	if (i->conf)
		add_option(&s, "-F", "%s", i->conf);
	else if (!launch_paths_standard_conf(p) && access(base, F_OK) == 0)
		add_option(&s, "-F", "%s", base);
	if (i->guid_given)
		add_option(&s, "-g", "0x%016" PRIx64, i->guid);
	if (i->prefix)
		add_option(&s, "--subnet_prefix", "0x%016" PRIx64, i->prefix);
	if (i->priority_given)
		add_option(&s, "-p", "%u", i->priority);
	if (i->log_given)
		add_option(&s, "-f", "%s", i->log);
	if (i->dump_given)
		add_option(&s, "--dump_files_dir", "%s", i->dump_dir);
	if (i->strict)
		add_word(&s, xstrdup("--strict"));
	add_word(&s, title_new(TITLE_WIDTH, text));
	return s.v;
}

/* OSM_TMP_DIR is the folder of dumps of the arguments. */
void instance_setenv(const struct instance *i, const struct launch_paths *p)
{
	setenv("OPENSM_INSTANCE", i->name, 1);
	setenv("OPENSM_RUN_DIR", p->run_dir, 1);
	setenv("OSM_CACHE_DIR", i->cache_dir, 1);
	setenv("OPENSM_STATUS_ARG", "1", 1);
	if (i->dump_given)
		setenv("OSM_TMP_DIR", i->dump_dir, 1);
}
