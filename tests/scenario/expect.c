// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a scenario expects: conditions, one row each, joined on one line.
 *
 *   expect COND...             now
 *   within T expect COND...    at some time within T, all at once
 *   hold T expect COND...      at any time during T
 *   first T expect COND...     as within, looked at after each step of the simulation
 *   always T expect COND...    as hold, after each step
 *   until T COND... expect COND...     as always, until the first ones are so, within T
 *   quiet expect sweep heavy sets N
 *
 * `not` in front of a condition turns it round. Here are conditions of the fabric as a whole; those
 * of ports are in expect_ports.c, of what managers say and count in expect_told.c, of managers
 * among themselves in expect_peers.c, of M_Keys in expect_keys.c, of hosts in hosts.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/scenario/look.h"
#include "util/mem.h"

#define LOOK_EVERY  (20 * MONO_MS)
#define SWEEP_LIMIT (120 * MONO_S)

const struct sim_verdict *judge(struct look *l)
{
	if (!l->judged)
		sim_check_all(l->s->rig->sim, &l->verdict);
	l->judged = true;
	return &l->verdict;
}

bool require(struct look *l, bool ok, const char *fmt, ...)
{
	va_list ap;

	if (ok)
		return true;
	va_start(ap, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, ap);
	va_end(ap);
	return false;
}

bool begins(const char *text, const char *words)
{
	for (; *words; words++, text++)
		if (*text != *words && !(*words == '_' && *text == ' '))
			return false;
	return true;
}

const char *find_words(const char *text, const char *words)
{
	while (*text && !begins(text, words))
		text++;
	return *text ? text : NULL;
}

int compare(struct look *l, const char *what, uint64_t have, const char *word)
{
	bool most = !strncmp(word, "<=", 2), least = !strncmp(word, ">=", 2);
	uint64_t n;

	if (parse_number(l->s, word + (most || least ? 2 : 0), UINT64_MAX, &n) < 0)
		return -EINVAL;
	return require(l,
		       most    ? have <= n
		       : least ? have >= n
			       : have == n,
		       "%s is %llu, not %s", what, (unsigned long long)have, word);
}

/* all-ports ACTIVE: with LIDs of their own */
static int cond_all_ports(struct look *l, const char *const *arg)
{
	const struct sim_verdict *v = judge(l);

	if (!is(arg[0], "ACTIVE"))
		return fault(l->s, "expected all-ports ACTIVE");
	return require(
		l,
		!v->ports_not_active && !v->lids_missing && !v->lids_duplicate && !v->sm_lid_wrong,
		"%u ports not ACTIVE, %u LIDs missing, %u twice, %u SM LIDs wrong; first: %s",
		v->ports_not_active, v->lids_missing, v->lids_duplicate, v->sm_lid_wrong, v->first);
}

static int cond_reachable(struct look *l, const char *const *arg)
{
	const struct sim_verdict *v = judge(l);

	if (!is(arg[0], "all"))
		return fault(l->s, "expected reachable all");
	return require(l, !v->unreachable && !v->lids_missing && !v->lids_duplicate,
		       "%llu of %llu pairs unreachable, %llu going round; first: %s",
		       (unsigned long long)v->unreachable, (unsigned long long)v->pairs,
		       (unsigned long long)v->looping, v->first);
}

static int cond_pairs(struct look *l, const char *const *arg)
{
	return l->s->wear ? 1 : compare(l, "number of pairs", judge(l)->pairs, arg[0]);
}

static int cond_end_ports(struct look *l, const char *const *arg)
{
	uint64_t n = judge(l)->end_ports;

	return compare(l, "number of end ports",
		       n > l->s->worn.end_ports ? n - l->s->worn.end_ports : 0, arg[0]);
}

/* copies-ever N: Sets after which packets to a group looped, or came twice */
static int cond_copies_ever(struct look *l, const char *const *arg)
{
	const struct sim *sim = l->s->rig->sim;

	return compare(l, "copies-ever", sim_mcast_loops_ever(sim) + sim_mcast_twice_ever(sim),
		       arg[0]);
}

static int cond_loops_ever(struct look *l, const char *const *arg)
{
	return compare(l, "loops-ever", sim_loops_ever(l->s->rig->sim), arg[0]);
}

/* lost-ever N: ways between hosts, since `watch lost` */
static int cond_lost_ever(struct look *l, const char *const *arg)
{
	return compare(l, "lost-ever", sim_lost_ever(l->s->rig->sim), arg[0]);
}

