// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the qos_* lists as OpenSM reads them (qos.md 6), and joins VLs and options. Nothing in here
 * knows the tables of ports.
 */
#include "plan/qos.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

/* The defaults. */
#define BUILT_IN_HIGH  "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,13:0,14:0"
#define BUILT_IN_LOW   "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,13:4,14:4"
#define BUILT_IN_SL2VL "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"

/*
 * Weight of a VL among equals, in units of 64 bytes (7.6.9.2): a packet of 4096 bytes with headers
 * each in turn.
 */
#define LANE_WEIGHT 66

unsigned qos_vls(unsigned code)
{
	return MAX(ib_data_vls(MIN(code, QOS_CODES - 1u)), 1u);
}

static uint8_t mask_of(unsigned code)
{
	unsigned vls = qos_vls(code);

	return (uint8_t)(vls < 15 ? vls - 1 : 15);
}

/* ---- lists ---------------------------------------------------------------------------------- */

/* A number, and the one character behind it, whatever it is. */
static unsigned long next_number(const char **at)
{
	char *end;
	unsigned long n = strtoul(*at, &end, 0);

	*at = *end ? end + 1 : end;
	return n;
}

static void read_shares(const char *list, struct qos_share ret[QOS_ENTRIES])
{
	memset(ret, 0, QOS_ENTRIES * sizeof(*ret));
	for (unsigned i = 0; *list && i < QOS_ENTRIES; i++) {
		ret[i].vl = (uint8_t)(next_number(&list) % 15);
		ret[i].weight = (uint8_t)next_number(&list);
	}
}

static void read_vls(const char *list, uint8_t ret[QOS_SLS])
{
	memset(ret, 0, QOS_SLS);
	for (unsigned i = 0; *list && i < QOS_SLS; i++)
		ret[i] = next_number(&list) & 0xF;
}

/* The four options of one kind. */
struct wording {
	const char *high, *low, *sl2vl;
	int32_t high_limit; /* -1: unset */
};

static const char *first_of(const char *own, const char *all, const char *built_in)
{
	return own ? own : all ? all : built_in;
}

static void read_set(const struct wording *own, const struct wording *all, struct qos_set *ret)
{
	int32_t limit = own->high_limit >= 0 ? own->high_limit : MAX(all->high_limit, 0);

	read_shares(first_of(own->high, all->high, BUILT_IN_HIGH), ret->high);
	read_shares(first_of(own->low, all->low, BUILT_IN_LOW), ret->low);
	read_vls(first_of(own->sl2vl, all->sl2vl, BUILT_IN_SL2VL), ret->vl);
	ret->high_limit = (uint8_t)limit;
}

#define WORDING(C, SET)                                                                            \
	{                                                                                          \
		(C)->SET##_vlarb_high, (C)->SET##_vlarb_low, (C)->SET##_sl2vl,                     \
			(C)->SET##_high_limit                                                      \
	}

static void read_options(const struct conf *c, struct qos_plan *ret)
{
	static const struct wording nothing = { .high_limit = -1 };
	const struct wording all = WORDING(c, qos);
	const struct wording own[QOS_KINDS] = {
		[QOS_CA] = WORDING(c, qos_ca),
		[QOS_ROUTER] = WORDING(c, qos_rtr),
		[QOS_SWITCH0] = WORDING(c, qos_sw0),
		[QOS_SWITCH] = WORDING(c, qos_swe),
	};

	for (unsigned kind = 0; kind < QOS_KINDS; kind++)
		read_set(c->qos ? &own[kind] : &nothing, c->qos ? &all : &nothing,
			 &ret->sets[kind]);
}

static bool says_sl2vl(const struct conf *c)
{
	return c->qos_sl2vl || c->qos_ca_sl2vl || c->qos_rtr_sl2vl || c->qos_sw0_sl2vl ||
	       c->qos_swe_sl2vl;
}

void qos_levels_read(const struct conf *conf, struct qos_levels *ret)
{
	uint8_t vls[QOS_SLS];
	unsigned named = 0;

	*ret = (struct qos_levels){ .n = 1 };
	if (!conf->qos)
		return;
	read_vls(first_of(conf->qos_swe_sl2vl, conf->qos_sl2vl, BUILT_IN_SL2VL), vls);
	for (unsigned sl = 0; sl < QOS_SLS; sl++)
		named |= 1u << vls[sl];
	named &= (1u << QOS_VL_NONE) - 1;
	ret->n = MAX((unsigned)__builtin_popcount(named), 1u);
	for (unsigned sl = 0; sl < QOS_SLS; sl++)
		ret->of[sl] = vls[sl] == QOS_VL_NONE
				      ? QOS_VL_NONE
				      : (uint8_t)__builtin_popcount(named &
								    ((1u << vls[sl]) - 1));
}

unsigned qos_levels_asked(const struct conf *conf)
{
	struct qos_levels levels;

	if (!conf->qos_swe_sl2vl && !conf->qos_sl2vl)
		return 1;
	qos_levels_read(conf, &levels);
	return levels.n;
}

/* ---- VLs ---------------------------------------------------------------------------------- */

