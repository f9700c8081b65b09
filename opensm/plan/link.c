// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of PortInfo fields that an SM sets (IBA 14.2.5.6).
 *
 * Values that the hardware may refuse are wanted all the same; sync/ notices what a device does not
 * keep and logs it once. Nothing in here knows about transactions.
 */
#include "plan/link.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "plan/pkey.h"
#include "util/hash.h"
#include "util/mem.h"

enum on {
	ON_HOST = 0x01, /* CA port */
	ON_ROUTER = 0x02,
	ON_BASE0 = 0x04, /* base switch port 0 */
	ON_ENHANCED0 = 0x08,
	ON_SWITCH = 0x10, /* external switch port */
	ESSENTIAL = 0x20, /* see link_essential() */
};
#define ON_END	(ON_HOST | ON_ROUTER | ON_BASE0 | ON_ENHANCED0)
#define ON_WIRE (ON_HOST | ON_ROUTER | ON_SWITCH)

/* The value wanted, or -1: leave this field alone on this port. */
typedef int64_t (*value_fn)(const struct link_facts *f);

static bool peer_is_switch(const struct link_facts *f)
{
	return f->peer && f->peer->node_type == IB_NODE_SWITCH;
}

/* A switch port that faces a CA or a router. */
static bool is_leaf_port(const struct link_facts *f)
{
	return !peer_is_switch(f);
}

static int64_t lid(const struct link_facts *f)
{
	return f->lid ? f->lid : -1;
}

static int64_t sm_lid(const struct link_facts *f)
{
	return f->sm_lid ? f->sm_lid : -1;
}
static int64_t lmc(const struct link_facts *f)
{
	return f->lid ? f->lmc : -1;
}

static int64_t neighbor_mtu(const struct link_facts *f)
{
	unsigned own = ib_get(f->self.info, PI_MTU_CAP);

	if (f->self.node_type == IB_NODE_SWITCH && f->self.num == 0)
		return own ? (int64_t)own : -1;
	if (!f->peer)
		return -1;
	own = MIN(own, (unsigned)ib_get(f->peer->info, PI_MTU_CAP));
	return own ? (int64_t)own : IB_MTU_256;
}

static int64_t oper_vls(const struct link_facts *f)
{
	return f->peer ? (int64_t)link_oper_vls(f->conf, f->self.info, f->peer->info) : -1;
}

static int64_t sm_sl(const struct link_facts *f)
{
	return f->sm_sl & 0xF;
}

static int64_t high_limit(const struct link_facts *f)
{
	return f->high_limit;
}

static int64_t vl_stall(const struct link_facts *f)
{
	return (is_leaf_port(f) ? f->conf->leaf_vl_stall_count : f->conf->vl_stall_count) & 7;
}

static int64_t hoq_life(const struct link_facts *f)
{
	return (is_leaf_port(f) ? f->conf->leaf_head_of_queue_lifetime
				: f->conf->head_of_queue_lifetime) &
	       0x1F;
}

/* The part of `supported` that option `force` allows; `force` equal to `all`: all of it. */
static int64_t forced(unsigned force, unsigned all, unsigned supported)
{
	unsigned enabled = force == all ? supported : force & supported;

	return force && enabled ? (int64_t)enabled : -1;
}

static int64_t link_width(const struct link_facts *f)
{
	return forced(f->conf->force_link_width, 255, ib_get(f->self.info, PI_WIDTH_SUPPORTED));
}

static int64_t link_speed(const struct link_facts *f)
{
	return forced(f->conf->force_link_speed, 15, ib_get(f->self.info, PI_SPEED_SUPPORTED));
}

static int64_t link_speed_ext(const struct link_facts *f)
{
	unsigned force = f->conf->force_link_speed_ext;
	unsigned supported = ib_get(f->self.info, PI_SPEED_EXT_SUPPORTED);

	if (!f->peer || !(f->self.cap_mask & f->peer->cap_mask & IB_CAP(IB_CAP_EXTENDED_SPEEDS)))
		return -1;
	if (force == 30 && supported) /* extended speeds off (table 164) */
		return 30;
	return forced(force, 31, supported);
}

static int64_t m_key_protect(const struct link_facts *f)
{
	unsigned level = f->conf->m_key_protection_level & 3;

	return f->shown ? (int64_t)MIN(level, 1u) : (int64_t)level;
}

static int64_t enforce_in(const struct link_facts *f)
{
	return f->enforcing ? (f->enforce & PKEY_ENFORCE_IN) != 0 : -1;
}

static int64_t enforce_out(const struct link_facts *f)
{
	return f->enforcing ? (f->enforce & PKEY_ENFORCE_OUT) != 0 : -1;
}

/*
 * A row is computed, or a member of struct conf cut to the width of the field, or the M_Key, which
 * may have any value of 64 bits.
 */
