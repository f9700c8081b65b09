// SPDX-License-Identifier: BSD-2-Clause
/*
 * Congestion control of a port: settings as bytes of the wire, made on the first Set. A MAD with a
 * wrong CC_Key is dropped and counted; with the protect bit off Get(CongestionKeyInfo) is answered
 * whatever the key.
 */
#include "sim/cca.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/cc.h"
#include "ib/notices.h"
#include "ib/records.h"
#include "sim/sim_internal.h"

#define PORT_BLOCKS 8 /* blocks of SwitchPortCongestionSetting */

struct cca {
	uint64_t key;
	bool protect;
	uint16_t lease, violations;
	mono_t lease_end; /* 0: no timer runs */
	uint8_t settings[CC_DATA_SIZE]; /* settings of the switch, or of the CA */
	uint8_t ports[PORT_BLOCKS][CC_DATA_SIZE];
	uint8_t log[MAD_SIZE - CC_LOG];
	unsigned n_logged;
	uint8_t traps_to[CPI_BYTES]; /* trap fields of ClassPortInfo */
	uint8_t *table; /* blocks, one behind the other; NULL: zero */
};

struct call {
	struct sim *sim;
	struct sim_node *n;
	struct sim_port *p;
	uint8_t *mad;
	bool set;
	uint32_t mod;
};

static unsigned blocks_of(const struct sim_node *n)
{
	return n->cc_blocks ? n->cc_blocks : SIM_CC_BLOCKS;
}

static struct cca *cca_of(struct sim_port *p)
{
	if (!p->cca)
		p->cca = xcalloc(1, sizeof(*p->cca));
	return p->cca;
}

void cca_reset(struct sim_port *p)
{
	if (p->cca)
		free(p->cca->table);
	free(p->cca);
	p->cca = NULL;
}

/* ---- for tests ------------------------------------------------------------------------------- */

void sim_set_cc(struct sim *sim, int node, enum sim_cc how)
{
	if (sim_node(sim, node))
		sim_node(sim, node)->cc_mood = how;
}

void sim_set_cc_blocks(struct sim *sim, int node, unsigned blocks)
{
	if (sim_node(sim, node) && blocks <= UINT8_MAX)
		sim_node(sim, node)->cc_blocks = (uint8_t)blocks;
}

uint64_t sim_cc_count(const struct sim *sim, uint8_t method)
{
	return method == MAD_SET ? sim->cc_sets : sim->cc_gets;
}

static struct sim_port *end_port(const struct sim *sim, int node, unsigned port)
{
	struct sim_node *n = sim_node(sim, node);

	return n && port <= n->nports && node_is_switch(n) == (port == 0) ? &n->ports[port] : NULL;
}

int sim_cc_key(const struct sim *sim, int node, unsigned port, struct sim_cc_key *ret)
{
	const struct sim_port *p = end_port(sim, node, port);

	if (!p)
		return -EINVAL;
	*ret = (struct sim_cc_key){ 0 };
	if (p->cca)
		*ret = (struct sim_cc_key){ p->cca->key, p->cca->protect, p->cca->lease,
					    p->cca->violations };
	return 0;
}

int sim_set_cc_key(struct sim *sim, int node, unsigned port, const struct sim_cc_key *key)
{
	struct sim_port *p = end_port(sim, node, port);

	if (!p)
		return -EINVAL;
	cca_of(p)->key = key->key;
	p->cca->protect = key->protect;
	p->cca->lease = (uint16_t)key->lease;
	return 0;
}

