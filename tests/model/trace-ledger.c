// SPDX-License-Identifier: BSD-2-Clause
/*
 * Two or three managers live through faults on a small simulated fabric, and a trace of it goes to
 * standard output, for `replay` (README.md).
 *
 *   trace-ledger SEED MANAGERS [WORD]
 *
 * Lines with WORD are left out: the trace must not be a walk then. LOUD=1 in the environment writes
 * lines with their times, and the logs of managers, to standard error.
 */
#include "tests/model/trace-ledger.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/gen/gen.h"
#include "sm/sm_ledger.h"
#include "util/log.h"
#include "util/random.h"

/* A takeover takes 3 s at most; a manager that was away for less than this was not away. */
#define POLLING	     1000 /* ms */
#define RETRIES	     2
#define AWAY	     (5 * MONO_S)
#define NOTICED	     (60 * MONO_S) /* by then each manager knows the others that are there */
#define MANY_FAULTS  7

static unsigned pick(struct trace *t, unsigned n)
{
	return (unsigned)(random_next(&t->dice) >> 32) % n;
}

static void run(struct trace *t, mono_t time)
{
	mono_t until = sim_now(t->rig->sim) + time;

	while (rig_step(t->rig, until))
		trace_watch(t);
	trace_watch(t);
}

/* ---- what befalls managers ----------------------------------------------------------------- */

static void shell(const char *format, const char *a, const char *b)
{
	_cleanup_free_ char *command = xasprintf(format, a, b);

	if (system(command) != 0)
		abort();
}

static void begin(struct manager *m, const char *how)
{
	trace_say(m->trace, "manager %u starts%s", m->n + 1, how);
	m->said.role = SM_DISCOVERING;
	m->said.state = SETTLE_FOREIGN;
	trace_blank(m);
	m->at = rig_start(m->trace->rig, m->node, 1, m->conf, m->dir);
	assert(m->at >= 0);
}

static void die(struct manager *m)
{
	trace_watch(m->trace);
	trace_say(m->trace, "manager %u dies", m->n + 1);
	rig_kill(m->trace->rig, (unsigned)m->at);
	m->at = -1;
	m->asleep = m->asked = m->answered = m->is_given = false;
	m->said.pending = 0;
}

static void wipe(struct manager *m)
{
	shell("rm -rf %s/* %s/.[a-z]*", m->dir, m->dir);
	scratch_open_partitions(m->conf->partition_config_file);
}

static void start_anew(struct manager *m)
{
	wipe(m);
	m->said.knows = 0;
	m->said.force = FORCE_NOTHING;
	begin(m, " empty");
}

static void copy_disk(struct manager *m)
{
	shell("rm -rf %2$s && cp -a %1$s %2$s", m->dir, m->copy);
	trace_say(m->trace, "disk of %u is copied", m->n + 1);
	m->trace->copy.of = m;
	m->trace->copy.knows = m->said.knows;
	m->trace->copy.force = m->said.force;
}

static void freeze(struct manager *m, bool asleep)
{
	if (m->at < 0 || m->asleep == asleep)
		return;
	trace_say(m->trace, "manager %u %s", m->n + 1, asleep ? "freezes" : "wakes");
	m->asleep = asleep;
	rig_freeze(m->trace->rig, (unsigned)m->at, asleep);
	if (asleep)
		return;
	trace_blank(m);
	m->woke_at = sim_now(m->trace->rig->sim);
	if (m->said.role == SM_MASTER)
		m->said.state = SETTLE_ASKING;
}

static void unplug(struct manager *m, bool out)
{
	struct sim *sim = m->trace->rig->sim;

	if (m->unplugged == out)
		return;
	trace_say(m->trace, "cable of %u %s", m->n + 1, out ? "out" : "in");
	m->unplugged = out;
	if (out) {
		trace_blank(m);
		m->said.role = SM_DISCOVERING;
		m->said.state = SETTLE_FOREIGN;
		m->said.pending = 0;
		m->is_given = false;
		sim_link_down(sim, sim_find(sim, m->node), 1);
	} else {
		sim_link_up(sim, sim_find(sim, m->node), 1);
	}
}

