// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arbitrary requests to Subnet Administration, in any order with what else happens to it: views
 * come and go, time passes, devices answer or do not, Reports are acknowledged or come back. The
 * input is a list of operations (enum op); requests are made of ingredients that exist (GIDs, LIDs,
 * P_Keys), so that they get further than to the first check, or are any bytes at all.
 *
 * Whatever happens: every answer has the shape of an answer, bounds hold, a plain question of
 * another port is answered at the end, what is dumped can be restored, and nothing is left behind.
 *
 * Not here: MADs against the whole manager (fuzz-sm), the transaction engine (fuzz-mad).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/partitions/partitions.h"
#include "sa/base/sa_internal.h"
#include "tests/lib/sa-desk.h"
#include "util/log.h"
#include "util/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len);

#define MAX_OPS	  64
#define MAX_STEPS 10000 /* slices until everything must be done */

struct world {
	struct desk *desk;
	const uint8_t *input;
	size_t left;
	uint8_t report[MAD_SIZE]; /* the last one sent */
	struct transport_addr report_to;
};

static const char *const hosts[] = { "h0", "h1", "h2", "leaf1" };

static void require(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz-sa: %s\n", what);
	abort();
}

/* The next byte of the input; zeroes behind its end. */
static uint8_t eat(struct world *w)
{
	if (!w->left)
		return 0;
	w->left--;
	return *w->input++;
}

static uint64_t eat_number(struct world *w, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | eat(w);
	return v;
}

static void eat_bytes(struct world *w, uint8_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = eat(w);
}

/* ---- what must hold ---- */

static void check_answer(const struct desk_message *m)
{
	require(m->len >= SA_DATA && m->len % 8 == 0, "length of a message");
	require(m->mad[0] == 1 && m->mad[1] == MAD_CLASS_SA && m->mad[2] == 2, "header");
	require(!ib_get(m->mad, SAH_SM_KEY), "an SM_Key is given away");
	require(m->len <= MAD_SIZE || ib_get(m->mad, SAH_RMPP_FLAGS) == RMPP_ACTIVE,
		"long without RMPP");
	if (ib_get(m->mad, SAH_RMPP_FLAGS) == RMPP_ACTIVE && m->len > SA_DATA)
		require(m->stride && (m->len - SA_DATA) % m->stride == 0, "records of a table");
}

/* What trees are made from: members are ports of the view, each once, in order. */
static void check_members(const struct sa *sa)
{
	unsigned groups = 0;

	for (lid_t mlid = sa_next_mlid(sa, 0xC000); mlid; mlid = sa_next_mlid(sa, mlid + 1)) {
		uint32_t n;
		_cleanup_free_ struct sa_mc_port *ports = sa_mc_members(sa, mlid, &n);

		require(++groups <= sa->stats.groups, "more MLIDs than groups");
		for (uint32_t i = 0; i < n; i++) {
			require(ports[i].port < sa->view->n_ports, "a member that is no port");
			require(!i || ports[i - 1].port < ports[i].port, "members out of order");
		}
		if (mlid == 0xFFFE)
			return;
	}
	require(groups || !sa->stats.groups, "a group without an MLID");
}

static void check_bounds(const struct world *w)
{
	const struct sa *sa = w->desk->sa;

	require(sa->stats.queries <= sa->limits.queries, "more queries than allowed");
	require(sa->stats.queries == 0 || sa->view, "queries without a view");
	if (sa->view)
		check_members(sa);
}

static void settle(struct world *w)
{
	struct desk *d = w->desk;
	const struct desk_message *m;
	unsigned steps = 0;

	while (sa_dispatch(d->sa, d->now))
		require(++steps < MAX_STEPS, "it never comes to rest");
	if (desk_reply(d))
		check_answer(desk_reply(d));
	while ((m = desk_mail(d))) {
		check_answer(m);
		if (m->method != MAD_REPORT)
			continue;
		memcpy(w->report, m->mad, MAD_SIZE);
		w->report_to = m->to;
	}
	check_bounds(w);
}

/* ---- requests ---- */

