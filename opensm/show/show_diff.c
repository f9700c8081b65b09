// SPDX-License-Identifier: BSD-2-Clause
/* In what other managers of ours are configured otherwise. */
#include <stdlib.h>
#include <string.h>

#include "show/show_internal.h"
#include "util/mem.h"
#include "util/str.h"

#define FIELDS	   4
#define FIELD_MAX  256
#define LINES_MAX  2000

/* "option NAME\tA\tB" in its fields; what another manager sent is printable afterwards. */
static unsigned split_line(char *line, char fields[FIELDS][FIELD_MAX])
{
	unsigned n = 0;
	char *field;

	while (n < FIELDS && (field = strsep(&line, "\t")))
		str_printable(field, strlen(field), fields[n++], FIELD_MAX);
	return n;
}

static void put_sides(struct json_object *o, bool theirs_first, const char *a, const char *b)
{
	json_add_str(o, "here", theirs_first ? b : a);
	json_add_str(o, "there", theirs_first ? a : b);
}

struct lists {
	struct json_object *options, *files, *keys;
	bool theirs_first;
};

static void put_line(const struct lists *l, char *line)
{
	char f[FIELDS][FIELD_MAX];
	unsigned n = split_line(line, f);
	struct json_object *o;
	uint64_t number;

	if (n == 3 && str_starts(f[0], "option ")) {
		o = json_append_object(l->options);
		json_add_str(o, "name", f[0] + strlen("option "));
		put_sides(o, l->theirs_first, f[1], f[2]);
	} else if (n == 4 && str_starts(f[0], "file ") &&
		   str_to_u64(f[1], 10, INT32_MAX, &number) == 0) {
		o = json_append_object(l->files);
		json_add_str(o, "option", f[0] + strlen("file "));
		json_add_int(o, "line", (int64_t)number);
		put_sides(o, l->theirs_first, f[2], f[3]);
	} else if (n == 1 && str_starts(f[0], "key ")) {
		json_append_str(l->keys, f[0] + strlen("key "));
	}
}

static void put_manager(struct json_object *o, struct sm_manager_diff *d)
{
	char *rest = d->text, *line;
	struct lists lists = { .theirs_first = d->theirs_first };

	json_add_guid(o, "port_guid", d->guid);
	json_add_str(o, "where", d->where);
	json_add_bool(o, "compared", d->text != NULL);
	json_add_str(o, "why_not", d->unknown);
	lists.options = json_add_array(o, "options");
	lists.files = json_add_array(o, "files");
	lists.keys = json_add_array(o, "keys");
	for (unsigned n = 0; n < LINES_MAX && (line = strsep(&rest, "\n")); n++)
		put_line(&lists, line);
	free(d->text);
}

struct json_object *show_managers_diff(const struct daemon_api *api,
				       struct json_object *parameters, struct control_error *err)
{
	struct json_object *ret, *array;
	struct sm_manager_diff d;

	if (!api->sm)
		return control_fail(err, "NotReady", "no port is open: %.250s", api->status);
	ret = json_object_new_object();
	array = json_add_array(ret, "managers");
	for (unsigned i = 0; sm_manager_diff_at(api->sm, i, &d); i++)
		put_manager(json_append_object(array), &d);
	return ret;
}
