// SPDX-License-Identifier: BSD-2-Clause
/*
 * P_Key tables and enforcement as sync/ writes them. After every single event no port may hold a
 * key that neither the old nor the new plan gives it, and no two may meet in a partition that
 * neither plan joins them in.
 *
 * SEED=n and N=count choose what the random test does; LOUD=1 shows the seed.
 */
#include "plan/pkey.h"
#include "sync-desk.h"

#define N_PARTS 6 /* partitions 0x0001 .. 0x0006; and the default one, which joins all */

/* Membership of hosts: PKEY_SET_LIMITED, PKEY_SET_FULL or 0. */
struct roll {
	uint8_t member[N_HOSTS][N_PARTS];
};

struct world {
	struct desk *d;
	struct partitions *parts;
	struct pkey_plan *plan;
	struct roll old, new;
};

/* ---- plans ---------------------------------------------------------------------------------- */

static void add_item(struct partition *part, const struct partition_item *item)
{
	part->items = xrealloc(part->items, part->n_items + 1, sizeof(*part->items));
	part->items[part->n_items++] = *item;
}

static struct partitions *partitions_of(const struct desk *d, const struct roll *roll)
{
	static const struct partition_item everybody = { .ports = PARTITION_ALL,
							 .member = PARTITION_FULL };
	struct partitions *p = xcalloc(1, sizeof(*p));

	p->refs = 1;
	p->list = xcalloc(N_PARTS + 1, sizeof(*p->list));
	for (unsigned k = 0; k < N_PARTS; k++) {
		struct partition *part = &p->list[p->n];

		part->pkey = (uint16_t)(k + 1);
		for (unsigned h = 0; h < N_HOSTS; h++) {
			struct partition_item item = { .guid = desk_host(d, h)->guid,
						       .ports = PARTITION_GUID };

			if (!roll->member[h][k])
				continue;
			item.member = roll->member[h][k] == PKEY_SET_FULL ? PARTITION_FULL
									  : PARTITION_LIMITED;
			add_item(part, &item);
		}
		p->n += part->n_items > 0;
	}
	p->list[p->n].pkey = PKEY_DEFAULT;
	add_item(&p->list[p->n++], &everybody);
	return p;
}

static void add_port(struct desk *d, struct pkey_job *job, struct port *p)
{
	struct pkey_port *rows = (struct pkey_port *)job->ports;
	uint16_t *have = xcalloc(PKEY_CAP_MAX, sizeof(*have));
	struct pkey_port *row = &rows[job->n_ports++];

	*row = (struct pkey_port){
		.guid = p->guid,
		.node_type = p->node->type,
		.capacity = (uint16_t)fabric_pkey_cap(p),
		.peer_capacity = p->peer && node_is_switch(p->peer->node)
					 ? (uint16_t)fabric_pkey_cap(p->peer)
					 : 0,
	};
	row->n_have = (uint16_t)fabric_pkeys(d->fabric, p, have);
	row->have = row->n_have ? have : NULL;
	if (!row->n_have)
		free(have);
}

static void plan(struct world *w, const struct roll *roll)
{
	struct pkey_port rows[MAX_NODES];
	struct pkey_job job = { .ports = rows, .previous = w->plan };

	partitions_unref(w->parts);
	w->parts = partitions_of(w->d, roll);
	job.partitions = w->parts;
	pkey_job_options(&job, w->d->conf);
	FABRIC_EACH_NODE(w->d->fabric, n)
		add_port(w->d, &job, node_is_switch(n) ? &n->ports[0] : &n->ports[1]);
	w->d->pkeys = pkey_plan(&job);
	pkey_plan_free(w->plan);
	w->plan = (struct pkey_plan *)w->d->pkeys;
	for (size_t i = 0; i < job.n_ports; i++)
		free((uint16_t *)rows[i].have);
	w->old = w->new;
	w->new = *roll;
}

static struct world *world_new(unsigned seed)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->d = desk_new(seed);
	return w;
}

