// SPDX-License-Identifier: BSD-2-Clause
/* --schema: which members the JSON of a command has; control/schemas/ writes the texts. */
#include <assert.h>
#include <string.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"

#define DIALECT "https://json-schema.org/draft/2020-12/schema"

/* Prints it with a head. Not put. */
static void print_schema(const struct ctl *c, const char *title, struct json_object *schema)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "$schema", json_object_new_string(DIALECT));
	json_object_object_add(o, "title", json_object_new_string(title));
	json_object_object_foreach(schema, key, value)
		json_object_object_add(o, key, json_object_get(value));
	ctl_print_json(c, o);
	json_object_put(o);
}

/* The schema of the document that -j shows; NULL: it has none. */
static struct json_object *find_schema(struct json_object *all, const struct ctl_command *meant)
{
	struct json_object *schema = js_get(all, meant->document ? meant->document
						 : meant->method ? meant->method
								 : "");

	return schema && meant->member ? js_get(js_get(schema, "properties"), meant->member)
				       : schema;
}

int ctl_print_schema(const struct ctl *c, const struct ctl_command *command, int argc, char **argv)
{
	struct json_object *all = json_tokener_parse(ctl_schemas), *schema;
	const struct ctl_command *meant;
	_cleanup_free_ char *title = NULL;
	int skip, r = CTL_OK;

	assert(all);
	if (!command) {
		ctl_print_json(c, all);
		json_object_put(all);
		return CTL_OK;
	}
	meant = ctl_meant(command, argc, argv, &skip);
	title = xasprintf("opensmctl %s%s%s", command->name, skip ? " " : "",
			  skip ? meant->name : "");
	schema = find_schema(all, meant);
	if (schema)
		print_schema(c, title, schema);
	else
		r = ctl_refuse(c, "%s shows no JSON document", title);
	json_object_put(all);
	return r;
}