static const uint8_t methods[] = {
	MAD_GET, MAD_SA_GET_TABLE, MAD_SET, MAD_SA_DELETE, MAD_SA_GET_MULTI, 0x13, 0x81, 0x06
};
static const uint16_t attrs[] = {
	SA_CLASS_PORT_INFO,   SA_INFORM_INFO,	     SA_NODE_RECORD,	  SA_PORT_INFO_RECORD,
	SA_SL2VL_RECORD,      SA_SWITCH_INFO_RECORD, SA_LFT_RECORD,	  SA_MFT_RECORD,
	SA_SM_INFO_RECORD,    SA_LINK_RECORD,	     SA_GUID_INFO_RECORD, SA_SERVICE_RECORD,
	SA_PKEY_TABLE_RECORD, SA_PATH_RECORD,	     SA_VLARB_RECORD,	  SA_MC_MEMBER_RECORD,
	SA_MULTI_PATH_RECORD, SA_INFORM_INFO_RECORD, SA_NOTICE,		  0x0039,
};

enum ingredient { RAW1, RAW4, RAW16, GID, ALIAS_GID, MGID, LID, MLID, PKEY, FF16, N_INGREDIENTS };

static void put_bytes(uint8_t *record, size_t at, const void *bytes, size_t n)
{
	memcpy(record + at, bytes, MIN(n, SA_DATA_SIZE - at));
}

static void add_ingredient(struct world *w, uint8_t *record)
{
	static const uint16_t keys[] = { 0xFFFF, 0x7FFF, 0x8001, 0x0001 };
	static const uint8_t mgid[16] = { 0xFF, 0x12,	     0x40, 0x1B, 0xFF,
					  0xFF, [12] = 0xFF, 0xFF, 0xFF, 0xFF };
	size_t at = eat(w) % SA_DATA_SIZE;
	unsigned what = eat(w) % N_INGREDIENTS;
	uint8_t bytes[16] = { 0 };

	switch ((enum ingredient)what) {
	case RAW1:
		eat_bytes(w, bytes, 1);
		put_bytes(record, at, bytes, 1);
		return;
	case RAW4:
		eat_bytes(w, bytes, 4);
		put_bytes(record, at, bytes, 4);
		return;
	case RAW16:
		eat_bytes(w, bytes, 16);
		break;
	case GID:
		desk_gid(w->desk, hosts[eat(w) % 3], bytes);
		break;
	case ALIAS_GID:
		desk_gid(w->desk, "h0", bytes);
		ib_bits_put(bytes, 64, 64, 0xA11A5000u + eat(w) % 4);
		break;
	case MGID:
		memcpy(bytes, mgid, 16);
		bytes[1] ^= eat(w);
		bytes[15] ^= eat(w);
		break;
	case LID:
		ib_bits_put(bytes, 0, 16, eat(w) % 12);
		put_bytes(record, at, bytes, 2);
		return;
	case MLID:
		ib_bits_put(bytes, 0, 16, 0xC000u + eat(w));
		put_bytes(record, at, bytes, 2);
		return;
	case PKEY:
		ib_bits_put(bytes, 0, 16, keys[eat(w) % ARRAY_SIZE(keys)]);
		put_bytes(record, at, bytes, 2);
		return;
	case FF16:
		memset(bytes, 0xFF, sizeof(bytes));
		break;
	case N_INGREDIENTS:
		break;
	}
	put_bytes(record, at, bytes, sizeof(bytes));
}

enum { FROM = 3, TRUSTED = 4, RMPP = 8, SAME_RECORD = 16, ALL_COMPONENTS = 32, MODIFIER = 64 };

static void ask(struct world *w)
{
	struct desk *d = w->desk;
	unsigned how = eat(w);
	uint8_t method = methods[eat(w) % ARRAY_SIZE(methods)];
	uint16_t attr = attrs[eat(w) % ARRAY_SIZE(attrs)];
	uint64_t mask = how & ALL_COMPONENTS ? ~0ull : eat_number(w, 8);

	d->from = hosts[how & FROM];
	d->sm_key = how & TRUSTED ? d->conf->sa_key : 0;
	d->rmpp = how & RMPP;
	d->mod = how & MODIFIER ? (uint32_t)eat_number(w, 4) : 0;
	if (!(how & SAME_RECORD))
		desk_blank(d);
	for (unsigned n = eat(w) % 16; n; n--)
		add_ingredient(w, d->record);
	desk_post(d, method, attr, mask);
}

static void ask_raw(struct world *w)
{
	uint8_t mad[MAD_SIZE] = { 1, MAD_CLASS_SA, 2 };
	size_t len = eat(w) + 1u;

	w->desk->from = hosts[eat(w) & FROM];
	eat_bytes(w, mad + 3, len > 3 ? len - 3 : 0);
	w->desk->waits = false;
	desk_post_raw(w->desk, mad, len);
}

