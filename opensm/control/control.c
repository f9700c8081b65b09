// SPDX-License-Identifier: BSD-2-Clause
/* All methods: finding one by its name, and their description in varlink's language. */
#include "control/control.h"

#include <stdio.h>
#include <string.h>

#include "control/control_internal.h"
#include "show/show.h"
#include "util/mem.h"
#include "util/str.h"

/* ---- org.varlink.service --------------------------------------------------------------------- */

static struct json_object *get_info(const struct daemon_api *api, struct json_object *parameters,
				    struct control_error *err)
{
	struct json_object *o = json_object_new_object(), *interfaces;

	json_add_str(o, "vendor", "opensm");
	json_add_str(o, "product", "opensm");
	json_add_str(o, "version", api->version);
	json_add_str(o, "url", "");
	interfaces = json_add_array(o, "interfaces");
	json_append_str(interfaces, "org.varlink.service");
	json_append_str(interfaces, "org.opensm");
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

static struct json_object *get_description(const struct daemon_api *api,
					   struct json_object *parameters,
					   struct control_error *err)
{
	const char *name = json_str(parameters, "interface");
	_cleanup_free_ char *own = NULL;
	const char *text = NULL;
	struct json_object *o;

	if (str_equal(name, "org.varlink.service"))
		text = service_description;
	else if (str_equal(name, "org.opensm"))
		text = own = control_description();
	if (!text)
		return control_fail(err, "org.varlink.service.InterfaceNotFound",
				    "there is no interface '%s'", name ? name : "");
	o = json_object_new_object();
	json_add_str(o, "description", text);
	return o;
}

static const struct control_method service_methods[] = {
	{ "GetInfo", "Vendor, product and version", "() -> ()", NULL, CONTROL_READ,
	  .answer = get_info },
	{ "GetInterfaceDescription", "An interface in varlink's language",
	  "(interface: string) -> (description: string)", NULL, CONTROL_READ,
	  .answer = get_description },
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

static void describe_methods(FILE *out, const struct control_method *m)
{
	static const char *const rights[] = {
		[CONTROL_READ] = "",
		[CONTROL_TENANT] = (" (root, the user that runs opensm, and members of "
				    "control_tenant_group)"),
		[CONTROL_LINKS] = (" (root, the user that runs opensm, and members of "
				   "control_links_group)"),
		[CONTROL_ACT] = " (root, and the user that runs opensm)",
	};

	for (; m->name; m++) {
		_cleanup_free_ char *gives = m->gives ? json_fields_text(m->gives) : NULL;

		fprintf(out, "# %s%s\nmethod %s%s%s%s\n\n", m->help, rights[m->right], m->name,
			m->type, gives ? " -> " : "", gives ? gives : "");
	}
}

char *control_description(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("# A subnet manager. Keys are snake_case and stay; GUIDs are strings \"0x...\"; LIDs "
	      "and "
	      "ports are numbers.\n"
	      "interface org.opensm\n\n",
	      out);
	describe_methods(out, control_methods);
	describe_methods(out, show_methods);
	for (const struct control_error_name *e = control_errors; e->name; e++)
		fprintf(out, "# %s\nerror %s (text: string)\n%s", e->help, e->name,
			e[1].name ? "\n" : "");
	fclose(out);
	return text;
}
