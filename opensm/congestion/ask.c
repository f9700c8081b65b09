// SPDX-License-Identifier: BSD-2-Clause
/*
 * One port: the next question, and what follows from its answer.
 *
 *   Get CongestionKeyInfo [Set] [-> Get ClassPortInfo [Set]] -> Get CongestionInfo
 *   -> Get setting [Set] -> Get block [Set] ...
 *
 * A port that does not answer is asked with the other keys that it may have, one per try: a wrong
 * key and a lost MAD look alike.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "congestion/congestion_internal.h"
#include "util/hash.h"
#include "util/mem.h"

#define KEYS_MAX    6
#define FORMER_KEYS 3 /* epochs back that a port may have missed */

static enum cc_step step_of(const struct cc_entry *e)
{
	enum cc_step step = 0;

	while (step < CC_STEPS && !(e->todo & CC_TODO(step)))
		step++;
	return step;
}

static bool is_cell(enum cc_step step)
{
	return step != CC_STEP_INFO && step != CC_STEP_LOG;
}

static enum cc_cell cell_of(enum cc_step step)
{
	if (step <= CC_STEP_TRAPS)
		return step == CC_STEP_KEY ? CC_CELL_KEY : CC_CELL_TRAPS;
	return CC_CELL_SETTING + (step - CC_STEP_SETTING);
}

