// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads opensm-sa.dump, ours or OpenSM's (qos.md 12). A faulty line is left out, with a finding at
 * its place; the others are used, as memberships that are right are worth more than none. The
 * members of a group that is left out are left out, too. Records that are newest first in the file
 * are restored from its end, so that they are newest first again.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "conf/text/lines.h"
#include "sa/guidinfo.h"
#include "sa/notice/inform.h"
#include "sa/mcast/mgroup.h"
#include "sa/service.h"
#include "util/mem.h"
#include "util/str.h"

struct kept_service {
	unsigned line;
	uint8_t record[SVR_BYTES];
	uint32_t left;
	uint64_t modified_time;
};

struct kept_subscription {
	unsigned line;
	guid_t port;
	struct transport_addr addr;
	uint8_t info[INF_BYTES];
};

enum group_state { GROUP_NONE, GROUP_TAKEN, GROUP_LEFT_OUT };

struct reader {
	struct sa *sa;
	struct conf_report *report;
	const char *file;
	const struct line *line;
	const char *at;	 /* unread part of the line */
	bool bad;	 /* set if a fault of the line was reported; its rest is ignored */
	bool incomplete; /* set if a record of the file was left out, as it was not valid */
	enum group_state group;
	uint8_t mgid[16]; /* MGID of the group of the next members */
	struct kept_service *services;
	struct kept_subscription *subscriptions;
	size_t n_services, services_cap, n_subscriptions, subscriptions_cap;
};

/* ---- fields -------------------------------------------------------------------------------- */

static void fault(struct reader *r, const char *at, const char *what, const char *name)
{
	struct conf_place place = line_place(r->line, at);

	conf_report_at(r->report, CONF_WARNING, &place, "%s%s%s; the line is left out", what,
		       name ? " " : "", name ? name : "");
	r->bad = r->incomplete = true;
}

/* Reads hexadecimal digits at `at`, up to `max`; r->at is then after them. */
static uint64_t digits(struct reader *r, const char *at, const char *name, uint64_t max)
{
	size_t n = strspn(at, "0123456789abcdefABCDEF");
	char text[17];
	uint64_t v;

	if (n == 0 || n > 16) {
		fault(r, at, "expected 1 to 16 hexadecimal digits as", name);
		return 0;
	}
	memcpy(text, at, n);
	text[n] = '\0';
	if (str_to_u64(text, 16, max, &v) < 0) {
		fault(r, at, "too large for", name);
		return 0;
	}
	r->at = at + n;
	return v;
}

/* Finds " NAME=" from r->at on; NULL if it is not there. */
static const char *find(const struct reader *r, const char *name)
{
	char key[32];
	const char *p;

	snprintf(key, sizeof(key), " %s=", name);
	p = strstr(r->at, key);
	return p ? p + strlen(key) : NULL;
}

/* The value of the next " NAME=0x..."; 0 once the line is bad. */
static uint64_t get(struct reader *r, const char *name, uint64_t max)
{
	const char *p = r->bad ? NULL : find(r, name);

	if (r->bad)
		return 0;
	if (!p) {
		fault(r, r->at, "expected behind here:", name);
		return 0;
	}
	if (strncmp(p, "0x", 2)) {
		fault(r, p, "expected \"0x\" and digits as", name);
		return 0;
	}
	return digits(r, p + 2, name, max);
}

/* Reads two numbers of 64 bits into 16 bytes. */
static void get_pair(struct reader *r, const char *name, uint8_t *ret)
{
	ib_bits_put(ret, 0, 64, get(r, name, UINT64_MAX));
	if (r->bad)
		return;
	if (strncmp(r->at, ":0x", 3)) {
		fault(r, r->at, "expected \":0x\" and the other half of", name);
		return;
	}
	ib_bits_put(ret, 64, 64, digits(r, r->at + 3, name, UINT64_MAX));
}

static guid_t get_interface_id(struct reader *r, const char *name)
{
	const char *start = r->at;
	uint8_t gid[16] = { 0 };
	guid_t id;

	get_pair(r, name, gid);
	id = ib_bits_get(gid, 64, 64);
	if (!r->bad && !id)
		fault(r, start, "no interface id in", name);
	return id;
}

/* Reports the error of a store about a record that is sound in itself. */
static void report_error(struct reader *r, unsigned line, int error, const char *what)
{
	const char *why = error == -EEXIST   ? "is a duplicate"
			  : error == -ENOSPC ? "exceeds the limit"
					     : "has a value that cannot be";

	if (!error)
		return;
	conf_report_add(r->report, CONF_WARNING, r->file, line, 0, "%s %s; it is left out", what,
			why);
	r->incomplete = true;
}

/* ---- records ------------------------------------------------------------------------------- */

static void read_aliases(struct reader *r)
{
	guid_t guids[ALIAS_BLOCK], port = get(r, "base_guid", UINT64_MAX);
	lid_t lid = get(r, "lid", LID_MAX_UCAST);
	unsigned block = get(r, "block_num", ALIAS_BLOCKS - 1);

	for (unsigned i = 0; i < ALIAS_BLOCK; i++) {
		char name[8];

		snprintf(name, sizeof(name), "guid%u", i);
		guids[i] = get(r, name, UINT64_MAX);
	}
	if (!r->bad)
		report_error(r, r->line->at.line,
			     alias_guids_restore(r->sa, port, lid, block, guids),
			     "an alias GUID of this block");
}

