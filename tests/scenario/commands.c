// SPDX-License-Identifier: BSD-2-Clause
/* The commands that change something: one function and one row each. */
#include <errno.h>
#include <string.h>

#include "sim/gen/gen.h"
#include "tests/scenario/front.h"
#include "tests/scenario/scenario.h"
#include "util/file.h"
#include "util/mem.h"

/* ---- the fabric ---- */

/* fat-tree 2 levels 4 leaves 4 hosts [2 spines] [1 cables] */
static int fabric_in_words(struct scenario *s, const struct words *w)
{
	static const char *const names[] = { "levels", "leaves", "hosts", "spines", "cables" };
	uint64_t v[ARRAY_SIZE(names)] = { 2, 0, 0, 0, 1 };

	for (unsigned i = 2; i + 1 < w->n; i += 2) {
		size_t k = 0;

		while (k < ARRAY_SIZE(names) && !is(w->w[i + 1], names[k]))
			k++;
		if (k == ARRAY_SIZE(names))
			return fault(s, "'%s': expected levels, leaves, hosts, spines, cables",
				     w->w[i + 1]);
		CHECK(parse_number(s, w->w[i], 1000, &v[k]));
	}
	if (v[0] != 2 || w->n % 2)
		return fault(s,
			     "expected fat-tree 2 levels N leaves N hosts [N spines] [N cables]");
	s->net =
		gen_tree((unsigned)v[1], (unsigned)v[2], v[3] ? (unsigned)v[3] : 2, (unsigned)v[4]);
	return s->net ? 0 : fault(s, "these sizes make no fabric");
}

/* Names count from the folder of the scenario. */
static int fabric_from_file(struct scenario *s, const char *name)
{
	const char *slash = strrchr(s->file, '/');
	_cleanup_free_ char *text = NULL, *path = NULL;
	size_t len;

	path = xasprintf("%.*s%s", slash && *name != '/' ? (int)(slash + 1 - s->file) : 0, s->file,
			 name);

	if (file_read(path, 64 << 20, &text, &len) < 0)
		return fault(s, "cannot read '%s'", path);
	s->net = netfile_parse(text, len, s->error, sizeof(s->error));
	return s->net ? 0 : -EINVAL;
}

static int cmd_fabric(struct scenario *s, const struct words *w)
{
	if (s->net || s->rig)
		return fault(s, "there is a fabric already");
	if (is(w->w[1], "fat-tree"))
		return fabric_in_words(s, w);
	if (is(w->w[1], "file") && w->n == 3)
		return fabric_from_file(s, w->w[2]);
	s->net = gen_words(w->n - 1, w->w + 1, s->error, sizeof(s->error));
	return s->net ? 0 : -EINVAL;
}

static int cmd_speed(struct scenario *s, const struct words *w)
{
	uint64_t tenths, lanes = 4;

	CHECK(parse_number(s, w->w[1], 10000, &tenths));
	if (w->n > 2)
		CHECK(parse_number(s, w->w[2], 12, &lanes));
	if (!s->net)
		return fault(s, "'speed' stands right behind 'fabric'");
	gen_speed(s->net, (unsigned)tenths, (unsigned)lanes);
	return 0;
}

/* vendor ID: of all nodes */
static int cmd_vendor(struct scenario *s, const struct words *w)
{
	uint64_t id;

	CHECK(parse_number(s, w->w[1], 0xFFFFFF, &id));
	if (!s->net)
		return fault(s, "'vendor' stands right behind 'fabric'");
	for (size_t i = 0; i < s->net->n_nodes; i++)
		s->net->nodes[i].vendor_id = (uint32_t)id;
	return 0;
}

/* wear SEED: of this one, whatever the runner was told */
static int cmd_wear(struct scenario *s, const struct words *w)
{
	if (!s->net)
		return fault(s, "'wear' stands right behind 'fabric'");
	return parse_number(s, w->w[1], UINT64_MAX, &s->wear);
}

static int cmd_enhanced(struct scenario *s, const struct words *w)
{
	bool all = is(w->w[1], "all"), any = false;

	if (!s->net)
		return fault(s, "'enhanced' stands right behind 'fabric'");
	for (size_t i = 0; i < s->net->n_nodes; i++)
		if (s->net->nodes[i].type == IB_NODE_SWITCH &&
		    (all || is(s->net->nodes[i].id, w->w[1])))
			any = s->net->nodes[i].enhanced_port0 = true;
	return any ? 0 : fault(s, "no switch '%s'", w->w[1]);
}

