// SPDX-License-Identifier: BSD-2-Clause
/*
 * The port state poll: once in port_state_poll_interval each switch is asked by one SMP whether a
 * link at it went down or came up. So a change whose trap 128 was lost is found within that time,
 * not by the next light sweep, and one that happens while a sweep computes routes is found before
 * that has ended: the poll goes on while a sweep does anything but read.
 *
 *   SwitchPortStateTable  where port 0 claims it (CapabilityMask2 bit 3): states of 128 ports a Get
 *   SwitchInfo            elsewhere: PortStateChange, and whether the forwarding table was reset
 *
 *   a switch is next --> asked --same----> nothing
 *                           |---differs-> its ports are doubted, NEWS_SWITCH: as after a trap 128
 *                           '---no answer-> it is asked in every tenth turn, and once it is silent
 *                                           by light sweeps alone
 *
 * The Gets of a turn are spread over the interval, so that neither the switches nor this manager
 * see a burst: SLICE apart, as many at a time as that takes. At most GETS_MAX are under way, and
 * none to a switch that is being asked something else. A switch costs two packets of 290 bytes for
 * each Get.
 *
 * No device is believed on its word: a table is compared with the PortInfo that was read of the
 * ports, and a difference has the ports read. If the same table comes again although its ports were
 * read since, and twice so, the attribute is not used at that switch any more, nor if the table is
 * refused, or has been another one DOUBTS_MAX times without ever fitting the ports.
 */
#include <stdio.h>
#include <string.h>

#include "sm/base/about.h"
#include "sm/base/news.h"
#include "sm/read/light_internal.h"
#include "sm/sm_internal.h"
#include "util/hash.h"
#include "util/mem.h"

/* Least time between two batches of Gets. */
#define SLICE	    (50 * MONO_MS)
/* Gets under way at most. */
#define GETS_MAX    32
/* A switch that did not answer is asked in one of so many turns. */
#define REST_TURNS  10
/* A table that differs from the ports adds 1 to the doubts, the same one again AGAIN. */
#define DOUBT_AGAIN 20
#define DOUBTS_MAX  (1 + 2 * DOUBT_AGAIN)

/* A question: one Get, or one for each block of the table. */
struct question {
	struct node *node;	     /* NULL: free */
	uint32_t sweep_no;	     /* number of the sweep when it was asked */
	bool is_counted;	     /* its present Get is in stats.asked */
	void (*done)(struct sm *sm); /* called at its end; NULL: it is the poll's own */
	uint8_t table[PST_BLOCKS * SMP_DATA_SIZE];
};

struct state_poll {
	struct question asked[GETS_MAX];
	unsigned n_asked;
	mono_t at;	/* time of the next batch */
	uint32_t left;	/* switches of batches so far whose turn is yet to come */
	uint32_t place; /* index in fabric->nodes behind the switch that was asked last */
	uint32_t turn;	/* number of turns through all switches so far */
	struct state_poll_stats stats;
	struct log_limit found_log, doubt_log;
};
MACHINE_MEMORY_WITH(state_poll, .found_log = { .interval = 10 * MONO_S, .burst = 10 },
		    .doubt_log = { .interval = 10 * MONO_S, .burst = 10 });

const struct state_poll_stats *state_poll_stats_of(const struct sm *sm)
{
	return &sm->m.state_poll->stats;
}

/* ---- SwitchPortStateTable ------------------------------------------------------------------- */

bool state_table_is_used(const struct sm *sm, const struct node *n)
{
	const uint8_t *info = n->ports[0].info;

	return sm->conf->light_sweep_spst && n->states_doubted < DOUBTS_MAX &&
	       !node_quirk(sm, n, QUIRK_NO_STATE_TABLE) &&
	       (ib_get(info, PI_CAP_MASK) & IB_CAP(IB_CAP_CAPMASK2)) &&
	       (ib_get(info, PI_CAP_MASK2) & IB_CAP(IB_CAP2_PORT_STATE_TABLE));
}