static void world_free(struct world *w)
{
	desk_free(w->d);
	pkey_plan_free(w->plan);
	partitions_unref(w->parts);
	free(w);
}

/* Another manager takes over: it knows neither tables nor plans. */
static void take_over(struct world *w)
{
	desk_forget_all(w->d);
	w->plan = pkey_plan_free(w->plan);
	w->d->pkeys = NULL;
}

/* ---- what is seen --------------------------------------------------------------------------- */

/* Forms of the partition in the table of a host (port 0), or of the switch port that faces it. */
static unsigned forms_held(struct desk *d, unsigned h, unsigned part, bool at_switch)
{
	struct port *p = at_switch ? desk_host(d, h)->peer : desk_host(d, h);
	unsigned forms = 0, blocks = at_switch ? 1 : 2;
	uint8_t payload[SMP_DATA_SIZE];

	for (unsigned block = 0; block < blocks; block++) {
		int node = desk_host_index(d, h);
		unsigned port;

		if (at_switch)
			sim_peer(d->sim, node, 1, &node, &port);
		assert_int_equal(sim_read(d->sim, node, IB_ATTR_PKEY_TABLE,
					  port_tables[TABLE_PKEYS].mod(p, block), payload),
				 0);
		for (unsigned i = 0; i < PKEY_BLOCK; i++) {
			unsigned key = ib_bits_get(payload, i * 16, 16);

			if ((key & PKEY_BASE) == part + 1)
				forms |= key & PKEY_FULL ? PKEY_SET_FULL : PKEY_SET_LIMITED;
		}
	}
	return forms;
}

static bool may_meet(const struct roll *r, unsigned a, unsigned b, unsigned part)
{
	return r->member[a][part] && r->member[b][part] &&
	       (r->member[a][part] | r->member[b][part]) & PKEY_SET_FULL;
}

/* Others have waited for it twice in vain: they do not any more. */
static bool patience_ended(const struct world *w, unsigned h)
{
	const struct cell_table *t = desk_host(w->d, h)->tables[TABLE_PKEYS];

	return t && t->unanswered >= 2;
}

static bool forms_meet(unsigned a, unsigned b)
{
	return a && b && (a | b) & PKEY_SET_FULL;
}

static void watch_part(const struct world *w, unsigned part)
{
	unsigned forms[N_HOSTS];

	for (unsigned h = 0; h < N_HOSTS; h++) {
		forms[h] = forms_held(w->d, h, part, false);
		if (forms[h] & ~(unsigned)(w->old.member[h][part] | w->new.member[h][part]))
			fail_msg("h%u has forms %u of partition %u", h, forms[h], part + 1);
	}
	for (unsigned a = 0; a < N_HOSTS; a++) {
		for (unsigned b = 0; b < a; b++) {
			if (forms_meet(forms[a], forms[b]) && !may_meet(&w->old, a, b, part) &&
			    !may_meet(&w->new, a, b, part) && !patience_ended(w, a) &&
			    !patience_ended(w, b))
				fail_msg("h%u and h%u meet in partition %u", a, b, part + 1);
		}
	}
}

/* No port has more than the old or the new plan gives, alone or together with another. */
static void watch(void *arg)
{
	for (unsigned part = 0; part < N_PARTS; part++)
		watch_part(arg, part);
}

static void watched(struct world *w, bool on)
{
	w->d->watch = on ? watch : NULL;
	w->d->watch_arg = w;
}

static uint64_t pkey_sets(const struct desk *d)
{
	return sim_count(d->sim, IB_ATTR_PKEY_TABLE, MAD_SET);
}

static uint64_t pkey_gets(const struct desk *d)
{
	return sim_count(d->sim, IB_ATTR_PKEY_TABLE, MAD_GET);
}

