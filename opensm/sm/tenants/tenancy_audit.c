// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the P_Key tables of all end ports, and of the switch ports that face them, and compares
 * them with the partitions, not with the plan by which they are written: so a port that a change of
 * the plan left out is found. Nothing is written, and tables that are read do not count as known.
 * Reads are those of read_cell.c, as many at a time as it allows; a sweep comes first.
 */
#include <errno.h>
#include <string.h>

#include "sm/tenants/tenancy_internal.h"
#include "util/mem.h"

#define WRONG_TOLD 1000u	  /* most differences that are reported; all are counted */
#define PAUSE	   (10 * MONO_MS) /* pause while all places for reads are taken */

struct audit {
	struct sm *sm;
	sm_tenancy_audit_fn *done;
	void *arg;
	uint32_t node;	      /* next index in fabric->nodes */
	unsigned port, block; /* next port of that node, and its next block */
	unsigned n_out;
	mono_t again; /* time to continue if no request is under way */
	bool dropped; /* set if it has ended already: answers are discarded */
	struct sm_tenancy_audit result;
	struct sm_tenancy_block *wrong;
	size_t cap;
};

struct audit_read {
	struct audit *audit;
	guid_t node;
	uint8_t port;
	uint16_t block;
};

/* The end port whose P_Keys are in the table of `p`; NULL: none. */
static const struct port *end_of(const struct port *p)
{
	if (port_is_end(p))
		return p;
	return p->peer && port_is_end(p->peer) ? p->peer : NULL;
}

/* Has the port a table that this manager writes? */
static bool has_table(const struct sm *sm, const struct port *p)
{
	const struct pkey_plan *plan = partition_wanted(sm);
	const struct port *end = end_of(p);
	size_t at = plan && end ? pkey_plan_find(plan, end->guid) : SIZE_MAX;

	if (at == SIZE_MAX || !p->known || port_state(p) == IB_PORT_DOWN)
		return false;
	return (end == p ? plan->ports[at].table : plan->ports[at].peer_table) != PKEY_NO_TABLE;
}

/* Makes a block as the partitions have it; while P_Keys of tenants are held, as it was planned. */
static void wanted_block(const struct sm *sm, const struct port *p, unsigned block,
			 uint16_t ret[PKEY_BLOCK])
{
	const struct pkey_plan *plan = partition_wanted(sm);
	const struct port *end = end_of(p);
	const struct pkey_port_plan *row = &plan->ports[pkey_plan_find(plan, end->guid)];
	struct pkey_table table = pkey_plan_table(plan, end == p ? row->table : row->peer_table);
	struct pkey_trial trial = { 0 };

	if (!partition_is_held(sm))
		partition_try_port(sm, end, &trial);
	if (trial.keys && end == p)
		table = (struct pkey_table){ trial.keys, trial.n };
	else if (trial.peer_keys && end != p)
		table = (struct pkey_table){ trial.peer_keys, trial.n_peer };
	pkey_table_block(table, block, ret);
	pkey_trial_clear(&trial);
}

static void compare_block(struct audit *a, const struct port *p, unsigned block,
			  const uint8_t *payload)
{
	struct sm_tenancy_block row = {
		.node_guid = p->node->guid,
		.port = p->num,
		.is_switch = !port_is_end(p),
		.block = (uint16_t)block,
		.before_known = true,
	};

	if (!has_table(a->sm, p))
		return;
	wanted_block(a->sm, p, block, row.after);
	for (unsigned i = 0; i < PKEY_BLOCK; i++)
		row.before[i] = block * PKEY_BLOCK + i < fabric_pkey_cap(p)
					? (uint16_t)ib_bits_get(payload, i * 16, 16)
					: 0;
	if (!memcmp(row.before, row.after, sizeof(row.after)))
		return;
	a->result.n_wrong++;
	if (a->result.n_wrong_told == WRONG_TOLD)
		return;
	GROW(a->wrong, a->result.n_wrong_told + 1, a->cap);
	a->wrong[a->result.n_wrong_told++] = row;
}