/* ---- time, and commands of commands ---- */

/* repeat N T COMMAND...: N times, T apart */
static int cmd_repeat(struct scenario *s, const struct words *w)
{
	struct words command = { .n = w->n - 3 };
	uint64_t n;
	mono_t t;

	CHECK(parse_number(s, w->w[1], 1000000, &n));
	CHECK(parse_time(s, w->w[2], &t));
	memcpy(command.w, w->w + 3, command.n * sizeof(command.w[0]));
	while (n-- && !s->over) {
		CHECK(scenario_command(s, &command));
		rig_run(s->rig, sim_now(SIM(s)) + t);
	}
	return 0;
}

/* then T COMMAND...: and time goes on by T; for `each` */
static int cmd_then(struct scenario *s, const struct words *w)
{
	struct words command = { .n = w->n - 2 };
	mono_t t;

	CHECK(parse_time(s, w->w[1], &t));
	memcpy(command.w, w->w + 2, command.n * sizeof(command.w[0]));
	CHECK(scenario_command(s, &command));
	rig_run(s->rig, sim_now(SIM(s)) + t);
	return 0;
}

/* each NAME FIRST LAST COMMAND...: for NAME with each number, which stand for * in the command */
static int cmd_each(struct scenario *s, const struct words *w)
{
	uint64_t first, last;

	CHECK(parse_number(s, w->w[2], 100000, &first));
	CHECK(parse_number(s, w->w[3], 100000, &last));
	for (uint64_t i = first; i <= last && !s->over; i++) {
		_cleanup_free_ char *name = xasprintf("%s%u", w->w[1], (unsigned)i);
		struct words command = { .n = w->n - 4 };

		for (unsigned k = 0; k < command.n; k++)
			command.w[k] = is(w->w[k + 4], "*") ? name : w->w[k + 4];
		CHECK(scenario_command(s, &command));
	}
	return 0;
}

static int cmd_wait(struct scenario *s, const struct words *w)
{
	mono_t t;

	CHECK(parse_time(s, w->w[1], &t));
	if (!scenario_sim(s))
		return -EINVAL;
	rig_run(s->rig, sim_now(SIM(s)) + t);
	return 0;
}

static int cmd_mark(struct scenario *s, const struct words *w)
{
	struct sm *master;

	if (!scenario_sim(s))
		return -EINVAL;
	master = rig_master(s->rig);
	s->marked_sets = sim_sets(SIM(s));
	s->marked_lane_sets = scenario_lane_sets(s);
	s->marked_gets = sim_gets(SIM(s));
	s->marked_heavy = master ? sm_stats(master)->heavy_sweeps : 0;
	s->marked_at = sim_now(SIM(s));
	scenario_mark_tallies(s);
	s->log_len = 0;
	for (unsigned i = 0; i < RIG_MAX_SMS; i++)
		s->stories[i].len = s->stories[i].n_blocks = s->stories[i].n_tops = 0;
	return 0;
}

static int cmd_remember(struct scenario *s, const struct words *w)
{
	if (!scenario_sim(s))
		return -EINVAL;
	if (s->n_remembered == ARRAY_SIZE(s->remembered) ||
	    strlen(w->w[1]) >= sizeof(s->remembered[0].name))
		return fault(s, "cannot remember that");
	memcpy(s->remembered[s->n_remembered].name, w->w[1], strlen(w->w[1]) + 1);
	s->remembered[s->n_remembered++].fingerprint = sim_fingerprint(SIM(s));
	return 0;
}

/* ---- the weather ---- */

static int cmd_loss(struct scenario *s, const struct words *w)
{
	double there, back;

	CHECK(parse_percent(s, w->w[1], &there));
	back = there;
	if (w->n > 2)
		CHECK(parse_percent(s, w->w[2], &back));
	if (!scenario_sim(s))
		return -EINVAL;
	sim_set_loss(SIM(s), there, back);
	return 0;
}

/* delay HOP [JITTER] */
static int cmd_delay(struct scenario *s, const struct words *w)
{
	mono_t hop, jitter = 0;

	CHECK(parse_time(s, w->w[1], &hop));
	if (w->n > 2)
		CHECK(parse_time(s, w->w[2], &jitter));
	if (!scenario_sim(s))
		return -EINVAL;
	sim_set_delay(SIM(s), hop, jitter);
	return 0;
}

