// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a scenario expects: conditions, one row each, joined on one line.
 *
 *   expect COND...             now
 *   within T expect COND...    at some time within T, all at once
 *   hold T expect COND...      at any time during T
 *   quiet expect sweep heavy sets N
 *
 * `not` in front of a condition turns it round.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ib/attrs.h"
#include "sm/health/sick.h"
#include "sm/marks/marks.h"
#include "sm/trust/violations.h"
#include "tests/scenario/scenario.h"
#include "util/mem.h"

#define LOOK_EVERY  (20 * MONO_MS)
#define SWEEP_LIMIT (120 * MONO_S)

/* The verdict is made once per look, and only if it is asked for. */
struct look {
	struct scenario *s;
	struct sim_verdict verdict;
	bool judged;
	char why[720]; /* what is missing */
};

static const struct sim_verdict *judge(struct look *l)
{
	if (!l->judged)
		sim_check_all(l->s->rig->sim, &l->verdict);
	l->judged = true;
	return &l->verdict;
}

static bool is(const char *word, const char *expected)
{
	return !strcmp(word, expected);
}

__attribute__((format(printf, 3, 4))) static bool require(struct look *l, bool ok, const char *fmt,
							  ...)
{
	va_list ap;

	if (ok)
		return true;
	va_start(ap, fmt);
	vsnprintf(l->why, sizeof(l->why), fmt, ap);
	va_end(ap);
	return false;
}

static char *with_blanks(const char *word)
{
	char *ret = xstrdup(word);

	for (char *c = ret; *c; c++)
		*c = *c == '_' ? ' ' : *c;
	return ret;
}

/* N, <=N or >=N */
static int compare(struct look *l, const char *what, uint64_t have, const char *word)
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
	_cleanup_free_ char *text = with_blanks(arg[0]);
	char line[700];

	if (!master)
		return require(l, false, "no single master");
	sm_left_out(master, line, sizeof(line));
	return require(l, strstr(line, text), "the line is \"%s\"", line);
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

static const char *const state_names[] = { "NONE", "DOWN", "INIT", "ARMED", "ACTIVE" };

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
	_cleanup_free_ char *words = with_blanks(arg[0]);

	return require(l, l->s->said && strstr(l->s->said, words), "it does not say '%s', but: %s",
		       words, l->s->said ? l->s->said : "nothing");
}

/* ---- ports ---- */

static struct port *known_port(struct look *l, int node, unsigned port)
{
	struct sm *master = rig_master(l->s->rig);
	struct node *n =
		master ? fabric_find_node(sm_fabric(master), sim_node_guid(l->s->rig->sim, node))
		       : NULL;

	return n ? &n->ports[port] : NULL;
}

/* cable A:P STATE: at both ends */
static int cond_cable(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;
	unsigned port, far_port;
	int node, far;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	if (!sim_peer(sim, node, port, &far, &far_port))
		return fault(l->s, "no cable at %s", arg[0]);
	return require(l,
		       is(state_names[sim_port_state(sim, node, port)], arg[1]) &&
			       is(state_names[sim_port_state(sim, far, far_port)], arg[1]),
		       "%s is %s, its other end %s", arg[0],
		       state_names[sim_port_state(sim, node, port)],
		       state_names[sim_port_state(sim, far, far_port)]);
}

/* disabled A:P: as by ibportstate */
static int cond_disabled(struct look *l, const char *const *arg)
{
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	return require(l, sim_phys_state(l->s->rig->sim, node, port) == IB_PHYS_DISABLED,
		       "%s is not disabled", arg[0]);
}

/* holds A[:P] KEY: in its P_Key table */
static int cond_holds(struct look *l, const char *const *arg)
{
	struct sim *sim = l->s->rig->sim;
	uint8_t block[SMP_DATA_SIZE];
	unsigned port;
	uint64_t key;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0 ||
	    parse_number(l->s, arg[1], UINT16_MAX, &key) < 0)
		return -EINVAL;
	port = sim_node_is_switch(sim, node) ? port : 0;
	for (unsigned i = 0; sim_read(sim, node, IB_ATTR_PKEY_TABLE, port << 16 | i, block) == 0;
	     i++)
		for (unsigned k = 0; k < PKEYS_PER_BLOCK; k++)
			if (ib_bits_get(block, k * 16, 16) == key)
				return 1;
	return require(l, false, "%s does not hold %s", arg[0], arg[1]);
}