static void audit_free(struct audit *a)
{
	free(a->wrong);
	free(a);
}

static void on_block(void *arg, const uint8_t *payload)
{
	struct audit_read *read = arg;
	struct audit *a = read->audit;
	struct node *n = a->dropped ? NULL : fabric_find_node(a->sm->fabric, read->node);

	a->n_out--;
	if (payload)
		a->result.n_blocks++;
	else
		a->result.n_silent++;
	if (n && payload && read->port <= n->n_ports)
		compare_block(a, &n->ports[read->port], read->block, payload);
	free(read);
	if (a->dropped && !a->n_out)
		audit_free(a);
}

/* Starts to read a block. False: no more reads may be under way now. */
static bool read_block(struct audit *a, struct port *p, unsigned block)
{
	struct audit_read *read = xcalloc(1, sizeof(*read));
	int r;

	*read = (struct audit_read){ a, p->node->guid, p->num, (uint16_t)block };
	r = discover_read_cell(a->sm, p, IB_ATTR_PKEY_TABLE, port_tables[TABLE_PKEYS].mod(p, block),
			       on_block, read);
	if (r == 0) {
		a->n_out++;
		return true;
	}
	free(read);
	a->result.n_silent += r != -EAGAIN;
	return r != -EAGAIN;
}

/*
 * Goes to the next block, port or node; `blocks` is 0 for a table that this manager does not write.
 */
static void go_to_next(struct audit *a, const struct node *n, unsigned blocks)
{
	if (++a->block < blocks)
		return;
	a->block = 0;
	a->result.n_ports += blocks > 0;
	if (++a->port <= n->n_ports)
		return;
	a->port = 0;
	a->node++;
}

static void feed(struct audit *a)
{
	const struct fabric *f = a->sm->fabric;

	while (a->node < f->n_nodes) {
		struct node *n = f->nodes[a->node];
		struct port *p = a->port <= n->n_ports ? &n->ports[a->port] : NULL;
		unsigned blocks = p && has_table(a->sm, p)
					  ? (fabric_pkey_cap(p) + PKEY_BLOCK - 1) / PKEY_BLOCK
					  : 0;

		if (a->block < blocks && !read_block(a, p, a->block)) {
			a->again = a->sm->now + PAUSE;
			return;
		}
		go_to_next(a, n, blocks);
	}
}

void audit_tick(struct sm *sm)
{
	struct audit *a = sm->m.tenancy->audit;

	if (!a)
		return;
	feed(a);
	if (a->node >= sm->fabric->n_nodes && !a->n_out)
		audit_end(sm);
}

mono_t audit_next(const struct sm *sm)
{
	const struct audit *a = sm->m.tenancy->audit;

	return a && !a->n_out ? a->again : MONO_NEVER;
}

void audit_end(struct sm *sm)
{
	struct audit *a = sm->m.tenancy->audit;

	if (!a)
		return;
	sm->m.tenancy->audit = NULL;
	a->result.wrong = a->wrong;
	if (a->done)
		a->done(a->arg, &a->result);
	a->dropped = true;
	if (!a->n_out)
		audit_free(a);
}

bool sm_tenancy_verify(struct sm *sm, sm_tenancy_audit_fn *done, void *arg)
{
	struct tenancy *t = sm->m.tenancy;

	if (t->audit || sm->state != SM_MASTER || !partition_wanted(sm))
		return false;
	t->audit = xcalloc(1, sizeof(*t->audit));
	t->audit->sm = sm;
	t->audit->done = done;
	t->audit->arg = arg;
	return true;
}

void sm_tenancy_verify_abandon(struct sm *sm, const void *arg)
{
	struct audit *a = sm->m.tenancy->audit;

	if (a && a->arg == arg)
		a->done = NULL;
}