int sim_cc_mark(struct sim *sim, int node, unsigned out, lid_t from, lid_t to)
{
	struct sim_node *n = sim_node(sim, node);
	bool is_switch = n && node_is_switch(n);
	struct sim_port *p = end_port(sim, node, is_switch ? 0 : out);
	unsigned most = is_switch ? CC_SWITCH_EVENTS : CC_CA_EVENTS;
	uint8_t *log, *at;

	if (!p || out > n->nports)
		return -EINVAL;
	log = cca_of(p)->log;
	ib_put(log, CSL_EVENTS, ib_get(log, CSL_EVENTS) + 1);
	if (is_switch)
		ib_bits_put(log, CSL_PORTS + 255 - out, 1, 1);
	if (p->cca->n_logged == most)
		return 0;
	at = is_switch ? log + CSL_BYTES + p->cca->n_logged * CSE_BYTES
		       : log + CAL_BYTES + p->cca->n_logged * CAE_BYTES;
	ib_bits_put(at, is_switch ? CSE_SLID : CAE_LOCAL_LID, 16, from);
	ib_bits_put(at, is_switch ? CSE_DLID : CAE_REMOTE_LID, 16, to);
	p->cca->n_logged++;
	return 0;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* Stores the destination of traps only. */
static uint16_t class_port_info(const struct call *c)
{
	uint8_t *at = c->mad + CC_DATA;

	if (c->set)
		memcpy(cca_of(c->p)->traps_to, at, CPI_BYTES);
	memset(at, 0, CC_DATA_SIZE);
	if (c->p->cca)
		memcpy(ib_at(at, CPI_TRAP_GID), ib_at(c->p->cca->traps_to, CPI_TRAP_GID),
		       CPI_BYTES - CPI_TRAP_GID / 8);
	ib_put(at, CPI_BASE_VERSION, 1);
	ib_put(at, CPI_CLASS_VERSION, CC_CLASS_VERSION);
	return 0;
}

/* What is there is shown; the log is empty behind that. */
static void show_log(const struct call *c)
{
	uint8_t *log = c->mad + CC_LOG;

	memset(log, 0, MAD_SIZE - CC_LOG);
	if (c->p->cca) {
		memcpy(log, c->p->cca->log, MAD_SIZE - CC_LOG);
		memset(c->p->cca->log, 0, sizeof(c->p->cca->log));
		c->p->cca->n_logged = 0;
	}
	ib_put(log, CSL_TYPE, node_is_switch(c->n) ? CC_LOG_SWITCH : CC_LOG_CA);
}

static uint16_t key_info(const struct call *c)
{
	uint8_t *at = c->mad + CC_DATA;
	struct cca *a = c->p->cca;

	if (c->set) {
		a = cca_of(c->p);
		a->key = ib_get(at, CCK_KEY);
		a->protect = ib_get(at, CCK_PROTECT);
		a->lease = (uint16_t)ib_get(at, CCK_LEASE);
		a->lease_end = 0;
	}
	memset(at, 0, CC_DATA_SIZE);
	if (!a)
		return 0;
	ib_put(at, CCK_KEY, a->key);
	ib_put(at, CCK_PROTECT, a->protect);
	ib_put(at, CCK_LEASE, a->lease);
	ib_put(at, CCK_VIOLATIONS, a->violations);
	return 0;
}

static void copy(uint8_t *to, const uint8_t *from, unsigned offset, unsigned end)
{
	memcpy(to + offset / 8, from + offset / 8, (end - offset) / 8);
}

static void set_switch(uint8_t *to, const uint8_t *from)
{
	unsigned parts = (unsigned)ib_get(from, CCS_CONTROL_MAP);

	if (parts & CC_PART_VICTIM)
		copy(to, from, CCS_VICTIM_MASK, CCS_CREDIT_MASK);
	if (parts & CC_PART_CREDIT)
		copy(to, from, CCS_CREDIT_MASK, CCS_THRESHOLD);
	if (parts & CC_PART_THRESHOLD)
		copy(to, from, CCS_THRESHOLD, CCS_CREDIT_THRESHOLD);
	if (parts & CC_PART_STARVATION)
		copy(to, from, CCS_CREDIT_THRESHOLD, CCS_MARKING_RATE);
	if (parts & CC_PART_RATE)
		copy(to, from, CCS_MARKING_RATE, CCS_BITS);
}

static void set_ca(uint8_t *to, const uint8_t *from)
{
	unsigned sls = (unsigned)ib_get(from, CCA_CONTROL_MAP);

	copy(to, from, CCA_PORT_CONTROL, CCA_CONTROL_MAP);
	for (unsigned sl = 0; sl < CC_SLS; sl++) {
		if (sls >> sl & 1)
			memcpy(to + CCA_BYTES + sl * CCL_BYTES, from + CCA_BYTES + sl * CCL_BYTES,
			       CCL_BYTES);
	}
}

static void round_settings(const struct sim_node *n, uint8_t *s)
{
	if (node_is_switch(n)) {
		ib_put(s, CCS_THRESHOLD, ib_get(s, CCS_THRESHOLD) & ~1ull);
		return;
	}
	for (unsigned sl = 0; sl < CC_SLS; sl++)
		s[CCA_BYTES + sl * CCL_BYTES + 1] &= 0xFE;
}

static uint16_t settings(const struct call *c)
{
	uint8_t *at = c->mad + CC_DATA;

	if (c->mod)
		return MAD_STATUS_BAD_VALUE;
	if (c->set && node_is_switch(c->n))
		set_switch(cca_of(c->p)->settings, at);
	else if (c->set)
		set_ca(cca_of(c->p)->settings, at);
	if (c->set && c->n->cc_mood == SIM_CC_ROUNDS)
		round_settings(c->n, c->p->cca->settings);
	memset(at, 0, CC_DATA_SIZE);
	if (c->p->cca)
		memcpy(at, c->p->cca->settings, CC_DATA_SIZE);
	return 0;
}

static uint16_t port_settings(const struct call *c)
{
	uint8_t *at = c->mad + CC_DATA;

	if (c->n->cc_mood == SIM_CC_PLAIN)
		return MAD_STATUS_BAD_METHOD_ATTR;
	if (c->mod > c->n->nports / CC_BLOCK_PORTS)
		return MAD_STATUS_BAD_VALUE;
	if (c->set)
		memcpy(cca_of(c->p)->ports[c->mod], at, CC_BLOCK_PORTS * CCP_BYTES);
	for (unsigned i = 0; c->set && c->n->cc_mood == SIM_CC_ROUNDS && i < CC_BLOCK_PORTS; i++)
		c->p->cca->ports[c->mod][i * CCP_BYTES] &= 0xFE;
	memset(at, 0, CC_DATA_SIZE);
	if (c->p->cca)
		memcpy(at, c->p->cca->ports[c->mod], CC_DATA_SIZE);
	return 0;
}

static uint16_t table(const struct call *c)
{
	uint8_t *at = c->mad + CC_DATA, *block;
	unsigned n = blocks_of(c->n);

	if (c->mod >= n || (c->set && ib_get(at, CCT_LIMIT) >= n * CC_BLOCK_ENTRIES))
		return MAD_STATUS_BAD_VALUE;
	if (c->set && !cca_of(c->p)->table)
		c->p->cca->table = xcalloc(n, CC_DATA_SIZE);
	block = c->p->cca && c->p->cca->table ? c->p->cca->table + c->mod * CC_DATA_SIZE : NULL;
	if (c->set)
		memcpy(block, at, CC_DATA_SIZE);
	if (c->set && c->n->cc_mood == SIM_CC_ROUNDS)
		block[CCT_BYTES + 3] &= 0xFE;
	memset(at, 0, CC_DATA_SIZE);
	if (block)
		memcpy(at, block, CC_DATA_SIZE);
	return 0;
}

/* Attributes that can only be read. */
static uint16_t show(const struct call *c, enum cc_attr attr)
{
	uint8_t *at = c->mad + CC_DATA;

	if (c->set)
		return MAD_STATUS_BAD_METHOD_ATTR;
	if (attr == CC_ATTR_LOG) {
		show_log(c);
		return 0;
	}
	memset(at, 0, CC_DATA_SIZE);
	if (attr == CC_ATTR_INFO && node_is_switch(c->n))
		ib_put(at, CCI_CAPS, CC_CAP_CREDIT);
	else if (attr == CC_ATTR_INFO)
		ib_put(at, CCI_BLOCKS, blocks_of(c->n));
	return 0;
}

static uint16_t call_attr(const struct call *c, enum cc_attr attr)
{
	bool is_switch = node_is_switch(c->n);

	switch (attr) {
	case CC_ATTR_CLASS_PORT_INFO:
		return class_port_info(c);
	case CC_ATTR_NOTICE:
		return MAD_STATUS_BAD_METHOD_ATTR;
	case CC_ATTR_INFO:
	case CC_ATTR_LOG:
	case CC_ATTR_TIME:
		return show(c, attr);
	case CC_ATTR_KEY_INFO:
		return key_info(c);
	case CC_ATTR_SWITCH:
		return is_switch ? settings(c) : MAD_STATUS_BAD_METHOD_ATTR;
	case CC_ATTR_SWITCH_PORT:
		return is_switch ? port_settings(c) : MAD_STATUS_BAD_METHOD_ATTR;
	case CC_ATTR_CA:
		return is_switch ? MAD_STATUS_BAD_METHOD_ATTR : settings(c);
	case CC_ATTR_TABLE:
		return is_switch ? MAD_STATUS_BAD_METHOD_ATTR : table(c);
	}
	return MAD_STATUS_BAD_METHOD_ATTR;
}

int sim_cc_read(struct sim *sim, int node, unsigned port, uint16_t attr, uint32_t mod, uint8_t *ret)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	struct call c = { .sim = sim, .p = end_port(sim, node, port), .mad = mad, .mod = mod };

	if (!c.p)
		return -EINVAL;
	c.n = sim_node(sim, node);
	if (call_attr(&c, attr))
		return -ENOENT;
	memcpy(ret, mad + CC_DATA, CC_DATA_SIZE);
	return 0;
}