unsigned state_table_blocks(const struct node *n)
{
	return n->n_ports / PST_PORTS + 1;
}

unsigned state_table_state(const uint8_t *table, unsigned port)
{
	unsigned state = (unsigned)ib_bits_get(table, PST_STATE(port), PST_STATE_W);

	return state == PST_ACTIVE_DEFER ? IB_PORT_ACTIVE : state;
}

unsigned state_table_differs(const struct node *n, const uint8_t *table, unsigned from)
{
	for (unsigned i = from; i <= n->n_ports; i++)
		if (n->ports[i].known && state_table_state(table, i) != port_state(&n->ports[i]))
			return i;
	return 0;
}

/* Logs for what reason the table of a switch is not used any more. */
static void say_unused(struct sm *sm, const struct node *n, const char *why)
{
	char others[LOG_OTHERS_STRLEN];
	unsigned more;

	if (log_allow(&sm->m.state_poll->doubt_log, sm->now, &more))
		log_port(&n->ports[0], LOG_ID_NONE, LOGB_INFO,
			 "%s: its ports are read one by one%s", why, log_others(more, others));
}

static void doubt(struct sm *sm, struct node *n, unsigned by, const char *why)
{
	bool used = n->states_doubted < DOUBTS_MAX;

	n->states_doubted = (uint8_t)MIN(n->states_doubted + by, (unsigned)DOUBTS_MAX);
	if (used && n->states_doubted == DOUBTS_MAX)
		say_unused(sm, n, why);
}

/* ---- what was found ------------------------------------------------------------------------- */

void state_poll_doubt_ports(struct sm *sm, struct node *n, const char *why)
{
	observe_ports_in_doubt(n);
	tell_switch(sm, n, why);
}

/* Logs what was found at a port. */
static void say_found(struct sm *sm, const struct port *p, const char *what)
{
	char others[LOG_OTHERS_STRLEN];
	unsigned more;

	if (log_allow(&sm->m.state_poll->found_log, sm->now, &more))
		log_port(p, LOG_ID_NONE, LOGB_INFO, "%s%s", what, log_others(more, others));
}

/* Counts the ports that are not as they were, and logs the first one. */
static void say_all_found(struct sm *sm, const struct node *n, const uint8_t *table)
{
	unsigned first = state_table_differs(n, table, 1), more = 0;
	const struct port *p = &n->ports[first];
	char what[160], others[60] = "";

	for (unsigned i = first; (i = state_table_differs(n, table, i + 1)) != 0;)
		more++;
	sm->m.state_poll->stats.found += 1 + more;
	if (more)
		snprintf(others, sizeof(others), ", and %u other ports are not as they were", more);
	snprintf(what, sizeof(what), "is %s and was %s, as SwitchPortStateTable says%s",
		 ib_port_state_name(state_table_state(table, first)),
		 ib_port_state_name(port_state(p)), others);
	say_found(sm, p, what);
}

const char *switch_info_news(const struct sm *sm, const struct node *n, const uint8_t *switch_info)
{
	if (ib_get(switch_info, SI_PORT_STATE_CHANGE))
		return "a port changed its state";
	if (ib_get(switch_info, SI_LINEAR_FDB_TOP) != ib_get(n->switch_info, SI_LINEAR_FDB_TOP))
		return "its forwarding table was reset";
	if (n->sync.passed_over)
		return "was silent when tables were written";
	return n->ports[0].seen != sm->sweep_no ? "was silent and answers now" : NULL;
}

/* Takes a table. One that was taken already is ignored until the ports have been read. */
static void take_table(struct sm *sm, struct node *n, const uint8_t *table)
{
	size_t len = state_table_blocks(n) * SMP_DATA_SIZE;
	uint32_t told;
	bool again;

	if (!state_table_differs(n, table, 1)) {
		n->states_doubted = 0;
		n->states_told = 0;
		return;
	}
	told = hash_fold(hash_bytes(HASH_START, table, len)) | 1;
	again = told == n->states_told;
	if (again && n->cleared_late)
		return;
	n->states_told = told;
	if (!n->dirty) /* else a trap was first */
		say_all_found(sm, n, table);
	doubt(sm, n, again ? DOUBT_AGAIN : 1,
	      "SwitchPortStateTable is not as PortInfo of its ports");
	state_poll_doubt_ports(sm, n, "its port states show a change");
}