/* entries SWITCH:P N: of its table that lead to this port */
static int cond_entries(struct look *l, const char *const *arg)
{
	unsigned port, n = 0;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	for (unsigned lid = 1; lid < 0xC000; lid++)
		n += sim_lft(l->s->rig->sim, node, (lid_t)lid) == port;
	return compare(l, "number of entries", n, arg[1]);
}

/* health A:P STATE: what is done about its link, as the master has it; none: it is in order */
static int cond_health(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);
	const char *state = "none";
	struct sick_shown shown;
	unsigned port;
	guid_t guid;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	if (!master)
		return require(l, false, "no single master");
	guid = sim_node_guid(l->s->rig->sim, node);
	for (unsigned i = 0; sm_sick_at(master, i, &shown); i++)
		for (unsigned e = 0; e < 2; e++)
			if (shown.verdict->end[e].node == guid &&
			    shown.verdict->end[e].port == port)
				state = sm_sick_state_name(shown.state);
	return require(l, is(state, arg[1]), "health of %s: %s", arg[0], state);
}

/* isolated N: links, for their health */
static int cond_isolated(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "no single master");
	return compare(l, "number of isolated links", sm_sick_links(master, SICK_ISOLATED), arg[0]);
}

static int cond_marks(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);

	if (!master)
		return require(l, false, "no single master");
	return compare(l, "number of marks",
		       sm_marks(master, MARK_DRAIN) + sm_marks(master, MARK_ISOLATE), arg[0]);
}

/* knows NODE: the master has it in its picture */
static int cond_knows(struct look *l, const char *const *arg)
{
	int node;

	if (parse_node(l->s, arg[0], &node) < 0)
		return -EINVAL;
	return require(l, known_port(l, node, 0), "%s is not known", arg[0]);
}

/* linked A:P: the master knows its other end */
static int cond_linked(struct look *l, const char *const *arg)
{
	const struct port *p;
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	p = known_port(l, node, port);
	return require(l, p && p->peer, "no link is known at %s", arg[0]);
}

/* violations A:P KIND N: held against the port */
static int cond_violations(struct look *l, const char *const *arg)
{
	const struct violation_counts *counts;
	const struct port *p;
	unsigned port;
	int node;

	if (parse_port(l->s, arg[0], &node, &port) < 0)
		return -EINVAL;
	p = known_port(l, node, port);
	counts = p ? violations_of(p) : NULL;
	for (unsigned i = 0; i < VIOLATION_KINDS; i++)
		if (is(violation_kind_name(i), arg[1]))
			return compare(l, "number of violations", counts ? counts->n[i] : 0,
				       arg[2]);
	return fault(l->s, "no violations of kind '%s'", arg[1]);
}

static int cond_unreachable(struct look *l, const char *const *arg)
{
	return compare(l, "number of unreachable pairs", judge(l)->unreachable, arg[0]);
}

/* ---- what was said, what was counted ---- */

/* logged WORDS_OF_IT N: records since `mark` */
static int cond_logged(struct look *l, const char *const *arg)
{
	_cleanup_free_ char *text = with_blanks(arg[0]);
	unsigned n = 0;
	const char *at;

	for (at = l->s->log_len ? strstr(l->s->log, text) : NULL; at; at = strstr(at, text)) {
		n++;
		at += strcspn(at, "\n");
	}
	return compare(l, "number of records", n, arg[1]);
}

/* The story of manager `sm` since `mark`. */
static const char *story_of(const struct look *l, unsigned sm)
{
	return l->s->stories[sm].len ? l->s->stories[sm].text : "";
}

