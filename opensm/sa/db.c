// SPDX-License-Identifier: BSD-2-Clause
/*
 * Writes opensm-sa.dump: all registrations, as text, byte for byte in the peer's
 * format.
 *
 * Two differences that its reader does not mind. modified_time is 0 for services that were not in a
 * file before, as there is no wall clock here; their lease_period is what remains at the moment of
 * writing. Values that the format cannot carry follow at the end of the line, where it does not
 * look:
 *
 *   Service Record    name_hex=0x...   the name's 64 bytes, if it is no plain text
 *   InformInfo Record grh: gid=... flow_label=... hop_limit=... tclass=...   if requests came with
 *       one
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sa/guidinfo.h"
#include "sa/notice/inform.h"
#include "sa/mcast/mgroup.h"
#include "sa/service.h"
#include "util/mem.h"

/* Can the name be written in single quotes and read back: is it text, then zeroes? */
static bool name_is_plain(const uint8_t name[64])
{
	size_t len = strnlen((const char *)name, 64);

	for (size_t i = 0; i < len; i++) {
		if (name[i] < ' ' || name[i] == 0x7F || name[i] == '\'')
			return false;
	}
	for (size_t i = len; i < 64; i++) {
		if (name[i])
			return false;
	}
	return true;
}

/* Writes 16 bytes of a record as two numbers. */
static void put_pair(FILE *out, const char *name, const uint8_t *p)
{
	fprintf(out, " %s=0x%016" PRIx64 ":0x%016" PRIx64, name, ib_bits_get(p, 0, 64),
		ib_bits_get(p, 64, 64));
}

/* ---- GUIDInfo ------------------------------------------------------------------------------ */

static void put_alias_block(const struct sa *sa, FILE *out, const struct alias_port *p,
			    unsigned block)
{
	guid_t guids[ALIAS_BLOCK];

	sa_guid_block(sa, p->port, block, guids);
	fprintf(out, "GUIDInfo Record: base_guid=0x%016" PRIx64 " lid=0x%04x block_num=0x%x",
		p->port, p->lid, block);
	for (unsigned i = 0; i < ALIAS_BLOCK; i++)
		fprintf(out, " guid%u=0x%016" PRIx64, i, guids[i]);
	fputs("\n\n", out);
}

static void put_aliases(const struct sa *sa, FILE *out)
{
	size_t n;
	_cleanup_free_ struct alias_port **ports = alias_guids_sorted(sa, &n);

	for (size_t i = 0; i < n; i++) {
		for (unsigned block = 0; block < ports[i]->n_blocks; block++)
			put_alias_block(sa, out, ports[i], block);
	}
}

/* ---- groups -------------------------------------------------------------------------------- */

static void put_group_head(FILE *out, const struct mgroup *g)
{
	const uint8_t *r = mgroup_record(g);

	fprintf(out, "MC Group 0x%04x %s:", mgroup_mlid(g),
		mgroup_is_well_known(g) ? " (well known)" : "");
	put_pair(out, "mgid", ib_at(r, MCM_MGID));
	put_pair(out, "port_gid", ib_at(r, MCM_PORT_GID));
	fprintf(out, " qkey=0x%08x mlid=0x%04x mtu=0x%02x tclass=0x%02x pkey=0x%04x rate=0x%02x",
		(unsigned)ib_get(r, MCM_QKEY), mgroup_mlid(g), *ib_at(r, MCM_MTU_SEL),
		(unsigned)ib_get(r, MCM_TCLASS), (unsigned)ib_get(r, MCM_PKEY),
		*ib_at(r, MCM_RATE_SEL));
	fprintf(out, " pkt_life=0x%02x sl_flow_hop=0x%08x scope_state=0x%02x proxy_join=0x0\n\n",
		*ib_at(r, MCM_LIFE_SEL), (unsigned)ib_bits_get(r, MCM_SL, 32),
		(unsigned)ib_get(r, MCM_SCOPE) << 4 | MC_FULL);
}

static void put_member(const struct sa *sa, FILE *out, const struct mgroup *g,
		       const struct mgroup_member *m)
{
	fprintf(out,
		"mcm_port: port_gid=0x%016" PRIx64 ":0x%016" PRIx64
		" scope_state=0x%02x proxy_join=0x%x\n\n",
		sa->conf->subnet_prefix, m->id,
		(unsigned)ib_get(mgroup_record(g), MCM_SCOPE) << 4 | m->join, m->proxy);
}

static void put_groups(const struct sa *sa, FILE *out)
{
	for (const struct mgroup *g = mgroup_next(sa, NULL); g;
	     g = mgroup_next(sa, mgroup_mgid(g))) {
		const struct mgroup_member *m = mgroup_member_from(g, 0);

		put_group_head(out, g);
		while (m) {
			put_member(sa, out, g, m);
			m = m->id == UINT64_MAX ? NULL : mgroup_member_from(g, m->id + 1);
		}
	}
}

