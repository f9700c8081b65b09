// SPDX-License-Identifier: BSD-2-Clause
/*
 * Hosts as Linux is one: they keep asking for what they want from the SA until it is granted, and
 * ask again when they are told to register anew, when their LID or the SM's changes, or when their
 * link was down. A leave is repeated until it is answered.
 */
#include "tests/lib/campaign-impl.h"

#include <string.h>

#include "util/mem.h"

#define ASK_AGAIN (3 * MONO_S)
#define PREFIX	  0xFE80000000000000ull

static bool is_host(const struct world *w, int node)
{
	return !sim_node_is_switch(w->sim, node) && sim_node_id(w->sim, node)[0] == 'h';
}

void hosts_open(struct world *w)
{
	for (int n = 0; n < (int)w->n_nodes && world_has(w, FAULT_GROUPS) && w->n_hosts < MAX_HOSTS;
	     n++) {
		struct host *h = &w->hosts[w->n_hosts];

		if (!is_host(w, n) || world_hosts_manager(w, n))
			continue;
		h->c = client_new(w->sim, sim_node_id(w->sim, n));
		w->n_hosts += h->c != NULL;
	}
}

void hosts_close(struct world *w)
{
	for (unsigned i = 0; i < w->n_hosts; i++)
		w->hosts[i].c = client_free(w->hosts[i].c);
}

void hosts_change(struct world *w, struct dice *d)
{
	unsigned n = 1 + roll(d, 6);

	for (unsigned i = 0; i < n && w->n_hosts; i++) {
		struct host *h = &w->hosts[roll(d, w->n_hosts)];

		h->want ^= 1u << roll(d, N_ITEMS);
	}
}

/* ---- what is sent -------------------------------------------------------------------------- */

static void mgid_of(unsigned group, uint8_t ret[16])
{
	static const uint8_t base[16] = { 0xFF, 0x12, 0x40, 0x01, 0xFF, 0xFF };
	static const uint8_t broadcast[16] = { 0xFF, 0x12, 0x40, 0x1B, 0xFF, 0xFF, 0,	 0,
					       0,    0,	   0,	 0,    0xFF, 0xFF, 0xFF, 0xFF };

	memcpy(ret, group ? base : broadcast, 16);
	if (group)
		ret[15] = (uint8_t)group;
}

static struct question service(const struct host *h, uint8_t method, unsigned number,
			       uint8_t record[SVR_BYTES])
{
	memset(record, 0, SVR_BYTES);
	ib_put(record, SVR_ID, 0x1000 + number);
	ib_bits_put(ib_at(record, SVR_GID), 0, 64, PREFIX);
	ib_bits_put(ib_at(record, SVR_GID), 64, 64, h->c->guid);
	ib_put(record, SVR_PKEY, 0xFFFF);
	ib_put(record, SVR_LEASE, 0xFFFFFFFF);
	return (struct question){
		.method = method,
		.attr = SA_SERVICE_RECORD,
		.mask = SA_COMP(SVR_ID) | SA_COMP(SVR_GID) | SA_COMP(SVR_PKEY) |
			(method == MAD_SET ? SA_COMP(SVR_LEASE) : 0),
		.data = record,
		.len = SVR_BYTES,
	};
}

static struct question group(const struct host *h, uint8_t method, unsigned number,
			     uint8_t record[MCM_BYTES])
{
	uint8_t mgid[16];

	if (number == 0 && method == MAD_SET)
		return client_join_broadcast(h->c, 0xFFFF, record);
	mgid_of(number, mgid);
	return client_join(h->c, method, mgid, MC_FULL, record);
}