/*
 * Takes SwitchInfo. A switch that shows the same change each time is for the light sweep, which
 * looks at it ever more rarely.
 */
static void take_switch_info(struct sm *sm, struct node *n, const uint8_t *switch_info)
{
	const char *news = switch_info_news(sm, n, switch_info);

	if (!news || n->dirty || n->change_uncleared || n->sync.passed_over ||
	    n->ports[0].seen != sm->sweep_no)
		return;
	sm->m.state_poll->stats.found++;
	say_found(sm, &n->ports[0], news);
	tell_switch(sm, n, "SwitchInfo shows a change");
}

/* ---- questions ------------------------------------------------------------------------------ */

/* Is the picture still the one that was known when the question was asked? */
static bool is_of_this_picture(const struct sm *sm, const struct question *q)
{
	return q->sweep_no == sm->sweep_no && picture_holds(sm);
}

/* Is the Get still wanted? If so it is sent now, and counted; again if there was no room for it. */
static bool is_wanted(void *owner, void *arg)
{
	struct sm *sm = owner;
	struct question *q = arg;

	if (q->done)
		return true;
	if (!is_of_this_picture(sm, q))
		return false;
	sm->m.state_poll->stats.asked += !q->is_counted;
	q->is_counted = true;
	return true;
}

static void end_question(struct sm *sm, struct question *q)
{
	q->node = NULL;
	sm->m.state_poll->n_asked--;
	if (q->done)
		q->done(sm);
}

static void count_answer(struct sm *sm, const struct question *q, const struct mad_result *r)
{
	if (!q->done && (r->end == MAD_END_ANSWERED || r->end == MAD_END_BAD_STATUS))
		sm->m.state_poll->stats.answered++;
}

static void on_switch_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct question *q = r->arg;
	struct node *n = q->node;
	bool counts = r->end == MAD_END_ANSWERED && is_of_this_picture(sm, q);

	count_answer(sm, q, r);
	end_question(sm, q);
	if (counts)
		take_switch_info(sm, n, r->payload);
}

static void get(struct sm *sm, struct question *q, uint16_t attr, uint32_t mod, mad_done_fn fn)
{
	struct node *n = q->node;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = attr,
		.mod = mod,
		.path = &n->path,
		.m_key = n->ports[0].m_key,
		.target = &n->target,
		.wanted = is_wanted,
	};

	q->is_counted = false;
	mad_submit(sm->mad, &rq, fn, sm, q);
}

static void on_block(void *owner, const struct mad_result *r);

static void get_block(struct sm *sm, struct question *q, unsigned block)
{
	get(sm, q, IB_ATTR_PORT_STATE_TABLE, block | PST_MOD_DEFER, on_block);
}

/* Ends a question for a table: the last block came, or one did not. */
static void end_table(struct sm *sm, struct question *q, enum mad_end end)
{
	struct node *n = q->node;
	bool counts = is_of_this_picture(sm, q), refused = end == MAD_END_BAD_STATUS;

	end_question(sm, q);
	if (refused)
		doubt(sm, n, DOUBTS_MAX, "offers SwitchPortStateTable and refuses it");
	if (refused && q->done)
		state_poll_doubt_ports(sm, n, "its ports are read one by one");
	if (counts && end == MAD_END_ANSWERED)
		take_table(sm, n, q->table);
}

static void on_block(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct question *q = r->arg;
	unsigned block = r->mod & ~PST_MOD_DEFER;

	count_answer(sm, q, r);
	if (r->end == MAD_END_ANSWERED) {
		memcpy(q->table + block * SMP_DATA_SIZE, r->payload, SMP_DATA_SIZE);
		if (++block < state_table_blocks(q->node)) {
			get_block(sm, q, block);
			return;
		}
	}
	end_table(sm, q, r->end);
}

