// SPDX-License-Identifier: BSD-2-Clause
/*
 * smp get, smp show: attributes of a device, asked for by the manager, as smpquery prints them.
 *
 * The texts of records are those of libibmad, from the bytes of the answer; tables are printed
 * here. `get` is one SMP with a modifier of the user's; `show` asks for all blocks of a table.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <infiniband/mad.h>

#include "opensmctl/talk/ctl.h"
#include "util/mem.h"
#include "util/str.h"

#define SMP_BYTES 64
#define TEXT_MAX  8192

/* ---- text ------------------------------------------------------------------------------------ */

static bool read_hex(const char *hex, uint8_t ret[SMP_BYTES])
{
	for (size_t i = 0; i < SMP_BYTES; i++) {
		char byte[3] = { 0 };
		uint64_t v;

		byte[0] = hex[2 * i];
		byte[1] = byte[0] ? hex[2 * i + 1] : '\0';
		if (strlen(byte) != 2 || str_to_u64(byte, 16, UINT8_MAX, &v) < 0)
			return false;
		ret[i] = (uint8_t)v;
	}
	return true;
}

/* Ends at column 49, as smpquery does it. */
static void dump_description(char *buf, int size, void *val, int val_size)
{
	static const char dots[] = "................................";
	char text[SMP_BYTES + 1];
	size_t len;

	len = strnlen(val, (size_t)val_size);
	str_printable(val, len, text, sizeof(text));
	snprintf(buf, (size_t)size, "Node Description:%s%s", len < sizeof(dots) ? dots + len : "",
		 text);
}

static const struct {
	const char *attribute;
	void (*dump)(char *buf, int size, void *val, int val_size);
} dumps[] = {
	{ "NodeInfo", mad_dump_nodeinfo },	   { "NodeDescription", dump_description },
	{ "PortInfo", mad_dump_portinfo },	   { "SwitchInfo", mad_dump_switchinfo },
	{ "SLtoVLMappingTable", mad_dump_sltovl }, { "VLArbitrationTable", mad_dump_vlarbitration },
};

/* "NAME: .......... value", as libibmad does it. */
static void print_dotted(const char *name, const char *value)
{
	static const char dots[] = "................................";
	size_t len = strlen(name) + 1;

	printf("%s:%s%s\n", name, len < sizeof(dots) ? dots + len : "", value);
}

/* Rows of eight elements, with the number of the first one. */
static void print_list(struct json_object *list, int64_t first)
{
	for (size_t i = 0; i < js_len(list); i++) {
		if (i % 8 == 0)
			printf("%5" PRId64 ":", first + (int64_t)i);
		printf(" %s%s", json_object_get_string(js_at(list, i)),
		       i % 8 == 7 || i + 1 == js_len(list) ? "\n" : "");
	}
}

/* "# PortInfo of 'h3' port 1 (0x...), modifier 0x1, directed route 0,1,5" */
static void print_head(struct json_object *o)
{
	printf("# %s of ", js_str(o, "attribute"));
	if (js_has(o, "node"))
		printf("'%s' port %" PRId64 " (%s)", js_str(o, "node"), js_int(o, "port"),
		       js_str(o, "node_guid"));
	else
		printf("a device that is not known");
	printf(", modifier 0x%x, directed route %s\n", (unsigned)js_int(o, "modifier"),
	       js_str(o, "path"));
}

static void print_hex(const char *hex)
{
	for (size_t i = 0; i < strlen(hex); i += 32)
		printf("%02zx: %.32s\n", i / 2, hex + i);
}

/* The blocks of a table go on counting. */
static int64_t first_element(struct json_object *o, size_t n)
{
	const char *attribute = js_str(o, "attribute");
	unsigned mod = (unsigned)js_int(o, "modifier");

	if (str_equal(attribute, "LinearForwardingTable"))
		return (int64_t)mod * (int64_t)n;
	if (str_equal(attribute, "P_KeyTable"))
		return (int64_t)(mod & 0xFFFF) * (int64_t)n;
	if (str_equal(attribute, "GUIDInfo"))
		return (int64_t)mod * (int64_t)n;
	if (str_equal(attribute, "MulticastForwardingTable"))
		return 0xC000 + (int64_t)(mod & 0x1FF) * (int64_t)n;
	return 0;
}