static void ask_for(struct world *w, struct host *h, unsigned item)
{
	uint8_t method = h->want >> item & 1 ? MAD_SET : MAD_SA_DELETE;
	uint8_t record[SVR_BYTES];
	struct question q = item < N_GROUPS ? group(h, method, item, record)
					    : service(h, method, item - N_GROUPS, record);

	if (method == MAD_SET)
		h->may_have |= 1u << item;
	else
		h->have &= ~(1u << item);
	h->tid[item] = client_send(h->c, &q) == 0 ? h->c->tid : 0;
	h->ask_at[item] = sim_now(w->sim) + ASK_AGAIN;
}

/* ---- what comes ---------------------------------------------------------------------------- */

/* A leave that is refused was no membership any more. */
static void granted(struct host *h, unsigned item, const struct transport_event *ev)
{
	bool joins = ib_get(ev->mad, SAH_METHOD) == MAD_GET_RESP;

	if (joins && ib_get(ev->mad, SAH_STATUS))
		return;
	if (joins)
		h->have |= 1u << item;
	else
		h->may_have &= ~(1u << item);
	if (joins && item < N_GROUPS)
		h->mlid[item] = ib_get(client_record(ev), MCM_MLID);
}

static void take_mail(struct host *h)
{
	struct transport_event ev;

	while (client_receive(h->c, &ev)) {
		uint32_t tid = (uint32_t)ib_get(ev.mad, SAH_TID);

		for (unsigned i = 0; i < N_ITEMS && ev.kind == TRANSPORT_MAD; i++)
			if (h->tid[i] && h->tid[i] == tid)
				granted(h, i, &ev);
		free(ev.whole);
	}
}

/* What is held is asked for again. */
static void register_anew(struct host *h)
{
	h->have = 0;
	memset(h->tid, 0, sizeof(h->tid));
	memset(h->ask_at, 0, sizeof(h->ask_at));
}

static void look_at_port(struct world *w, struct host *h)
{
	unsigned reregistered = sim_reregistered(w->sim, h->c->node, 1);
	bool up = sim_port_state(w->sim, h->c->node, 1) == IB_PORT_ACTIVE;
	uint8_t info[SMP_DATA_SIZE];
	lid_t lid, sm_lid;

	if (sim_read(w->sim, h->c->node, IB_ATTR_PORT_INFO, 1, info) < 0)
		return;
	lid = ib_get(info, PI_LID);
	sm_lid = ib_get(info, PI_MASTER_SM_LID);
	if (up != h->up || reregistered != h->reregistered || lid != h->lid || sm_lid != h->sm_lid)
		register_anew(h);
	h->up = up;
	h->reregistered = reregistered;
	h->lid = lid;
	h->sm_lid = sm_lid;
}

/*
 * An answer may have been lost: what was asked for once may be held until the manager has
 * answered that it is left.
 */
static uint32_t not_as_wanted(const struct host *h)
{
	return (h->want & ~h->have) | (h->may_have & ~h->want);
}

void hosts_tick(struct world *w)
{
	for (unsigned i = 0; i < w->n_hosts; i++) {
		struct host *h = &w->hosts[i];

		h->c->guid = world_port_guid(w, h->c->node, 1);
		take_mail(h);
		look_at_port(w, h);
		for (unsigned item = 0; item < N_ITEMS && h->up; item++)
			if (not_as_wanted(h) >> item & 1 && sim_now(w->sim) >= h->ask_at[item])
				ask_for(w, h, item);
	}
}

/* ---- judgement ----------------------------------------------------------------------------- */

struct copies {
	struct world *w;
	uint32_t hosts;
	unsigned strangers;
};

static void count_copy(void *arg, int node, unsigned port)
{
	struct copies *c = arg;

	for (unsigned i = 0; i < c->w->n_hosts; i++)
		if (c->w->hosts[i].c->node == node) {
			c->hosts |= 1u << i;
			return;
		}
	c->strangers++;
}

static bool has_switches(const struct world *w)
{
	return sim_node_is_switch(w->sim, (int)w->n_nodes - 1) || w->n_nodes > 2;
}

