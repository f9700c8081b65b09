// SPDX-License-Identifier: BSD-2-Clause
#include "sm/admin/key_cables.h"

#include <string.h>

#include "fabric/store.h"
#include "ib/layout.h"
#include "sm/base/news.h"
#include "sm/channel/channel.h"
#include "sm/sm_internal.h"
#include "util/mem.h"

#define CABLE_BYTES 18
#define CABLES_MAX  (CHANNEL_MESSAGE_MAX / CABLE_BYTES)

static guid_t guid_at(const struct port *p)
{
	return node_is_switch(p->node) ? p->node->guid : p->guid;
}

/* Each cable once: from its end with the lesser GUID, or port. */
static bool is_first_end(const struct port *p)
{
	guid_t a, b;

	if (!p->peer)
		return false;
	a = guid_at(p);
	b = guid_at(p->peer);
	return a && b && (a < b || (a == b && p->num < p->peer->num));
}

static size_t count_cables(const struct sm *sm)
{
	size_t n = 0;

	FABRIC_EACH_NODE(sm->fabric, node) {
		for (unsigned i = 1; i <= node->n_ports; i++)
			n += is_first_end(&node->ports[i]) ? 1 : 0;
	}
	return MIN(n, (size_t)CABLES_MAX);
}

static uint8_t *put_end(uint8_t *to, const struct port *p)
{
	ib_bits_put(to, 0, 64, guid_at(p));
	to[8] = p->num;
	return to + CABLE_BYTES / 2;
}

uint8_t *key_cables_pack(const struct sm *sm, size_t *ret_len)
{
	size_t n = count_cables(sm);
	uint8_t *bytes = xcalloc(MAX(n, 1u), CABLE_BYTES), *at = bytes;

	FABRIC_EACH_NODE(sm->fabric, node) {
		for (unsigned i = 1; i <= node->n_ports && n; i++) {
			if (!is_first_end(&node->ports[i]))
				continue;
			at = put_end(put_end(at, &node->ports[i]), node->ports[i].peer);
			n--;
		}
	}
	*ret_len = (size_t)(at - bytes);
	return bytes;
}

/* False: no such cable can be. */
static bool take_cable(struct sm *sm, const uint8_t *cable)
{
	const uint8_t *far = cable + CABLE_BYTES / 2;
	guid_t a = ib_bits_get(cable, 0, 64), b = ib_bits_get(far, 0, 64);

	if (!a || !b || !cable[8] || !far[8] || cable[8] == UINT8_MAX || far[8] == UINT8_MAX)
		return false;
	store_set_neighbor(sm->store, a, cable[8], b, far[8]);
	return true;
}

static void on_cables(struct sm *sm, void *arg, struct channel_message *m)
{
	const uint8_t reply = 0;
	unsigned n = 0;

	for (size_t at = 0; sm->state == SM_DISCOVERING && m->len - at >= CABLE_BYTES;
	     at += CABLE_BYTES)
		n += take_cable(sm, m->bytes + at) ? 1 : 0;
	channel_reply(sm, &m->ticket, &reply, sizeof(reply));
	if (n)
		want_sweep_now(sm, SWEEP_HEAVY, "the master sent M_Keys and cables");
}

void key_cables_listen(struct sm *sm)
{
	channel_register(sm, CHANNEL_CABLES, on_cables, NULL);
}
