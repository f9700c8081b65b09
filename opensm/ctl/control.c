// SPDX-License-Identifier: BSD-2-Clause
/* The table as a whole: finding a method, and describing all of them to whoever asks. */
#include "ctl/control.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl/control_call.h"
#include "util/mem.h"
#include "util/str.h"

void control_fail(struct control_error *err, const char *name, const char *fmt, ...)
{
	va_list args;

	err->name = name;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
}

/* ---- org.varlink.service --------------------------------------------------------------------- */

static struct json_object *get_info(const struct scene *scene, struct json_object *parameters,
				    struct control_error *err)
{
	struct json_object *o = json_object_new_object(), *interfaces = json_object_new_array();

	json_object_object_add(o, "vendor", json_object_new_string("opensm"));
	json_object_object_add(o, "product", json_object_new_string("opensm"));
	json_object_object_add(o, "version", json_object_new_string(scene->version));
	json_object_object_add(o, "url", json_object_new_string(""));
	json_object_array_add(interfaces, json_object_new_string("org.varlink.service"));
	json_object_array_add(interfaces, json_object_new_string("org.opensm"));
	json_object_object_add(o, "interfaces", interfaces);
	return o;
}

static const char service_description[] =
	"interface org.varlink.service\n\n"
	"method GetInfo() -> (vendor: string, product: string, version: string, url: string, "
	"interfaces: []string)\n\n"
	"method GetInterfaceDescription(interface: string) -> (description: string)\n\n"
	"error InterfaceNotFound (interface: string)\n\n"
	"error MethodNotFound (method: string)\n\n"
	"error MethodNotImplemented (method: string)\n\n"
	"error InvalidParameter (parameter: string)\n\n"
	"error PermissionDenied ()\n\n"
	"error ExpectedMore ()\n";

static struct json_object *get_description(const struct scene *scene,
					   struct json_object *parameters,
					   struct control_error *err)
{
	const char *name = json_object_get_string(json_object_object_get(parameters, "interface"));
	_cleanup_free_ char *own = NULL;
	const char *text = NULL;
	struct json_object *o;

	if (str_equal(name, "org.varlink.service"))
		text = service_description;
	else if (str_equal(name, "org.opensm"))
		text = own = control_description();
	if (!text) {
		control_fail(err, "org.varlink.service.InterfaceNotFound", "there is no interface '%s'",
			     name ? name : "");
		return NULL;
	}
	o = json_object_new_object();
	json_object_object_add(o, "description", json_object_new_string(text));
	return o;
}

static const struct control_method service_methods[] = {
	{ "GetInfo", "Who this is", "() -> ()", CONTROL_READ, .answer = get_info },
	{ "GetInterfaceDescription", "An interface in varlink's language",
	  "(interface: string) -> (description: string)", CONTROL_READ, .answer = get_description },
	{ 0 },
};

/* ---- all methods ----------------------------------------------------------------------------- */

const struct control_method *control_find(const char *name)
{
	static const struct {
		const char *prefix;
		const struct control_method *rows;
	} tables[] = {
		{ "org.opensm.", control_methods },
		{ "org.opensm.", show_methods },
		{ "org.varlink.service.", service_methods },
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		if (!str_starts(name, tables[i].prefix))
			continue;
		for (const struct control_method *m = tables[i].rows; m->name; m++)
			if (!strcmp(m->name, name + strlen(tables[i].prefix)))
				return m;
	}
	return NULL;
}

static void describe(FILE *out, const struct control_method *m)
{
	for (; m->name; m++)
		fprintf(out, "# %s%s\nmethod %s%s\n\n", m->help,
			m->right == CONTROL_ACT ? " (root, and the user who runs opensm)" : "",
			m->name, m->type);
}

char *control_description(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("# A subnet manager. Keys are snake_case and stay; GUIDs are strings \"0x...\"; LIDs and "
	      "ports are numbers.\n"
	      "interface org.opensm\n\n",
	      out);
	describe(out, control_methods);
	describe(out, show_methods);
	for (const struct control_error_name *e = control_errors; e->name; e++)
		fprintf(out, "# %s\nerror %s (text: string)\n%s", e->help, e->name,
			e[1].name ? "\n" : "");
	fclose(out);
	return text;
}