/* story NODE WORD,WORD...: all that its manager told since `mark`, in this order; `-`: nothing */
static int cond_story(struct look *l, const char *const *arg)
{
	_cleanup_free_ char *text = with_blanks(is(arg[1], "-") ? "" : arg[1]);
	unsigned sm;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	return require(l, is(story_of(l, sm), text), "the story is: %s", story_of(l, sm));
}

/* told NODE WORD N: its manager, since `mark`; `came` stands for any node's */
static int cond_told(struct look *l, const char *const *arg)
{
	_cleanup_free_ char *word = with_blanks(arg[1]), *text = NULL;
	unsigned sm, n = 0;
	char *save;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	text = xstrdup(story_of(l, sm));
	for (char *t = strtok_r(text, ",", &save); t; t = strtok_r(NULL, ",", &save)) {
		size_t len = strlen(t), want = strlen(word);

		n += len >= want && is(t + len - want, word) &&
		     (len == want || t[len - want - 1] == ' ');
	}
	return compare(l, word, n, arg[2]);
}

/* event-says NODE WORDS_OF_IT: the last trap of its manager's story, or the last other event */
static int cond_event_says(struct look *l, const char *const *arg)
{
	_cleanup_free_ char *text = with_blanks(arg[1]);
	const struct story *story;
	unsigned sm;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	story = &l->s->stories[sm];
	return require(l, strstr(story->trap, text) || strstr(story->sentence, text),
		       "the events say: %s; %s", story->trap, story->sentence);
}

/* status-says WORDS_OF_IT: the line of the master for systemd */
static int cond_status_says(struct look *l, const char *const *arg)
{
	_cleanup_free_ char *text = with_blanks(arg[0]);
	const struct rig *rig = l->s->rig;

	for (unsigned i = 0; i < rig->n_sms; i++)
		if (rig->sms[i].sm && rig->sms[i].sm == rig_master(rig))
			return require(l, strstr(rig->sms[i].status, text), "the status is: %s",
				       rig->sms[i].status);
	return require(l, false, "no single master");
}

static uint64_t light_sweeps(const struct sm *sm)
{
	return sm_stats(sm)->light_sweeps;
}

static uint64_t dirty_sweeps(const struct sm *sm)
{
	return sm_stats(sm)->dirty_sweeps;
}

static uint64_t traps_taken(const struct sm *sm)
{
	return sm_trap_stats(sm)->taken;
}

static uint64_t traps_forged(const struct sm *sm)
{
	return sm_trap_stats(sm)->forged;
}

static uint64_t traps_repeated(const struct sm *sm)
{
	return sm_trap_stats(sm)->repeats;
}

/* SMPs on the wire, by attribute and method; or what the master counts. */
static const struct tally {
	const char *name;
	uint16_t attr;
	uint8_t method;
	uint64_t (*read)(const struct sm *sm); /* NULL: SMPs */
} tallies[] = {
	{ "lft-sets", IB_ATTR_LFT, MAD_SET, NULL },
	{ "port-info-sets", IB_ATTR_PORT_INFO, MAD_SET, NULL },
	{ "port-info-gets", IB_ATTR_PORT_INFO, MAD_GET, NULL },
	{ "pkey-sets", IB_ATTR_PKEY_TABLE, MAD_SET, NULL },
	{ "pkey-gets", IB_ATTR_PKEY_TABLE, MAD_GET, NULL },
	{ "node-desc-gets", IB_ATTR_NODE_DESC, MAD_GET, NULL },
	{ "state-table-gets", IB_ATTR_PORT_STATE_TABLE, MAD_GET, NULL },
	{ "ext-port-info-gets", IB_ATTR_MLNX_EXT_PORT_INFO, MAD_GET, NULL },
	{ "traps-sent", IB_ATTR_NOTICE, MAD_TRAP, NULL },
	{ "light-sweeps", 0, 0, light_sweeps },
	{ "dirty-sweeps", 0, 0, dirty_sweeps },
	{ "traps-taken", 0, 0, traps_taken },
	{ "traps-forged", 0, 0, traps_forged },
	{ "traps-repeated", 0, 0, traps_repeated },
};
_Static_assert(ARRAY_SIZE(tallies) <= N_TALLIES, "scenario.marked");