static void print_body(struct json_object *o)
{
	struct json_object *fields = js_get(o, "fields");
	char text[TEXT_MAX] = "";
	uint8_t bytes[SMP_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(dumps); i++) {
		if (!str_equal(dumps[i].attribute, js_str(o, "attribute")) ||
		    !read_hex(js_str(o, "hex"), bytes))
			continue;
		dumps[i].dump(text, sizeof(text), bytes, sizeof(bytes));
		printf("%s%s", text, text[0] && text[strlen(text) - 1] != '\n' ? "\n" : "");
		return;
	}
	if (!fields)
		return;
	json_object_object_foreach(fields, name, value)
	{
		if (json_object_is_type(value, json_type_array))
			print_list(value, first_element(o, js_len(value)));
		else
			print_dotted(name, json_object_get_string(value));
	}
}

static void print_answer(struct json_object *o, bool as_hex)
{
	print_head(o);
	if (js_int(o, "status"))
		printf("refused: %s\n", js_str(o, "status_text"));
	else if (as_hex)
		print_hex(js_str(o, "hex"));
	else
		print_body(o);
	for (size_t i = 0; i < js_len(js_get(o, "hidden")); i++)
		printf("# %s is never shown: 0 stands for any\n",
		       json_object_get_string(js_at(js_get(o, "hidden"), i)));
}

/* ---- one question ---------------------------------------------------------------------------- */

struct asking {
	struct ctl *c;
	const char *target;
	bool as_hex;
	struct json_object *all; /* answers, for -j */
	int exit_code;
};

/* Returns the answer; NULL: an error was printed, and is in c->exit_code. */
static struct json_object *ask(const struct asking *a, const char *attribute, uint64_t mod)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "attribute", json_object_new_string(attribute));
	json_object_object_add(o, "target", json_object_new_string(a->target));
	json_object_object_add(o, "modifier", json_object_new_int64((int64_t)mod));
	return ctl_call(a->c, "Smp", o);
}

/* False: no answer, or the device refused: nothing more is asked. */
static bool show_one(struct asking *a, const char *attribute, uint64_t mod)
{
	struct json_object *o = ask(a, attribute, mod);
	bool is_refused = o && js_int(o, "status");

	if (!o || is_refused)
		a->exit_code = o ? CTL_REFUSED : a->c->exit_code;
	if (o && a->c->json)
		json_object_array_add(a->all, json_object_get(o));
	else if (o)
		print_answer(o, a->as_hex);
	json_object_put(o);
	return a->exit_code == CTL_OK;
}

/* ---- all blocks of a table ------------------------------------------------------------------- */

/* A number of a record of the device; -1: it did not answer. */
static int64_t number_of(struct asking *a, const char *attribute, uint64_t mod, const char *field)
{
	struct json_object *o = ask(a, attribute, mod);
	int64_t n = js_int(js_get(o, "fields"), field);

	if (!o || js_int(o, "status")) {
		a->exit_code = o ? CTL_REFUSED : a->c->exit_code;
		n = -1;
	}
	json_object_put(o);
	return n;
}

static void show_blocks(struct asking *a, const char *attribute, int64_t n, uint64_t first)
{
	for (int64_t i = 0; i < n && show_one(a, attribute, first + (uint64_t)i); i++)
		;
}

static bool is_switch(int64_t node_type)
{
	return node_type == 2;
}

static void show_pkeys(struct asking *a, int64_t type, uint64_t port)
{
	bool external = is_switch(type) && port;
	int64_t n = external ? number_of(a, "SwitchInfo", 0, "partition_enf_cap")
			     : number_of(a, "NodeInfo", 0, "partition_cap");

	show_blocks(a, "P_KeyTable", (n + 31) / 32, is_switch(type) ? port << 16 : 0);
}

/* SL2VL of a switch is per input port (14.2.5.8); of an end port there is one. */
static void show_sl2vl(struct asking *a, int64_t type, uint64_t port)
{
	int64_t n_ports = is_switch(type) ? number_of(a, "NodeInfo", 0, "num_ports") : 0;

	for (int64_t in = 0; in <= n_ports; in++)
		if (!show_one(a, "SLtoVLMappingTable",
			      is_switch(type) ? (uint64_t)in << 8 | port : 0))
			return;
}

static void show_vlarb(struct asking *a, int64_t type, uint64_t port)
{
	uint64_t num = is_switch(type) ? port : 0;
	int64_t low = number_of(a, "PortInfo", num, "vlarb_low_cap");
	int64_t high = low < 0 ? low : number_of(a, "PortInfo", num, "vlarb_high_cap");
	const bool there[] = { low > 0, low > 32, high > 0, high > 32 };

	for (unsigned block = 0; block < 4; block++)
		if (there[block] && !show_one(a, "VLArbitrationTable", (block + 1ull) << 16 | num))
			return;
}