static int judge_group(struct world *w, unsigned number, char *why, size_t cap)
{
	uint32_t members = 0;
	lid_t mlid = 0;

	for (unsigned i = 0; i < w->n_hosts; i++) {
		const struct host *h = &w->hosts[i];

		if (!(h->want >> number & 1))
			continue;
		members |= 1u << i;
		if (mlid && mlid != h->mlid[number])
			return snprintf(why, cap, "group %u has MLIDs 0x%x and 0x%x", number, mlid,
					h->mlid[number]);
		mlid = h->mlid[number];
	}
	/* Hosts on hosts hear everything. */
	for (unsigned i = 0; i < w->n_hosts && mlid && has_switches(w); i++) {
		struct copies c = { .w = w };
		uint32_t others = members & ~(1u << i);

		if (!(members >> i & 1))
			continue;
		sim_mcast_reach(w->sim, mlid, w->hosts[i].c->node, 1, count_copy, &c);
		if (w->ghosts)
			c.hosts &= others;
		if (c.hosts != others || (c.strangers && !w->ghosts))
			return snprintf(why, cap,
					"group %u (0x%x) from %s: reaches %x of %x, %u strangers",
					number, mlid, sim_node_id(w->sim, w->hosts[i].c->node),
					c.hosts, others, c.strangers);
	}
	return 0;
}

/* Is the service there, or not, as the host wants it? */
static int judge_service(struct world *w, struct host *h, unsigned number, char *why, size_t cap)
{
	bool want = h->want >> (N_GROUPS + number) & 1;
	uint8_t record[SVR_BYTES];
	struct question q = service(h, MAD_GET, number, record);
	struct transport_event ev = { .whole = NULL };
	int r = client_ask(h->c, w->rig, &q, &ev);

	free(r >= 0 ? ev.whole : NULL);
	if (r == (want ? SA_OK : SA_NO_RECORDS) || (r == SA_OK && w->ghosts))
		return 0;
	return snprintf(why, cap, "service %u of %s: asked for, status 0x%x, expected %s", number,
			sim_node_id(w->sim, h->c->node), (unsigned)r, want ? "it" : "none");
}

static int judge_path(struct world *w, struct host *h, int to, char *why, size_t cap)
{
	uint8_t record[PR_BYTES];
	struct question q = client_path(h->c, world_port_guid(w, to, 1), 0xFFFF, record);
	struct transport_event ev = { .whole = NULL };
	int r = client_ask(h->c, w->rig, &q, &ev);
	lid_t lid = r == 0 ? ib_get(client_record(&ev), PR_DLID) : 0;
	lid_t base = sim_port_lid(w->sim, to, 1);

	free(r >= 0 ? ev.whole : NULL);
	if (r == 0 && lid >= base && lid < base + (1u << w->conf->lmc))
		return 0;
	return snprintf(why, cap, "path from %s to %s: status 0x%x, DLID %u, its LID is %u",
			sim_node_id(w->sim, h->c->node), sim_node_id(w->sim, to), (unsigned)r, lid,
			base);
}

int hosts_judge(struct world *w, char *why, size_t cap)
{
	int r = 0;

	for (unsigned i = 0; i < w->n_hosts; i++) {
		const struct host *h = &w->hosts[i];

		if (not_as_wanted(h))
			return snprintf(why, cap, "%s wants %x of the SA and has %x, or %x",
					sim_node_id(w->sim, h->c->node), h->want, h->have,
					h->may_have);
	}
	for (unsigned g = 0; g < N_GROUPS && r == 0; g++)
		r = judge_group(w, g, why, cap);
	for (unsigned i = 0; i < w->n_hosts && r == 0; i++) {
		for (unsigned s = 0; s < N_SERVICES && r == 0; s++)
			r = judge_service(w, &w->hosts[i], s, why, cap);
		for (unsigned j = 0; j < w->n_hosts && r == 0; j++)
			if (i != j)
				r = judge_path(w, &w->hosts[i], w->hosts[j].c->node, why, cap);
	}
	return r;
}