static int cmd_duplicates(struct scenario *s, const struct words *w)
{
	double pct;

	CHECK(parse_percent(s, w->w[1], &pct));
	if (!scenario_sim(s))
		return -EINVAL;
	sim_set_duplicates(SIM(s), pct);
	return 0;
}

/* reorder P% T */
static int cmd_reorder(struct scenario *s, const struct words *w)
{
	double pct;
	mono_t by;

	CHECK(parse_percent(s, w->w[1], &pct));
	CHECK(parse_time(s, w->w[2], &by));
	if (!scenario_sim(s))
		return -EINVAL;
	sim_set_reorder(SIM(s), pct, by);
	return 0;
}

/* agent-time T [NODE], train-time T, auto-active T */
static int cmd_timing(struct scenario *s, const struct words *w)
{
	static const struct {
		const char *name;
		void (*set)(struct sim *sim, mono_t t);
	} rows[] = {
		{ "agent-time", sim_set_sma_time },
		{ "train-time", sim_set_train_time },
		{ "auto-active", sim_set_auto_active },
	};
	mono_t t;
	int node;

	CHECK(parse_time(s, w->w[1], &t));
	if (!scenario_sim(s))
		return -EINVAL;
	if (w->n == 3) {
		CHECK(parse_node(s, w->w[2], &node));
		sim_set_node_sma_time(SIM(s), node, t);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is(w->w[0], rows[i].name))
			rows[i].set(SIM(s), t);
	return 0;
}

static int cmd_job_time(struct scenario *s, const struct words *w)
{
	mono_t t;

	CHECK(parse_time(s, w->w[1], &t));
	if (!scenario_sim(s))
		return -EINVAL;
	*(is(w->w[0], "disk-time") ? &s->rig->disk_time : &s->rig->job_time) = t;
	return 0;
}

static int cmd_agent_queue(struct scenario *s, const struct words *w)
{
	uint64_t depth;

	CHECK(parse_number(s, w->w[1], 1000000, &depth));
	if (!scenario_sim(s))
		return -EINVAL;
	sim_set_sma_queue(SIM(s), (unsigned)depth);
	return 0;
}

/* ---- cables ---- */

/* link A:P flap T N EVERY: N times, and time goes on meanwhile */
static int flap_often(struct scenario *s, int node, unsigned port, const char *const *arg)
{
	mono_t down, every;
	uint64_t n;

	CHECK(parse_time(s, arg[0], &down));
	CHECK(parse_number(s, arg[1], 1000000, &n));
	CHECK(parse_time(s, arg[2], &every));
	while (n--) {
		CHECK(sim_link_flap(SIM(s), node, port, down));
		rig_run(s->rig, sim_now(SIM(s)) + every);
	}
	return 0;
}

/* link A:P down | up | flap T [N EVERY] | loss P% */
static int cmd_link(struct scenario *s, const struct words *w)
{
	unsigned port;
	int node, r;
	double pct;
	mono_t t;

	CHECK(parse_port(s, w->w[1], &node, &port));
	if (is(w->w[2], "down") && w->n == 3) {
		r = sim_link_down(SIM(s), node, port);
	} else if (is(w->w[2], "up") && w->n == 3) {
		r = sim_link_up(SIM(s), node, port);
	} else if (is(w->w[2], "flap") && w->n == 4) {
		CHECK(parse_time(s, w->w[3], &t));
		r = sim_link_flap(SIM(s), node, port, t);
	} else if (is(w->w[2], "flap") && w->n == 6) {
		CHECK(flap_often(s, node, port, w->w + 3));
		r = 0;
	} else if (is(w->w[2], "loss") && w->n == 4) {
		CHECK(parse_percent(s, w->w[3], &pct));
		sim_set_link_loss(SIM(s), node, port, (unsigned)pct);
		r = 0;
	} else {
		return fault(s, "expected link NODE:PORT down | up | flap T [N EVERY] | loss P%%");
	}
	return r < 0 ? fault(s, "no cable at %s", w->w[1]) : 0;
}

static int cmd_unplug(struct scenario *s, const struct words *w)
{
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	return sim_unplug(SIM(s), node, port) < 0 ? fault(s, "no cable at %s", w->w[1]) : 0;
}

