// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes the multicast groups of a definition (partitions-conf.md 6). Where OpenSM skips a line with
 * an error in its log, this is a warning: the line is ignored, and the file is used.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "conf/partitions/partitions_internal.h"
#include "util/mem.h"

#define SCOPE_LINK_LOCAL 2
#define SIGNATURE_IPV4	 0x401b
#define SIGNATURE_IPV6	 0x601b
#define SIGNATURE_SA	 0xa01b /* MGIDs made by subnet administration */
#define MGID_STRLEN	 INET6_ADDRSTRLEN

/* One mgid line. */
struct mgid_line {
	struct build *build;
	const struct conf *conf;
	const struct definition *def;
	struct conf_report *report;
	struct conf_place at; /* place of the address */
	const char *text;     /* the address as written */
	uint8_t mgid[16];
	struct group_flags flags;
};

static unsigned signature(const uint8_t mgid[16])
{
	return (unsigned)mgid[2] << 8 | mgid[3];
}

static bool is_ip(const uint8_t mgid[16])
{
	return signature(mgid) == SIGNATURE_IPV4 || signature(mgid) == SIGNATURE_IPV6;
}

static void put_pkey(uint8_t mgid[16], uint16_t pkey)
{
	mgid[4] = (uint8_t)(pkey >> 8);
	mgid[5] = (uint8_t)pkey;
}

static void put_scope(uint8_t mgid[16], unsigned scope)
{
	mgid[1] = (uint8_t)((mgid[1] & 0xF0) | scope);
}

/* ff1S:401b:PPPP::ffff:ffff (RFC 4391) */
static void broadcast_mgid(uint16_t pkey, unsigned scope, uint8_t ret[16])
{
	static const uint8_t model[16] = { 0xff, 0x10, 0x40, 0x1b, [12] = 0xff, 0xff, 0xff, 0xff };

	memcpy(ret, model, sizeof(model));
	put_pkey(ret, pkey);
	put_scope(ret, scope);
}

static bool is_broadcast(const uint8_t mgid[16])
{
	uint8_t broadcast[16];

	broadcast_mgid((uint16_t)(mgid[4] << 8 | mgid[5]), mgid[1] & 0xF, broadcast);
	return memcmp(mgid, broadcast, 16) == 0;
}

static const char *mgid_text(const uint8_t mgid[16], char ret[MGID_STRLEN])
{
	return inet_ntop(AF_INET6, mgid, ret, MGID_STRLEN);
}

static struct partition_group group_of(const struct group_flags *flags, uint16_t pkey,
				       unsigned scope, const struct conf *conf)
{
	return (struct partition_group){
		.pkey = (uint16_t)(pkey | PKEY_FULL),
		.qkey = flags->of[FLAG_QKEY],
		.flow = flags->of[FLAG_FLOW],
		.mtu = (uint8_t)flags->of[FLAG_MTU],
		.rate = (uint8_t)flags->of[FLAG_RATE],
		.sl = (uint8_t)flags->of[FLAG_SL],
		.tclass = (uint8_t)flags->of[FLAG_TCLASS],
		.hop = scope == SCOPE_LINK_LOCAL ? 0 : 0xFF,
		.life = conf->subnet_timeout,
		.scope = (uint8_t)scope,
	};
}

static void add_group(struct build *b, size_t partition, const struct partition_group *group,
		      const struct conf_place *at, struct conf_report *r)
{
	char text[MGID_STRLEN];

	if (!build_group(b, partition, group, at->line))
		conf_report_at(r, CONF_WARNING, at,
			       "group %s: there are %d groups already, as many as there are "
			       "multicast LIDs; it is not made",
			       mgid_text(group->mgid, text), PARTITION_GROUPS_MAX);
}

void groups_broadcast(struct build *b, const struct conf *conf, const struct definition *def,
		      const struct conf_place *at, struct conf_report *r)
{
	uint16_t pkey = build_pkey(b, def->partition) | PKEY_FULL;
	struct partition_group g = group_of(&def->flags, pkey, SCOPE_LINK_LOCAL, conf);
	char text[MGID_STRLEN];

	broadcast_mgid(pkey, SCOPE_LINK_LOCAL, g.mgid);
	if (build_group_line(b, g.mgid)) {
		conf_report_at(r, CONF_NOTE, at,
			       "ipoib: group %s is already defined in line %u, with the values of "
			       "that line",
			       mgid_text(g.mgid, text), build_group_line(b, g.mgid));
		return;
	}
	if (!g.qkey)
		g.qkey = IPOIB_QKEY;
	add_group(b, def->partition, &g, at, r);
}

/* --- mgid lines ----------------------------------------------------------------------------- */

static bool ignore_line(const struct mgid_line *m, const char *why)
{
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(m->report, CONF_WARNING, &m->at, "%s %s; this line is ignored",
		       conf_quote(m->text, strlen(m->text), quoted), why);
	return false;
}

/* Step 1: reads the address. */
static bool read_address(struct mgid_line *m)
{
	if (!*m->text) {
		conf_report_at(
			m->report, CONF_WARNING, &m->at,
			"no address after \"mgid=\"; expected ff12:401b::1 or so; this line is "
			"ignored");
		return false;
	}
	if (inet_pton(AF_INET6, m->text, m->mgid) != 1)
		return ignore_line(m, "is no IPv6 address; expected ff12:401b::1 or so");
	if (m->mgid[0] != 0xFF)
		return ignore_line(m, "is no multicast address; expected one that begins with ff");
	return true;
}