/* ---- subscriptions ------------------------------------------------------------------------- */

static void put_address(FILE *out, const struct transport_addr *a)
{
	fprintf(out,
		" rep_addr: lid=0x%04x path_bits=0x%02x static_rate=0x00 remote_qp=0x%08x"
		" remote_qkey=0x00000000 pkey_ix=0x%04x sl=0x%02x",
		a->lid, a->path_bits, a->qp, a->pkey_index, a->sl);
	if (!a->global)
		return;
	fputs(" grh:", out);
	put_pair(out, "gid", a->grh.gid);
	fprintf(out, " flow_label=0x%05x hop_limit=0x%02x tclass=0x%02x", a->grh.flow_label,
		a->grh.hop_limit, a->grh.traffic_class);
}

static void put_subscription(const struct sa *sa, FILE *out, const struct subscription *s)
{
	const uint8_t *i = s->info;

	fprintf(out,
		"InformInfo Record: subscriber_gid=0x%016" PRIx64 ":0x%016" PRIx64
		" subscriber_enum=0x0 InformInfo:",
		sa->conf->subnet_prefix, s->subscriber->port_guid);
	put_pair(out, "gid", ib_at(i, INF_GID));
	fprintf(out,
		" lid_range_begin=0x%x lid_range_end=0x%x is_generic=0x%x subscribe=0x%x"
		" trap_type=0x%x trap_num=0x%x",
		(unsigned)ib_get(i, INF_LID_BEGIN), (unsigned)ib_get(i, INF_LID_END),
		(unsigned)ib_get(i, INF_IS_GENERIC), (unsigned)ib_get(i, INF_SUBSCRIBE),
		(unsigned)ib_get(i, INF_TYPE), (unsigned)ib_get(i, INF_TRAP));
	fprintf(out, " qpn_resp_time_val=0x%x node_type=0x%06x",
		(unsigned)ib_bits_get(i, INF_QPN, 32), (unsigned)ib_get(i, INF_PRODUCER));
	put_address(out, &s->subscriber->addr);
	fputs("\n\n", out);
}

static void put_subscriptions(const struct sa *sa, FILE *out)
{
	const struct subscription *s;
	uint64_t cursor = 0;

	while ((s = informs_before(sa, &cursor)))
		put_subscription(sa, out, s);
}

/* ---- services ------------------------------------------------------------------------------ */

static void put_name(FILE *out, const uint8_t *name)
{
	fputs(" name='", out);
	for (unsigned i = 0; i < 64 && name[i]; i++)
		putc(name[i] < ' ' || name[i] == 0x7F || name[i] == '\'' ? '?' : name[i], out);
	putc('\'', out);
}

static void put_name_hex(FILE *out, const uint8_t *name)
{
	fputs(" name_hex=0x", out);
	for (unsigned i = 0; i < 64; i++)
		fprintf(out, "%02x", name[i]);
}

static void put_service(const struct sa *sa, FILE *out, const struct service *s)
{
	const uint8_t *r = s->record, *name = ib_at(r, SVR_NAME);

	fprintf(out, "Service Record: id=0x%016" PRIx64, ib_get(r, SVR_ID));
	put_pair(out, "gid", ib_at(r, SVR_GID));
	fprintf(out, " pkey=0x%x lease=0x%x", (unsigned)ib_get(r, SVR_PKEY),
		(unsigned)ib_get(r, SVR_LEASE));
	put_pair(out, "key", ib_at(r, SVR_KEY));
	put_name(out, name);
	put_pair(out, "data8", ib_at(r, SVR_DATA8_0));
	put_pair(out, "data16", ib_at(r, SVR_DATA16_0));
	put_pair(out, "data32", ib_at(r, SVR_DATA32_0));
	put_pair(out, "data64", ib_at(r, SVR_DATA64_0));
	fprintf(out, " modified_time=0x%" PRIx64 " lease_period=0x%x", s->modified_time,
		service_left(s, sa->now));
	if (!name_is_plain(name))
		put_name_hex(out, name);
	fputs("\n\n", out);
}

static void put_services(const struct sa *sa, FILE *out)
{
	const struct service *s;
	uint64_t cursor = 0;

	while ((s = services_before(sa, &cursor))) {
		if (!s->manager)
			put_service(sa, out, s);
	}
}

uint64_t sa_db_version(const struct sa *sa)
{
	return sa->db_version;
}

char *sa_db_text(const struct sa *sa, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	if (!out)
		abort(); /* out of memory */
	put_aliases(sa, out);
	put_groups(sa, out);
	put_subscriptions(sa, out);
	put_services(sa, out);
	if (fclose(out))
		abort();
	return text;
}
