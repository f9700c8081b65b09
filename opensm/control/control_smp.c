// SPDX-License-Identifier: BSD-2-Clause
/*
 * Smp: one Get as the manager, with its M_Key, for administrators whose infiniband-diags have none.
 *
 * Only Get, only attributes of the table below, and no key in an answer: fields that hold one are
 * zeroed before anything is made of them. The call is logged with its caller (listen_control.c).
 */
#include "control/control_smp.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "fabric/words.h"
#include "ib/words.h"
#include "util/mem.h"
#include "util/str.h"

/*
 * Attributes that can be read: a list of equal elements; without `bits` the fields of the layout.
 */
static const struct attr_row {
	uint16_t attr;
	const char *names[3]; /* besides that of the specification: as smpquery calls it */
	const char *list;     /* key of the elements */
	unsigned bits, n;     /* size and number of elements */
	bool hex;
	unsigned key, key_bits; /* the field that is never shown; key_bits 0: none */
	const char *key_name;
} attr_rows[] = {
	{ IB_ATTR_NODE_INFO, .names = { "nodeinfo", "ni" } },
	{ IB_ATTR_NODE_DESC, .names = { "nodedesc", "nd", "NodeDesc" } },
	{ IB_ATTR_PORT_INFO, .names = { "portinfo", "pi" }, .key = PI_M_KEY, .key_bits = PI_M_KEY_W,
	  .key_name = "m_key" },
	{ IB_ATTR_SWITCH_INFO, .names = { "switchinfo", "si" } },
	{ IB_ATTR_PKEY_TABLE, .names = { "pkeys", "PKeyTable" }, .list = "pkeys", .bits = 16,
	  .n = 32, .hex = true },
	{ IB_ATTR_SL2VL, .names = { "sl2vl" }, .list = "vls", .bits = 4, .n = 16 },
	{ IB_ATTR_VLARB, .names = { "vlarb" }, .list = "entries", .bits = 16, .n = 32,
	  .hex = true },
	{ IB_ATTR_GUID_INFO, .names = { "guids", "gi" }, .list = "guids", .bits = 64, .n = 8,
	  .hex = true },
	{ IB_ATTR_LFT, .names = { "lft" }, .list = "ports", .bits = 8, .n = 64 },
	{ IB_ATTR_MFT, .names = { "mft" }, .list = "masks", .bits = 16, .n = 32, .hex = true },
	{ IB_ATTR_SM_INFO, .names = { "sminfo", "smi" }, .key = SMI_SM_KEY,
	  .key_bits = SMI_SM_KEY_W, .key_name = "sm_key" },
};

struct query {
	struct control_ticket *ticket;
	const struct attr_row *row;
	struct dr_path path;
	guid_t node_guid; /* 0: not known */
	unsigned port;
};

static const struct attr_row *row_of(const char *word, struct control_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(attr_rows); i++) {
		const struct attr_row *row = &attr_rows[i];

		if (!strcasecmp(word, ib_attr_name(row->attr)))
			return row;
		for (size_t k = 0; k < ARRAY_SIZE(row->names) && row->names[k]; k++)
			if (!strcasecmp(word, row->names[k]))
				return row;
	}
	return control_fail(err, "InvalidParameter",
			    "'%.40s' is no attribute that can be asked for; expected nodeinfo, "
			    "nodedesc, portinfo, switchinfo, pkeys, sl2vl, vlarb, guids, lft, mft "
			    "or sminfo",
			    word);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void add_number(struct json_object *o, const char *name, uint64_t value, unsigned bits)
{
	char key[40], text[24];
	size_t i = 0;

	for (; name[i] && i < sizeof(key) - 1; i++)
		key[i] = (char)tolower((unsigned char)name[i]);
	key[i] = '\0';
	snprintf(text, sizeof(text), "0x%016" PRIx64, value);
	if (bits > 32)
		json_add_str(o, key, text);
	else
		json_add_int(o, key, (int64_t)value);
}

static void add_list(struct json_object *o, const struct attr_row *row, const uint8_t *payload)
{
	struct json_object *list = json_add_array(o, row->list);
	char text[24];

	for (unsigned i = 0; i < row->n; i++) {
		uint64_t value = ib_bits_get(payload, i * row->bits, row->bits);

		snprintf(text, sizeof(text), "0x%0*" PRIx64, (int)row->bits / 4, value);
		if (row->hex)
			json_append_str(list, text);
		else
			json_object_array_add(list, json_object_new_int64((int64_t)value));
	}
}

static struct json_object *fields_of(const struct attr_row *row, const uint8_t *payload)
{
	struct json_object *o = json_object_new_object();
	size_t n = 0;
	const struct ib_field *fields = ib_attr_fields(row->attr, &n);
	char desc[NODE_DESC_STRLEN];

	if (row->bits)
		add_list(o, row, payload);
	for (size_t i = 0; i < n; i++)
		if (!str_starts(fields[i].name, "RSV"))
			add_number(o, fields[i].name,
				   ib_bits_get(payload, fields[i].offset, fields[i].width),
				   fields[i].width);
	if (row->attr == IB_ATTR_NODE_DESC) {
		str_printable((const char *)payload, strnlen((const char *)payload, SMP_DATA_SIZE),
			      desc, sizeof(desc));
		json_add_str(o, "description", desc);
	}
	return o;
}

