// SPDX-License-Identifier: BSD-2-Clause
/* Conditions of what managers say, tell and count. */
#include <errno.h>
#include <stdio.h>

#include "ib/attrs.h"
#include "sa/sa.h"
#include "sm/expected/expected.h"
#include "tests/scenario/look.h"
#include "util/mem.h"

/* logged WORDS_OF_IT N: records since `mark` */
static int cond_logged(struct look *l, const char *const *arg)
{
	unsigned n = 0;
	const char *at;

	for (at = l->s->log_len ? find_words(l->s->log, arg[0]) : NULL; at;
	     at = find_words(at, arg[0])) {
		n++;
		at += strcspn(at, "\n");
	}
	return compare(l, "number of records", n, arg[1]);
}

/* records N: of the log, since `mark` */
static int cond_records(struct look *l, const char *const *arg)
{
	unsigned n = 0;

	for (size_t i = 0; i < l->s->log_len; i++)
		n += l->s->log[i] == '\n';
	return compare(l, "number of records", n, arg[0]);
}

/* The story of manager `sm` since `mark`. */
static const char *story_of(const struct look *l, unsigned sm)
{
	return l->s->stories[sm].len ? l->s->stories[sm].text : "";
}

/* story NODE WORD,WORD...: all that its manager told since `mark`, in this order; `-`: nothing */
static int cond_story(struct look *l, const char *const *arg)
{
	const char *words = is(arg[1], "-") ? "" : arg[1], *story;
	unsigned sm;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	story = story_of(l, sm);
	return require(l, strlen(story) == strlen(words) && begins(story, words),
		       "the story is: %s", story);
}

/* story-has NODE WORD,WORD...: one behind the other */
static int cond_story_has(struct look *l, const char *const *arg)
{
	unsigned sm;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	return require(l, find_words(story_of(l, sm), arg[1]), "the story is: %s", story_of(l, sm));
}

/* Is `word` one of `list`, or its last part? */
static bool is_listed(const char *word, const char *list)
{
	_cleanup_free_ char *copy = xstrdup(list);
	char *save;

	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		size_t len = strlen(word), n = strlen(w);

		if (len > n && is(word + len - n, w) && word[len - n - 1] == ' ')
			return true;
	}
	return false;
}

/* story-without NODE ENDING,ENDING... WORD,WORD...: `story`, but words that end so do not count */
static int cond_story_without(struct look *l, const char *const *arg)
{
	_cleanup_free_ char *all = NULL, *rest = NULL;
	char *save, *at;
	unsigned sm;
	size_t size;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	all = xstrdup(story_of(l, sm));
	size = strlen(all) + 2;
	at = rest = xcalloc(1, size);
	for (char *w = strtok_r(all, ",", &save); w; w = strtok_r(NULL, ",", &save))
		if (!is_listed(w, arg[1]))
			at += snprintf(at, size, "%s%s", at == rest ? "" : ",", w);
	return require(l, strlen(rest) == strlen(arg[2]) && begins(rest, arg[2]),
		       "the story is: %s", rest);
}

/* told NODE WORD N: its manager, since `mark`; `came` stands for any node's */
static int cond_told(struct look *l, const char *const *arg)
{
	size_t want = strlen(arg[1]);
	const char *story, *at;
	unsigned sm, n = 0;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	story = story_of(l, sm);
	for (at = story; (at = find_words(at, arg[1])); at += want)
		n += (at == story || at[-1] == ',' || at[-1] == ' ') &&
		     (at[want] == ',' || !at[want]);
	return compare(l, arg[1], n, arg[2]);
}

/* event-says NODE WORDS_OF_IT: the last trap, sweep or other event of its manager */
static int cond_event_says(struct look *l, const char *const *arg)
{
	const struct story *story;
	unsigned sm;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	story = &l->s->stories[sm];
	return require(l,
		       find_words(story->trap, arg[1]) || find_words(story->sentence, arg[1]) ||
			       find_words(story->sweep, arg[1]),
		       "the events say: %s; %s; %s", story->trap, story->sentence, story->sweep);
}

/* status-says WORDS_OF_IT: the line of the master for systemd */
static int cond_status_says(struct look *l, const char *const *arg)
{
	const struct rig *rig = l->s->rig;

	for (unsigned i = 0; i < rig->n_sms; i++)
		if (rig->sms[i].sm && rig->sms[i].sm == rig_master(rig))
			return require(l, find_words(rig->sms[i].status, arg[0]),
				       "the status is: %s", rig->sms[i].status);
	return require(l, false, "no single master");
}