/* ---- MADs ------------------------------------------------------------------------------------ */

bool cca_answers(const uint8_t *mad)
{
	uint64_t method = ib_get(mad, SMP_METHOD);

	return ib_get(mad, SMP_CLASS) == MAD_CLASS_CC && (method == MAD_GET || method == MAD_SET);
}

static bool has_key(const struct call *c)
{
	struct cca *a = c->p->cca;
	bool reads_key = !c->set && ib_get(c->mad, SMP_ATTR_ID) == CC_ATTR_KEY_INFO;

	if (!a || !a->key || ib_get(c->mad, SMP_M_KEY) == a->key) {
		if (a)
			a->lease_end = 0;
		return true;
	}
	if (a->lease_end && c->sim->now >= a->lease_end)
		a->protect = false;
	if (reads_key && !a->protect)
		return true;
	a->violations += a->violations < UINT16_MAX ? 1 : 0;
	if (a->lease && !a->lease_end)
		a->lease_end = c->sim->now + a->lease * MONO_S;
	return false;
}

static uint16_t answer(const struct call *c)
{
	enum cc_attr attr = (enum cc_attr)ib_get(c->mad, SMP_ATTR_ID);

	if (ib_get(c->mad, SMP_BASE_VERSION) != 1 ||
	    ib_get(c->mad, SMP_CLASS_VERSION) != CC_CLASS_VERSION ||
	    c->n->cc_mood == SIM_CC_ABSENT)
		return MAD_STATUS_BAD_VERSION;
	if (c->set && c->n->cc_mood == SIM_CC_REFUSES && attr != CC_ATTR_KEY_INFO)
		return MAD_STATUS_BAD_VALUE;
	return call_attr(c, attr);
}

