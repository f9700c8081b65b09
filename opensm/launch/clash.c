// SPDX-License-Identifier: BSD-2-Clause
/* Each instance against those before it; one warning per thing and instance. */
#include "launch/clash.h"

#include <inttypes.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

/* A copied file whose guid was not changed: the most likely mistake in a second fabric. */
static bool warn_of_port(const struct instance *a, const struct instance *b, struct conf_report *r)
{
	if (a->guid != b->guid)
		return false;
	if (a->guid)
		conf_report_add(r, CONF_WARNING, b->conf, 0, 0,
				"instances %s and %s have the same guid 0x%016" PRIx64
				"; expected a port for each; one of them will wait for ever",
				a->name, b->name, a->guid);
	else
		conf_report_add(
			r, CONF_WARNING, b->conf, 0, 0,
			"instances %s and %s have no guid; expected one in each file; both take "
			"the first port whose link is up, and one of them will wait for ever",
			a->name, b->name);
	return true;
}

/* `option` names what both write, a file or a folder. */
static void warn_of_same(const struct instance *a, const struct instance *b, const char *option,
			 const char *path, const char *result, struct conf_report *r)
{
	conf_report_add(r, CONF_WARNING, b->conf, 0, 0,
			"instances %s and %s have the same %s %s; expected one for each; %s",
			a->name, b->name, option, path, result);
}

static bool warn_of_log(const struct instance *a, const struct instance *b, struct conf_report *r)
{
	if (!str_starts(b->log, "/") || !str_equal(a->log, b->log) ||
	    str_equal(b->log, "/dev/null"))
		return false;
	warn_of_same(a, b, "log_file", b->log, "both write into it", r);
	return true;
}

static bool warn_of_dumps(const struct instance *a, const struct instance *b, struct conf_report *r)
{
	if (!str_equal(a->dump_dir, b->dump_dir))
		return false;
	warn_of_same(a, b, "dump_files_dir", b->dump_dir, "what one writes the other writes over",
		     r);
	return true;
}

/* An instance that is never started clashes with none. */
static bool counts(const struct instance *i)
{
	return !i->fault;
}

void clash_find(struct instance *const *items, size_t n, struct conf_report *r)
{
	static bool (*const kinds[])(const struct instance *, const struct instance *,
				     struct conf_report *) = { warn_of_port, warn_of_log,
							       warn_of_dumps };

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (size_t b = 1; b < n; b++)
			for (size_t a = 0; a < b && counts(items[b]); a++)
				if (counts(items[a]) && kinds[k](items[a], items[b], r))
					break;
}