/* status-of NODE WORDS_OF_IT: the line of the manager there, which may be no master */
static int cond_status_of(struct look *l, const char *const *arg)
{
	unsigned sm;

	if (parse_sm(l->s, arg[0], &sm) < 0)
		return -EINVAL;
	return require(l, find_words(l->s->rig->sms[sm].status, arg[1]), "the status is: %s",
		       l->s->rig->sms[sm].status);
}

#define ALL_TABLES 0xFFFF /* LFTs, P_Keys, SL2VL, VL arbitration */
#define VIOLATIONS 0xFFFE /* of M_Keys, at all end ports */

/* What the master counts. */
enum tally_of_sm {
	LIGHT_SWEEPS = 1,
	DIRTY_SWEEPS,
	TRAPS_TAKEN,
	TRAPS_FORGED,
	TRAPS_REPEATED,
	TRAPS_REPRESSED,
	SA_REQUESTS,
	SA_KEY_GUESSES,
	TABLES_CHANGED,
	TABLE_CHANGED, /* and which one */
};

static uint64_t read_of_sm(const struct sm *sm, unsigned what)
{
	switch (what) {
	case LIGHT_SWEEPS:
		return sm_stats(sm)->light_sweeps;
	case DIRTY_SWEEPS:
		return sm_stats(sm)->dirty_sweeps;
	case TRAPS_TAKEN:
		return sm_trap_stats(sm)->taken;
	case TRAPS_FORGED:
		return sm_trap_stats(sm)->forged;
	case TRAPS_REPEATED:
		return sm_trap_stats(sm)->repeats;
	case TRAPS_REPRESSED:
		return sm_trap_stats(sm)->repressed;
	case SA_REQUESTS:
		return sa_stats(sm_sa(sm))->requests;
	case SA_KEY_GUESSES:
		return sa_stats(sm_sa(sm))->key_guesses;
	case TABLES_CHANGED:
		return sm_tables_changed(sm);
	default:
		return sm_stats(sm)->tables_changed[what - TABLE_CHANGED];
	}
}

/* SMPs on the wire, by attribute and method; or what the master counts. */
static const struct tally {
	const char *name;
	uint16_t attr; /* 0: of the master */
	uint8_t method;
	unsigned of_sm;
} tallies[] = {
	{ "lft-sets", IB_ATTR_LFT, MAD_SET, 0 },
	{ "table-gets", ALL_TABLES, MAD_GET, 0 },
	{ "lft-gets", IB_ATTR_LFT, MAD_GET, 0 },
	{ "port-info-sets", IB_ATTR_PORT_INFO, MAD_SET, 0 },
	{ "port-info-gets", IB_ATTR_PORT_INFO, MAD_GET, 0 },
	{ "pkey-sets", IB_ATTR_PKEY_TABLE, MAD_SET, 0 },
	{ "pkey-gets", IB_ATTR_PKEY_TABLE, MAD_GET, 0 },
	{ "sl2vl-gets", IB_ATTR_SL2VL, MAD_GET, 0 },
	{ "vlarb-gets", IB_ATTR_VLARB, MAD_GET, 0 },
	{ "mft-sets", IB_ATTR_MFT, MAD_SET, 0 },
	{ "mft-gets", IB_ATTR_MFT, MAD_GET, 0 },
	{ "node-desc-gets", IB_ATTR_NODE_DESC, MAD_GET, 0 },
	{ "switch-info-gets", IB_ATTR_SWITCH_INFO, MAD_GET, 0 },
	{ "state-table-gets", IB_ATTR_PORT_STATE_TABLE, MAD_GET, 0 },
	{ "ext-port-info-gets", IB_ATTR_MLNX_EXT_PORT_INFO, MAD_GET, 0 },
	{ "traps-sent", IB_ATTR_NOTICE, MAD_TRAP, 0 },
	{ "key-violations", VIOLATIONS, 0, 0 },
	{ "light-sweeps", 0, 0, LIGHT_SWEEPS },
	{ "dirty-sweeps", 0, 0, DIRTY_SWEEPS },
	{ "traps-taken", 0, 0, TRAPS_TAKEN },
	{ "traps-forged", 0, 0, TRAPS_FORGED },
	{ "traps-repeated", 0, 0, TRAPS_REPEATED },
	{ "traps-repressed", 0, 0, TRAPS_REPRESSED },
	{ "sa-requests", 0, 0, SA_REQUESTS },
	{ "sa-key-guesses", 0, 0, SA_KEY_GUESSES },
	{ "tables-changed", 0, 0, TABLES_CHANGED },
	{ "lft-changed", 0, 0, TABLE_CHANGED + SM_TABLE_LFT },
	{ "pkeys-changed", 0, 0, TABLE_CHANGED + TABLE_PKEYS },
	{ "sl2vl-changed", 0, 0, TABLE_CHANGED + TABLE_SL2VL },
	{ "vlarb-changed", 0, 0, TABLE_CHANGED + TABLE_VLARB },
};
_Static_assert(ARRAY_SIZE(tallies) <= N_TALLIES, "scenario.marked");