static void assert_as_planned(const struct world *w)
{
	for (unsigned h = 0; h < N_HOSTS; h++) {
		for (unsigned part = 0; part < N_PARTS; part++) {
			unsigned wanted = w->new.member[h][part];
			unsigned held = forms_held(w->d, h, part, false);
			unsigned checked = forms_held(w->d, h, part, true);

			if (held != wanted || checked != wanted)
				fail_msg("h%u, partition %u: host %u, switch %u instead of %u", h,
					 part + 1, held, checked, wanted);
		}
	}
}

static bool all_active(const struct desk *d)
{
	for (unsigned h = 0; h < N_HOSTS; h++) {
		if (sim_port_state(d->sim, desk_host_index(d, h), 1) != IB_PORT_ACTIVE)
			return false;
	}
	return true;
}

static unsigned enforced(struct desk *d, struct port *p)
{
	uint8_t pi[SMP_DATA_SIZE];
	int node;

	for (node = 0; d->nodes[node] != p->node; node++)
		;
	sim_read(d->sim, node, IB_ATTR_PORT_INFO, p->num, pi);
	return (ib_get(pi, PI_PART_ENF_IN) ? PKEY_ENFORCE_IN : 0) |
	       (ib_get(pi, PI_PART_ENF_OUT) ? PKEY_ENFORCE_OUT : 0);
}

/* h0, h1, h2 in the first partition, h3, h4, h5 in the second. */
static const struct roll halves = {
	.member = { { PKEY_SET_FULL },
		    { PKEY_SET_FULL },
		    { PKEY_SET_LIMITED },
		    { 0, PKEY_SET_FULL },
		    { 0, PKEY_SET_FULL },
		    { 0, PKEY_SET_LIMITED } },
};

static struct world *world_up(const struct roll *roll)
{
	struct world *w = world_new(1);

	plan(w, roll);
	desk_run(w->d);
	desk_observe(w->d);
	assert_true(all_active(w->d));
	return w;
}

/* ---- a fabric comes up ---------------------------------------------------------------------- */

/* Hosts have 64 keys: two blocks. What is in INIT is not read. */
static void new_ports_are_written_whole(void **state)
{
	struct world *w = world_new(1);

	plan(w, &halves);
	desk_run(w->d);
	assert_int_equal(
		w->d->outcome.timeouts + w->d->outcome.refused + w->d->outcome.unkept_tables, 0);
	assert_int_equal(pkey_gets(w->d), 0);
	assert_int_equal(pkey_sets(w->d),
			 N_HOSTS * 2 + 3 /* port 0 */ + N_HOSTS /* facing ports */);
	assert_as_planned(w);
	assert_true(all_active(w->d));
	world_free(w);
}

/* Without routes: tables of P_Keys and nothing else; the run behind it finds them. */
static void a_run_ahead_of_routes_writes_pkeys_alone(void **state)
{
	struct world *w = world_new(1);

	plan(w, &halves);
	desk_run_ahead(w->d);
	assert_int_equal(pkey_sets(w->d), N_HOSTS * 2 + 3 + N_HOSTS);
	assert_int_equal(sim_sets(w->d->sim), pkey_sets(w->d));
	desk_run(w->d);
	assert_int_equal(pkey_sets(w->d), N_HOSTS * 2 + 3 + N_HOSTS);
	assert_as_planned(w);
	assert_true(all_active(w->d));
	world_free(w);
}

/* The run with routes writes PortInfo of links of end ports, and does not repeat that of others. */
static void a_run_ahead_may_arm_links_between_switches(void **state)
{
	struct world *w = world_new(1);
	const struct plan p = { .conf = w->d->conf,
				.sm_lid = desk_host(w->d, 0)->lid,
				.arms_ahead = true };
	uint64_t cables = N_HOSTS + 2;
	uint64_t sets;

	w->d->ended = false;
	sync_start_ahead(w->d->sync, &p);
	while (!w->d->ended)
		desk_step(w->d);
	for (unsigned h = 0; h < N_HOSTS; h++) {
		assert_int_equal(port_state(desk_host(w->d, h)), IB_PORT_INIT);
		assert_int_equal(port_state(desk_host(w->d, h)->peer), IB_PORT_INIT);
	}
	sets = sim_count(w->d->sim, IB_ATTR_PORT_INFO, MAD_SET);
	assert_int_equal(sets, 2 * 2);
	desk_run(w->d);
	assert_true(all_active(w->d));
	assert_int_equal(sim_count(w->d->sim, IB_ATTR_PORT_INFO, MAD_SET),
			 2 * 2 * cables + 3 /* port 0 */);
	world_free(w);
}