static int cond_early_active(struct look *l, const char *const *arg)
{
	return compare(l, "early-active", sim_early_active(l->s->rig->sim), arg[0]);
}

/* The most of the file, `<=N`, is that of a clean fabric: a larger one may take as much more. */
static uint64_t as_if_clean(const struct look *l, uint64_t n, const char *word)
{
	return l->s->wear && !strncmp(word, "<=", 2) ? (uint64_t)((double)n / l->s->worn.size) : n;
}

/* Of SMPs since `mark`, or since the start. */
static int cond_sets(struct look *l, const char *const *arg)
{
	uint64_t n = sim_sets(l->s->rig->sim) - l->s->marked_sets;

	return compare(l, "number of Sets", as_if_clean(l, n, arg[0]), arg[0]);
}

/* Without those of SL2VL and VL arbitration, which a manager that starts writes unread. */
static int cond_sets_but_lanes(struct look *l, const char *const *arg)
{
	uint64_t n = sim_sets(l->s->rig->sim) - l->s->marked_sets -
		     (scenario_lane_sets(l->s) - l->s->marked_lane_sets);

	return compare(l, "number of Sets", as_if_clean(l, n, arg[0]), arg[0]);
}

static int cond_gets(struct look *l, const char *const *arg)
{
	uint64_t n = sim_gets(l->s->rig->sim) - l->s->marked_gets;

	return compare(l, "number of Gets", as_if_clean(l, n, arg[0]), arg[0]);
}

static int cond_smps(struct look *l, const char *const *arg)
{
	const struct sim *sim = l->s->rig->sim;

	return compare(l, "number of Gets and Sets",
		       sim_gets(sim) + sim_sets(sim) - l->s->marked_gets - l->s->marked_sets,
		       arg[0]);
}

static int cond_masters(struct look *l, const char *const *arg)
{
	return compare(l, "number of masters", rig_count(l->s->rig, SM_MASTER), arg[0]);
}

/* up: one master whose last heavy sweep ended without errors, and no sweep running */
static int cond_up(struct look *l, const char *const *arg)
{
	struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "%u masters", rig_count(l->s->rig, SM_MASTER));
	return require(l, sm_stats(master)->up && !rig_sweeping(l->s->rig),
		       "subnet is not up (%u errors%s)", sm_stats(master)->last_errors,
		       rig_sweeping(l->s->rig) ? ", sweeping" : "");
}

static int cond_heavy_sweeps(struct look *l, const char *const *arg)
{
	struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "no single master");
	return compare(l, "number of heavy sweeps",
		       sm_stats(master)->heavy_sweeps - l->s->marked_heavy, arg[0]);
}

static int cond_left_out(struct look *l, const char *const *arg)
{
	struct sm *master = rig_master(l->s->rig);
	char line[700];

	if (!master)
		return require(l, false, "no single master");
	return compare(l, "number of things left out",
		       sm_left_out(master, line, sizeof(line)) - l->s->worn.left_out, arg[0]);
}

/* left-out-says TEXT: with _ for blanks; the line, and the status that is shown */
static int cond_left_out_says(struct look *l, const char *const *arg)
{
	struct sm *master = rig_master(l->s->rig);
	char line[700];

	if (!master)
		return require(l, false, "no single master");
	sm_left_out(master, line, sizeof(line));
	return require(l, find_words(line, arg[0]), "the line is \"%s\"", line);
}

static int cond_silent_nodes(struct look *l, const char *const *arg)
{
	struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "no single master");
	return compare(l, "number of silent nodes", sm_stats(master)->silent_nodes, arg[0]);
}

/* manager NODE MASTER */
static int cond_manager(struct look *l, const char *const *arg)
{
	const char *state;
	unsigned sm;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	state = sm_state_name(sm_state(l->s->rig->sms[sm].sm));
	return require(l, is(state, arg[1]), "manager on %s is %s", arg[0], state);
}

/* port NODE:PORT ACTIVE */
static int cond_port(struct look *l, const char *const *arg)
{
	unsigned port, state;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	state = sim_port_state(l->s->rig->sim, node, port);
	return require(l, is(state_names[state], arg[1]), "%s is %s", arg[0], state_names[state]);
}

/* hosts STATE: ports of all hosts, whatever their LIDs */
static int cond_hosts(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;

	for (int i = 0; i < (int)sim_n_nodes(sim); i++) {
		unsigned state = sim_port_state(sim, i, 1);

		if (!sim_node_is_switch(sim, i) && !is(state_names[state], arg[0]))
			return require(l, false, "%s is %s", sim_node_id(sim, i),
				       state_names[state]);
	}
	return 1;
}

