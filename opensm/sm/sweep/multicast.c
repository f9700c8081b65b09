// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decides which MLIDs need a new tree, when, and for which state of the fabric.
 *
 * Joins come in crowds: a change waits GATHER for others, GATHER_MAX at most, so that a thousand
 * members of one group cost one plan and one Set per table. Trees are planned in slices. A join or
 * a leave adds or removes its own branch, which is quick and moves no other member; many of them
 * may leave a tree that has decayed. Once no group has changed for SETTLE (or SETTLE_MAX after the
 * first change), the changed groups may be planned from scratch, and tables end at their last group
 * again; sweeps do that with all groups if routes are new. Each tree was chosen beside those of its
 * time, so it is examined once and not in every sweep: a heavy sweep of a quiet fabric changes
 * nothing.
 *
 * When cables die nothing of that is waited for: trees that lead over them are mended in the same
 * turn, in slices as well, before anything else is planned, and their Sets leave ahead of others.
 *
 * Not here: the shape of a tree (route/mcast), order and repetition of Sets (sync/mft).
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "fabric/ways.h"
#include "sm/read/adopt_mcast.h"
#include "sm/base/about.h"
#include "sm/base/news.h"
#include "util/hash.h"
#include "util/mem.h"

#define GATHER	   (5 * MONO_MS)
#define GATHER_MAX (100 * MONO_MS)
#define SETTLE	   (5 * MONO_S)
#define SETTLE_MAX (60 * MONO_S)
/* Number of members handled in one slice. */
#define SLICE	   20000u

/* Longest time that a sweep waits for multicast tables, as joins may never end. */
#define SWEEP_PATIENCE (3 * MONO_S)

#define N_MLIDS (MLID_MAX - MLID_MIN + 1u)
#define N_WORDS (N_MLIDS / 64 + 1)

struct multicast {
	struct mcast_planner *planner; /* NULL: no switches, or no sweep yet */
	struct mft_sync *sync;
	uint64_t dirty[N_WORDS];
	unsigned n_dirty;
	/* bits: members changed, and the tree was not planned from scratch */
	uint64_t aging[N_WORDS];
	bool any_aging;
	mono_t aging_since;
	/* bits: planned from scratch on these routes, with members and roots unchanged since */
	uint64_t settled[N_WORDS];
	struct routes *settled_on;
	uint64_t settled_roots; /* hash of mc_roots_file */
	unsigned at;		/* MLID at which the next slice begins */
	/*
	 * set if trees may be planned from scratch: in a sweep, or when it is quiet after changes
	 */
	bool replan;
	bool sweep;    /* set if topology() must be called after all is planned */
	bool planning; /* set if the time of gathering is over */
	bool stalled;  /* set if all remaining work waits for answers of switches */
	mono_t changed_at, dirty_since;
	mono_t sweep_until; /* MONO_NEVER: no sweep is waiting */
	/* dead cables that the planner does not know yet: entries of its topo's ports */
	uint32_t *died;
	size_t n_died, cap_died;
	uint64_t torn[N_WORDS]; /* bits: the tree led over a cable that died, and is to be mended */
	unsigned n_torn;
	struct multicast_mended mended, told; /* `told`: when that was logged */
	struct log_limit fault_log;
};
MACHINE_MEMORY(multicast);

static bool may_write_top(void *owner)
{
	const struct sm *sm = owner;

	return !sync_running(sm->sync);
}

/* Logs Sets that remain unanswered; repetitions that succeeded are not logged. */
static void on_idle(void *owner, const struct mft_outcome *o)
{
	struct sm *sm = owner;
	char where[NODE_STRLEN];
	unsigned suppressed;

	if (sm->now < sm->m.multicast->sweep_until)
		tell_faults(sm, o->given_up);
	if (!o->given_up && !o->waiting && !o->not_served)
		return;
	if (log_allow(&sm->m.multicast->fault_log, sm->now, &suppressed))
		log_on(ABOUT(.id = LOG_ID_TABLE_FULL), LOGB_ERROR,
		       "multicast tables: entries that switches do not take: %u, groups that wait "
		       "for "
		       "them: %u, rows that do not fit a switch: %u%s%s",
		       o->given_up, o->waiting, o->not_served,
		       o->failed_example ? ", last at " : "",
		       o->failed_example ? fabric_node_str(o->failed_example, where) : "");
}

