// SPDX-License-Identifier: BSD-2-Clause
/* What an instance is started with. */
#include "launch/instance.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "conf/cli.h"
#include "launch/seed.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"
#include "util/title.h"

extern char **environ;

static char *base_conf(const struct launch_paths *p)
{
	return xasprintf("%s/opensm.conf", p->conf_dir);
}

/* Its configuration as the daemon will read it; findings are the daemon's to tell. */
static struct conf *read_conf(const struct instance *i, const struct launch_paths *p)
{
	const struct cli_env env = { .version = PACKAGE_VERSION };
	struct conf_report findings = { 0 };
	_cleanup_free_ char *base = base_conf(p);
	struct conf *c = NULL;

	cli_read_config(i->plan.conf ? i->plan.conf : base, &env, &c, &findings);
	conf_settle(c);
	conf_report_clear(&findings);
	return c;
}

static void instance_place(struct instance *i, const struct launch_paths *p)
{
	_cleanup_(conf_unrefp) struct conf *c = read_conf(i, p);
	bool named = plan_is_named(&i->plan), own = named || !launch_paths_standard_log(p);
	const char *name = i->plan.name;

	i->log_given = own && conf_value_is_default(c, CONF_ID_log_file);
	i->dump_given = own && conf_value_is_default(c, CONF_ID_dump_files_dir);
	if (!i->log_given)
		i->log = xstrdup(c->log_file ? c->log_file : "stdout");
	else
		i->log = named ? xasprintf("%s/opensm.%s.log", p->log_dir, name) :
				 xasprintf("%s/opensm.log", p->log_dir);
	if (!i->dump_given)
		i->dump_dir = xstrdup(c->dump_files_dir ? c->dump_files_dir : "");
	else
		i->dump_dir = named ? xasprintf("%s/opensm/%s", p->log_dir, name) :
				      xstrdup(p->log_dir);
	i->guid = i->plan.guid ? i->plan.guid : c->guid;
	i->priority = i->plan.priority >= 0 ? (unsigned)i->plan.priority : c->sm_priority;
	i->cache_dir = named ? xasprintf("%s/%s", p->cache_dir, name) : xstrdup(p->cache_dir);
}

struct instance *instance_new(const struct launch_paths *p, struct plan *plan, bool strict)
{
	struct instance *i = xcalloc(1, sizeof(*i));

	assert(plan->name);
	i->plan = *plan;
	i->strict = strict;
	*plan = (struct plan){ 0 };
	instance_place(i, p);
	return i;
}

struct instance *instance_free(struct instance *i)
{
	if (!i)
		return NULL;
	plan_clear(&i->plan);
	free(i->log);
	free(i->cache_dir);
	free(i->dump_dir);
	free(i);
	return NULL;
}

int instance_folders(const struct instance *i, const struct launch_paths *p, char **ret_what)
{
	int r = file_mkdirs(p->cache_dir, 0755);

	if (r >= 0 && plan_is_named(&i->plan))
		r = seed_cache(p->cache_dir, i->plan.name);
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

static void add_option(struct strv *s, const char *name, char *value)
{
	add_word(s, xstrdup(name));
	add_word(s, value);
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
	_cleanup_free_ char *text = xasprintf("%s: starting", i->plan.name);
	_cleanup_free_ char *base = base_conf(p);
	const struct plan *plan = &i->plan;
	struct strv s = { 0 };

	add_word(&s, xstrdup(p->program));
	if (plan->conf)
		add_option(&s, "-F", xstrdup(plan->conf));
	else if (!launch_paths_standard_conf(p) && access(base, F_OK) == 0)
		add_option(&s, "-F", xstrdup(base));
	if (plan->guid)
		add_option(&s, "-g", xasprintf("0x%016" PRIx64, plan->guid));
	if (plan->prefix)
		add_option(&s, "--subnet_prefix", xasprintf("0x%016" PRIx64, plan->prefix));
	if (plan->priority >= 0)
		add_option(&s, "-p", xasprintf("%d", plan->priority));
	if (i->log_given)
		add_option(&s, "-f", xstrdup(i->log));
	if (i->dump_given)
		add_option(&s, "--dump_files_dir", xstrdup(i->dump_dir));
	if (i->strict)
		add_word(&s, xstrdup("--strict"));
	add_word(&s, title_new(TITLE_WIDTH, text));
	return s.v;
}

/* OSM_TMP_DIR goes where the arguments say where the dumps are. */
static bool is_set_here(const struct instance *i, const char *variable)
{
	static const char *const names[] = { "OPENSM_INSTANCE=", "OPENSM_RUN_DIR=",
					     "OSM_CACHE_DIR=", "OPENSM_STATUS_ARG=" };

	for (size_t n = 0; n < ARRAY_SIZE(names); n++)
		if (str_starts(variable, names[n]))
			return true;
	return i->dump_given && str_starts(variable, "OSM_TMP_DIR=");
}

char **instance_envp(const struct instance *i, const struct launch_paths *p)
{
	struct strv s = { 0 };

	for (char **e = environ; *e; e++)
		if (!is_set_here(i, *e))
			add_word(&s, xstrdup(*e));
	add_word(&s, xasprintf("OPENSM_INSTANCE=%s", i->plan.name));
	add_word(&s, xasprintf("OPENSM_RUN_DIR=%s", p->run_dir));
	add_word(&s, xasprintf("OSM_CACHE_DIR=%s", i->cache_dir));
	add_word(&s, xstrdup("OPENSM_STATUS_ARG=1"));
	if (i->dump_given)
		add_word(&s, xasprintf("OSM_TMP_DIR=%s", i->dump_dir));
	return s.v;
}