/*
 * Notes if a group was restored. If its MGID has another MLID, or the MLID another MGID, its
 * members must join again.
 */
static void judge_group(struct reader *r, int error)
{
	r->group = error ? GROUP_LEFT_OUT : GROUP_TAKEN;
	if (error)
		report_error(r, r->line->at.line, error, "this group, or one with its MLID,");
}

static void read_group(struct reader *r)
{
	const char *known = strstr(r->at, " (well known)"), *colon = strchr(r->at, ':');
	uint8_t record[MCM_BYTES] = { 0 }, port_gid[16];
	lid_t mlid;

	get_pair(r, "mgid", ib_at(record, MCM_MGID));
	get_pair(r, "port_gid", port_gid);
	ib_put(record, MCM_QKEY, get(r, "qkey", UINT32_MAX));
	mlid = get(r, "mlid", UINT16_MAX);
	ib_bits_put(record, MCM_MTU_SEL, 8, get(r, "mtu", UINT8_MAX));
	ib_put(record, MCM_TCLASS, get(r, "tclass", UINT8_MAX));
	ib_put(record, MCM_PKEY, get(r, "pkey", UINT16_MAX));
	ib_bits_put(record, MCM_RATE_SEL, 8, get(r, "rate", UINT8_MAX));
	ib_bits_put(record, MCM_LIFE_SEL, 8, get(r, "pkt_life", UINT8_MAX));
	ib_bits_put(record, MCM_SL, 32, get(r, "sl_flow_hop", UINT32_MAX));
	ib_bits_put(record, MCM_SCOPE, 8, get(r, "scope_state", UINT8_MAX));
	get(r, "proxy_join", 1);
	if (r->bad)
		return;
	memcpy(r->mgid, ib_at(record, MCM_MGID), 16);
	judge_group(r, mgroups_restore(r->sa, record, mlid, known && colon && known < colon));
}

static void read_member(struct reader *r)
{
	const char *start = r->at;
	guid_t id;
	unsigned state;
	bool proxy;

	if (r->group == GROUP_LEFT_OUT)
		return;
	if (r->group == GROUP_NONE) {
		fault(r, start, "expected a group before its member", NULL);
		return;
	}
	id = get_interface_id(r, "port_gid");
	state = get(r, "scope_state", UINT8_MAX);
	proxy = get(r, "proxy_join", 1);
	if (!r->bad)
		report_error(r, r->line->at.line,
			     mgroups_restore_member(r->sa, r->mgid, id, state & 0xF, proxy),
			     "this member");
}

static void get_grh(struct reader *r, struct transport_addr *addr)
{
	const char *grh = strstr(r->at, " grh:");

	if (r->bad || !grh)
		return;
	r->at = grh;
	addr->global = true;
	get_pair(r, "gid", addr->grh.gid);
	addr->grh.flow_label = get(r, "flow_label", 0xFFFFF);
	addr->grh.hop_limit = get(r, "hop_limit", UINT8_MAX);
	addr->grh.traffic_class = get(r, "tclass", UINT8_MAX);
}

static void get_address(struct reader *r, struct transport_addr *addr)
{
	const char *start = r->at;

	addr->lid = get(r, "lid", LID_MAX_UCAST);
	addr->path_bits = get(r, "path_bits", 0x7F);
	get(r, "static_rate", UINT8_MAX);
	addr->qp = get(r, "remote_qp", 0xFFFFFF);
	get(r, "remote_qkey", UINT32_MAX);
	addr->pkey_index = get(r, "pkey_ix", UINT16_MAX);
	addr->sl = get(r, "sl", 15);
	if (!r->bad && (!addr->lid || !addr->qp))
		fault(r, start, "a subscriber has neither LID 0 nor QP 0", NULL);
	get_grh(r, addr);
}

static void read_subscription(struct reader *r)
{
	struct kept_subscription s = { .line = r->line->at.line };

	s.port = get_interface_id(r, "subscriber_gid");
	get(r, "subscriber_enum", UINT16_MAX);
	get_pair(r, "gid", ib_at(s.info, INF_GID));
	ib_put(s.info, INF_LID_BEGIN, get(r, "lid_range_begin", UINT16_MAX));
	ib_put(s.info, INF_LID_END, get(r, "lid_range_end", UINT16_MAX));
	ib_put(s.info, INF_IS_GENERIC, get(r, "is_generic", UINT8_MAX));
	ib_put(s.info, INF_SUBSCRIBE, get(r, "subscribe", 1));
	ib_put(s.info, INF_TYPE, get(r, "trap_type", UINT16_MAX));
	ib_put(s.info, INF_TRAP, get(r, "trap_num", UINT16_MAX));
	ib_bits_put(s.info, INF_QPN, 32, get(r, "qpn_resp_time_val", UINT32_MAX));
	ib_put(s.info, INF_PRODUCER, get(r, "node_type", 0xFFFFFF));
	get_address(r, &s.addr);
	if (r->bad)
		return;
	if (r->n_subscriptions >= r->sa->conf->sa_max_subscriptions) {
		report_error(r, s.line, -ENOSPC, "this subscription");
		return;
	}
	GROW(r->subscriptions, r->n_subscriptions + 1, r->subscriptions_cap);
	r->subscriptions[r->n_subscriptions++] = s;
}