void multicast_new(struct sm *sm, const struct sm_paths *paths)
{
	const struct mft_hooks hooks = {
		.may_write = elect_may_write,
		.may_write_top = may_write_top,
		.idle = on_idle,
		.arg = sm,
	};

	sm->m.multicast->fault_log = (struct log_limit){ .interval = MONO_S, .burst = 20 };
	sm->m.multicast->sync = mft_sync_new(sm->fabric, sm->mad, &hooks);
}

void multicast_free(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;

	mft_sync_free(m->sync);
	mcast_planner_free(m->planner);
	routes_unref(m->settled_on);
	free(m->died);
}

void multicast_node_goes(struct sm *sm, struct node *n)
{
	mft_sync_forget(sm->m.multicast->sync, n);
}

static bool is_clean(const struct sm *sm, const struct port *p)
{
	return !p || !node_is_switch(p->node) ||
	       mft_sync_port_is_clean(sm->m.multicast->sync, p->node, p->num);
}

bool multicast_may_activate(void *owner, const struct port *p)
{
	const struct sm *sm = owner;

	/* a cable to a host closes no cycle */
	if (!p->peer || !node_is_switch(p->node) || !node_is_switch(p->peer->node))
		return true;
	/*
	 * Found by a new master: its tables are read when groups are planned, later in this sweep.
	 */
	if (!sm->first_sweep_done && !program_released(sm) &&
	    (p->node->mft.inherited || p->peer->node->mft.inherited))
		return false;
	return is_clean(sm, p) && is_clean(sm, p->peer);
}

struct mft_sync *multicast_tables(const struct sm *sm)
{
	return sm->m.multicast->sync;
}

static void make_due(struct sm *sm, unsigned number)
{
	struct multicast *m = sm->m.multicast;

	if (!m->n_dirty && !m->planning)
		m->dirty_since = sm->now;
	if (!(m->dirty[number / 64] >> number % 64 & 1))
		m->n_dirty++;
	m->dirty[number / 64] |= 1ull << number % 64;
}

void multicast_changed(struct sm *sm, lid_t mlid)
{
	struct multicast *m = sm->m.multicast;
	unsigned i = mlid - MLID_MIN;

	if (mlid < MLID_MIN || mlid > MLID_MAX)
		return;
	make_due(sm, i);
	m->changed_at = sm->now;
	if (!m->any_aging)
		m->aging_since = sm->now;
	m->any_aging = true;
	m->aging[i / 64] |= 1ull << i % 64;
	m->settled[i / 64] &= ~(1ull << i % 64);
}

static void forget_aging(struct multicast *m)
{
	memset(m->aging, 0, sizeof(m->aging));
	m->any_aging = false;
}

static mono_t settled_at(const struct multicast *m)
{
	if (!m->any_aging)
		return MONO_NEVER;
	return mono_min(m->changed_at + SETTLE, m->aging_since + SETTLE_MAX);
}

/*
 * Called if all is planned, and quiet: plans groups that changed once more, from scratch if they
 * have decayed.
 */
static void plan_settled(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;

	for (unsigned w = 0; w < N_WORDS; w++)
		for (uint64_t left = m->aging[w]; left; left &= left - 1)
			make_due(sm, w * 64 + (unsigned)__builtin_ctzll(left));
	forget_aging(m);
	m->replan = true;
}

/* ---- one tree ------------------------------------------------------------------------------ */

/* The place of a port of the view in the planner's topology, which the view's may have replaced. */
static struct mcast_member member_place(const struct topo *t, const struct view *v,
					const struct sa_mc_port *p)
{
	const struct view_port *port = &v->ports[p->port];
	struct mcast_member m = { .sw = TOPO_NONE, .receive = p->receives };

	if (view_is_switch(v, port)) {
		m.sw = topo_find_switch(t, v->nodes[port->node].guid);
	} else if (port->peer != VIEW_NONE && port->state > IB_PORT_DOWN) {
		const struct view_port *peer = &v->ports[port->peer];

		if (view_is_switch(v, peer)) {
			m.sw = topo_find_switch(t, v->nodes[peer->node].guid);
			m.port = peer->num;
		}
	}
	return m;
}

/* The members of a group at their places in the topology. The caller frees. */
static struct mcast_member *find_members(const struct sm *sm, lid_t mlid, uint32_t *ret_n)
{
	_cleanup_free_ struct sa_mc_port *ports = sa_mc_members(sm->sa, mlid, ret_n);
	struct mcast_member *members = xcalloc(*ret_n + 1, sizeof(*members));