/* Cables of leaf1 to spines. */
static void cut(struct trace *t, bool apart)
{
	struct sim *sim = t->rig->sim;

	for (unsigned port = 1; port <= sim_node_ports(sim, t->leaf); port++) {
		unsigned peer_port;
		int peer;

		if (!sim_peer(sim, t->leaf, port, &peer, &peer_port) ||
		    !sim_node_is_switch(sim, peer))
			continue;
		if (apart)
			sim_link_down(sim, t->leaf, port);
		else
			sim_link_up(sim, t->leaf, port);
	}
}

static void split(struct trace *t, bool apart)
{
	char others[16] = "";

	if (t->split == apart)
		return;
	for (unsigned i = 0; i < t->n; i++) {
		if (t->managers[i].in_other_half)
			snprintf(others + strlen(others), sizeof(others) - strlen(others), " %u",
				 i + 1);
	}
	if (apart)
		trace_say(t, "subnet splits:%s", others);
	else
		trace_say(t, "subnet merges");
	t->split = apart;
	cut(t, apart);
}

/* ---- requests ------------------------------------------------------------------------------ */

static void on_answer(void *arg, const struct sm_tenancy_result *r)
{
	struct manager *m = arg;

	m->answer = *r;
	m->answered = true;
}

/* A manager that may write is asked for what is not so yet; half of the time one master of two. */
static void request(struct trace *t)
{
	struct tenant_member member = { t->member, true, false };
	struct tenant_request rq = {
		.pkey = TRACE_PKEY, .members = &member, .n_members = 1, .keep_empty = true
	};
	unsigned first = pick(t, t->n);

	for (unsigned i = 0; i < t->n; i++) {
		struct manager *m = &t->managers[(first + i) % t->n];
		struct sm *sm = trace_sm(m);

		if (!sm || m->asleep || m->unplugged || m->asked || m->said.pending ||
		    sm_state(sm) != SM_MASTER || !settle_may_write(sm) ||
		    t->n_changes >= TRACE_CHANGES)
			continue;
		m->asked = true;
		rq.action = m->said.force == FORCE_GIVEN ? TENANT_REMOVE : TENANT_ADD;
		sm_tenancy_request(sm, &rq, true, false, on_answer, m);
		return;
	}
}

/* ---- lives --------------------------------------------------------------------------------- */

static void stop(struct manager *m, unsigned kind)
{
	if (m->at < 0)
		return;
	switch (kind) {
	case 0:
	case 1:
		die(m);
		break;
	case 2:
		freeze(m, true);
		break;
	case 3:
		if (!m->asleep)
			unplug(m, true);
		break;
	case 4:
		split(m->trace, true);
		break;
	}
	if (kind == 1 && !m->trace->copy.of && m->said.knows)
		copy_disk(m);
}

static void start_with_copy(struct manager *m)
{
	struct trace *t = m->trace;

	shell("rm -rf %1$s && mv %2$s %1$s", m->dir, m->copy);
	m->said.knows = t->copy.knows;
	m->said.force = t->copy.force;
	t->copy.of = NULL;
	begin(m, " with the copy");
}

/* A dead one starts with its disk, with a copy that is older, or with an empty one. */
static void start(struct manager *m)
{
	unsigned how = pick(m->trace, 3);

	if (how == 0 && m->said.knows)
		start_anew(m);
	else if (how == 1 && m->trace->copy.of == m && m->trace->copy.knows != m->said.knows)
		start_with_copy(m);
	else
		begin(m, "");
}

static void mend(struct manager *m)
{
	if (m->at < 0)
		start(m);
	freeze(m, false);
	unplug(m, false);
}

static void pass_time(struct trace *t)
{
	run(t, NOTICED);
	trace_say(t, "time passes");
}