static void a_second_run_is_silent(void **state)
{
	struct world *w = world_up(&halves);
	uint64_t sets = sim_sets(w->d->sim), reads = sim_gets(w->d->sim);

	plan(w, &halves);
	desk_run(w->d);
	assert_int_equal(sim_sets(w->d->sim), sets);
	assert_int_equal(sim_gets(w->d->sim), reads);
	world_free(w);
}

/* Enforcement rides on the Set that arms; cables between switches are not checked. */
static void enforcement_costs_no_set(void **state)
{
	struct world *w = world_new(1);
	uint64_t with, without;

	desk_run(w->d); /* no plan: left alone */
	without = sim_count(w->d->sim, IB_ATTR_PORT_INFO, MAD_SET);
	assert_int_equal(pkey_sets(w->d), 0);
	assert_int_equal(enforced(w->d, desk_host(w->d, 3)->peer), 0);
	world_free(w);
	w = world_up(&halves);
	with = sim_count(w->d->sim, IB_ATTR_PORT_INFO, MAD_SET);
	assert_int_equal(with, without);
	for (unsigned h = 0; h < N_HOSTS; h++)
		assert_int_equal(enforced(w->d, desk_host(w->d, h)->peer), PKEY_ENFORCE_BOTH);
	for (unsigned k = 1; k <= w->d->nodes[sim_find(w->d->sim, "spine1")]->n_ports; k++)
		assert_int_equal(
			enforced(w->d, &w->d->nodes[sim_find(w->d->sim, "spine1")]->ports[k]), 0);
	world_free(w);
}

static void a_port_without_its_table_stays_in_init(void **state)
{
	struct world *w = world_new(1);

	sim_set_silent(w->d->sim, desk_host_index(w->d, 4), SIM_SILENT_SET, IB_ATTR_PKEY_TABLE);
	plan(w, &halves);
	assert_true(desk_run(w->d)->timeouts > 0);
	assert_int_equal(sim_port_state(w->d->sim, desk_host_index(w->d, 4), 1), IB_PORT_INIT);
	assert_int_equal(sim_port_state(w->d->sim, desk_host_index(w->d, 3), 1), IB_PORT_ACTIVE);
	sim_set_silent(w->d->sim, desk_host_index(w->d, 4), SIM_ANSWERS, 0);
	desk_observe(w->d);
	assert_int_equal(desk_run(w->d)->timeouts, 0);
	assert_true(all_active(w->d));
	assert_as_planned(w);
	world_free(w);
}

/* Found out in the middle of a run, by a question about something else. */
static void a_port_that_rebooted_gets_its_table_before_it_is_armed(void **state)
{
	struct world *w = world_up(&halves);
	int node = desk_host_index(w->d, 4);

	sim_reboot(w->d->sim, node, 10 * MONO_MS);
	desk_run_for(w->d, 100 * MONO_MS);
	desk_host(w->d, 4)->doubt = true;
	desk_run(w->d);
	assert_int_equal(sim_port_state(w->d->sim, node, 1), IB_PORT_INIT);
	desk_observe(w->d);
	desk_run(w->d);
	assert_true(all_active(w->d));
	assert_as_planned(w);
	world_free(w);
}

/* ---- live changes --------------------------------------------------------------------------- */