/* narrow A:P LANES: its cable has so many lanes, from the next training on */
static int cmd_narrow(struct scenario *s, const struct words *w)
{
	uint64_t lanes;
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	CHECK(parse_number(s, w->w[2], 12, &lanes));
	return sim_set_cable_rate(SIM(s), node, port, (unsigned)lanes, 0) < 0
		       ? fault(s, "no cable at %s", w->w[1])
		       : 0;
}

/* plug A:P B:Q, loopback A:P, move A:P to B:Q */
static int cmd_plug(struct scenario *s, const struct words *w)
{
	const char *far = is(w->w[0], "loopback") ? w->w[1] : w->w[w->n - 1];
	unsigned a_port, b_port;
	int a, b, r;

	CHECK(parse_port(s, w->w[1], &a, &a_port));
	CHECK(parse_port(s, far, &b, &b_port));
	if (is(w->w[0], "move"))
		r = sim_move(SIM(s), a, a_port, b, b_port);
	else
		r = sim_plug(SIM(s), a, a_port, b, b_port);
	return r < 0 ? fault(s, "these ports are not free, or there is no cable") : 0;
}

/* ---- nodes ---- */

/* reboot NODE [T] */
static int cmd_reboot(struct scenario *s, const struct words *w)
{
	mono_t t = MONO_S;
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	if (w->n > 2)
		CHECK(parse_time(s, w->w[2], &t));
	sim_reboot(SIM(s), node, t);
	return 0;
}

static int cmd_power(struct scenario *s, const struct words *w)
{
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	if (!is(w->w[2], "on") && !is(w->w[2], "off"))
		return fault(s, "expected on or off");
	sim_power(SIM(s), node, is(w->w[2], "on"));
	return 0;
}

/* silent NODE [get | set] [ATTR], answers NODE */
static int cmd_silent(struct scenario *s, const struct words *w)
{
	enum sim_silence what = is(w->w[0], "answers") ? SIM_ANSWERS : SIM_SILENT;
	uint64_t attr = 0;
	unsigned next = 2;
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	if (next < w->n && (is(w->w[next], "get") || is(w->w[next], "set")))
		what = is(w->w[next++], "get") ? SIM_SILENT_GET : SIM_SILENT_SET;
	if (next < w->n)
		CHECK(parse_number(s, w->w[next], 0xFFFF, &attr));
	sim_set_silent(SIM(s), node, what, (uint16_t)attr);
	return 0;
}

/* lossy NODE P% [BACK%]: what it is asked, and answers, is lost */
static int cmd_lossy(struct scenario *s, const struct words *w)
{
	double there, back;
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	CHECK(parse_percent(s, w->w[2], &there));
	back = there;
	if (w->n > 3)
		CHECK(parse_percent(s, w->w[3], &back));
	sim_set_node_loss(SIM(s), node, there, back);
	return 0;
}

/* refuse NODE ATTR STATUS */
static int cmd_refuse(struct scenario *s, const struct words *w)
{
	uint64_t attr, status;
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	CHECK(parse_number(s, w->w[2], 0xFFFF, &attr));
	CHECK(parse_number(s, w->w[3], 0x7FFF, &status));
	sim_set_refuse(SIM(s), node, (uint16_t)attr, (uint16_t)status);
	return 0;
}

/* same-guid NODE OTHER: NODE claims the GUID of OTHER */
static int cmd_same_guid(struct scenario *s, const struct words *w)
{
	int node, other;

	CHECK(parse_node(s, w->w[1], &node));
	CHECK(parse_node(s, w->w[2], &other));
	sim_set_guid(SIM(s), node, sim_node_guid(SIM(s), other));
	return 0;
}

/* guid NODE NUMBER: another device, with this node GUID, is in its place */
static int cmd_guid(struct scenario *s, const struct words *w)
{
	uint64_t guid;
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	CHECK(parse_number(s, w->w[2], UINT64_MAX, &guid));
	sim_set_guid(SIM(s), node, guid);
	return 0;
}