/* Up to two things happen at once; changes before, meanwhile and after. */
static void one_round(struct trace *t)
{
	if (pick(t, 2))
		request(t);
	run(t, pick(t, 4) ? 3 * MONO_S : pick(t, 3000) * MONO_US);
	for (unsigned n = 1 + pick(t, 2); n; n--) {
		stop(&t->managers[pick(t, t->n)], pick(t, 5));
		run(t, pick(t, 2) * pick(t, 20) * MONO_S);
	}
	run(t, AWAY + pick(t, 20) * MONO_S);
	request(t);
	run(t, AWAY);
	for (unsigned i = 0, first = pick(t, t->n); i < t->n; i++) {
		mend(&t->managers[(first + i) % t->n]);
		run(t, pick(t, 2) * pick(t, 10000) * MONO_MS);
	}
	split(t, false);
	if (pick(t, 2))
		request(t);
	pass_time(t);
}

/* ---- the world ----------------------------------------------------------------------------- */

static void on_log(void *arg, unsigned bits, const char *text)
{
	if (getenv("LOUD"))
		fprintf(stderr, "%02x %s\n", bits, text);
}

static void make_manager(struct trace *t, unsigned n, const char *node, bool in_other_half)
{
	struct manager *m = &t->managers[n];

	*m = (struct manager){ .trace = t, .n = n, .node = node, .at = -1 };
	m->in_other_half = in_other_half;
	scratch_folder(m->dir);
	scratch_folder(m->copy);
	m->conf = conf_new();
	m->conf->sminfo_polling_timeout = POLLING;
	m->conf->polling_retry_number = RETRIES;
	m->conf->sm_priority = (uint8_t)(5 + n);
	free(m->conf->partition_config_file);
	m->conf->partition_config_file = xasprintf("%s/partitions.conf", m->dir);
	scratch_open_partitions(m->conf->partition_config_file);
	m->said.role = SM_DISCOVERING;
}

static void make_world(struct trace *t)
{
	_cleanup_(netfile_freep) struct netfile *net = gen_tree(2, 4, 2, 1);
	unsigned where = t->n == 3 ? pick(t, 3) : 0;
	struct sim_m_key port;

	t->rig = rig_new(sim_new(net, 7));
	make_manager(t, 0, "h0", false);
	make_manager(t, 1, where == 1 ? "h2" : "h4", where != 1);
	if (t->n == 3)
		make_manager(t, 2, where == 2 ? "h2" : "h5", where != 2);
	t->host = sim_find(t->rig->sim, "h1");
	if (!sim_peer(t->rig->sim, t->host, 1, &t->leaf, &t->leaf_port) ||
	    !sim_port_m_key(t->rig->sim, t->host, 1, &port))
		abort();
	t->member = port.guid;
	trace_watch_devices(t);
}

/* All at once, or one after the other. */
static void start_all(struct trace *t)
{
	bool at_once = pick(t, 2);

	for (unsigned i = 0; i < t->n; i++) {
		if (!at_once)
			trace_say(t, "manager %u dies", i + 1);
	}
	for (unsigned i = 0, first = pick(t, t->n); i < t->n; i++) {
		struct manager *m = &t->managers[(first + i) % t->n];

		if (!at_once) {
			begin(m, "");
			run(t, pick(t, 10) * MONO_S);
			continue;
		}
		m->at = rig_start(t->rig, m->node, 1, m->conf, m->dir);
		assert(m->at >= 0);
	}
}

static void end_world(struct trace *t)
{
	rig_free(t->rig);
	for (unsigned i = 0; i < t->n; i++)
		conf_unref(t->managers[i].conf);
}

int main(int argc, char **argv)
{
	static struct trace t;

	if (argc < 3 || (argv[2][0] != '2' && argv[2][0] != '3')) {
		fputs("usage: trace-ledger SEED MANAGERS [WORD]\n", stderr);
		return 2;
	}
	log_set_sink(on_log, NULL);
	t.dice = strtoull(argv[1], NULL, 10);
	t.n = (unsigned)argv[2][0] - '0';
	t.left_out = argv[3];
	make_world(&t);
	start_all(&t);
	pass_time(&t);
	for (unsigned i = 0; i < MANY_FAULTS && t.n_changes < TRACE_CHANGES; i++)
		one_round(&t);
	end_world(&t);
	return 0;
}