	for (uint32_t i = 0; i < *ret_n; i++)
		members[i] = member_place(mcast_planner_topo(sm->m.multicast->planner),
					  admin_view(sm), &ports[i]);
	return members;
}

/* Plans one group. Returns the number of members handled. */
static uint32_t plan_one(struct sm *sm, lid_t mlid)
{
	struct multicast *m = sm->m.multicast;
	uint64_t *settled = &m->settled[(mlid - MLID_MIN) / 64];
	const uint64_t bit = 1ull << (mlid - MLID_MIN) % 64;
	uint32_t n;
	_cleanup_free_ struct mcast_member *members = find_members(sm, mlid, &n);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = NULL;
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *found = NULL;
	struct mcast_job job = {
		.mlid = mlid,
		.sl = sa_mc_sl(sm->sa, mlid),
		.members = members,
		.n_members = n,
		.previous = mft_sync_wanted(m->sync, mlid),
		.may_replan = m->replan && !(*settled & bit),
	};

	if (!job.previous)
		job.previous = found = adopt_mcast_tree(sm->fabric, mlid);
	tree = mcast_plan(m->planner, &job);
	if (tree->unproved)
		log_verbose("group 0x%04x: its tree could deadlock with other packets, and there "
			    "is no other",
			    mlid);
	mft_sync_want(m->sync, mlid, tree);
	if (m->replan)
		*settled |= bit;
	return n + tree->n_rows;
}

static void finish_plan(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;

	if (m->sweep)
		mft_sync_topology(m->sync);
	else if (m->replan)
		mft_sync_lower_tops(m->sync);
	m->planning = m->replan = false;
	m->at = 0;
	m->sweep = false;
}

/* Are the entries in the switches known, so that a tree of a former manager can be kept? */
static bool can_plan(struct multicast *m, lid_t mlid)
{
	return mft_sync_wanted(m->sync, mlid) || mft_sync_is_read(m->sync, mlid);
}

/* Plans the next dirty MLIDs, up to the size of a slice. */
static void plan_slice(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;
	uint32_t looked_at = 0;
	bool from_start = m->at == 0;

	m->stalled = false;
	while (m->n_dirty && looked_at < SLICE) {
		unsigned i = m->at;

		if (i >= N_MLIDS) {
			m->at = 0;
			/* all remaining work waits for tables to be read */
			m->stalled = from_start;
			break;
		}
		if (!m->dirty[i / 64]) {
			m->at = (i / 64 + 1) * 64;
			continue;
		}
		m->at = i + 1;
		if (!(m->dirty[i / 64] >> i % 64 & 1) || !can_plan(m, (lid_t)(MLID_MIN + i)))
			continue;
		m->dirty[i / 64] &= ~(1ull << i % 64);
		m->n_dirty--;
		looked_at += plan_one(sm, (lid_t)(MLID_MIN + i)) + 16;
	}
	if (!m->n_dirty)
		finish_plan(sm);
}

/* ---- dead cables --------------------------------------------------------------------------- */

void multicast_cables_died(struct sm *sm, const struct port *const *ports, size_t n)
{
	struct multicast *m = sm->m.multicast;
	const struct topo *t = m->planner ? mcast_planner_topo(m->planner) : NULL;

	for (size_t i = 0; t && i < n; i++) {
		uint32_t sw = topo_find_switch(t, ports[i]->node->guid);

		if (sw != TOPO_NONE && ports[i]->num <= t->switches[sw].n_ports)
			APPEND(m->died, m->n_died, m->cap_died) =
				t->switches[sw].first_port + ports[i]->num;
	}
}

const struct multicast_mended *multicast_mended(const struct sm *sm)
{
	return &sm->m.multicast->mended;
}

/* Writes to switches that no cable connects with us any more would only time out. */
static void leave_far_switches_alone(struct sm *sm)
{
	_cleanup_(fabric_ways_freep) struct fabric_ways *ways = fabric_ways_new(sm->fabric);
	struct dr_path path;

	FABRIC_EACH_NODE(sm->fabric, n) {
		if (node_is_switch(n) && !fabric_way(ways, n, &path))
			mft_sync_leave_alone(sm->m.multicast->sync, n);
	}
}