/* h1 and h4 change sides: at no moment are both on one. */
static void who_leaves_has_left_when_others_come(void **state)
{
	struct world *w = world_up(&halves);
	struct roll swapped = halves;

	memcpy(swapped.member[1], halves.member[4], sizeof(halves.member[4]));
	memcpy(swapped.member[4], halves.member[1], sizeof(halves.member[1]));
	plan(w, &swapped);
	watched(w, true);
	desk_run(w->d);
	assert_as_planned(w);
	world_free(w);
}

static void what_is_only_added_or_only_taken_costs_one_set(void **state)
{
	struct world *w = world_up(&halves);
	struct roll more = halves, less = halves;
	uint64_t sets = pkey_sets(w->d);

	more.member[5][2] = PKEY_SET_FULL;
	plan(w, &more);
	desk_run(w->d);
	assert_int_equal(pkey_sets(w->d) - sets, 2); /* the host and its switch port */
	assert_as_planned(w);
	sets = pkey_sets(w->d);
	less.member[2][0] = 0;
	less.member[5][2] = PKEY_SET_LIMITED;
	plan(w, &less);
	desk_run(w->d);
	assert_int_equal(pkey_sets(w->d) - sets, 4);
	assert_as_planned(w);
	world_free(w);
}

/* A limited member that becomes a full one has its P_Key all the time. */
static void a_limited_key_stays_until_it_is_a_full_one(void **state)
{
	struct world *w = world_up(&halves);
	struct roll limited = halves, full = halves;
	uint64_t sets;

	limited.member[5][2] = PKEY_SET_LIMITED;
	plan(w, &limited);
	desk_run(w->d);
	sets = pkey_sets(w->d);
	full.member[5][2] = PKEY_SET_FULL;
	plan(w, &full);
	desk_run(w->d);
	assert_int_equal(pkey_sets(w->d) - sets, 2); /* in its place: taken away it would be 4 */
	assert_as_planned(w);
	world_free(w);
}

/* While h1 does not give up its key no other port gets it; but not for ever. */
static void others_wait_for_who_shall_lose_a_key(void **state)
{
	struct world *w = world_up(&halves);
	struct roll moved = halves;
	unsigned runs = 0;

	sim_set_silent(w->d->sim, desk_host_index(w->d, 1), SIM_SILENT_SET, IB_ATTR_PKEY_TABLE);
	memset(moved.member[1], 0, sizeof(moved.member[1]));
	moved.member[4][0] = PKEY_SET_FULL;
	plan(w, &moved);
	desk_run(w->d);
	assert_int_equal(forms_held(w->d, 4, 0, false), 0);
	while (!forms_held(w->d, 4, 0, false) && runs++ < 10)
		desk_run(w->d);
	assert_in_range(runs, 1, 3);
	sim_set_silent(w->d->sim, desk_host_index(w->d, 1), SIM_ANSWERS, 0);
	desk_observe(w->d);
	desk_run(w->d);
	assert_as_planned(w);
	world_free(w);
}

/* A live port whose switch port does not take its table is not checked against the old one. */
static void enforcement_waits_for_the_table(void **state)
{
	struct world *w = world_new(1);
	struct port *facing = desk_host(w->d, 3)->peer;
	int leaf;

	desk_run(w->d);
	desk_observe(w->d);
	leaf = sim_find(w->d->sim, "leaf2");
	sim_set_silent(w->d->sim, leaf, SIM_SILENT_SET, IB_ATTR_PKEY_TABLE);
	plan(w, &halves);
	for (unsigned i = 0; i < 4; i++)
		desk_run(w->d);
	assert_int_equal(enforced(w->d, facing), 0);
	sim_set_silent(w->d->sim, leaf, SIM_ANSWERS, 0);
	desk_observe(w->d);
	desk_run(w->d);
	assert_int_equal(enforced(w->d, facing), PKEY_ENFORCE_BOTH);
	assert_as_planned(w);
	world_free(w);
}

