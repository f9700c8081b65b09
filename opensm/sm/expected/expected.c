// SPDX-License-Identifier: BSD-2-Clause
#include "sm/expected/expected.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/expected/expected_internal.h"
#include "util/mem.h"

MACHINE_MEMORY(expected);

/* ---- the topology in force ------------------------------------------------------------------- */

/* Seconds until the grace of `m` ends, or 0. None if the clock was set back. */
static int64_t grace_left(const struct sm *sm, const struct meant *m)
{
	int64_t now = sm_realtime(sm), end = m->learnt + sm->conf->expected_topology_grace * 60;

	return m->learnt && now >= m->learnt && now < end ? end - now : 0;
}

static bool is_over_cap(const struct sm *sm, unsigned n, unsigned of)
{
	return (uint64_t)n * 100 > (uint64_t)of * sm->conf->expected_topology_cap;
}

static void refuse_candidate(struct sm *sm, unsigned n, unsigned of)
{
	struct expected *e = sm->m.expected;

	snprintf(e->why, sizeof(e->why),
		 "%u of %u cables are not in it, more than expected_topology_cap (%u %%): it is "
		 "taken for the wrong file",
		 n, of, sm->conf->expected_topology_cap);
	log_on(ABOUT(.id = LOG_ID_TOPOLOGY, .file = conf_expected_path(sm->conf)), LOGB_ERROR,
	       "expected topology %s: refused: %s; %s", conf_expected_path(sm->conf), e->why,
	       e->now ? "the former one stays in force" : "nothing is held");
	e->refused = e->candidate->digest;
	e->candidate = meant_unref(e->candidate);
}

static void use_candidate(struct sm *sm, unsigned modes)
{
	struct expected *e = sm->m.expected;

	meant_unref(e->now);
	e->now = take(e->candidate);
	e->agreed = modes;
	e->over_cap = false;
	e->why[0] = '\0';
	e->compared = 0;
	log_info("expected topology: %u cables are in force", expect_count_cables(e->now->x));
	expected_store(sm);
}

static void judge_candidate(struct sm *sm, unsigned modes)
{
	struct expected *e = sm->m.expected;
	unsigned of, n = expected_count(sm, e->candidate, modes, &of);

	if (is_over_cap(sm, n, of))
		refuse_candidate(sm, n, of);
	else
		use_candidate(sm, modes);
}

/* Applies the cap to modes for which `now` was not judged before. */
static void judge_modes(struct sm *sm, unsigned modes)
{
	struct expected *e = sm->m.expected;
	unsigned of, n = expected_count(sm, e->now, modes, &of);
	bool over = is_over_cap(sm, n, of);

	if (over && !e->over_cap)
		log_on(ABOUT(.id = LOG_ID_TOPOLOGY), LOGB_ERROR,
		       "expected topology: %u of %u cables would be held as the options "
		       "expected_topology_ are now, more than expected_topology_cap (%u %%): not "
		       "done",
		       n, of, sm->conf->expected_topology_cap);
	e->over_cap = over;
	if (over)
		return;
	e->agreed = modes;
	expected_store(sm);
}

void expected_settle(struct sm *sm)
{
	struct expected *e = sm->m.expected;
	unsigned modes = expected_modes(sm);
	int64_t left = 0;

	out_of_use_take_all(sm, OUT_UNEXPECTED);
	e->n_cables = 0;
	e->stale = true;
	e->grace_end = MONO_NEVER;
	e->judge_anew = false;
	if (e->candidate)
		judge_candidate(sm, modes);
	if (e->now && modes & ~e->agreed)
		judge_modes(sm, modes);
	if (e->now)
		left = grace_left(sm, e->now);
	if (left)
		e->grace_end = sm->now + left * MONO_S;
	if (e->now && !left)
		expected_refuse(sm, modes & e->agreed);
}

