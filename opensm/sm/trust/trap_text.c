// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traps in words: the port that a directed route leads back to, and the content of traps about
 * keys. All of a notice is a claim of its sender; numbers in it are checked before they are used as
 * an index.
 */
#include "sm/trust/trap_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ib/words.h"
#include "sm/base/drawn_key.h"
#include "util/mem.h"

/* The port by which a path goes on; NULL: none, as adapters only begin or end a route. */
static struct port *way_out(struct port *at, unsigned num)
{
	struct node *n = at->node;

	if (num == 0 || num > n->n_ports || (!node_is_switch(n) && num != at->num))
		return NULL;
	return &n->ports[num];
}

/* The meaning of a path that goes on behind a host. */
enum beyond_host { BEYOND_IS_NONSENSE, BEYOND_IS_INVENTED };

static struct port *walk_back(struct port *at, const uint8_t *path, unsigned hops,
			      enum beyond_host beyond)
{
	assert(at && path);
	for (unsigned i = MIN(hops, (unsigned)IB_MAX_HOPS); at && i-- > 0;) {
		struct port *out = way_out(at, path[i]);

		at = out ? out->peer : NULL;
		if (!at || !i || node_is_switch(at->node))
			continue;
		return beyond == BEYOND_IS_INVENTED ? at : NULL;
	}
	return at ? port_of_sma(at) : NULL;
}

struct port *trap_walk_back(struct port *at, const uint8_t *path, unsigned hops)
{
	return walk_back(at, path, hops, BEYOND_IS_NONSENSE);
}

/* ---- offenders ----------------------------------------------------------------------------- */

/*
 * The port that used a wrong M_Key, by the return path. Switches write it, each the port by which
 * the SMP came in; before the first switch it is the sender's own. So a path that goes on behind a
 * host was begun by that host.
 */
static struct port *m_key_offender(const struct sm *sm, struct port *p, const uint8_t *notice)
{
	unsigned hops = (unsigned)ib_get(notice, N256_HOPS);

	if (!ib_get(notice, N256_DIRECTED))
		return lids_port_at(sm, (lid_t)ib_get(notice, N256_LID));
	if (ib_get(notice, N256_TRUNCATED) || hops > N256_PATH_W / 8)
		return NULL;
	return walk_back(p, ib_at(notice, N256_PATH), hops, BEYOND_IS_INVENTED);
}

static struct port *port_of_address(const struct sm *sm, lid_t lid, const uint8_t *gid)
{
	struct port *p = lids_port_at(sm, lid);

	return p ? p : fabric_find_port(sm->fabric, ib_bits_get(gid, 64, 64));
}

/* The port at which a switch stopped the packet; NULL: there is no port of this number. */
static struct port *stopped_at(struct port *p, const uint8_t *notice)
{
	unsigned num = (unsigned)ib_get(notice, N259_PORT);

	return num && num <= p->node->n_ports ? &p->node->ports[num] : NULL;
}

struct port *trap_key_offender(const struct sm *sm, struct port *p, const uint8_t *notice,
			       struct port **ret_witness)
{
	struct port *at;

	*ret_witness = NULL;
	switch (ib_get(notice, NT_TRAP)) {
	case TRAP_BAD_MKEY:
		/*
		 * a host writes both its notice and its counter, so it proves nothing about others
		 */
		*ret_witness = ib_get(notice, N256_DIRECTED) && node_is_switch(p->node) ? p : NULL;
		return m_key_offender(sm, p, notice);
	case TRAP_SWITCH_BAD_PKEY:
		at = stopped_at(p, notice);
		if (!at || !at->peer || node_is_switch(at->peer->node))
			return port_of_address(sm, (lid_t)ib_get(notice, N259_LID1),
					       ib_at(notice, N259_GID1));
		*ret_witness = at;
		return at->peer;
	default:
		return port_of_address(sm, (lid_t)ib_get(notice, N257_LID1),
				       ib_at(notice, N257_GID1));
	}
}

/* ---- keys ---------------------------------------------------------------------------------- */

static bool is_ours(const struct sm *sm, uint64_t key)
{
	if (key == sm->conf->m_key || key == sm_sm_key(sm) || key == sm->conf->sa_key)
		return true;
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			if (n->ports[i].m_key == key || n->ports[i].m_key_other == key)
				return true;
		}
	}
	return false;
}

#define MKEY_STRLEN 32
static char *m_key_words(const struct sm *sm, uint64_t key, char ret[MKEY_STRLEN])
{
	if (!key)
		snprintf(ret, MKEY_STRLEN, "no M_Key");
	else if (is_ours(sm, key))
		snprintf(ret, MKEY_STRLEN, "an M_Key of ours");
	else
		snprintf(ret, MKEY_STRLEN, "another M_Key");
	return ret;
}