static struct question *begin_question(struct sm *sm, struct node *n, void (*done)(struct sm *sm))
{
	struct state_poll *p = sm->m.state_poll;

	for (unsigned i = 0; i < GETS_MAX; i++) {
		struct question *q = &p->asked[i];

		if (q->node)
			continue;
		q->node = n;
		q->sweep_no = sm->sweep_no;
		q->done = done;
		p->n_asked++;
		return q;
	}
	return NULL;
}

bool state_table_ask(struct sm *sm, struct node *n, void (*done)(struct sm *sm))
{
	struct question *q = begin_question(sm, n, done);

	if (q)
		get_block(sm, q, 0);
	return q;
}

static void poll_switch(struct sm *sm, struct node *n)
{
	struct question *q = begin_question(sm, n, NULL);

	if (!q)
		return;
	if (state_table_is_used(sm, n))
		get_block(sm, q, 0);
	else
		get(sm, q, IB_ATTR_SWITCH_INFO, 0, on_switch_info);
}

/* ---- turns ---------------------------------------------------------------------------------- */

static bool is_on(const struct sm *sm)
{
	return sm->conf->port_state_poll_interval && sm->conf->sweep_interval &&
	       sm->conf->sweep_on_trap && sm->state == SM_MASTER && sm->first_sweep_done &&
	       !sm->sweeping_off && sm->fabric->n_switches && picture_holds(sm) &&
	       !own_port_is_silent(sm->m.own_port);
}

/*
 * May the switch be asked in this turn? Not if it is being asked something, nor without its key:
 * each Get would be a violation.
 */
static bool may_ask(const struct sm *sm, const struct node *n)
{
	if (!n->switch_known || !n->ports[0].known || n->misses || n->ports[0].key_doubts ||
	    n->target.on_wire || n->target.members.first || mad_target_silent(sm->mad, &n->target))
		return false;
	return !n->target.failures || (sm->m.state_poll->turn + n->guid) % REST_TURNS == 0;
}

/* The next switch to be asked, round and round. The fabric must have a switch. */
static struct node *next_switch(struct sm *sm)
{
	struct state_poll *p = sm->m.state_poll;
	const struct fabric *f = sm->fabric;

	for (uint32_t left = f->n_nodes; left; left--) {
		struct node *n;

		if (p->place >= f->n_nodes) {
			p->place = 0;
			p->turn++;
		}
		n = f->nodes[p->place++];
		if (node_is_switch(n))
			return n;
	}
	return NULL;
}

/*
 * So many switches at a time that batches are SLICE apart or more, and the time from one to the
 * next in which all switches have their turn within the interval.
 */
static uint32_t batch(const struct sm *sm, mono_t *ret_pause)
{
	mono_t interval = (mono_t)sm->conf->port_state_poll_interval * MONO_S;
	uint32_t n = sm->fabric->n_switches,
		 ret = (uint32_t)(((mono_t)n * SLICE + interval - 1) / interval);

	*ret_pause = interval / n * ret;
	return ret;
}

void state_poll_tick(struct sm *sm)
{
	struct state_poll *p = sm->m.state_poll;
	mono_t pause;

	if (!is_on(sm))
		return;
	if (sm->now >= p->at) {
		p->left = MIN(p->left + batch(sm, &pause), sm->fabric->n_switches);
		p->at = MAX(p->at + pause, sm->now + pause / 2);
	}
	for (; p->left && p->n_asked < GETS_MAX; p->left--) {
		struct node *sw = next_switch(sm);

		if (sw && may_ask(sm, sw))
			poll_switch(sm, sw);
	}
}

mono_t state_poll_next(const struct sm *sm)
{
	const struct state_poll *p = sm->m.state_poll;

	if (!is_on(sm) || p->n_asked == GETS_MAX)
		return MONO_NEVER;
	return p->left ? sm->now : p->at;
}
