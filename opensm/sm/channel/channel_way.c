// SPDX-License-Identifier: BSD-2-Clause
/*
 * The address of a manager: by the table of ports, by its last proof, or, for the master that is
 * followed, by our own port. If HELLO is not answered, the next of these is tried.
 */
#include "sm/channel/channel_internal.h"
#include "util/mem.h"

/* The index of the default P_Key, which managers use. */
static uint16_t default_pkey_index(const struct sm *sm)
{
	const struct port *own = sm->fabric->own_port;
	const uint8_t *block = own ? fabric_cell(sm->fabric, own, TABLE_PKEYS, 0) : NULL;

	for (unsigned i = 0; block && i < PKEYS_PER_BLOCK; i++) {
		if ((ib_bits_get(block, i * 16, 16) & PKEY_BASE) == PKEY_DEFAULT)
			return (uint16_t)i;
	}
	return 0;
}

static struct transport_addr address_of(const struct sm *sm, lid_t lid, uint8_t sl)
{
	return (struct transport_addr){
		.lid = lid,
		.sl = sl,
		.qp = 1,
		.qkey = MAD_QP1_QKEY,
		.pkey_index = default_pkey_index(sm),
	};
}

static struct transport_addr by_table(const struct sm *sm, guid_t guid)
{
	const struct port *port = fabric_find_port(sm->fabric, guid);
	lid_t lid = port && port->known ? ib_get(port->info, PI_LID) : 0;

	return address_of(sm, lid, lid ? sm->m.channel->questions->path_sl(sm, lid) : 0);
}

static struct transport_addr by_proof(const struct channel_peer *p)
{
	struct transport_addr ret = p->at;

	ret.qp = 1;
	ret.qkey = MAD_QP1_QKEY;
	ret.grh.gid_index = 0;
	return ret;
}

static struct transport_addr by_own_port(const struct sm *sm, guid_t guid)
{
	uint8_t sl = 0;
	lid_t lid = sm->state == SM_STANDBY && guid == elect_polled(sm) ? elect_master_lid(sm, &sl)
									: 0;

	return address_of(sm, lid, sl);
}

/* Only a master can rely on its table. */
struct transport_addr peer_address(const struct sm *sm, const struct channel_peer *p)
{
	const struct transport_addr table = by_table(sm, p->guid), proven = by_proof(p),
				    named = by_own_port(sm, p->guid);
	const struct transport_addr *all[] = { &proven, &named, &table }, *there[3];
	unsigned n = 0;

	if (sm->state == SM_MASTER) {
		all[0] = &table;
		all[2] = &proven;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i]->lid)
			there[n++] = all[i];
	}
	return n ? *there[p->way % n] : table;
}