static uint64_t read_tally(const struct scenario *s, const struct tally *t)
{
	const struct sm *master = rig_master(s->rig);

	if (t->attr == ALL_TABLES)
		return sim_count(s->rig->sim, IB_ATTR_LFT, t->method) +
		       sim_count(s->rig->sim, IB_ATTR_PKEY_TABLE, t->method) +
		       sim_count(s->rig->sim, IB_ATTR_SL2VL, t->method) +
		       sim_count(s->rig->sim, IB_ATTR_VLARB, t->method);
	if (t->attr == VIOLATIONS)
		return scenario_key_violations(s);
	if (t->attr)
		return sim_count(s->rig->sim, t->attr, t->method);
	return master ? read_of_sm(master, t->of_sm) : 0;
}

void scenario_mark_tallies(struct scenario *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(tallies); i++)
		s->marked[i] = read_tally(s, &tallies[i]);
}

/* unserved: a change of the fabric is not served yet; stuck: and nothing moves */
static int cond_unserved(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);
	struct sm_unserved is;

	return require(l, master && sm_unserved(master, sim_now(l->s->rig->sim), &is),
		       "changes are served");
}

static int cond_stuck(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);
	struct sm_unserved is;

	return require(l, master && sm_unserved(master, sim_now(l->s->rig->sim), &is) && is.stuck,
		       "nothing is stuck");
}

/* unserved-for WORDS_OF_IT: what is not served, or waited for */
static int cond_unserved_for(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);
	struct sm_unserved is;

	if (!master || !sm_unserved(master, sim_now(l->s->rig->sim), &is))
		return require(l, false, "changes are served");
	return require(l, find_words(is.why, arg[0]) || find_words(is.cause, arg[0]), "%s, %s",
		       is.why, is.cause);
}

/* expected WHAT N: of the expected topology (expected_topology_file) */
static int cond_expected(struct look *l, const char *const *arg)
{
	const struct sm *master = rig_master(l->s->rig);
	struct sm_expected e;

	if (!master)
		return require(l, false, "no single master");
	sm_expected(master, &e);
	if (is(arg[0], "held"))
		return compare(l, arg[0], e.held, arg[1]);
	if (is(arg[0], "spared"))
		return compare(l, arg[0], e.spared, arg[1]);
	if (is(arg[0], "cables"))
		return compare(l, arg[0], e.cables, arg[1]);
	if (is(arg[0], "differences"))
		return compare(l, arg[0], e.drift ? e.drift->n : 0, arg[1]);
	if (is(arg[0], "refused"))
		return compare(l, arg[0], e.refused != NULL, arg[1]);
	return fault(l->s, "expected held, spared, cables, differences or refused");
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

const struct cond told_conds[] = {
	{ "logged", 2, cond_logged },
	{ "records", 1, cond_records },
	{ "story", 2, cond_story },
	{ "story-has", 2, cond_story_has },
	{ "story-without", 3, cond_story_without },
	{ "told", 3, cond_told },
	{ "event-says", 2, cond_event_says },
	{ "status-says", 1, cond_status_says },
	{ "status-of", 2, cond_status_of },
	{ "unserved", 0, cond_unserved },
	{ "stuck", 0, cond_stuck },
	{ "unserved-for", 1, cond_unserved_for },
	{ "expected", 2, cond_expected },
	{ "passed", 1, cond_passed },
	{ "since", 2, cond_since },
	{ 0 },
};