/* The port of a LID, or of a GID, in words. */
static char *address_words(const struct sm *sm, lid_t lid, const uint8_t *gid,
			   char ret[PLACE_STRLEN])
{
	const struct port *p = port_of_address(sm, lid, gid);

	if (p)
		return fabric_place_str(p, ret);
	snprintf(ret, PLACE_STRLEN, "LID %u (of no known port)", lid);
	return ret;
}

static void wrong_m_key(const struct sm *sm, struct port *p, const uint8_t *notice,
			char ret[TRAP_KEY_STRLEN])
{
	static const uint8_t no_gid[16];
	char victim[PLACE_STRLEN], from_text[PLACE_STRLEN], key[MKEY_STRLEN];
	char attr[IB_WORD_STRLEN], method[IB_WORD_STRLEN];
	bool directed = ib_get(notice, N256_DIRECTED);
	const struct port *from = m_key_offender(sm, p, notice);

	if (from || directed)
		fabric_place_str(from, from_text);
	else
		address_words(sm, (lid_t)ib_get(notice, N256_LID), no_gid, from_text);
	snprintf(ret, TRAP_KEY_STRLEN, "%s refused %s %s (modifier 0x%x) with %s from %s%s%s",
		 fabric_place_str(p, victim),
		 ib_method_words((unsigned)ib_get(notice, N256_METHOD), method),
		 ib_attr_words((uint16_t)ib_get(notice, N256_ATTR), attr),
		 (unsigned)ib_get(notice, N256_MOD),
		 m_key_words(sm, ib_get(notice, N256_M_KEY), key), from_text,
		 directed ? " (directed route)" : "",
		 from == sm->fabric->own_port ? ": that is us, its M_Key is not known here" : "");
}

static void wrong_key(const struct sm *sm, struct port *p, const uint8_t *notice,
		      char ret[TRAP_KEY_STRLEN])
{
	char victim[PLACE_STRLEN], from[PLACE_STRLEN], to[PLACE_STRLEN];
	bool q_key = ib_get(notice, NT_TRAP) == TRAP_BAD_QKEY;

	snprintf(
		ret, TRAP_KEY_STRLEN,
		"%s refused a packet with %s_Key 0x%x from %s, QP %u, to %s, QP %u, SL %u",
		fabric_place_str(p, victim), q_key ? "Q" : "P", (unsigned)ib_get(notice, N257_KEY),
		address_words(sm, (lid_t)ib_get(notice, N257_LID1), ib_at(notice, N257_GID1), from),
		(unsigned)ib_get(notice, N257_QP1),
		address_words(sm, (lid_t)ib_get(notice, N257_LID2), ib_at(notice, N257_GID2), to),
		(unsigned)ib_get(notice, N257_QP2), (unsigned)ib_get(notice, N257_SL));
}

static void wrong_key_at_switch(const struct sm *sm, struct port *p, const uint8_t *notice,
				char ret[TRAP_KEY_STRLEN])
{
	char victim[PLACE_STRLEN], from[PLACE_STRLEN], to[PLACE_STRLEN];

	snprintf(
		ret, TRAP_KEY_STRLEN,
		"%s refused at port %u a packet with P_Key 0x%x from %s, QP %u, to %s, QP %u, SL "
		"%u",
		fabric_place_str(p, victim), (unsigned)ib_get(notice, N259_PORT),
		(unsigned)ib_get(notice, N259_P_KEY),
		address_words(sm, (lid_t)ib_get(notice, N259_LID1), ib_at(notice, N259_GID1), from),
		(unsigned)ib_get(notice, N259_QP1),
		address_words(sm, (lid_t)ib_get(notice, N259_LID2), ib_at(notice, N259_GID2), to),
		(unsigned)ib_get(notice, N259_QP2), (unsigned)ib_get(notice, N259_SL));
}

char *trap_key_text(const struct sm *sm, struct port *p, const uint8_t *notice,
		    char ret[TRAP_KEY_STRLEN])
{
	switch (ib_get(notice, NT_TRAP)) {
	case TRAP_BAD_MKEY:
		wrong_m_key(sm, p, notice, ret);
		break;
	case TRAP_SWITCH_BAD_PKEY:
		wrong_key_at_switch(sm, p, notice, ret);
		break;
	default:
		wrong_key(sm, p, notice, ret);
		break;
	}
	return ret;
}