/* Passes dead cables to the planner, and finds the trees that lead over them. */
static void find_torn(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;
	bool is_news = mcast_cables_died(m->planner, m->died, m->n_died);

	m->n_died = 0;
	if (!is_news)
		return;
	leave_far_switches_alone(sm);
	for (unsigned i = 0; i < N_MLIDS; i++) {
		const struct mcast_tree *t = mft_sync_wanted(m->sync, (lid_t)(MLID_MIN + i));

		if (!t || m->torn[i / 64] >> i % 64 & 1 || !mcast_uses_dead(m->planner, t))
			continue;
		m->torn[i / 64] |= 1ull << i % 64;
		m->n_torn++;
	}
}

/* Mends one tree. Returns the number of members and rows handled. */
static uint32_t mend_one(struct sm *sm, lid_t mlid)
{
	struct multicast *m = sm->m.multicast;
	const struct mcast_tree *previous = mft_sync_wanted(m->sync, mlid);
	_cleanup_(mcast_tree_unrefp) struct mcast_tree *tree = NULL;
	_cleanup_free_ struct mcast_member *members = NULL;
	struct mcast_mended branches;
	uint32_t n;

	if (!previous) /* the group went meanwhile */
		return 0;
	members = find_members(sm, mlid, &n);
	tree = mcast_mend(m->planner,
			  &(struct mcast_job){
				  .mlid = mlid,
				  .sl = sa_mc_sl(sm->sa, mlid),
				  .members = members,
				  .n_members = n,
				  .previous = previous,
			  },
			  &branches);
	mft_sync_want(m->sync, mlid, tree);
	m->settled[(mlid - MLID_MIN) / 64] &= ~(1ull << (mlid - MLID_MIN) % 64);
	m->mended.groups++;
	m->mended.branches += branches.mended;
	m->mended.waiting += branches.waiting;
	m->mended.cut_off += branches.cut_off;
	return n + tree->n_rows;
}

static void tell_mended(struct multicast *m)
{
	log_verbose("multicast trees of %" PRIu64 " groups led over cables that died: %" PRIu64
		    " branches connected again, %" PRIu64 " wait for a sweep, %" PRIu64 " cut off",
		    m->mended.groups - m->told.groups, m->mended.branches - m->told.branches,
		    m->mended.waiting - m->told.waiting, m->mended.cut_off - m->told.cut_off);
	m->told = m->mended;
}

/* Mends the next trees, up to the size of a slice. */
static void mend_slice(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;
	uint32_t looked_at = 0;

	if (m->n_died)
		find_torn(sm);
	if (!m->n_torn)
		return;
	for (unsigned i = 0; i < N_MLIDS && m->n_torn && looked_at < SLICE; i++) {
		if (!(m->torn[i / 64] >> i % 64 & 1))
			continue;
		m->torn[i / 64] &= ~(1ull << i % 64);
		m->n_torn--;
		looked_at += mend_one(sm, (lid_t)(MLID_MIN + i)) + 16;
	}
	mft_sync_hurry(m->sync);
	if (!m->n_torn)
		tell_mended(m);
}

/* Cables of the planner's topo that died while the routes were computed. */
static void note_dead_cables(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;
	const struct topo *t = mcast_planner_topo(m->planner);

	for (uint32_t i = 0; i < t->n_switches; i++) {
		const struct topo_switch *sw = &t->switches[i];
		const struct node *n = fabric_find_node(sm->fabric, sw->guid);

		for (unsigned p = 1; p <= sw->n_ports; p++)
			if (topo_behind(t, i, p) != TOPO_NONE &&
			    (!n || p > n->n_ports || n->ports[p].fell ||
			     port_state(&n->ports[p]) == IB_PORT_DOWN))
				APPEND(m->died, m->n_died, m->cap_died) = sw->first_port + p;
	}
	mcast_cables_died(m->planner, m->died, m->n_died);
	m->n_died = 0;
}

static void forget_torn(struct multicast *m)
{
	m->n_died = 0;
	memset(m->torn, 0, sizeof(m->torn));
	m->n_torn = 0;
}

/* ---- turns --------------------------------------------------------------------------------- */

static mono_t plan_due_at(const struct multicast *m)
{
	if (m->n_died || m->n_torn)
		return 0;
	if (m->stalled)
		return MONO_NEVER;
	if (m->sweep || m->planning)
		return 0;
	if (!m->n_dirty)
		return settled_at(m);
	return mono_min(m->changed_at + GATHER, m->dirty_since + GATHER_MAX);
}

void multicast_feed(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;

	if (m->planner && admin_view(sm))
		mend_slice(sm);
	if (m->planner && admin_view(sm) && !m->n_torn &&
	    (m->stalled || sm->now >= plan_due_at(m))) {
		if (!m->n_dirty && !m->sweep && !m->planning)
			plan_settled(sm);
		m->planning = true;
		plan_slice(sm);
	}
	mft_sync_feed(m->sync);
}