/* m-key NODE|all KEY PROTECT [LEASE] */
static int cmd_m_key(struct scenario *s, const struct words *w)
{
	uint64_t key, protect, lease = 0;
	int node;

	CHECK(parse_node_or_all(s, w->w[1], &node));
	CHECK(parse_key(s, w->w[2], &key));
	CHECK(parse_number(s, w->w[3], 3, &protect));
	if (w->n > 4)
		CHECK(parse_number(s, w->w[4], 0xFFFF, &lease));
	for (int i = 0; i < (int)sim_n_nodes(SIM(s)); i++)
		for (unsigned p = 0; (node < 0 || i == node) && p <= sim_node_ports(SIM(s), i); p++)
			if ((p == 0) == sim_node_is_switch(SIM(s), i))
				sim_set_m_key(SIM(s), i, p, key, (unsigned)protect,
					      (unsigned)lease);
	return 0;
}

/* lid NODE[:PORT] LID [LMC] */
static int cmd_lid(struct scenario *s, const struct words *w)
{
	uint64_t lid, lmc = 0;
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	CHECK(parse_number(s, w->w[2], 0xFFFF, &lid));
	if (w->n > 3)
		CHECK(parse_number(s, w->w[3], 7, &lmc));
	sim_set_lid(SIM(s), node, port, (lid_t)lid, (uint8_t)lmc, 0);
	return 0;
}

/* sm-lid NODE[:PORT] LID: its PortInfo names this LID of the master */
static int cmd_sm_lid(struct scenario *s, const struct words *w)
{
	unsigned port;
	uint64_t lid;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	CHECK(parse_number(s, w->w[2], 0xBFFF, &lid));
	sim_set_lid(SIM(s), node, port, sim_port_lid(SIM(s), node, port), 0, (lid_t)lid);
	return 0;
}

/* ibsim NODE|all: does not store what ibsim does not store */
static int cmd_ibsim(struct scenario *s, const struct words *w)
{
	int node;

	CHECK(parse_node_or_all(s, w->w[1], &node));
	sim_quirk_no_store(SIM(s), node);
	return 0;
}

/* cap NODE|all lft N | mft N | pkeys N | optimized-sl2vl 0/1 */
static int cmd_cap(struct scenario *s, const struct words *w)
{
	uint64_t v;
	int node;

	CHECK(parse_node_or_all(s, w->w[1], &node));
	CHECK(parse_number(s, w->w[3], 0xC000, &v));
	if (is(w->w[2], "lft"))
		sim_set_linear_cap(SIM(s), node, (lid_t)v);
	else if (is(w->w[2], "mft"))
		sim_set_mcast_cap(SIM(s), node, (unsigned)v);
	else if (is(w->w[2], "pkeys"))
		sim_set_pkey_cap(SIM(s), node, (unsigned)v);
	else if (is(w->w[2], "optimized-sl2vl"))
		sim_set_optimized_sl2vl(SIM(s), node, v);
	else
		return fault(s, "'%s': expected lft, mft, pkeys or optimized-sl2vl", w->w[2]);
	return 0;
}

/* mtu NODE|all MTUCODE VLCODE */
static int cmd_mtu(struct scenario *s, const struct words *w)
{
	uint64_t mtu, vls;
	int node;

	CHECK(parse_node_or_all(s, w->w[1], &node));
	CHECK(parse_number(s, w->w[2], 15, &mtu));
	CHECK(parse_number(s, w->w[3], 15, &vls));
	sim_set_caps(SIM(s), node, (enum ib_mtu)mtu, (unsigned)vls);
	return 0;
}

static int cmd_rename(struct scenario *s, const struct words *w)
{
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	sim_set_desc(SIM(s), node, w->w[2]);
	return 0;
}

/* ignore NODE, judge NODE */
static int cmd_ignore(struct scenario *s, const struct words *w)
{
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	sim_ignore(SIM(s), node, is(w->w[0], "ignore"));
	return 0;
}

/*
 * watch lost: ways that were there; keys [LEVEL]: of end ports. watch on | off: loops after every
 * Set; costs most of the time on large fabrics
 */
static int cmd_watch(struct scenario *s, const struct words *w)
{
	uint64_t level = 2;

	if (!is(w->w[1], "on") && !is(w->w[1], "off") && !is(w->w[1], "lost") &&
	    !is(w->w[1], "keys"))
		return fault(s, "expected on, off, lost or keys");
	if (!scenario_sim(s))
		return -EINVAL;
	if (w->n == 3)
		CHECK(parse_number(s, w->w[2], 3, &level));
	if (is(w->w[1], "keys"))
		sim_watch_keys(SIM(s), (unsigned)level);
	else if (is(w->w[1], "lost"))
		sim_watch_lost(SIM(s), true);
	else
		sim_watch_loops(SIM(s), is(w->w[1], "on"));
	return 0;
}

