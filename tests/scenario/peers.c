// SPDX-License-Identifier: BSD-2-Clause
/*
 * Commands about managers among themselves: faults of what they exchange, their disks and files,
 * changes that are asked for and not waited for, M_Keys of before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/ledger/settle_internal.h"
#include "sm/marks/marks.h"
#include "sm/sm_internal.h"
#include "tests/lib/full-disk.h"
#include "tests/lib/scratch.h"
#include "tests/scenario/front.h"
#include "tests/scenario/look.h"
#include "tests/scenario/record.h"
#include "util/mem.h"

/* ---- what they exchange ---- */

struct transport *peers_between(struct rig_sm *sm)
{
	struct scenario *s = sm->rig->owner;
	struct tap *tap = &s->taps[sm - sm->rig->sms];
	struct transport *port;

	*tap = (struct tap){ .channel.dice = s->seed };
	port = tap_open(tap, sm->tr);
	return s->record ? record_port(s->record, sm->node, port) : port;
}

/* channel NODE whole|cut|old; channel NODE lost|twice|late|flipped P% */
static int cmd_channel(struct scenario *s, const struct words *w)
{
	double pct = 0;
	struct tap *tap;
	unsigned sm;

	CHECK(parse_sm(s, w->w[1], &sm));
	tap = &s->taps[sm];
	if (w->n == 4)
		CHECK(parse_percent(s, w->w[3], &pct));
	if (is(w->w[2], "whole"))
		memset(&tap->channel, 0, sizeof(tap->channel));
	else if (is(w->w[2], "cut"))
		tap->channel.cut = true;
	else if (is(w->w[2], "old"))
		tap->channel.old = true;
	else if (is(w->w[2], "lost"))
		tap->channel.lost = (unsigned)pct;
	else if (is(w->w[2], "twice"))
		tap->channel.twice = (unsigned)pct;
	else if (is(w->w[2], "late"))
		tap->channel.late = (unsigned)pct;
	else if (is(w->w[2], "flipped"))
		tap->channel.flipped = (unsigned)pct;
	else
		return fault(s, "expected whole, cut, old, lost, twice, late or flipped");
	return 0;
}

/* deaf NODE on|off: SMInfo of others, and traps, do not reach its manager */
static int cmd_deaf(struct scenario *s, const struct words *w)
{
	unsigned sm;

	CHECK(parse_sm(s, w->w[1], &sm));
	s->taps[sm].deaf = is(w->w[2], "on");
	return 0;
}

/* doubt NODE: its manager asks the others again what they have, as after a time without them */
static int cmd_doubt(struct scenario *s, const struct words *w)
{
	unsigned sm;

	CHECK(parse_sm(s, w->w[1], &sm));
	settle_doubt(s->rig->sms[sm].sm, "as this test wants it");
	return 0;
}

/* ---- disks and files ---- */

static char full_path[SCRATCH_PATH + 100];

/*
 * disk NODE full: nothing can be stored in the ledger of its manager, or of the next one, if none
 * runs; disk NODE free
 */
static int cmd_disk(struct scenario *s, const struct words *w)
{
	int node, sm;

	CHECK(parse_node(s, w->w[1], &node));
	if (!is(w->w[2], "full") && !is(w->w[2], "free"))
		return fault(s, "expected full or free");
	full_store = NULL;
	full_file = NULL;
	if (is(w->w[2], "free"))
		return 0;
	sm = rig_find(s->rig, w->w[1]);
	if (sm >= 0) {
		full_store = s->rig->sms[sm].sm->m.settle->store;
		return 0;
	}
	snprintf(full_path, sizeof(full_path), "%s/ledger.db",
		 front_folder(s->front, sim_node_id(SIM(s), node)));
	full_file = full_path;
	return 0;
}

/* files NODE saved: a copy of its manager's files; files NODE restored: it is in their place */
static int cmd_files(struct scenario *s, const struct words *w)
{
	_cleanup_free_ char *command = NULL;
	const char *folder;
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	folder = front_folder(s->front, sim_node_id(SIM(s), node));
	if (is(w->w[2], "saved"))
		command = xasprintf("cp -a %s %s.saved", folder, folder);
	else if (is(w->w[2], "restored"))
		command = xasprintf("rm -rf %s && mv %s.saved %s", folder, folder, folder);
	else
		return fault(s, "expected saved or restored");
	return system(command) == 0 ? 0 : fault(s, "the files cannot be copied");
}

/* ---- changes that are not waited for ---- */

static void on_answer(void *arg, const struct sm_tenancy_result *r)
{
	struct asked *a = arg;

	*a = (struct asked){ true, r->end };
}

/* give|take PKEY HOST: full membership */
static int ask_for_member(struct scenario *s, struct sm *sm, const struct words *w)
{
	struct tenant_member member = { .full = true };
	struct tenant_request rq = { .members = &member, .n_members = 1, .keep_empty = true };
	uint64_t pkey;
	int host;

	CHECK(parse_number(s, w->w[3], 0x7FFF, &pkey));
	CHECK(parse_node(s, w->w[4], &host));
	rq.action = is(w->w[2], "give") ? TENANT_ADD : TENANT_REMOVE;
	rq.pkey = (uint16_t)pkey;
	member.guid = sim_node_guid(SIM(s), host) + 1;
	sm_tenancy_request(sm, &rq, true, false, on_answer, &s->asked);
	return 0;
}