static unsigned n_lanes(const struct qos_plan *plan)
{
	return (unsigned)plan->lanes->n_vls * plan->n_levels;
}

/* VLs that one scheme may have, with all its copies. */
static unsigned n_available(const struct conf *conf, const struct qos_plan *p)
{
	return MIN(sl2vl_available(p->topo), qos_vls(conf->max_op_vls ? conf->max_op_vls : 5));
}

/* As many levels as are wanted, and cables between switches have VLs for; others share the last. */
static void make_levels(const struct conf *conf, struct qos_plan *p)
{
	unsigned most = MAX(n_available(conf, p) / MAX(p->lanes->n_vls, 1u), 1u);
	struct qos_levels levels;

	p->n_levels = 1;
	if (!p->by_options)
		return;
	qos_levels_read(conf, &levels);
	for (unsigned sl = 0; sl < QOS_SLS; sl++) {
		uint8_t level = levels.of[sl];

		if (p->lanes->n_levels > 1)
			p->level_sl[sl] =
				sl2vl_level_sl(p->lanes, level == QOS_VL_NONE ? 0 : level);
		if (p->lanes->by != SL2VL_BY_NOTHING)
			continue;
		p->level_of[sl] = level == QOS_VL_NONE ? level : (uint8_t)MIN(level, most - 1);
		if (level != QOS_VL_NONE)
			p->n_levels = MAX(p->n_levels, p->level_of[sl] + 1);
	}
}

static bool is_served(const struct qos_set *set, unsigned vl)
{
	for (unsigned i = 0; i < QOS_ENTRIES; i++) {
		if ((set->low[i].vl == vl && set->low[i].weight) ||
		    (set->high[i].vl == vl && set->high[i].weight))
			return true;
	}
	return false;
}

static void share_equally(struct qos_set *set, unsigned lanes)
{
	memset(set->low, 0, sizeof(set->low));
	memset(set->high, 0, sizeof(set->high));
	set->high_limit = 0;
	for (unsigned vl = 0; vl < lanes; vl++)
		set->low[vl] = (struct qos_share){ (uint8_t)vl, LANE_WEIGHT };
}

/* True: the options are dropped. A VL without a share would block for ever every packet on it. */
static bool serve_lanes(struct qos_plan *p)
{
	bool changed = false;

	for (unsigned kind = 0; kind < QOS_KINDS; kind++) {
		bool served = p->by_options;

		for (unsigned vl = 0; vl < n_lanes(p); vl++)
			served = served && is_served(&p->sets[kind], vl);
		if (!served)
			share_equally(&p->sets[kind], n_lanes(p));
		changed |= !served;
	}
	return changed;
}

static const char *unserved_text(bool unserved)
{
	return unserved ? "; qos_*vlarb_* leave VLs without a share and are without effect" : "";
}

/* Fewer levels than were asked for: what would fit. False: as many, or the levels yield. */
static bool note_shortage(struct qos_plan *p, const struct conf *conf, const char *engine,
			  bool unserved)
{
	unsigned asked = qos_levels_asked(conf), copies = MAX(p->lanes->n_levels, 1u);
	unsigned own = sl2vl_own_vls(p->lanes), has = p->n_levels * copies;
	bool of_vls = own * asked > n_available(conf, p);

	if (!p->by_options || asked <= has)
		return false;
	snprintf(p->note, sizeof(p->note),
		 "%s uses %u VLs for each QoS level: of %u levels (VLs of qos_swe_sl2vl) %u %s "
		 "into %u %s, %s%s",
		 engine, own, asked, has, has == 1 ? "fits" : "fit",
		 of_vls ? n_available(conf, p) : QOS_SLS, of_vls ? "VLs" : "SLs",
		 has > 1 ? "the others share the last one" : "so all SLs share them",
		 unserved_text(unserved));
	return true;
}

static void write_note(struct qos_plan *p, const struct conf *conf, const char *engine,
		       bool unserved)
{
	unsigned levels = p->n_levels * MAX(p->lanes->n_levels, 1u);
	bool no_sl2vl = says_sl2vl(conf) && levels == 1;

	if (note_shortage(p, conf, engine, unserved))
		return;
	if (levels > 1)
		snprintf(p->note, sizeof(p->note),
			 "%s uses %u VLs for each of %u QoS levels (VLs of qos_swe_sl2vl)%s",
			 engine, sl2vl_own_vls(p->lanes), levels, unserved_text(unserved));
	else if (p->by_options && (no_sl2vl || unserved))
		snprintf(p->note, sizeof(p->note),
			 "%s decides which SL takes which of %u VLs:%s%s%s are without effect",
			 engine, p->lanes->n_vls, no_sl2vl ? " qos_*sl2vl" : "",
			 no_sl2vl && unserved ? " and" : "",
			 unserved ? " qos_*vlarb_*, which leave VLs without a share," : "");
}