static void show_table(struct asking *a, const char *attribute, uint64_t port)
{
	int64_t type = number_of(a, "NodeInfo", 0, "node_type");

	if (type < 0)
		return;
	if (!strcasecmp(attribute, "pkeys"))
		show_pkeys(a, type, port);
	else if (!strcasecmp(attribute, "sl2vl"))
		show_sl2vl(a, type, port);
	else if (!strcasecmp(attribute, "vlarb"))
		show_vlarb(a, type, port);
	else if (!strcasecmp(attribute, "guids"))
		show_blocks(a, attribute, (number_of(a, "PortInfo", 0, "guid_cap") + 7) / 8, 0);
	else if (!strcasecmp(attribute, "lft"))
		show_blocks(a, attribute, number_of(a, "SwitchInfo", 0, "linear_fdb_top") / 64 + 1,
			    0);
}

static bool has_blocks(const char *attribute)
{
	static const char *const tables[] = { "pkeys", "sl2vl", "vlarb", "guids", "lft" };

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcasecmp(tables[i], attribute))
			return true;
	return false;
}

/* ---- the command ----------------------------------------------------------------------------- */

static struct asking asking_new(struct ctl *c)
{
	return (struct asking){
		.c = c,
		.as_hex = js_bool(c->words, "hex"),
		.target = js_str(c->words, "device"),
		.all = json_object_new_array(),
	};
}

static int smp_get(struct ctl *c)
{
	struct asking a = asking_new(c);

	show_one(&a, js_str(c->words, "attribute"), (uint64_t)js_int(c->words, "number"));
	if (c->json && js_len(a.all))
		ctl_print_json(c, js_at(a.all, 0));
	json_object_put(a.all);
	return a.exit_code;
}

static int smp_show(struct ctl *c)
{
	const char *attribute = js_str(c->words, "attribute");
	uint64_t port = (uint64_t)js_int(c->words, "number");
	struct asking a = asking_new(c);

	if (has_blocks(attribute))
		show_table(&a, attribute, port);
	else
		show_one(&a, attribute, port);
	if (c->json && js_len(a.all))
		ctl_print_json(c, a.all);
	json_object_put(a.all);
	return a.exit_code;
}

/* The flag may stand in front of the verb. */
static int refuse_verb(struct ctl *c, int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[0], "--hex") && argv[1][0] != '-') {
		argv[0] = argv[1];
		argv[1] = as_owner("--hex");
		return ctl_do(c, &ctl_smp, argc, argv);
	}
	return ctl_usage(c, &ctl_smp, "expected get or show, found '%s'", argc ? argv[0] : "");
}

static const char *const attributes[] = { "nodeinfo", "nodedesc", "portinfo", "switchinfo",
					  "pkeys",    "sl2vl",	  "vlarb",    "guids",
					  "lft",      "mft",	  "sminfo",   NULL };

/* clang-format off */
#define SMP_TAKES                                                                                  \
	{ CTL_FLAG, .option = "--hex", .parameter = "hex" },                                       \
	{ CTL_TEXT, .parameter = "attribute", .among = attributes,                                 \
	  .missing = "an attribute and a device are needed" },                                     \
	{ CTL_TEXT, .parameter = "device", .offers = OFFER_PLACES,                                 \
	  .missing = "an attribute and a device are needed" }
/* clang-format on */

static const struct ctl_word get_takes[] = {
	SMP_TAKES,
	{ CTL_NUMBER, .parameter = "number", .most = UINT32_MAX, .any_base = true,
	  .what = "modifier (0 to 0xffffffff)" },
	{ 0 },
};
static const struct ctl_word show_takes[] = {
	SMP_TAKES,
	{ CTL_NUMBER, .parameter = "number", .most = 254, .any_base = true,
	  .what = "port (0 to 254)" },
	{ 0 },
};

static const struct ctl_command smp_commands[] = {
	{ .name = "get",
	  .scope = CTL_ACTS,
	  .shows = true,
	  .document = "Smp",
	  .takes = get_takes,
	  .with = smp_get },
	{ .name = "show",
	  .scope = CTL_ACTS,
	  .shows = true,
	  .document = "Smps",
	  .takes = show_takes,
	  .with = smp_show },
	{ 0 },
};

const struct ctl_command ctl_smp = {
	.name = "smp",
	.arguments = "get ATTRIBUTE DEVICE [MODIFIER] | show ATTRIBUTE DEVICE [PORT] [--hex]",
	.help = "one Get as the manager, where infiniband-diags lack the M_Key; show: all blocks",
	.words = "get show --hex",
	.scope = CTL_ACTS,
	.subs = smp_commands,
	.run = refuse_verb,
};
