// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes registrations of the answers of another manager's SA: fills the stores of opensm-sa.dump
 * from records. sm/answers/replica.c asks for them.
 */
#include <assert.h>
#include <string.h>

#include "conf/partitions/partitions.h"
#include "sa/guidinfo.h"
#include "sa/notice/inform.h"
#include "sa/mcast/mgroup.h"
#include "sa/service.h"
#include "util/mem.h"

/* Record `i` of a table. */
static const uint8_t *row(const struct sa_table *t, const struct sa_type *type, size_t i)
{
	return t->records + i * sa_type_stride(type);
}

static guid_t interface_id(const uint8_t *gid)
{
	return ib_bits_get(gid, 64, 64);
}

/* ---- groups -------------------------------------------------------------------------------- */

/*
 * Restores a member and its group, which each record describes; without a PortGID, only the group.
 */
static bool restore_member(struct sa *sa, const uint8_t *r)
{
	guid_t id = interface_id(ib_at(r, MCM_PORT_GID));
	unsigned join = (unsigned)ib_get(r, MCM_JOIN_STATE);

	if (mgroups_restore(sa, r, ib_get(r, MCM_MLID), false) < 0)
		return false;
	if (!id && !join)
		return true;
	return mgroups_restore_member(sa, ib_at(r, MCM_MGID), id, join,
				      ib_get(r, MCM_PROXY_JOIN)) == 0;
}

static size_t restore_members(struct sa *sa, const struct sa_table *t)
{
	size_t left_out = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!restore_member(sa, row(t, &sa_mc_member_record, i)))
			left_out++;
	return left_out;
}

/* ---- alias GUIDs ---------------------------------------------------------------------------- */

static void read_block(const uint8_t *r, guid_t ret[ALIAS_BLOCK])
{
	for (unsigned i = 0; i < ALIAS_BLOCK; i++)
		ret[i] = ib_bits_get(r, GIR_GUID0 + 64 * i, 64);
}

static bool has_alias(const guid_t guids[ALIAS_BLOCK], unsigned block)
{
	for (unsigned i = block == 0; i < ALIAS_BLOCK; i++) {
		if (guids[i])
			return true;
	}
	return false;
}

/*
 * Restores aliases. A record names its port by LID; the port GUID is the first GUID of block 0,
 * which comes first.
 */
static size_t restore_aliases(struct sa *sa, const struct sa_table *t)
{
	guid_t guids[ALIAS_BLOCK], port = 0;
	lid_t of = 0;
	size_t left_out = 0;

	for (size_t i = 0; i < t->n; i++) {
		const uint8_t *r = row(t, &sa_guid_info_record, i);
		lid_t lid = ib_get(r, GIR_LID);
		unsigned block = ib_get(r, GIR_BLOCK);

		read_block(r, guids);
		if (block == 0) {
			port = guids[0];
			of = lid;
		}
		if (!has_alias(guids, block))
			continue;
		left_out += of != lid || !lid_is_unicast(lid) ||
			    alias_guids_restore(sa, port, lid, block, guids) < 0;
	}
	return left_out;
}

/* ---- services ------------------------------------------------------------------------------ */

/* The remaining lease in seconds; 0: it has ended. */
static uint32_t lease_left(const uint8_t *r, const struct sa_tables *t)
{
	uint32_t lease = ib_get(r, SVR_LEASE);

	if (lease == SERVICE_FOREVER)
		return lease;
	return lease > t->age ? lease - t->age : 0;
}

/* Restores services from the last to the first, so that the newest is first again. */
static size_t restore_services(struct sa *sa, const struct sa_tables *t)
{
	size_t left_out = 0;

	for (size_t i = t->services.n; i-- > 0;) {
		const uint8_t *r = row(&t->services, &sa_service_record, i);
		uint32_t left = lease_left(r, t);

		if (left && ib_get(r, SVR_ID) != SA_MANAGER_ID)
			if (services_restore(sa, r, left, 0) < 0)
				left_out++;
	}
	return left_out;
}

/* ---- subscriptions ------------------------------------------------------------------------- */

/* The index of this P_Key in our table; if it is missing, or 0, that of the default partition. */
static uint16_t pkey_index(const struct sa_tables *t, uint16_t pkey)
{
	uint16_t other = 0;

	for (unsigned i = t->n_pkeys; i-- > 0;) {
		uint16_t base = t->pkeys[i] & PKEY_BASE;

		if (base == (pkey & PKEY_BASE) && base)
			return i;
		if (base == PKEY_DEFAULT)
			other = i;
	}
	return other;
}

static bool restore_subscription(struct sa *sa, const struct sa_tables *t, const uint8_t *r)
{
	const uint8_t *gid = ib_at(r, IIR_SUBSCRIBER_GID), *info = r + IIR_BYTES;
	struct transport_addr addr = { .qp = ib_get(info, INF_QPN), .sl = sa->conf->sm_sl };
	guid_t port = interface_id(gid);

	addr.pkey_index = pkey_index(t, t->whole ? ib_get(r, IIW_PKEY) : 0);
	if (t->whole) {
		addr.lid = ib_get(r, IIW_LID);
		addr.sl = ib_get(r, IIW_SL);
		addr.global = ib_get(r, IIW_GID_PATH);
	}
	if (addr.global) {
		memcpy(addr.grh.gid, gid, sizeof(addr.grh.gid));
		addr.grh.flow_label = ib_get(r, IIW_FLOW);
		addr.grh.hop_limit = ib_get(r, IIW_HOP);
		addr.grh.traffic_class = ib_get(r, IIW_TCLASS);
	}
	return port && addr.qp && addr.lid <= LID_MAX_UCAST &&
	       informs_restore(sa, port, &addr, info) == 0;
}

static size_t restore_subscriptions(struct sa *sa, const struct sa_tables *t)
{
	size_t left_out = 0;

	for (size_t i = t->subscriptions.n; i-- > 0;) {
		const uint8_t *r = row(&t->subscriptions, &sa_inform_info_record, i);

		if (interface_id(ib_at(r, IIR_SUBSCRIBER_GID)) != t->own_port)
			if (!restore_subscription(sa, t, r))
				left_out++;
	}
	return left_out;
}

size_t sa_restore_tables(struct sa *sa, const struct sa_tables *t)
{
	size_t left_out;

	assert(!sa->view && t);
	mgroups_clear(sa);
	services_clear(sa);
	informs_clear(sa);
	alias_guids_clear(sa);
	left_out = restore_aliases(sa, &t->aliases) + restore_members(sa, &t->members);
	if (sa->conf->drop_event_subscriptions) /* clients register again with each master */
		return left_out;
	return left_out + restore_services(sa, t) + restore_subscriptions(sa, t);
}