static void enforcement_follows_the_option(void **state)
{
	static const struct {
		const char *word;
		unsigned bits;
	} rows[] = { { "in", PKEY_ENFORCE_IN },
		     { "out", PKEY_ENFORCE_OUT },
		     { "off", 0 },
		     { "both", PKEY_ENFORCE_BOTH } };
	struct world *w = world_up(&halves);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		free(w->d->conf->part_enforce);
		w->d->conf->part_enforce = xstrdup(rows[i].word);
		plan(w, &halves);
		desk_run(w->d);
		assert_int_equal(enforced(w->d, desk_host(w->d, 3)->peer), rows[i].bits);
	}
	world_free(w);
}

/* ---- found in place ------------------------------------------------------------------------- */

static void what_a_former_manager_wrote_is_read(void **state)
{
	struct world *w = world_up(&halves);
	uint64_t sets = sim_sets(w->d->sim);

	take_over(w);
	plan(w, &halves);
	desk_run(w->d);
	assert_int_equal(sim_sets(w->d->sim), sets);
	assert_int_equal(pkey_gets(w->d), N_HOSTS * 2 + 3 + N_HOSTS);
	world_free(w);
}

static void on_vandal_done(void *owner, const struct mad_result *r)
{
	assert_int_equal(r->end, MAD_END_ANSWERED);
}

/* Writes one key into a block behind our back. */
static void vandal(struct world *w, struct port *p, unsigned block, unsigned key)
{
	uint8_t payload[SMP_DATA_SIZE] = { 0 };
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_SET,
		.attr = IB_ATTR_PKEY_TABLE,
		.mod = port_tables[TABLE_PKEYS].mod(p, block),
		.path = &path,
		.payload = payload,
	};

	ib_bits_put(payload, 0, 16, key);
	assert_int_equal(fabric_port_path(w->d->fabric, p, &path), 0);
	mad_submit(w->d->mad, &rq, on_vandal_done, w, NULL);
	desk_run_for(w->d, 100 * MONO_MS);
}

/* Left by another manager in the second block, where we want nothing. */
static void keys_that_nobody_wants_are_emptied(void **state)
{
	struct world *w = world_up(&halves);

	vandal(w, desk_host(w->d, 4), 1, 0x8006);
	assert_int_equal(forms_held(w->d, 4, 5, false), PKEY_SET_FULL);
	take_over(w);
	plan(w, &halves);
	desk_run(w->d);
	assert_as_planned(w);
	world_free(w);
}

/* ---- devices that do not do what they are told ---------------------------------------------- */

static void a_refused_table_is_given_up_until_it_changes(void **state)
{
	struct world *w = world_up(&halves);
	struct roll more = halves;
	unsigned given_up = 0;
	uint64_t sets;

	sim_set_refuse(w->d->sim, desk_host_index(w->d, 4), IB_ATTR_PKEY_TABLE,
		       MAD_STATUS_BAD_VALUE);
	more.member[4][3] = PKEY_SET_FULL;
	plan(w, &more);
	for (unsigned i = 0; i < 3; i++)
		given_up += desk_run(w->d)->unkept_tables;
	assert_int_equal(given_up, 1);
	sets = sim_sets(w->d->sim);
	desk_run(w->d);
	assert_int_equal(sim_sets(w->d->sim), sets);
	assert_int_equal(w->d->outcome.refused + w->d->outcome.unkept_tables, 0);
	sim_set_refuse(w->d->sim, desk_host_index(w->d, 4), 0, 0);
	more.member[4][4] = PKEY_SET_FULL;
	plan(w, &more);
	desk_run(w->d);
	assert_as_planned(w);
	world_free(w);
}

static void what_is_not_stored_is_not_written_for_ever(void **state)
{
	struct world *w = world_new(1);
	uint64_t sets;

	sim_quirk_no_store(w->d->sim, -1);
	plan(w, &halves);
	desk_run(w->d);
	desk_observe(w->d);
	sets = sim_sets(w->d->sim);
	desk_run(w->d);
	assert_int_equal(sim_sets(w->d->sim), sets);
	assert_true(all_active(w->d));
	world_free(w);
}