static void end_step(struct cc_entry *e)
{
	e->todo &= ~CC_TODO(step_of(e));
	e->writes = false;
	e->lost_sets = 0;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static bool has_ring(const struct cc_place *place)
{
	return place->keys && !key_ring_is_empty(place->keys);
}

uint64_t cc_key_wanted(const struct cc_place *place, const struct cc_entry *e)
{
	if (place->conf->cc_key_enable != CC_KEY_OWN)
		return 0;
	return has_ring(place) ? key_ring_class_key(place->keys, KEY_CLASS_CC, e->port.guid, 0)
			       : place->conf->cc_key;
}

static void add_key(uint64_t keys[KEYS_MAX], unsigned *n, uint64_t key)
{
	for (unsigned i = 0; i < *n; i++)
		if (keys[i] == key)
			return;
	if (key && *n < KEYS_MAX)
		keys[(*n)++] = key;
}

/* Of the keys that the port may have the one whose turn it is. */
static uint64_t key_to_try(const struct cc_place *place, const struct cc_entry *e)
{
	uint64_t keys[KEYS_MAX];
	unsigned n = 0;

	if (place->conf->cc_key_enable == CC_KEY_LEFT)
		return place->conf->cc_key;
	if (e->key_known)
		add_key(keys, &n, e->key);
	add_key(keys, &n, cc_key_wanted(place, e));
	for (unsigned back = 0; has_ring(place) && back <= FORMER_KEYS; back++)
		add_key(keys, &n, key_ring_class_key(place->keys, KEY_CLASS_CC, e->port.guid,
						     back));
	add_key(keys, &n, place->conf->cc_key);
	return n ? keys[e->timeouts % n] : 0;
}

/* ---- questions ------------------------------------------------------------------------------- */

/* False: nothing is asked of this step. */
static bool fill(const struct cc_entry *e, const struct cc_place *place, enum cc_step step,
		 uint8_t mad[MAD_SIZE])
{
	uint8_t want[CC_DATA_SIZE];
	enum cc_attr attr = step == CC_STEP_INFO ? CC_ATTR_INFO : CC_ATTR_LOG;
	uint32_t mod = 0;

	if (is_cell(step)) {
		attr = cc_cell_attr(&e->device, cell_of(step), &mod);
		if (!cc_want(place->conf, &e->device, cell_of(step), cc_key_wanted(place, e), want))
			return false;
	}
	memset(mad, 0, MAD_SIZE);
	if (e->writes)
		memcpy(mad + CC_DATA, want, sizeof(want));
	ib_put(mad, SMP_BASE_VERSION, 1);
	ib_put(mad, SMP_CLASS, MAD_CLASS_CC);
	ib_put(mad, SMP_CLASS_VERSION, CC_CLASS_VERSION);
	ib_put(mad, SMP_METHOD, e->writes ? MAD_SET : MAD_GET);
	ib_put(mad, SMP_ATTR_ID, attr);
	ib_put(mad, SMP_ATTR_MOD, mod);
	ib_put(mad, SMP_M_KEY, e->key_out);
	return true;
}

/* The first step at which there is something to ask; CC_STEPS: none. */
static enum cc_step prepare(struct cc_entry *e, const struct cc_place *place, uint8_t mad[MAD_SIZE])
{
	enum cc_step step;

	e->key_out = key_to_try(place, e);
	while ((step = step_of(e)) < CC_STEPS && !fill(e, place, step, mad)) {
		e->verdicts[cell_of(step)] = CC_CELL_UNKNOWN;
		end_step(e);
	}
	return step;
}

int cc_ask(struct cc *cc, struct cc_entry *e, const struct cc_place *place)
{
	struct transport_addr to = { .lid = e->port.lid, .qp = 1, .qkey = MAD_QP1_QKEY };
	uint8_t mad[MAD_SIZE];
	int r;

	assert(!e->tid);
	if (prepare(e, place, mad) == CC_STEPS) {
		e->port.state = CC_SETTLED;
		return 0;
	}
	to.sl = place->sl_to ? place->sl_to(place->sl_arg, to.lid) : 0;
	e->tid = mad_gmp_tid(place->mad, to.lid);
	ib_put(mad, SMP_TID, e->tid);
	r = mad_send_gmp(place->mad, &to, mad, sizeof(mad), place->conf->transaction_timeout);
	if (r < 0) {
		e->tid = 0;
		return r;
	}
	guidmap_put(cc->by_tid, e->tid, e);
	e->port.state = CC_ASKED;
	cc->outstanding++;
	*(e->writes ? &cc->n_sets : &cc->n_gets) += 1;
	return 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

bool cc_is_answer(const struct cc_entry *e, const uint8_t *mad)
{
	enum cc_step step = step_of(e);
	enum cc_attr attr = step == CC_STEP_INFO ? CC_ATTR_INFO : CC_ATTR_LOG;
	uint32_t mod = 0;

	if (is_cell(step))
		attr = cc_cell_attr(&e->device, cell_of(step), &mod);
	return ib_get(mad, SMP_METHOD) == MAD_GET_RESP && ib_get(mad, SMP_ATTR_ID) == attr &&
	       ib_get(mad, SMP_ATTR_MOD) == mod &&
	       ib_get(mad, SMP_CLASS_VERSION) == CC_CLASS_VERSION;
}

/* Never 0. */
static uint64_t mark_of(const uint8_t want[CC_DATA_SIZE])
{
	return hash_bytes(HASH_START, want, CC_DATA_SIZE) | 1;
}

static void judge(struct cc *cc, struct cc_entry *e, const struct cc_place *place,
		  enum cc_cell cell, enum cc_verdict verdict, const uint8_t *want)
{
	bool is_news = e->given[cell] != mark_of(want);

	e->verdicts[cell] = verdict;
	e->given[cell] = verdict == CC_CELL_HELD ? 0 : mark_of(want);
	/* A device need not send traps: that is no fault of its setting. */
	if (cell == CC_CELL_TRAPS)
		is_news = false;
	if (is_news && verdict == CC_CELL_ROUNDED)
		cc_say(cc, place, e, "stores another congestion control setting than it was given");
	if (is_news && verdict == CC_CELL_REFUSED)
		cc_say(cc, place, e, "refuses a congestion control setting");
	end_step(e);
}

static void take_key(struct cc_entry *e, const struct cc_place *place, const uint8_t *have)
{
	uint64_t key = ib_get(have, CCK_KEY);

	e->port.key_violations = (uint16_t)ib_get(have, CCK_VIOLATIONS);
	e->port.has_key = key != 0;
	e->port.key_right = key == cc_key_wanted(place, e);
	e->key = key;
	e->key_known = true;
}

static void take_cell(struct cc *cc, struct cc_entry *e, const struct cc_place *place,
		      const uint8_t *have)
{
	enum cc_cell cell = cell_of(step_of(e));
	uint8_t want[CC_DATA_SIZE];

	if (cell == CC_CELL_KEY)
		take_key(e, place, have);
	if (!cc_want(place->conf, &e->device, cell, cc_key_wanted(place, e), want))
		end_step(e);
	else if (cc_is_met(place->conf, &e->device, cell, want, have))
		judge(cc, e, place, cell, CC_CELL_HELD, want);
	else if (e->writes)
		judge(cc, e, place, cell, CC_CELL_ROUNDED, want);
	else if (e->given[cell] == mark_of(want))
		end_step(e); /* as it was when it was written last */
	else
		e->writes = true;
}

static void take_info(struct cc *cc, struct cc_entry *e, const struct cc_place *place,
		      const uint8_t *have)
{
	e->device.caps = (uint16_t)ib_get(have, CCI_CAPS);
	e->device.blocks = (uint8_t)ib_get(have, CCI_BLOCKS);
	e->port.cut = cc_is_cut(place->conf, &e->device);
	if (e->port.cut)
		cc_say(cc, place, e, "has no room for all of cc_cct: it gets the first entries");
	end_step(e);
}

static void take_log(struct cc *cc, struct cc_entry *e, const uint8_t *log)
{
	cc_take_log(cc, e, log);
	end_step(e);
}

static bool is_unsupported(unsigned status)
{
	unsigned code = status & MAD_STATUS_BAD_VALUE;

	return code == MAD_STATUS_BAD_VERSION || code == MAD_STATUS_BAD_METHOD ||
	       code == MAD_STATUS_BAD_METHOD_ATTR;
}

static void take_refusal(struct cc *cc, struct cc_entry *e, const struct cc_place *place,
			 unsigned status)
{
	enum cc_step step = step_of(e);
	uint8_t want[CC_DATA_SIZE];

	if (step == CC_STEP_INFO || (step == CC_STEP_KEY && is_unsupported(status) && !e->writes)) {
		e->todo = 0;
		e->port.state = CC_UNSUPPORTED;
	} else if (is_cell(step) && cc_want(place->conf, &e->device, cell_of(step),
					    cc_key_wanted(place, e), want)) {
		judge(cc, e, place, cell_of(step), CC_CELL_REFUSED, want);
	} else {
		end_step(e);
	}
}

void cc_answered(struct cc *cc, struct cc_entry *e, const uint8_t *mad,
		 const struct cc_place *place)
{
	unsigned status = (unsigned)ib_get(mad, SMP_STATUS);

	if (status == MAD_STATUS_BUSY) {
		cc_unanswered(cc, e, place);
		return;
	}
	e->timeouts = e->again = 0;
	e->key = e->key_out;
	e->key_known = true;
	if (status)
		take_refusal(cc, e, place, status);
	else if (step_of(e) == CC_STEP_INFO)
		take_info(cc, e, place, mad + CC_DATA);
	else if (step_of(e) == CC_STEP_LOG)
		take_log(cc, e, mad + CC_LOG);
	else
		take_cell(cc, e, place, mad + CC_DATA);
}

/* A Set may have been done all the same: the cell is read again. */
void cc_unanswered(struct cc *cc, struct cc_entry *e, const struct cc_place *place)
{
	uint8_t want[CC_DATA_SIZE];

	cc->timeouts++;
	if (++e->timeouts >= CC_TRIES) {
		if (!e->again)
			cc_say(cc, place, e,
			       "does not answer congestion control MADs (or has another CC_Key): "
			       "it is asked again now and then, and when its link comes up anew");
		cc_leave_silent(cc, e);
	} else if (e->writes && ++e->lost_sets >= CC_TRIES &&
		   cc_want(place->conf, &e->device, cell_of(step_of(e)), cc_key_wanted(place, e),
			   want)) {
		judge(cc, e, place, cell_of(step_of(e)), CC_CELL_REFUSED, want);
	} else {
		e->writes = false;
	}
}