/* More than a MAD: what RMPP puts together. */
static void ask_long(struct world *w)
{
	size_t len = eat_number(w, 2) % 20000 + SA_DATA;
	_cleanup_free_ uint8_t *message = xcalloc(1, len + SA_DATA_SIZE);
	unsigned seed = eat(w), how = eat(w);

	for (size_t i = SA_DATA; i < len; i++)
		message[i] = (uint8_t)(seed = seed * 1103515245 + 12345);
	message[0] = 1;
	message[1] = MAD_CLASS_SA;
	message[2] = 2;
	ib_put(message, SAH_METHOD, methods[eat(w) % ARRAY_SIZE(methods)]);
	ib_put(message, SAH_ATTR_ID, attrs[eat(w) % ARRAY_SIZE(attrs)]);
	ib_put(message, SAH_RMPP_FLAGS, RMPP_ACTIVE);
	ib_put(message, SAH_COMP_MASK, how & ALL_COMPONENTS ? ~0ull : eat_number(w, 8));
	for (unsigned n = eat(w) % 16; n; n--)
		add_ingredient(w, message + SA_DATA);
	w->desk->waits = false;
	desk_post_raw(w->desk, message, len);
}

/* ---- what else happens ---- */

static void wait_a_while(struct world *w)
{
	static const mono_t times[] = { MONO_MS, 300 * MONO_MS, MONO_S, 11 * MONO_S, 100 * MONO_S };

	w->desk->now += times[eat(w) % ARRAY_SIZE(times)];
}

static void publish(struct world *w)
{
	struct desk *d = w->desk;

	if (eat(w) & 1)
		sa_publish(d->sa, NULL, d->now);
	else
		desk_publish(d);
}

/* A host goes away for a while: its cable is out, its LID may be another's. */
static void change_fabric(struct world *w)
{
	struct desk *d = w->desk;
	struct port *p = desk_end(d, hosts[eat(w) % 3]);
	unsigned how = eat(w);
	bool up = ib_get(p->info, PI_PORT_STATE) == IB_PORT_ACTIVE;

	if (how & 1)
		ib_put(p->info, PI_PORT_STATE, up ? IB_PORT_DOWN : IB_PORT_ACTIVE);
	if (how & 2)
		p->lid = p->lid ? 0 : (lid_t)(20 + p->node->index);
	desk_publish(d);
}

enum { AT_RUN_TIME = 4, LEAVE = 8 };

static void change_keys(struct world *w)
{
	static const uint16_t keys[][2] = {
		{ 0xFFFF, 0x8001 }, { 0x7FFF, 0x8001 }, { 0x8001 }, { 0xFFFF }
	};
	unsigned i = eat(w) % ARRAY_SIZE(keys), how = eat(w), n = keys[i][1] ? 2 : 1;
	struct desk *d = w->desk;
	const char *host = hosts[how & FROM];

	if (!(how & AT_RUN_TIME) || !d->sa->view) {
		desk_keys(d, host, n, keys[i]);
		return;
	}
	desk_move(d, host, n, keys[i]);
	if (how & LEAVE)
		sa_leave_partition(d->sa, desk_end(d, host)->guid, how & 1 ? 0x0001 : 0x7FFF);
}

static void cells_are_answered(struct world *w)
{
	desk_answer_cells(w->desk);
}

/* The last Report comes back unanswered, or its answer comes; as it should, or not quite. */
static void report_ends(struct world *w)
{
	struct transport_event ev = { .kind = TRANSPORT_MAD,
				      .from = w->report_to,
				      .length = MAD_SIZE };
	unsigned how = eat(w);

	memcpy(ev.mad, w->report, MAD_SIZE);
	if (how & 1)
		ev.kind = TRANSPORT_RETURNED;
	else
		ib_put(ev.mad, SAH_METHOD, MAD_REPORT_RESP);
	if (how & 2)
		ev.from.lid ^= 3;
	if (how & 4)
		ev.mad[15] ^= eat(w);
	sa_receive(w->desk->sa, &ev, w->desk->now);
}

static void trap_comes_in(struct world *w)
{
	const struct transport_addr from = { .lid = eat(w) % 8 };
	uint8_t notice[SMP_DATA_SIZE];

	eat_bytes(w, notice, 24);
	memset(notice + 24, 0, sizeof(notice) - 24);
	sa_forward_trap(w->desk->sa, &from, notice, w->desk->now);
}