/* ---- any loss -------------------------------------------------------------------------------- */

static uint32_t rnd(uint32_t *rng, uint32_t below)
{
	*rng = *rng * 1664525 + 1013904223;
	return (*rng >> 8) % below;
}

static struct roll random_roll(uint32_t *rng)
{
	static const uint8_t forms[] = { 0, 0, PKEY_SET_LIMITED, PKEY_SET_FULL };
	struct roll r;

	for (unsigned h = 0; h < N_HOSTS; h++)
		for (unsigned part = 0; part < N_PARTS; part++)
			r.member[h][part] = forms[rnd(rng, ARRAY_SIZE(forms))];
	return r;
}

/* Runs until everything is as wanted; answers and questions are lost meanwhile. */
static void settle(struct world *w, unsigned seed)
{
	unsigned runs = 0;

	do {
		if (++runs > 60)
			fail_msg("seed %u does not settle", seed);
		if (runs > 40)
			sim_set_loss(w->d->sim, 0, 0);
		desk_run(w->d);
		desk_observe(w->d);
	} while (w->d->outcome.timeouts || !all_active(w->d));
	w->old = w->new;
}

static void loss_leaves_no_trace(unsigned seed)
{
	struct world *w = world_new(seed);
	uint32_t rng = seed;
	uint64_t sets;

	for (unsigned change = 0; change < 4; change++) {
		struct roll before = w->new, roll = random_roll(&rng);

		sim_set_loss(w->d->sim, rnd(&rng, 40), rnd(&rng, 40));
		if (change == 2)
			take_over(w);
		plan(w, &roll);
		if (rnd(&rng, 3) == 0) { /* taken back before it has come true */
			watched(w, false);
			desk_run(w->d);
			plan(w, &before);
		} else {
			watched(w, true);
		}
		settle(w, seed);
		assert_as_planned(w);
	}
	sim_set_loss(w->d->sim, 0, 0);
	settle(w, seed);
	sets = sim_sets(w->d->sim);
	desk_run(w->d);
	assert_int_equal(sim_sets(w->d->sim), sets);
	world_free(w);
}

static void tables_are_right_after_any_loss(void **state)
{
	unsigned first = getenv("SEED") ? (unsigned)strtoul(getenv("SEED"), NULL, 0) : 1;
	unsigned n = getenv("N") ? (unsigned)strtoul(getenv("N"), NULL, 0) : 60;

	for (unsigned seed = first; seed < first + n; seed++) {
		if (getenv("LOUD"))
			print_message("seed %u\n", seed);
		loss_leaves_no_trace(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_ports_are_written_whole),
		cmocka_unit_test(a_run_ahead_of_routes_writes_pkeys_alone),
		cmocka_unit_test(a_run_ahead_may_arm_links_between_switches),
		cmocka_unit_test(a_second_run_is_silent),
		cmocka_unit_test(enforcement_costs_no_set),
		cmocka_unit_test(a_port_without_its_table_stays_in_init),
		cmocka_unit_test(a_port_that_rebooted_gets_its_table_before_it_is_armed),
		cmocka_unit_test(who_leaves_has_left_when_others_come),
		cmocka_unit_test(what_is_only_added_or_only_taken_costs_one_set),
		cmocka_unit_test(a_limited_key_stays_until_it_is_a_full_one),
		cmocka_unit_test(others_wait_for_who_shall_lose_a_key),
		cmocka_unit_test(enforcement_waits_for_the_table),
		cmocka_unit_test(enforcement_follows_the_option),
		cmocka_unit_test(what_a_former_manager_wrote_is_read),
		cmocka_unit_test(keys_that_nobody_wants_are_emptied),
		cmocka_unit_test(a_refused_table_is_given_up_until_it_changes),
		cmocka_unit_test(what_is_not_stored_is_not_written_for_ever),
		cmocka_unit_test(tables_are_right_after_any_loss),
	};

	return cmocka_run_group_tests_name("sync-pkeys", tests, NULL, NULL);
}