void qos_plan_make(const struct conf *conf, const struct routes *routes, struct qos_plan *ret)
{
	bool unserved;

	assert(conf && ret);
	*ret = (struct qos_plan){
		.by_options = conf->qos,
		.lanes = routes ? routes->lanes : NULL,
		.topo = routes ? routes->topo : NULL,
		.n_levels = 1,
	};
	ret->wanted = ret->by_options || ret->lanes;
	for (unsigned sl = 0; sl < QOS_SLS; sl++)
		ret->level_sl[sl] = (uint8_t)sl;
	read_options(conf, ret);
	if (!ret->lanes)
		return;
	make_levels(conf, ret);
	unserved = serve_lanes(ret) && ret->by_options;
	write_note(ret, conf, routes->engine, unserved);
}

/* ---- tables ---------------------------------------------------------------------------------- */

unsigned qos_n_classes(const struct qos_plan *plan)
{
	return plan->lanes ? plan->lanes->n_classes : 1;
}

unsigned qos_n_pairs(const struct qos_plan *plan)
{
	return qos_n_classes(plan) * qos_n_classes(plan);
}

unsigned qos_class(const struct qos_plan *plan, uint32_t sw, unsigned port)
{
	const struct sl2vl *l = plan->lanes;

	return l && l->class_of ? l->class_of[plan->topo->switches[sw].first_port + port] : 0;
}

unsigned qos_pair(const struct qos_plan *plan, uint32_t sw, unsigned in, unsigned out)
{
	return qos_class(plan, sw, in) * qos_n_classes(plan) + qos_class(plan, sw, out);
}

/* Before the mask. */
static uint8_t vl_of(const struct qos_plan *plan, enum qos_kind kind, unsigned pair, unsigned sl)
{
	const struct sl2vl *l = plan->lanes;
	uint8_t vl;

	if (!l)
		return plan->sets[kind].vl[sl];
	if (plan->level_of[sl] == QOS_VL_NONE)
		return QOS_VL_NONE;
	vl = kind == QOS_CA || kind == QOS_ROUTER ? l->host_vl[sl]
						  : l->vl[(size_t)pair * QOS_SLS + sl];
	return (uint8_t)(vl + plan->level_of[sl] * l->n_vls);
}

void qos_sl2vl(const struct qos_plan *plan, enum qos_kind kind, unsigned pair, unsigned vls,
	       uint8_t ret[SMP_DATA_SIZE])
{
	assert(kind < QOS_KINDS && pair < qos_n_pairs(plan));
	memset(ret, 0, SMP_DATA_SIZE);
	for (unsigned sl = 0; sl < QOS_SLS; sl++) {
		uint8_t vl = vl_of(plan, kind, pair, sl);

		ib_bits_put(ret, sl * 4, 4, vl == QOS_VL_NONE ? vl : vl & mask_of(vls));
	}
}

void qos_vlarb(const struct qos_plan *plan, enum qos_kind kind, unsigned block, unsigned n,
	       unsigned vls, uint8_t ret[SMP_DATA_SIZE])
{
	const struct qos_set *set = &plan->sets[kind];
	const struct qos_share *from = block <= 2 ? set->low : set->high;

	assert(kind < QOS_KINDS && block >= 1 && block <= QOS_BLOCKS && n <= QOS_PER_BLOCK);
	memset(ret, 0, SMP_DATA_SIZE);
	if (block % 2 == 0)
		from += QOS_PER_BLOCK;
	for (unsigned i = 0; i < n; i++) {
		ib_bits_put(ret, i * 16, 8, from[i].vl & mask_of(vls));
		ib_bits_put(ret, i * 16 + 8, 8, from[i].weight);
	}
}

bool qos_shares_are_lanes(const uint8_t payload[SMP_DATA_SIZE])
{
	unsigned n = 0;

	for (unsigned i = 0; i < QOS_PER_BLOCK; i++) {
		uint64_t weight = ib_bits_get(payload, i * 16 + 8, 8);

		if (weight && weight != LANE_WEIGHT)
			return false;
		if (weight)
			n++;
	}
	return n > 1;
}

int qos_high_limit(const struct qos_plan *plan, enum qos_kind kind, unsigned vl_cap)
{
	if (!plan->by_options)
		return -1;
	return vl_cap <= 1 ? 0 : plan->sets[kind].high_limit;
}

uint16_t qos_usable_sls(const struct qos_plan *plan, enum qos_kind kind)
{
	uint16_t usable = 0;

	for (unsigned sl = 0; sl < QOS_SLS; sl++) {
		if (vl_of(plan, kind, 0, sl) != QOS_VL_NONE &&
		    vl_of(plan, QOS_SWITCH, 0, sl) != QOS_VL_NONE)
			usable |= (uint16_t)(1u << sl);
	}
	return usable;
}

uint16_t qos_usable_wishes(const struct qos_plan *plan, enum qos_kind kind)
{
	uint16_t usable = 0;

	assert(kind < QOS_KINDS);
	for (unsigned sl = 0; sl < QOS_SLS; sl++) {
		if (plan->sets[kind].vl[sl] != QOS_VL_NONE &&
		    plan->sets[QOS_SWITCH].vl[sl] != QOS_VL_NONE)
			usable |= (uint16_t)(1u << sl);
	}
	return usable;
}