static const struct command rows[] = {
	{ "fabric", 2, 12, cmd_fabric },
	{ "speed", 2, 3, cmd_speed },
	{ "vendor", 2, 2, cmd_vendor },
	{ "wear", 2, 2, cmd_wear },
	{ "enhanced", 2, 2, cmd_enhanced },
	{ "ctl", 2, MAX_WORDS, scenario_ctl },
	{ "ctl-refused", 2, MAX_WORDS, scenario_ctl },
	{ "rest", 3, MAX_WORDS, scenario_rest },
	{ "rest-refused", 3, MAX_WORDS, scenario_rest },
	{ "metrics", 1, 3, scenario_metrics },
	{ "wait", 2, 2, cmd_wait },
	{ "repeat", 4, MAX_WORDS, cmd_repeat },
	{ "then", 3, MAX_WORDS, cmd_then },
	{ "each", 5, MAX_WORDS, cmd_each },
	{ "mark", 1, 1, cmd_mark },
	{ "remember", 2, 2, cmd_remember },
	{ "loss", 2, 3, cmd_loss },
	{ "delay", 2, 3, cmd_delay },
	{ "duplicates", 2, 2, cmd_duplicates },
	{ "reorder", 3, 3, cmd_reorder },
	{ "agent-time", 2, 3, cmd_timing },
	{ "job-time", 2, 2, cmd_job_time },
	{ "disk-time", 2, 2, cmd_job_time },
	{ "train-time", 2, 2, cmd_timing },
	{ "auto-active", 2, 2, cmd_timing },
	{ "agent-queue", 2, 2, cmd_agent_queue },
	{ "link", 3, 6, cmd_link },
	{ "unplug", 2, 2, cmd_unplug },
	{ "plug", 3, 3, cmd_plug },
	{ "narrow", 3, 3, cmd_narrow },
	{ "loopback", 2, 2, cmd_plug },
	{ "move", 4, 4, cmd_plug },
	{ "reboot", 2, 3, cmd_reboot },
	{ "power", 3, 3, cmd_power },
	{ "silent", 2, 4, cmd_silent },
	{ "answers", 2, 2, cmd_silent },
	{ "lossy", 3, 4, cmd_lossy },
	{ "refuse", 4, 4, cmd_refuse },
	{ "same-guid", 3, 3, cmd_same_guid },
	{ "guid", 3, 3, cmd_guid },
	{ "m-key", 4, 5, cmd_m_key },
	{ "lid", 3, 4, cmd_lid },
	{ "sm-lid", 3, 3, cmd_sm_lid },
	{ "ibsim", 2, 2, cmd_ibsim },
	{ "cap", 4, 4, cmd_cap },
	{ "mtu", 4, 4, cmd_mtu },
	{ "rename", 3, 3, cmd_rename },
	{ "ignore", 2, 2, cmd_ignore },
	{ "judge", 2, 2, cmd_ignore },
	{ "watch", 2, 3, cmd_watch },
	{ "storm", 3, 3, scenario_storm },
	{ "expect", 2, MAX_WORDS, scenario_expect },
	{ "within", 4, MAX_WORDS, scenario_expect },
	{ "hold", 4, MAX_WORDS, scenario_expect },
	{ "first", 4, MAX_WORDS, scenario_expect },
	{ "always", 4, MAX_WORDS, scenario_expect },
	{ "until", 5, MAX_WORDS, scenario_expect },
	{ "quiet", 6, 6, scenario_expect },
	{ 0 },
};

int scenario_command(struct scenario *s, const struct words *w)
{
	const struct command *const tables[] = { rows, manager_commands, port_commands,
						 peer_commands, host_commands };

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct command *c = tables[t]; c->name; c++) {
			if (!is(c->name, w->w[0]))
				continue;
			if (w->n < c->min || w->n > c->max)
				return fault(s, "'%s' takes %u to %u words", w->w[0], c->min - 1,
					     c->max - 1);
			return c->run(s, w);
		}
	return fault(s, "unknown command '%s'", w->w[0]);
}