static void on_marked(void *arg, const struct mark_result *r)
{
	struct scenario *s = arg;

	snprintf(s->marked_text, sizeof(s->marked_text), "%s%s",
		 r->end == MARK_DONE ? "done" : "refused: ", r->text);
}

/* isolate|drain A:P */
static int ask_for_mark(struct scenario *s, struct sm *sm, const struct words *w)
{
	struct mark_request rq = {
		.action = is(w->w[2], "drain") ? MARK_DO_DRAIN : MARK_DO_ISOLATE,
		.by = "root",
	};
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[3], &node, &port));
	rq.node = sim_node_guid(SIM(s), node);
	rq.port = (uint8_t)port;
	rq.wait = true;
	snprintf(s->marked_text, sizeof(s->marked_text), "nothing");
	return sm_mark_request(sm, &rq, on_marked, s) ? 0 : fault(s, "too many marks wait");
}

/*
 * ask NODE give|take PKEY HOST, ask NODE isolate|drain A:P: its manager answers while the scenario
 * goes on
 */
static int cmd_ask(struct scenario *s, const struct words *w)
{
	struct sm *before = s->rig ? s->rig->sms[s->asked_of].sm : NULL;
	unsigned sm;

	CHECK(parse_sm(s, w->w[1], &sm));
	if (w->n == 4 && (is(w->w[2], "isolate") || is(w->w[2], "drain")))
		return ask_for_mark(s, s->rig->sms[sm].sm, w);
	if (w->n != 5 || (!is(w->w[2], "give") && !is(w->w[2], "take")))
		return fault(s, "expected ask NODE give|take PKEY HOST, or isolate|drain A:P");
	if (before)
		sm_tenancy_abandon(before, &s->asked);
	s->asked = (struct asked){ .is_there = false };
	s->asked_of = sm;
	return ask_for_member(s, s->rig->sms[sm].sm, w);
}

/* steps N [T]: of the simulation, each of T at most, a second if not said otherwise */
static int cmd_steps(struct scenario *s, const struct words *w)
{
	mono_t most = MONO_S;
	uint64_t n;

	CHECK(parse_number(s, w->w[1], 100000, &n));
	if (w->n == 3)
		CHECK(parse_time(s, w->w[2], &most));
	while (n--)
		rig_step(s->rig, sim_now(SIM(s)) + most);
	return 0;
}

/* ---- M_Keys ---- */

struct kept_keys {
	size_t n;
	struct {
		int node;
		unsigned port;
		uint64_t key;
	} of[];
};

/* own-port open: a program may always read and write the port that it runs on; own-port locked */
static int cmd_own_port(struct scenario *s, const struct words *w)
{
	if (!scenario_sim(s))
		return -EINVAL;
	if (!is(w->w[1], "open") && !is(w->w[1], "locked"))
		return fault(s, "expected open or locked");
	sim_set_own_port_open(SIM(s), is(w->w[1], "open"));
	return 0;
}

static struct kept_keys *read_keys(const struct sim *sim)
{
	struct kept_keys *ret = NULL;
	size_t n = 0, cap = 0;
	struct sim_m_key has;

	for (int i = 0; i < (int)sim_n_nodes(sim); i++)
		for (unsigned p = 0; p <= sim_node_ports(sim, i); p++) {
			if (!sim_port_m_key(sim, i, p, &has))
				continue;
			if (n == cap) {
				cap = cap ? 2 * cap : 64;
				ret = xrealloc(ret, 1, sizeof(*ret) + cap * sizeof(ret->of[0]));
			}
			ret->of[n].node = i;
			ret->of[n].port = p;
			ret->of[n++].key = has.key;
			ret->n = n;
		}
	return ret;
}

/* keep-keys: those that ports have now, for `keys-changed` */
static int cmd_keep_keys(struct scenario *s, const struct words *w)
{
	if (!scenario_sim(s))
		return -EINVAL;
	free(s->kept_keys);
	s->kept_keys = read_keys(SIM(s));
	return 0;
}

unsigned peers_keys_changed(const struct scenario *s)
{
	const struct kept_keys *kept = s->kept_keys;
	struct sim_m_key has;
	unsigned ret = 0;

	for (size_t i = 0; kept && i < kept->n; i++)
		ret += !sim_port_m_key(s->rig->sim, kept->of[i].node, kept->of[i].port, &has) ||
		       has.key != kept->of[i].key;
	return ret;
}

void peers_end(struct scenario *s)
{
	free(s->kept_keys);
	full_store = NULL;
	full_file = NULL;
}

const struct command peer_commands[] = {
	{ "channel", 3, 4, cmd_channel },     { "deaf", 3, 3, cmd_deaf },
	{ "doubt", 2, 2, cmd_doubt },	      { "disk", 3, 3, cmd_disk },
	{ "files", 3, 3, cmd_files },	      { "ask", 4, 5, cmd_ask },
	{ "steps", 2, 3, cmd_steps },	      { "own-port", 2, 2, cmd_own_port },
	{ "keep-keys", 1, 1, cmd_keep_keys }, { 0 },
};