/* Step 2: reads all flags, for their findings. */
static bool read_flags(struct mgid_line *m, const struct line *line, char *rest)
{
	bool good = true;

	m->flags = m->def->flags;
	m->flags.of[FLAG_TCLASS] = 0;
	if (!m->conf->qos)
		m->flags.of[FLAG_SL] = 0;
	for (char *text; (text = strsep(&rest, ","));) {
		struct flag flag = words_flag(line, text);
		enum flag_id id = words_flag_id(&flag, true, m->report);

		if (id != FLAG_UNKNOWN && words_group_flag(id, &flag, &m->flags, CONF_WARNING,
							   "this line is ignored", m->report) < 0)
			good = false;
	}
	return good;
}

/*
 * Step 3: checks that the P_Key of an IP group is that of the partition, and its rate and MTU those
 * of the header.
 */
static bool fit_ip(struct mgid_line *m, uint16_t pkey)
{
	unsigned field = (unsigned)m->mgid[4] << 8 | m->mgid[5];
	bool any = field == 0xFFFF && is_broadcast(m->mgid);

	if (field && field != pkey && !any)
		return ignore_line(
			m, "has the P_Key of another partition in its third group of digits");
	if (m->flags.of[FLAG_RATE] != m->def->flags.of[FLAG_RATE])
		return ignore_line(m,
				   "has another rate than its partition, which an IP group cannot");
	if (m->flags.of[FLAG_MTU] != m->def->flags.of[FLAG_MTU])
		return ignore_line(m,
				   "has another MTU than its partition, which an IP group cannot");
	put_pkey(m->mgid, pkey);
	if (!m->flags.of[FLAG_QKEY])
		m->flags.of[FLAG_QKEY] = IPOIB_QKEY;
	return true;
}

/* Step 7 (sa.md 6.1 6d): checks the MGID; `mgid` has its scope. */
static bool may_be(const struct mgid_line *m, const uint8_t mgid[16], uint16_t pkey)
{
	unsigned scope = mgid[1] & 0xF;
	_cleanup_free_ char *why = NULL;
	uint8_t broadcast[16];
	char text[MGID_STRLEN];

	if (!m->conf->ipoib_mcgroup_creation_validation)
		return true;
	if (is_ip(mgid)) {
		broadcast_mgid(pkey, scope, broadcast);
		if (is_broadcast(mgid) || build_group_line(m->build, broadcast))
			return true;
		why = xasprintf("needs the broadcast group %s in a line above (ipoib makes the one "
				"of scope 2)",
				mgid_text(broadcast, text));
		return ignore_line(m, why);
	}
	if (mgid[1] & 0xE0)
		return ignore_line(m, "has reserved flags; expected ff0 or ff1 at its beginning");
	if (signature(mgid) == SIGNATURE_SA && scope == SCOPE_LINK_LOCAL)
		return ignore_line(m, "is of a kind (a01b) that cannot be link-local");
	return true;
}

/* Steps 5 to 7: adds the group of one scope. */
static void add_scope(struct mgid_line *m, unsigned scope)
{
	uint16_t pkey = build_pkey(m->build, m->def->partition) | PKEY_FULL;
	struct partition_group g = group_of(&m->flags, pkey, scope, m->conf);

	memcpy(g.mgid, m->mgid, sizeof(g.mgid));
	put_scope(g.mgid, scope);
	if (may_be(m, g.mgid, pkey) && !build_group_line(m->build, g.mgid))
		add_group(m->build, m->def->partition, &g, &m->at, m->report);
}

/* Steps 4 to 7: adds a group for each scope. */
static void add_groups(struct mgid_line *m)
{
	uint16_t pkey = build_pkey(m->build, m->def->partition) | PKEY_FULL;
	unsigned stands;

	if (is_ip(m->mgid) && !fit_ip(m, pkey))
		return;
	stands = build_group_line(m->build, m->mgid);
	if (stands) {
		char text[MGID_STRLEN];

		conf_report_at(m->report, CONF_NOTE, &m->at,
			       "group %s is already defined in line %u; this line is ignored",
			       mgid_text(m->mgid, text), stands);
		return;
	}
	if (!m->flags.scopes)
		m->flags.scopes = 1u << SCOPE_LINK_LOCAL;
	for (unsigned scope = 1; scope <= 15; scope++)
		if (m->flags.scopes & 1u << scope)
			add_scope(m, scope);
}

void groups_line(struct build *b, const struct conf *conf, const struct definition *def,
		 const struct line *line, char *text, struct conf_report *r)
{
	struct mgid_line m = { .build = b, .conf = conf, .def = def, .report = r };
	char *rest = text;
	struct flag first = words_flag(line, strsep(&rest, ","));
	bool good;

	m.text = first.value ? first.value : "";
	m.at = first.value_at;
	good = read_address(&m);
	good &= read_flags(&m, line, rest);
	if (good && def->partition != NO_PARTITION)
		add_groups(&m);
}