#define SMP_FIELDS(F)                                                                              \
	F("attribute", STR, ib_attr_name(r->attr))                                                 \
	F("modifier", INT, r->mod)                                                                 \
	F("path", STR, dr_path_str(&q->path, path))                                                \
	F("node", OPT(STR), n ? node_name(n) : NULL)                                               \
	F("node_guid", OPT(GUID), q->node_guid)                                                    \
	F("node_type", OPT(STR), n ? ib_node_row(n->type)->word : NULL)                            \
	F("port", KNOWN, n, q->port)                                                               \
	F("status", INT, r->status)                                                                \
	F("status_text", STR, mad_status_words(r->status, status))                                 \
	F("hex", STR, hex)                                                                         \
	F("hidden", OF("[]string"),                                                                \
	  JSON_LIST(q->row->key_bits ? 1 : 0, json_object_new_string(q->row->key_name)))           \
	F("fields", OF("object"), fields_of(q->row, payload))

const struct json_field control_smp_fields[] = FIELDS_TABLE(SMP_FIELDS);

static struct json_object *make_answer(const struct query *q, const struct mad_result *r)
{
	const struct node *n = fabric_find_node(sm_fabric(q->ticket->api->sm), q->node_guid);
	char hex[2 * SMP_DATA_SIZE + 1], status[IB_WORD_STRLEN], path[DR_PATH_STRLEN];
	uint8_t payload[SMP_DATA_SIZE];

	memcpy(payload, r->payload, sizeof(payload));
	if (q->row->key_bits)
		ib_bits_put(payload, q->row->key, q->row->key_bits, 0);
	for (size_t i = 0; i < sizeof(payload); i++)
		snprintf(hex + 2 * i, 3, "%02x", payload[i]);
	return FIELDS_NEW(SMP_FIELDS);
}

static void fail(const struct query *q, const struct mad_result *r, struct control_error *err)
{
	const struct node *n = fabric_find_node(sm_fabric(q->ticket->api->sm), q->node_guid);
	char path[DR_PATH_STRLEN];

	dr_path_str(&q->path, path);
	if (r->end == MAD_END_CANCELLED)
		control_fail(err, "NotReady", "the question was taken back: ask again");
	else if (n)
		control_fail(
			err, "NoAnswer",
			"'%.64s' port %u (directed route %.100s) did not answer %s: it is off, "
			"hangs, or has another M_Key than the manager knows",
			node_name(n), q->port, path, ib_attr_name(r->attr));
	else
		control_fail(err, "NoAnswer",
			     "directed route %.150s: no answer to %s. The manager knows no device "
			     "there, and tells none a key",
			     path, ib_attr_name(r->attr));
}

static void on_result(void *arg, const struct mad_result *r)
{
	struct query *q = arg;
	struct control_ticket *t = q->ticket;
	struct control_error err = { 0 };
	struct json_object *answer = NULL;

	if (r->end == MAD_END_ANSWERED || r->end == MAD_END_BAD_STATUS)
		answer = make_answer(q, r);
	else
		fail(q, r, &err);
	free(q);
	t->work = NULL;
	t->end(t, answer, &err);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Reads the parameters. False: `err`. */
static bool read_call(const struct daemon_api *api, struct json_object *parameters,
		      struct sm_smp *ret, const struct attr_row **ret_row,
		      struct control_error *err)
{
	struct json_object *modifier = json_object_object_get(parameters, "modifier");
	int64_t mod = modifier ? json_object_get_int64(modifier) : 0;

	*ret_row = row_of(json_str(parameters, "attribute"), err);
	if (!*ret_row)
		return false;
	if (mod < 0 || mod > UINT32_MAX)
		return control_fail(err, "InvalidParameter",
				    "a modifier is from 0 to 0xffffffff, not %" PRId64, mod);
	ret->attr = (*ret_row)->attr;
	ret->mod = (uint32_t)mod;
	return control_smp_find(sm_fabric(api->sm), json_str(parameters, "target"), ret, err);
}

bool control_smp(struct control_ticket *t, struct json_object *parameters,
		 struct control_error *err)
{
	const struct daemon_api *api = t->api;
	struct sm_smp smp = { 0 };
	const struct attr_row *row;
	struct query *q;

	if (!control_manager(api, err) || !read_call(api, parameters, &smp, &row, err))
		return false;
	q = xcalloc(1, sizeof(*q));
	*q = (struct query){ .ticket = t, .row = row, .path = smp.path };
	if (smp.port) {
		q->node_guid = smp.port->node->guid;
		q->port = smp.port->num;
	}
	if (sm_smp_get(api->sm, &smp, daemon_api_now(api), on_result, q) < 0) {
		free(q);
		return control_fail(
			err, "Busy",
			"too many questions to devices at a time; try again in a while");
	}
	t->work = q;
	api->wake(api->arg);
	return true;
}

void control_leave_smp(struct control_ticket *t)
{
	struct query *q = take(t->work);

	if (!q)
		return;
	sm_smp_abandon(t->api->sm, q);
	free(q);
}