static int cond_lid(struct look *l, const char *const *arg)
{
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	return compare(l, "LID", sim_port_lid(l->s->rig->sim, node, port), arg[1]);
}

static int cond_reregistered(struct look *l, const char *const *arg)
{
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	return compare(l, "number of re-registrations",
		       sim_reregistered(l->s->rig->sim, node, port), arg[1]);
}

/* same-as NAME: the fabric is programmed as it was at `remember NAME` */
static int cond_same_as(struct look *l, const char *const *arg)
{
	uint64_t now = sim_fingerprint(l->s->rig->sim);

	for (unsigned i = 0; i < l->s->n_remembered; i++)
		if (is(l->s->remembered[i].name, arg[0]))
			return require(l, l->s->remembered[i].fingerprint == now,
				       "programmed differently than %s", arg[0]);
	return fault(l->s, "nothing remembered as '%s'", arg[0]);
}

/* says WORDS_OF_IT: the last program of `ctl` or `rest` printed this; _ stands for a blank. */
static int cond_says(struct look *l, const char *const *arg)
{
	return require(l, l->s->said && find_words(l->s->said, arg[0]),
		       "it does not say '%s', but: %s", arg[0],
		       l->s->said ? l->s->said : "nothing");
}

/* lines N: the last program of `ctl` or `rest` printed so many */
static int cond_lines(struct look *l, const char *const *arg)
{
	unsigned n = 0;

	for (const char *at = l->s->said ? l->s->said : ""; (at = strchr(at, '\n')); at++)
		n++;
	return compare(l, "number of lines", n, arg[0]);
}

/* said-times WORDS_OF_IT N: the last program printed this so many times */
static int cond_said_times(struct look *l, const char *const *arg)
{
	unsigned n = 0;

	for (const char *at = l->s->said; at && (at = find_words(at, arg[0])); at++)
		n++;
	return compare(l, "number of times", n, arg[1]);
}

static const struct cond conds[] = {
	{ "lines", 1, cond_lines },
	{ "said-times", 2, cond_said_times },
	{ "all-ports", 1, cond_all_ports },
	{ "reachable", 1, cond_reachable },
	{ "pairs", 1, cond_pairs },
	{ "end-ports", 1, cond_end_ports },
	{ "loops-ever", 1, cond_loops_ever },
	{ "copies-ever", 1, cond_copies_ever },
	{ "lost-ever", 1, cond_lost_ever },
	{ "early-active", 1, cond_early_active },
	{ "sets", 1, cond_sets },
	{ "sets-but-lanes", 1, cond_sets_but_lanes },
	{ "gets", 1, cond_gets },
	{ "smps", 1, cond_smps },
	{ "masters", 1, cond_masters },
	{ "up", 0, cond_up },
	{ "heavy-sweeps", 1, cond_heavy_sweeps },
	{ "silent-nodes", 1, cond_silent_nodes },
	{ "left-out", 1, cond_left_out },
	{ "left-out-says", 1, cond_left_out_says },
	{ "manager", 2, cond_manager },
	{ "port", 2, cond_port },
	{ "hosts", 1, cond_hosts },
	{ "lid", 2, cond_lid },
	{ "reregistered", 2, cond_reregistered },
	{ "same-as", 1, cond_same_as },
	{ "says", 1, cond_says },
	{ 0 },
};

static const struct cond *find_cond(const char *name)
{
	const struct cond *const tables[] = { conds, port_conds, told_conds, peer_conds,
					      key_conds, host_conds };

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct cond *c = tables[t]; c->name; c++)
			if (is(c->name, name))
				return c;
	return NULL;
}

/* All conditions from word `first` on: 1, 0 with look->why, or -EINVAL. */
static int look_once(struct scenario *s, const struct words *w, unsigned first, struct look *l)
{
	*l = (struct look){ .s = s };
	while (first < w->n) {
		bool negated = is(w->w[first], "not") && first + 1 < w->n;
		const struct cond *c = find_cond(w->w[first += negated]);
		int r;

		if (!c)
			return fault(s, "unknown condition '%s'", w->w[first]);
		if (first + c->args >= w->n)
			return fault(s, "'%s' takes %u words", c->name, c->args);
		r = c->test(l, &w->w[first + 1]);
		if (r > 0 && negated)
			snprintf(l->why, sizeof(l->why), "'%s' is so", c->name);
		if (r < 0 || !r != negated)
			return r < 0 ? r : 0;
		first += c->args + 1;
	}
	return 1;
}