static uint64_t read_tally(const struct scenario *s, const struct tally *t)
{
	const struct sm *master = rig_master(s->rig);

	if (!t->read)
		return sim_count(s->rig->sim, t->attr, t->method);
	return master ? t->read(master) : 0;
}

void scenario_mark_tallies(struct scenario *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(tallies); i++)
		s->marked[i] = read_tally(s, &tallies[i]);
}

/* passed T: at least so long since `mark` */
static int cond_passed(struct look *l, const char *const *arg)
{
	mono_t t, now = sim_now(l->s->rig->sim) - l->s->marked_at;

	if (parse_time(l->s, arg[0], &t) < 0)
		return -EINVAL;
	return require(l, now >= t, "%u ms have passed", (unsigned)(now / MONO_MS));
}

/* since NAME N: so many of them since `mark` */
static int cond_since(struct look *l, const char *const *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(tallies); i++)
		if (is(tallies[i].name, arg[0]))
			return compare(l, arg[0], read_tally(l->s, &tallies[i]) - l->s->marked[i],
				       arg[1]);
	return fault(l->s, "nothing is counted as '%s'", arg[0]);
}

static const struct cond {
	const char *name;
	unsigned args;
	int (*test)(struct look *l, const char *const *arg); /* 1, 0, or -EINVAL */
} conds[] = {
	{ "all-ports", 1, cond_all_ports },
	{ "reachable", 1, cond_reachable },
	{ "pairs", 1, cond_pairs },
	{ "end-ports", 1, cond_end_ports },
	{ "loops-ever", 1, cond_loops_ever },
	{ "lost-ever", 1, cond_lost_ever },
	{ "early-active", 1, cond_early_active },
	{ "sets", 1, cond_sets },
	{ "sets-but-lanes", 1, cond_sets_but_lanes },
	{ "gets", 1, cond_gets },
	{ "masters", 1, cond_masters },
	{ "up", 0, cond_up },
	{ "heavy-sweeps", 1, cond_heavy_sweeps },
	{ "silent-nodes", 1, cond_silent_nodes },
	{ "left-out", 1, cond_left_out },
	{ "left-out-says", 1, cond_left_out_says },
	{ "manager", 2, cond_manager },
	{ "port", 2, cond_port },
	{ "lid", 2, cond_lid },
	{ "reregistered", 2, cond_reregistered },
	{ "same-as", 1, cond_same_as },
	{ "says", 1, cond_says },
	{ "cable", 2, cond_cable },
	{ "disabled", 1, cond_disabled },
	{ "holds", 2, cond_holds },
	{ "entries", 2, cond_entries },
	{ "health", 2, cond_health },
	{ "isolated", 1, cond_isolated },
	{ "marks", 1, cond_marks },
	{ "knows", 1, cond_knows },
	{ "linked", 1, cond_linked },
	{ "violations", 3, cond_violations },
	{ "unreachable", 1, cond_unreachable },
	{ "logged", 2, cond_logged },
	{ "status-says", 1, cond_status_says },
	{ "passed", 1, cond_passed },
	{ "since", 2, cond_since },
	{ "story", 2, cond_story },
	{ "told", 3, cond_told },
	{ "event-says", 2, cond_event_says },
};

static const struct cond *find_cond(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(conds); i++)
		if (is(conds[i].name, name))
			return &conds[i];
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
		rig_run(s->rig, mono_min(limit, sim_now(s->rig->sim) + LOOK_EVERY));
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
		rig_run(s->rig, mono_min(limit, sim_now(s->rig->sim) + LOOK_EVERY));
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
	if (!is(w->w[2], "expect"))
		return fault(s, "expected %s T expect ...", w->w[0]);
	return is(w->w[0], "within") ? run_within(s, w) : run_hold(s, w);
}
