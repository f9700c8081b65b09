// SPDX-License-Identifier: BSD-2-Clause
/*
 * Notices a node sends by itself: 128 link state, 144 local changes, 256 bad M_Key. LID-routed to
 * the port's MasterSMLID, so only a programmed fabric hears them, and repeated until TrapRepress or
 * five times. A node has at most one of a kind under way (13.4.9): the last one.
 */
#include "sim/sim_internal.h"

#define TRAP_TRIES 5
#define TRAP_LINK_STATE 128
#define TRAP_LOCAL_CHANGE 144
#define TRAP_BAD_M_KEY 256

/* Notice as an SMP carries it (13.4.8.2). */
#define NOTICE_LIST(F)                                                                             \
	F(NOTICE, GENERIC, 1) F(NOTICE, TYPE, 7) F(NOTICE, PRODUCER, 24) F(NOTICE, NUMBER, 16)     \
	F(NOTICE, ISSUER_LID, 16) F(NOTICE, TOGGLE, 1) F(NOTICE, COUNT, 15)                       \
	F(NOTICE, RSV0, 16) F(NOTICE, LID, 16) F(NOTICE, RSV1, 15) F(NOTICE, OTHER_CHANGES, 1)    \
	F(NOTICE, CAP_MASK, 32) F(NOTICE, CHANGE_FLAGS, 16) F(NOTICE, CAP_MASK2, 16)
IB_LAYOUT_ENUM(NOTICE, NOTICE_LIST)

/* Details of trap 128 and 256 (14.2.5.1). */
enum { N128_LID = 10 * 8, N128_LID_W = 16 };
enum {
	N256_DR_SLID = 14 * 8, N256_DR_SLID_W = 16, N256_METHOD = 16 * 8, N256_METHOD_W = 8,
	N256_ATTR = 18 * 8, N256_ATTR_W = 16, N256_MOD = 20 * 8, N256_MOD_W = 32,
	N256_M_KEY = 24 * 8, N256_M_KEY_W = 64, N256_DR = 33 * 8, N256_DR_W = 1,
	N256_HOPS = 33 * 8 + 2, N256_HOPS_W = 6,
};
#define N256_PATH 34
#define N256_PATH_BYTES 30u

static struct sim_port *issuer(const struct sim *sim, const struct trap *t)
{
	return node_end_port(&sim->nodes[t->node], t->port);
}

/* 4.096 us * 2^SubnetTimeout, as long as anything. */
static mono_t repeat_interval(const struct sim_port *p)
{
	unsigned e = (unsigned)ib_get(p->info, PI_SUBNET_TIMEOUT);

	return MAX(((mono_t)4096 << e) / 1000, 10 * MONO_MS);
}

static void emit(struct sim *sim, const struct trap *t)
{
	const struct sim_port *p = issuer(sim, t);
	lid_t lid = (lid_t)ib_get(p->info, PI_LID),
	      sm_lid = (lid_t)ib_get(p->info, PI_MASTER_SM_LID);
	struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE, .tid = t->tid };
	struct event *ev;

	if (!lid || !sm_lid)
		return;
	if (sim->trap_loss && forward_chance(sim, sim->trap_loss)) {
		forward_count(sim, IB_ATTR_NOTICE, MAD_TRAP);
		return;
	}
	ev = event_new(sim, EV_ARRIVE);
	smp_build_lid(ev->mad, &head, t->notice);
	ev->length = MAD_SIZE;
	ev->dlid = sm_lid;
	ev->from.lid = lid;
	ev->from.sl = (uint8_t)ib_get(p->info, PI_MASTER_SM_SL);
	forward_count(sim, IB_ATTR_NOTICE, MAD_TRAP);
	forward_send(sim, ev, t->node, node_is_switch(&sim->nodes[t->node]) ? 0 : t->port);
}

static struct trap **find_trap(struct sim *sim, uint32_t node, unsigned number)
{
	struct trap **at = &sim->traps;

	while (*at && ((*at)->node != node || ib_get((*at)->notice, NOTICE_NUMBER) != number))
		at = &(*at)->next;
	return at;
}

static void end_trap(struct sim *sim, struct trap **at)
{
	struct trap *t = *at;

	*at = t->next;
	if (t->timer) {
		queue_remove(sim, t->timer);
		event_free(sim, t->timer);
	}
	free(t);
}

static void start_timer(struct sim *sim, struct trap *t)
{
	t->timer = event_new(sim, EV_TRAP);
	t->timer->node = t->node;
	t->timer->gen = (uint16_t)ib_get(t->notice, NOTICE_NUMBER);
	queue_add(sim, t->timer, sim->now + repeat_interval(issuer(sim, t)));
}

/* Are they the same except for count and toggle? */
static bool says_the_same(const struct trap *t, unsigned port, const uint8_t *notice)
{
	uint8_t before[SMP_DATA_SIZE];

	memcpy(before, t->notice, sizeof(before));
	ib_put(before, NOTICE_COUNT, ib_get(notice, NOTICE_COUNT));
	ib_put(before, NOTICE_TOGGLE, ib_get(notice, NOTICE_TOGGLE));
	return t->port == port && !memcmp(before, notice, sizeof(before));
}