bool expected_place(const struct sm *sm, const uint8_t *ni, guid_t *ret_switch, uint8_t *ret_port)
{
	const struct meant *m = sm->m.expected->now;
	struct expect_seen end = { .node = ib_get(ni, NI_NODE_GUID),
				   .port_guid = ib_get(ni, NI_PORT_GUID),
				   .type = EXPECT_CA,
				   .name = "",
				   .port = (uint8_t)ib_get(ni, NI_LOCAL_PORT) };

	end.at = m ? expect_seek(m->x, end.node, 0, "") : TOPO_NONE;
	return m && expect_home(m->x, &end, ret_switch, ret_port);
}

/* ---- cables that are refused ----------------------------------------------------------------- */

static struct port *port_of(const struct sm *sm, const struct refused *c)
{
	struct node *n = fabric_find_node(sm->fabric, c->node);
	struct port *p = n && c->port <= n->n_ports ? &n->ports[c->port] : NULL;

	return p && p->peer ? p : NULL;
}

void expected_sweep_ended(struct sm *sm)
{
	struct expected *e = sm->m.expected;

	expected_drop_facts(sm);
	if (sm->state != SM_MASTER)
		return;
	e->held = e->spared = 0;
	for (uint32_t i = 0; i < e->n_cables; i++) {
		const struct port *p = port_of(sm, &e->cables[i]);

		e->held += p && out_of_use_is(p);
		e->spared += p && out_of_use_is_spared(p);
	}
	expected_compare(sm);
}

/* ---- time ------------------------------------------------------------------------------------ */

void expected_tick(struct sm *sm)
{
	struct expected *e = sm->m.expected;

	if (sm->state != SM_MASTER || sm->sweep != SWEEP_NONE)
		return;
	if (e->facts.builder)
		expected_collect(sm);
	if (e->judge_anew) {
		e->judge_anew = false;
		tell_news(sm, NEWS_TABLES, .text = "the expected topology was read");
	}
	if (sm->now < e->grace_end)
		return;
	e->grace_end = MONO_NEVER;
	tell_news(sm, NEWS_TABLES, .text = "what is expected is enforced from now on");
}

mono_t expected_next(const struct sm *sm)
{
	const struct expected *e = sm->m.expected;

	if (sm->state != SM_MASTER || sm->sweep != SWEEP_NONE)
		return MONO_NEVER;
	return e->judge_anew || e->facts.builder ? sm->now : e->grace_end;
}

void expected_state_changed(struct sm *sm)
{
	struct expected *e = sm->m.expected;

	e->grace_end = MONO_NEVER;
	expected_drop_facts(sm);
	e->compared = 0;
	e->held = e->spared = 0;
	e->n_cables = 0;
}

/* ---- the machine ----------------------------------------------------------------------------- */

void expected_new(struct sm *sm, const struct sm_paths *paths)
{
	struct expected *e = sm->m.expected;

	e->grace_end = MONO_NEVER;
	if (paths && paths->cache_dir)
		e->path = xasprintf("%s/%s", paths->cache_dir, EXPECTED_COPY);
}

void expected_free(struct sm *sm)
{
	struct expected *e = sm->m.expected;

	expected_forget_verdicts(e);
	meant_unref(e->now);
	meant_unref(e->candidate);
	drift_unref(e->drift);
	expect_builder_free(e->facts.builder);
	free(e->cables);
	free(e->path);
}

void sm_expected(const struct sm *sm, struct sm_expected *ret)
{
	const struct expected *e = sm->m.expected;

	*ret = (struct sm_expected){
		.path = conf_expected_path(sm->conf),
		.refused = e->why[0] ? e->why : NULL,
		.in_force = e->now,
		.cables = e->now ? expect_count_cables(e->now->x) : 0,
		.held = e->held,
		.spared = e->spared,
		.judged = e->verdicts.judged,
		.learnt = e->now ? e->now->learnt : 0,
		.digest = e->now ? e->now->digest : 0,
		.text = e->now ? e->now->text : NULL,
		.is_grace = e->grace_end != MONO_NEVER,
		.drift = e->now ? e->drift : NULL,
	};
}
