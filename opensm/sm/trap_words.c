// SPDX-License-Identifier: BSD-2-Clause
/*
 * Traps in words: whom a directed route leads back to, and what traps about keys say. Everything in a notice is a claim of its
 * sender; numbers are looked up, never used as an index.
 */
#include "sm/traps.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/words.h"
#include "util/mem.h"

/* Adapters only begin or end a route: in between they have no way out. */
static struct port *way_out(struct port *at, unsigned num)
{
	struct node *n = at->node;

	if (num == 0 || num > n->n_ports || (!node_is_switch(n) && num != at->num))
		return NULL;
	return &n->ports[num];
}

struct port *trap_walk_back(struct port *at, const uint8_t *path, unsigned hops)
{
	for (unsigned i = MIN(hops, (unsigned)IB_MAX_HOPS); at && i-- > 0;) {
		struct port *out = way_out(at, path[i]);

		at = out ? out->peer : NULL;
		if (at && i && !node_is_switch(at->node))
			return NULL;
	}
	return at ? port_of_sma(at) : NULL;
}

/* ---- keys ---------------------------------------------------------------------------------- */

static bool is_ours(const struct sm *sm, uint64_t key)
{
	if (key == sm->conf->m_key || key == sm->conf->sm_key || key == sm->conf->sa_key)
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
		snprintf(ret, MKEY_STRLEN, "M_Key 0x%016" PRIx64, key);
	return ret;
}

/* The port of a LID, or of a GID, as packets name it. */
static char *address_words(const struct sm *sm, lid_t lid, const uint8_t *gid,
			   char ret[PLACE_STRLEN])
{
	const struct port *p = prepare_port_at(sm, lid);

	if (!p)
		p = fabric_find_port(sm->fabric, ib_bits_get(gid, 64, 64));
	if (p)
		return fabric_place_str(p, ret);
	snprintf(ret, PLACE_STRLEN, "LID %u (nobody's)", lid);
	return ret;
}

static void wrong_m_key(const struct sm *sm, struct port *p, const uint8_t *notice,
			char ret[TRAP_KEY_STRLEN])
{
	static const uint8_t no_gid[16];
	char victim[PLACE_STRLEN], who[PLACE_STRLEN], key[MKEY_STRLEN];
	char attr[IB_WORD_STRLEN], method[IB_WORD_STRLEN];
	unsigned hops = (unsigned)ib_get(notice, N256_HOPS);
	bool directed = ib_get(notice, N256_DIRECTED), truncated = ib_get(notice, N256_TRUNCATED);
	const unsigned longest = N256_PATH_W / 8;
	const struct port *from = NULL;

	if (directed && !truncated && hops <= longest)
		from = trap_walk_back(p, ib_at(notice, N256_PATH), hops);
	if (from || directed)
		fabric_place_str(from, who);
	else
		address_words(sm, (lid_t)ib_get(notice, N256_LID), no_gid, who);
	snprintf(ret, TRAP_KEY_STRLEN, "%s refused %s %s (modifier 0x%x) with %s from %s%s%s",
		 fabric_place_str(p, victim),
		 ib_method_words((unsigned)ib_get(notice, N256_METHOD), method),
		 ib_attr_words((uint16_t)ib_get(notice, N256_ATTR), attr),
		 (unsigned)ib_get(notice, N256_MOD),
		 m_key_words(sm, ib_get(notice, N256_M_KEY), key), who,
		 directed ? " (directed route)" : "",
		 from == sm->fabric->own_port ? ": that is us, its M_Key is not known here" : "");
}

static void wrong_key(const struct sm *sm, struct port *p, const uint8_t *notice,
		      char ret[TRAP_KEY_STRLEN])
{
	char victim[PLACE_STRLEN], from[PLACE_STRLEN], to[PLACE_STRLEN];
	bool q_key = ib_get(notice, NT_TRAP) == TRAP_BAD_QKEY;

	snprintf(ret, TRAP_KEY_STRLEN, "%s refused a packet with %s_Key 0x%x from %s, QP %u, to %s, QP %u, SL %u",
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

	snprintf(ret, TRAP_KEY_STRLEN, "%s refused at port %u a packet with P_Key 0x%x from %s, QP %u, to %s, QP %u, SL %u",
		 fabric_place_str(p, victim), (unsigned)ib_get(notice, N259_PORT),
		 (unsigned)ib_get(notice, N259_P_KEY),
		 address_words(sm, (lid_t)ib_get(notice, N259_LID1), ib_at(notice, N259_GID1), from),
		 (unsigned)ib_get(notice, N259_QP1),
		 address_words(sm, (lid_t)ib_get(notice, N259_LID2), ib_at(notice, N259_GID2), to),
		 (unsigned)ib_get(notice, N259_QP2), (unsigned)ib_get(notice, N259_SL));
}

char *trap_key_words(const struct sm *sm, struct port *p, const uint8_t *notice,
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