static const struct row {
	const char *name;
	uint16_t offset;
	uint8_t width;
	uint8_t on;
	value_fn value;	     /* NULL: the option */
	uint16_t option;     /* offset in struct conf */
	uint8_t option_size; /* 0: the M_Key */
} rows[] = {
/* clang-format off */
#define ROW(FIELD, ON, FN) { #FIELD, PI_##FIELD, PI_##FIELD##_W, (ON), (FN), 0, 0 }
#define OPT(FIELD, ON, MEMBER)                                                                     \
	{ #FIELD, PI_##FIELD, PI_##FIELD##_W, (ON), NULL, offsetof(struct conf, MEMBER),           \
	  sizeof(((struct conf *)0)->MEMBER) }
	ROW(M_KEY, ON_END, NULL),                                               /* 14.2.4 */
	OPT(GID_PREFIX, ON_END | ESSENTIAL, subnet_prefix),
	ROW(LID, ON_END | ESSENTIAL, lid),
	ROW(MASTER_SM_LID, ON_END | ESSENTIAL, sm_lid),
	OPT(M_KEY_LEASE, ON_END, m_key_lease_period),                           /* 14.2.4.2 */
	ROW(WIDTH_ENABLED, ON_WIRE, link_width),                                /* 14.2.5.6 */
	ROW(M_KEY_PROTECT, ON_END, m_key_protect),                              /* 14.2.4.1 */
	ROW(LMC, ON_HOST | ON_ROUTER | ON_ENHANCED0 | ESSENTIAL, lmc),
	ROW(SPEED_ENABLED, ON_WIRE, link_speed),
	ROW(NEIGHBOR_MTU, ON_WIRE | ON_ENHANCED0, neighbor_mtu),
	ROW(MASTER_SM_SL, ON_END, sm_sl),
	ROW(VL_HIGH_LIMIT, ON_WIRE | ON_ENHANCED0, high_limit),                 /* 7.6.9 */
	ROW(VL_STALL_COUNT, ON_SWITCH, vl_stall),
	ROW(HOQ_LIFE, ON_SWITCH, hoq_life),
	OPT(HOQ_LIFE, ON_ROUTER, leaf_head_of_queue_lifetime),
	ROW(OPER_VLS, ON_WIRE, oper_vls),
	ROW(PART_ENF_IN, ON_SWITCH, enforce_in),                                /* 14.2.5.6 */
	ROW(PART_ENF_OUT, ON_SWITCH, enforce_out),
	OPT(SUBNET_TIMEOUT, ON_END, subnet_timeout),
	OPT(LOCAL_PHY_ERRORS, ON_WIRE | ON_ENHANCED0, local_phy_errors_threshold),
	OPT(OVERRUN_ERRORS, ON_WIRE | ON_ENHANCED0, overrun_errors_threshold),
	ROW(SPEED_EXT_ENABLED, ON_WIRE, link_speed_ext),
#undef ROW
#undef OPT
	/* clang-format on */
};

_Static_assert(ARRAY_SIZE(rows) <= 32, "a bit per row in link_fields");

static enum on port_kind(const struct link_end *e)
{
	switch ((enum ib_node_type)e->node_type) {
	case IB_NODE_CA:
		return ON_HOST;
	case IB_NODE_ROUTER:
		return ON_ROUTER;
	case IB_NODE_SWITCH:
		break;
	}
	if (e->num)
		return ON_SWITCH;
	return e->enhanced0 ? ON_ENHANCED0 : ON_BASE0;
}

static uint64_t option_value(const struct row *r, const struct conf *c)
{
	const uint8_t *member = (const uint8_t *)c + r->option;
	uint64_t v = 0;

	if (r->option_size == sizeof(uint8_t))
		v = *member;
	else if (r->option_size == sizeof(uint16_t))
		v = *(const uint16_t *)member;
	else
		v = *(const uint64_t *)member;
	return r->width < 64 ? v & ((1ull << r->width) - 1) : v;
}

/* False: this row leaves the port alone. */
static bool row_value(const struct row *r, const struct link_facts *f, uint64_t *ret)
{
	int64_t v;

	if (!r->value) {
		*ret = r->option_size ? option_value(r, f->conf) : f->m_key;
		return r->option_size || !f->keeps_m_key;
	}
	v = r->value(f);
	*ret = v;
	return v >= 0;
}

unsigned link_oper_vls(const struct conf *conf, const uint8_t *info, const uint8_t *peer_info)
{
	unsigned vls = ib_get(info, PI_VL_CAP);

	if (peer_info)
		vls = MIN(vls, (unsigned)ib_get(peer_info, PI_VL_CAP));
	if (conf->max_op_vls)
		vls = MIN(vls, (unsigned)conf->max_op_vls);
	return vls ? vls : 1;
}

void link_plan(const struct link_facts *f, struct link_want *ret)
{
	enum on kind = port_kind(&f->self);

	assert(f->conf && f->self.info && (!f->peer || f->peer->info));
	memcpy(ret->info, f->self.info, SMP_DATA_SIZE);
	ret->applies = 0;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		uint64_t v;

		if (!(r->on & kind) || !row_value(r, f, &v))
			continue;
		ib_bits_put(ret->info, r->offset, r->width, v);
		ret->applies |= 1u << i;
	}
}

link_fields link_differs(const struct link_want *want, const uint8_t *info)
{
	link_fields differs = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		if ((want->applies & 1u << i) && ib_bits_get(want->info, r->offset, r->width) !=
							 ib_bits_get(info, r->offset, r->width))
			differs |= 1u << i;
	}
	return differs;
}

link_fields link_essential(void)
{
	link_fields fields = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (rows[i].on & ESSENTIAL)
			fields |= 1u << i;
	}
	return fields;
}

uint32_t link_hash(const struct link_want *want, link_fields fields)
{
	uint64_t h = HASH_START, value;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!(fields & 1u << i))
			continue;
		value = ib_bits_get(want->info, rows[i].offset, rows[i].width);
		h = hash_bytes(hash_bytes(h, &i, sizeof(i)), &value, sizeof(value));
	}
	return hash_fold(h) ? hash_fold(h) : 1;
}

char *link_fields_str(link_fields fields, char ret[LINK_FIELDS_STRLEN])
{
	size_t len = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (fields & 1u << i)
			len += snprintf(ret + len, LINK_FIELDS_STRLEN - len, "%s%s",
					len ? ", " : "", rows[i].name);
	}
	return ret;
}