/* Reads name='...' or name="..."; a name without quotes ends at a blank. */
static void get_name(struct reader *r, uint8_t name[64])
{
	const char *p = r->bad ? NULL : find(r, "name");
	size_t len;

	if (r->bad)
		return;
	if (!p) {
		fault(r, r->at, "expected behind here:", "name");
		return;
	}
	if (*p == '\'' || *p == '"') {
		char quote = *p++;
		const char *end = strchr(p, quote);

		len = end ? (size_t)(end - p) : SIZE_MAX;
		r->at = end ? end + 1 : p;
	} else {
		len = strcspn(p, " ");
		r->at = p + len;
	}
	if (len > 64)
		fault(r, p, "no end of quotes, or more than 64 bytes, in", "name");
	else
		memcpy(name, p, len);
}

static void get_name_hex(struct reader *r, uint8_t name[64])
{
	const char *p = r->bad ? NULL : find(r, "name_hex");

	if (!p)
		return;
	if (strncmp(p, "0x", 2) || strspn(p + 2, "0123456789abcdefABCDEF") != 128) {
		fault(r, p, "expected \"0x\" and 128 hexadecimal digits as", "name_hex");
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		char part[17] = { 0 };
		uint64_t v = 0;

		memcpy(part, p + 2 + 16 * i, 16);
		str_to_u64(part, 16, UINT64_MAX, &v);
		ib_bits_put(name, 64 * i, 64, v);
	}
}

static void read_service(struct reader *r)
{
	struct kept_service s = { .line = r->line->at.line };

	ib_put(s.record, SVR_ID, get(r, "id", UINT64_MAX));
	get_pair(r, "gid", ib_at(s.record, SVR_GID));
	ib_put(s.record, SVR_PKEY, get(r, "pkey", UINT16_MAX));
	ib_put(s.record, SVR_LEASE, get(r, "lease", UINT32_MAX));
	get_pair(r, "key", ib_at(s.record, SVR_KEY));
	get_name(r, ib_at(s.record, SVR_NAME));
	get_pair(r, "data8", ib_at(s.record, SVR_DATA8_0));
	get_pair(r, "data16", ib_at(s.record, SVR_DATA16_0));
	get_pair(r, "data32", ib_at(s.record, SVR_DATA32_0));
	get_pair(r, "data64", ib_at(s.record, SVR_DATA64_0));
	s.modified_time = get(r, "modified_time", UINT64_MAX);
	s.left = get(r, "lease_period", UINT32_MAX);
	get_name_hex(r, ib_at(s.record, SVR_NAME));
	if (r->bad)
		return;
	if (r->n_services >= r->sa->conf->sa_max_services) {
		report_error(r, s.line, -ENOSPC, "this service");
		return;
	}
	GROW(r->services, r->n_services + 1, r->services_cap);
	r->services[r->n_services++] = s;
}

/* ---- the file ------------------------------------------------------------------------------ */

static const struct {
	const char *start;
	void (*read)(struct reader *r);
} records[] = {
	{ "GUIDInfo Record:", read_aliases }, { "MC Group ", read_group },
	{ "mcm_port:", read_member },	      { "InformInfo Record:", read_subscription },
	{ "Service Record:", read_service },
};

static void on_line(void *arg, struct line *line)
{
	struct reader *r = arg;

	r->line = line;
	r->bad = false;
	if (!line->len || *line->text == '#')
		return;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		if (!str_starts(line->text, records[i].start))
			continue;
		r->at = line->text + strlen(records[i].start) - 1; /* fields begin with a blank */
		if (records[i].read == read_group)
			r->group = GROUP_LEFT_OUT; /* until it is restored */
		records[i].read(r);
		return;
	}
	fault(r, line->text, "no record of a database", NULL);
}

static void put_kept(struct reader *r)
{
	for (size_t i = r->n_subscriptions; i-- > 0;) {
		struct kept_subscription *s = &r->subscriptions[i];

		report_error(r, s->line, informs_restore(r->sa, s->port, &s->addr, s->info),
			     "this subscription");
	}
	for (size_t i = r->n_services; i-- > 0;) {
		struct kept_service *s = &r->services[i];

		report_error(r, s->line,
			     services_restore(r->sa, s->record, s->left, s->modified_time),
			     "this service");
	}
}

int sa_db_restore(struct sa *sa, const char *text, size_t len, const char *file,
		  struct conf_report *report)
{
	struct reader r = { .sa = sa, .report = report, .file = file };
	int error;

	assert(!sa->view && text && report);
	error = lines_split(file, text, len, report, on_line, &r);
	if (!error)
		put_kept(&r);
	free(r.services);
	free(r.subscriptions);
	return error < 0 ? error : r.incomplete;
}