static void raise_trap(struct sim *sim, uint32_t node, unsigned port, const uint8_t *notice)
{
	struct sim_node *n = &sim->nodes[node];
	struct trap *t, **at = find_trap(sim, node, (unsigned)ib_get(notice, NOTICE_NUMBER));

	if (n->off || (*at && says_the_same(*at, port, notice)))
		return;
	if (*at) /* the repetitions of old news end */
		end_trap(sim, at);
	t = xcalloc(1, sizeof(*t));
	t->node = node;
	t->port = (uint8_t)port;
	t->left = TRAP_TRIES - 1;
	t->tid = sim->next_tid++;
	memcpy(t->notice, notice, SMP_DATA_SIZE);
	ib_put(t->notice, NOTICE_COUNT, n->toggle & 0x7FFF);
	ib_put(t->notice, NOTICE_TOGGLE, n->toggle >> 15);
	n->toggle++;
	t->next = sim->traps;
	sim->traps = t;
	emit(sim, t);
	start_timer(sim, t);
}

void trap_again(struct sim *sim, struct event *ev)
{
	struct trap **at = find_trap(sim, ev->node, ev->gen), *t = *at;

	event_free(sim, ev);
	if (!t)
		return;
	t->timer = NULL;
	if (t->left == 0) {
		end_trap(sim, at);
		return;
	}
	t->left--;
	emit(sim, t);
	start_timer(sim, t);
}

bool trap_repressed(struct sim *sim, uint32_t node, const uint8_t *mad)
{
	struct trap **at = find_trap(sim, node, (unsigned)ib_get(smp_data(mad), NOTICE_NUMBER));

	if (!*at || (*at)->tid != ib_get(mad, SMP_TID) ||
	    memcmp((*at)->notice, smp_data(mad), SMP_DATA_SIZE))
		return false;
	end_trap(sim, at);
	return true;
}

void traps_forget(struct sim *sim, uint32_t node)
{
	for (struct trap **at = &sim->traps; *at;) {
		if ((*at)->node == node)
			end_trap(sim, at);
		else
			at = &(*at)->next;
	}
}

static void start_notice(struct sim *sim, uint32_t node, unsigned port, unsigned number,
			 unsigned type, uint8_t *ret)
{
	struct sim_node *n = &sim->nodes[node];
	lid_t lid = (lid_t)ib_get(node_end_port(n, port)->info, PI_LID);

	memset(ret, 0, SMP_DATA_SIZE);
	ib_put(ret, NOTICE_GENERIC, 1);
	ib_put(ret, NOTICE_TYPE, type);
	ib_put(ret, NOTICE_PRODUCER, n->type);
	ib_put(ret, NOTICE_NUMBER, number);
	ib_put(ret, NOTICE_ISSUER_LID, lid);
	ib_put(ret, NOTICE_LID, lid);
}

void trap_link_change(struct sim *sim, uint32_t node)
{
	uint8_t notice[SMP_DATA_SIZE];

	start_notice(sim, node, 0, TRAP_LINK_STATE, 1, notice);
	ib_put(notice, NOTICE_LID, 0);
	ib_put(notice, N128_LID, ib_get(sim->nodes[node].ports[0].info, PI_LID));
	raise_trap(sim, node, 0, notice);
}

void trap_local_change(struct sim *sim, uint32_t node, unsigned port, unsigned flags)
{
	uint8_t notice[SMP_DATA_SIZE];
	const struct sim_port *p = node_end_port(&sim->nodes[node], port);

	start_notice(sim, node, port, TRAP_LOCAL_CHANGE, 4, notice);
	ib_put(notice, NOTICE_OTHER_CHANGES, flags != 0);
	ib_put(notice, NOTICE_CAP_MASK, ib_get(p->info, PI_CAP_MASK));
	ib_put(notice, NOTICE_CHANGE_FLAGS, flags);
	ib_put(notice, NOTICE_CAP_MASK2, ib_get(p->info, PI_CAP_MASK2));
	raise_trap(sim, node, port, notice);
}

void trap_bad_m_key(struct sim *sim, uint32_t node, unsigned port, const uint8_t *mad, lid_t slid)
{
	uint8_t notice[SMP_DATA_SIZE];
	bool dr = ib_get(mad, SMP_CLASS) == MAD_CLASS_SMI_DR;
	unsigned hops = (unsigned)MIN(ib_get(mad, SMP_HOP_COUNT), (uint64_t)N256_PATH_BYTES);

	start_notice(sim, node, port, TRAP_BAD_M_KEY, 2, notice);
	ib_put(notice, NOTICE_LID, slid);
	ib_put(notice, N256_DR_SLID, dr ? ib_get(mad, SMP_DR_SLID) : 0);
	ib_put(notice, N256_METHOD, ib_get(mad, SMP_METHOD));
	ib_put(notice, N256_ATTR, ib_get(mad, SMP_ATTR_ID));
	ib_put(notice, N256_MOD, ib_get(mad, SMP_ATTR_MOD));
	ib_put(notice, N256_M_KEY, ib_get(mad, SMP_M_KEY));
	ib_put(notice, N256_DR, dr);
	ib_put(notice, N256_HOPS, dr ? hops : 0);
	if (dr)
		memcpy(notice + N256_PATH, mad + SMP_RETURN_PATH + 1, MIN(hops, N256_PATH_BYTES));
	raise_trap(sim, node, port, notice);
}

void sim_send_trap(struct sim *sim, int node, unsigned port, const uint8_t notice[SMP_DATA_SIZE])
{
	struct sim_node *n = sim_node(sim, node);

	if (n && port <= n->nports)
		raise_trap(sim, (uint32_t)node, port, notice);
}