static void change_conf(struct world *w)
{
	static const char *const settings[][2] = {
		{ "consolidate_ipv6_snm_req", "TRUE" },
		{ "ipoib_mcgroup_creation_validation", "FALSE" },
		{ "mcgroup_join_validation", "FALSE" },
		{ "drop_event_subscriptions", "TRUE" },
		{ "max_rate_enum", "10" },
		{ "sm_assigned_guid", "0x12" },
		{ "disable_multicast", "TRUE" },
		{ "qos", "TRUE" },
		{ "max_msg_fifo_timeout", "1" },
		{ "enable_quirks", "TRUE" },
		{ "sa_key", "0x5" },
	};
	unsigned i = eat(w) % ARRAY_SIZE(settings);

	desk_conf(w->desk, settings[i][0], settings[i][1]);
}

static void change_partitions(struct world *w)
{
	static const char *const files[] = {
		"Default=0x7fff, ipoib: ALL=full;",
		("Default=0x7fff, ipoib, mtu=5, rate=7, sl=3: ALL=limited, SELF=full;\n"
		 "A=0x0001, ipoib: mgid=ff12:401b::16 mgid=ff12:601b::1 ALL=full;"),
		"Default=0x7fff: ALL=full;\nB=0x0001, defmember=both: mgid=ff15::1 mgid=ff15::2 "
		"ALL;",
	};
	struct conf_report report = { 0 };
	struct partitions *parts = NULL;
	unsigned i = eat(w) % (ARRAY_SIZE(files) + 1);

	if (i == ARRAY_SIZE(files))
		parts = partitions_builtin(w->desk->conf);
	else
		partitions_parse(files[i], strlen(files[i]), "fuzz", w->desk->conf, &report,
				 &parts);
	if (!parts)
		conf_report_print(&report, stderr);
	require(parts, "a partition file of the fuzzer itself");
	sa_set_partitions(w->desk->sa, parts);
	partitions_unref(parts);
	conf_report_clear(&report);
}

/* A way to any other subnet through h1, or none. */
static void change_prefixes(struct world *w)
{
	struct conf_prefix any = { .guid = desk_end(w->desk, "h1")->guid };
	const struct conf_prefixes prefixes = { .items = &any, .n = eat(w) & 1 };

	sa_set_prefixes(w->desk->sa, &prefixes);
}

static void sending_fails(struct world *w)
{
	static const int errors[] = { 0, -11 /* EAGAIN */, -19 /* ENODEV */, -22 /* EINVAL */ };

	w->desk->refuse = errors[eat(w) % ARRAY_SIZE(errors)];
}

static void (*const ops[])(struct world *w) = {
	ask,	       ask_raw,	    ask_long,		wait_a_while,	 publish,
	change_fabric, change_keys, cells_are_answered, report_ends,	 trap_comes_in,
	sending_fails, change_conf, change_partitions,	change_prefixes,
};

/* ---- the whole ---- */

static void require_service(struct world *w)
{
	struct desk *d = w->desk;

	d->refuse = 0;
	d->sm_key = 0;
	d->rmpp = false;
	d->mod = 0;
	d->from = "h3"; /* nothing was done to it */
	sa_publish(d->sa, NULL, d->now);
	desk_publish(d);
	desk_blank(d);
	desk_post(d, MAD_GET, SA_CLASS_PORT_INFO, 0);
	require(desk_reply(d) && !desk_reply(d)->status, "a plain question gets no answer");
	settle(w);
}

static void require_restorable(struct world *w)
{
	struct desk *d = w->desk;
	struct conf_report report = { 0 };
	size_t len;
	_cleanup_free_ char *text = sa_db_text(d->sa, &len);
	struct sa *other = sa_new(d->conf, d->fabric, d->mad, NULL);
	int r = sa_db_restore(other, text, len, "dump", &report);

	if (r < 0 || report.errors)
		conf_report_print(&report, stderr);
	require(r >= 0 && !report.errors, "what was dumped cannot be restored");
	conf_report_clear(&report);
	sa_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t len)
{
	const struct log_config quiet = { .path = "/dev/null", .quiet = true };
	struct world w = { .input = input, .left = len };

	log_open(&quiet);
	w.desk = desk_new("tree 2 2 1");
	w.desk->mute = true;
	w.desk->forgetful = true;
	w.desk->sa->limits.rows_at_once = 16; /* so that a small fabric has long questions */
	w.desk->sa->limits.rows_a_turn = 16;
	w.desk->sa->limits.queries_each = 4;
	w.desk->sa->limits.cells = 20;
	for (unsigned i = 0; i < MAX_OPS && w.left; i++) {
		ops[eat(&w) % ARRAY_SIZE(ops)](&w);
		settle(&w);
	}
	require_service(&w);
	require_restorable(&w);
	desk_free(w.desk);
	return 0;
}