static int report(struct scenario *s, int r, const char *why)
{
	if (r < 0)
		return r;
	if (r == 0)
		fault(s, "at %.3f s: %s", (double)sim_now(s->rig->sim) / (double)MONO_S, why);
	tap(s, r > 0);
	return 0;
}

/* `first` and `always` look after each step, `within` and `hold` now and then. */
static void go_on(struct scenario *s, const struct words *w, mono_t limit)
{
	if (is(w->w[0], "first") || is(w->w[0], "always"))
		rig_step(s->rig, limit);
	else
		rig_run(s->rig, mono_min(limit, sim_now(s->rig->sim) + LOOK_EVERY));
}

static int run_within(struct scenario *s, const struct words *w)
{
	mono_t limit;
	struct look l;
	int r;

	if (parse_time(s, w->w[1], &limit) < 0)
		return -EINVAL;
	limit += sim_now(s->rig->sim);
	for (;;) {
		r = look_once(s, w, 3, &l);
		if (r != 0 || sim_now(s->rig->sim) >= limit)
			return report(s, r, l.why);
		go_on(s, w, limit);
	}
}

static int run_hold(struct scenario *s, const struct words *w)
{
	mono_t limit;
	struct look l;
	int r;

	if (parse_time(s, w->w[1], &limit) < 0)
		return -EINVAL;
	limit += sim_now(s->rig->sim);
	for (;;) {
		r = look_once(s, w, 3, &l);
		if (r <= 0 || sim_now(s->rig->sim) >= limit)
			return report(s, r, l.why);
		go_on(s, w, limit);
	}
}

/* until T COND... expect COND... */
static int run_until(struct scenario *s, const struct words *w)
{
	struct words head = { .n = 2 };
	mono_t limit;
	struct look l;
	int r;

	if (parse_time(s, w->w[1], &limit) < 0)
		return -EINVAL;
	limit += sim_now(s->rig->sim);
	for (; head.n < w->n && !is(w->w[head.n], "expect"); head.n++)
		head.w[head.n] = w->w[head.n];
	if (head.n + 1 >= w->n)
		return fault(s, "expected until T COND expect COND");
	for (;;) {
		r = look_once(s, &head, 2, &l);
		if (r != 0 || sim_now(s->rig->sim) >= limit)
			return report(s, r, l.why);
		r = look_once(s, w, head.n + 1, &l);
		if (r <= 0)
			return report(s, r, l.why);
		rig_step(s->rig, limit);
	}
}

static bool wait_sweep(struct rig *rig, const struct sm *master, uint32_t until_heavy)
{
	mono_t limit = sim_now(rig->sim) + SWEEP_LIMIT;

	while (sm_stats(master)->heavy_sweeps < until_heavy || sm_sweeping(master))
		if (!rig_step(rig, limit))
			return false;
	return true;
}

/* Lets running sweeps end, then asks for one and counts the Sets on the wire. */
static int run_quiet(struct scenario *s, const struct words *w)
{
	struct sm *master = rig_master(s->rig);
	struct look l = { .s = s };
	uint64_t before;
	bool ended;
	int r;

	if (!is(w->w[2], "sweep") || !is(w->w[3], "heavy") || !is(w->w[4], "sets"))
		return fault(s, "expected quiet expect sweep heavy sets N");
	if (!master)
		return report(s, 0, "there is not exactly one MASTER");
	ended = wait_sweep(s->rig, master, 0);
	before = sim_sets(s->rig->sim);
	sm_request_heavy(master, NULL);
	ended = ended && wait_sweep(s->rig, master, sm_stats(master)->heavy_sweeps + 1);
	if (!ended)
		return report(s, 0, "the sweep does not end");
	r = compare(&l, "number of Sets", sim_sets(s->rig->sim) - before, w->w[5]);
	return report(s, r, l.why);
}

int scenario_expect(struct scenario *s, const struct words *w)
{
	bool now = is(w->w[0], "expect");
	struct look l;
	int r;

	if (!scenario_sim(s))
		return -EINVAL;
	if (now) {
		r = look_once(s, w, 1, &l);
		return report(s, r, l.why);
	}
	if (is(w->w[0], "quiet"))
		return is(w->w[1], "expect") ? run_quiet(s, w)
					     : fault(s, "expected quiet expect ...");
	if (is(w->w[0], "until"))
		return run_until(s, w);
	if (!is(w->w[2], "expect"))
		return fault(s, "expected %s T expect ...", w->w[0]);
	return is(w->w[0], "within") || is(w->w[0], "first") ? run_within(s, w) : run_hold(s, w);
}