/* CC_KeyViolation, once for each MAD: it is not repeated. */
static void report(const struct call *c, const struct event *bad)
{
	unsigned port = node_is_switch(c->n) ? 0 : bad->port;
	struct event *ev;
	uint8_t *notice;
	lid_t to = c->p->cca ? (lid_t)ib_get(c->p->cca->traps_to, CPI_TRAP_LID) : 0;

	if (!to)
		return;
	ev = event_new(c->sim, EV_ARRIVE);
	ev->length = MAD_SIZE;
	memset(ev->mad, 0, MAD_SIZE);
	ib_put(ev->mad, SMP_BASE_VERSION, 1);
	ib_put(ev->mad, SMP_CLASS, MAD_CLASS_CC);
	ib_put(ev->mad, SMP_CLASS_VERSION, CC_CLASS_VERSION);
	ib_put(ev->mad, SMP_METHOD, MAD_TRAP);
	/*
	 * A TID of no program: otherwise TrapRepress would reach the program with that TID, as an
	 * answer.
	 */
	ib_put(ev->mad, SMP_TID, 0xCC00000000000000ull | c->p->cca->violations);
	ib_put(ev->mad, SMP_ATTR_ID, CC_ATTR_NOTICE);
	notice = ev->mad + CC_DATA;
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TYPE, 2);
	ib_put(notice, NT_ISSUER_LID, ib_get(c->p->info, PI_LID));
	ib_put(notice, CKV_LID, bad->from.lid);
	ib_put(notice, CKV_METHOD, ib_get(bad->mad, SMP_METHOD));
	ib_put(notice, CKV_ATTR, ib_get(bad->mad, SMP_ATTR_ID));
	ib_put(notice, CKV_KEY, ib_get(bad->mad, SMP_M_KEY));
	ev->to = (struct transport_addr){ .lid = to, .qp = 1, .qkey = MAD_QP1_QKEY };
	ev->dlid = to;
	ev->from.lid = (lid_t)ib_get(c->p->info, PI_LID);
	ev->from.qp = 1;
	ev->pkey = bad->pkey;
	forward_send(c->sim, ev, bad->node, port);
}

void cca_arrive(struct sim *sim, struct event *ev)
{
	struct sim_node *n = &sim->nodes[ev->node];
	struct call c = {
		.sim = sim,
		.n = n,
		.p = node_end_port(n, ev->port),
		.mad = ev->mad,
		.set = ib_get(ev->mad, SMP_METHOD) == MAD_SET,
		.mod = (uint32_t)ib_get(ev->mad, SMP_ATTR_MOD),
	};

	if (c.set)
		sim->cc_sets++;
	else
		sim->cc_gets++;
	if (n->cc_mood == SIM_CC_SILENT) {
		event_free(sim, ev);
		return;
	}
	if (!has_key(&c)) {
		report(&c, ev);
		event_free(sim, ev);
		return;
	}
	smp_make_response(ev->mad, answer(&c), NULL);
	forward_answer(sim, ev);
}