/* The time at which a waiting sweep continues. */
static mono_t sweep_limit(const struct sm *sm)
{
	return sm->now < sm->m.multicast->sweep_until ? sm->m.multicast->sweep_until : MONO_NEVER;
}

mono_t multicast_next(const struct sm *sm)
{
	const struct multicast *m = sm->m.multicast;

	return m->planner && admin_view(sm) ? mono_min(plan_due_at(m), sweep_limit(sm))
					    : MONO_NEVER;
}

bool multicast_busy(const struct sm *sm)
{
	const struct multicast *m = sm->m.multicast;

	return sm->now < m->sweep_until &&
	       ((m->planner && (m->n_dirty || m->sweep || m->n_torn)) || mft_sync_busy(m->sync));
}

static const struct conf_file *roots_file(const struct sm *sm)
{
	return sm->files ? sm->files->of[CONF_FILE_MC_ROOTS] : NULL;
}

/* Makes the planner; it takes the dependencies that routing found. */
static struct mcast_planner *planner_of(struct sm *sm)
{
	const struct topo *topo = sm_routes(sm) ? sm_routes(sm)->topo : NULL;
	_cleanup_free_ uint16_t *caps = NULL;
	const struct conf_file *roots = roots_file(sm);
	struct mcast_params params = {
		.topo = topo,
		.routes = sm_routes(sm),
		.roots = roots ? roots->guids.guids : NULL,
		.n_roots = roots ? (uint32_t)roots->guids.n : 0,
	};

	if (!topo || !topo->n_switches || sm->conf->disable_multicast)
		return NULL;
	caps = xcalloc(topo->n_switches, sizeof(*caps));
	for (uint32_t i = 0; i < topo->n_switches; i++) {
		const struct node *n = fabric_find_node(sm->fabric, topo->switches[i].guid);

		if (n && n->switch_known)
			caps[i] = ib_get(n->switch_info, SI_MULTICAST_FDB_CAP);
	}
	params.caps = caps;
	params.depends = routing_take_depends(sm);
	return mcast_planner_new(&params);
}

static void forget_settled(struct multicast *m)
{
	memset(m->settled, 0, sizeof(m->settled));
	m->settled_on = routes_unref(m->settled_on);
}

/* Forgets which trees were planned from scratch if routes or roots are new. */
static void keep_settled(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;
	const struct conf_file *f = roots_file(sm);
	uint64_t roots =
		f ? hash_bytes(HASH_START, f->guids.guids, f->guids.n * sizeof(*f->guids.guids))
		  : HASH_START;

	if (sm_routes(sm) == m->settled_on && roots == m->settled_roots)
		return;
	forget_settled(m);
	m->settled_on = routes_ref(sm_routes(sm));
	m->settled_roots = roots;
}

void multicast_sweep(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;

	assert(admin_view(sm));
	keep_settled(sm);
	m->planner = mcast_planner_free(m->planner);
	m->planner = planner_of(sm);
	forget_torn(m);
	if (m->planner)
		note_dead_cables(sm);
	mft_sync_use_top(m->sync, sm->conf->use_mfttop);
	for (unsigned mlid = MLID_MIN; mlid <= MLID_MAX; mlid++) {
		if (mft_sync_wanted(m->sync, (lid_t)mlid))
			make_due(sm, mlid - MLID_MIN);
	}
	for (lid_t mlid = sa_next_mlid(sm->sa, MLID_MIN); mlid && mlid <= MLID_MAX;
	     mlid = sa_next_mlid(sm->sa, mlid + 1))
		make_due(sm, mlid - MLID_MIN);
	forget_aging(m);
	m->replan = m->sweep = m->planner != NULL;
	m->stalled = false;
	m->sweep_until = sm->now + SWEEP_PATIENCE;
}

void multicast_state_changed(struct sm *sm)
{
	struct multicast *m = sm->m.multicast;

	if (sm->state == SM_MASTER)
		return;
	mft_sync_stop(m->sync);
	m->planner = mcast_planner_free(m->planner);
	memset(m->dirty, 0, sizeof(m->dirty));
	m->n_dirty = 0;
	forget_aging(m);
	forget_settled(m);
	forget_torn(m);
	m->planning = m->sweep = m->replan = m->stalled = false;
}
