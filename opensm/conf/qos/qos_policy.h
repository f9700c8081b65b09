// SPDX-License-Identifier: BSD-2-Clause
/*
 * qos-policy.conf (qos.md 1 to 4): which service level, MTU, rate, life time and P_Key a path gets.
 *
 * A struct qos_policy is what one file says, with every name in it resolved: immutable, shared by
 * reference. It knows nothing of a fabric. A file with an error is no policy at all.
 *
 * Rules are matched by rows: sets of rules, one bit each. What a request says (service id, class,
 * P_Key) and what a port is (GUID, name, type, P_Keys) each give the row of the rules that they
 * allow; the rule that decides is the lowest bit that all rows have. Rows are made once: a lookup
 * is a bisection, whatever the number of rules.
 *
 *   qos_lex      words and values of the text       qos_parse, qos_ulps, qos_setup   the grammar
 *   qos_resolve  names, the default level           qos_index, qos_rows              the rows
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf/text/report.h"
#include "util/types.h"
#include "util/mem.h"

#define QOS_RULES_MAX  4096u
#define QOS_RANGES_MAX 262144u /* in one file, of all kinds */
#define QOS_NO_RULE    UINT32_MAX

/* ---- what the file says ---------------------------------------------------------------------- */

struct qos_range {
	uint64_t first, last;
};

/* In ascending order, with a gap between any two. */
struct qos_ranges {
	struct qos_range *items;
	size_t n, cap;
};

struct qos_strings {
	char **items;
	size_t n, cap;
};

enum qos_type { QOS_TYPE_CA = 1, QOS_TYPE_SWITCH = 2, QOS_TYPE_ROUTER = 4 };

/*
 * A port named "NODEDESC/Pn"; "[3-17]" in NODEDESC matches every number of that range, with or
 * without leading zeros.
 */
struct qos_port_name {
	char *desc;
	uint8_t port; /* 1..254 */
	bool has_range;
	unsigned line;
};

struct qos_group {
	/* name: NULL for the ports of a line of qos-ulps; use: may be NULL */
	char *name, *use;
	unsigned line;
	struct qos_ranges guids, pkeys;
	struct qos_port_name *names;
	size_t n_names, names_cap;
	struct qos_strings partitions;
	uint8_t types; /* enum qos_type */
	bool self;     /* the port of the subnet manager */
};

struct qos_level {
	char *name, *use; /* name: NULL for a line of qos-ulps */
	unsigned line;
	uint8_t sl;
	uint8_t mtu, rate; /* codes of the largest MTU and rate; 0: any */
	uint8_t life;
	bool has_life;
	struct qos_ranges pkeys;     /* bases of the P_Keys that the path may have; empty: any */
	struct qos_ranges path_bits; /* read, without effect */
};

struct qos_list {
	uint32_t *items;
	size_t n, cap;
};

struct qos_rule {
	char *use; /* NULL: none */
	unsigned line;
	bool of_ulp;
	uint32_t level;			       /* index into levels */
	struct qos_list sources, destinations; /* indexes into groups; empty: any port */
	struct qos_ranges classes, services, pkeys; /* empty: any value, or none, in the request */
};

/* VL tables of qos-setup, which are checked and not applied. */
struct qos_vl_share {
	uint8_t vl, weight;
};

struct qos_vl_shares {
	struct qos_vl_share *items;
	size_t n, cap;
};

struct qos_vlarb_scope {
	unsigned line;
	struct qos_strings groups, across;
	struct qos_vl_shares high, low;
	uint8_t high_limit;
	bool has_high_limit;
};

struct qos_sl2vl_scope {
	unsigned line;
	struct qos_strings groups, across_from, across_to;
	struct qos_ranges from, to; /* ports; empty: "*", or not given */
	uint8_t vl[16];
};

struct qos_rows;
struct qos_index;

struct qos_policy {
	_Atomic unsigned refs;
	char *file;
	struct qos_group *groups;
	struct qos_level *levels;
	struct qos_rule *rules; /* in the order in which they are tried */
	struct qos_vlarb_scope *vlarbs;
	struct qos_sl2vl_scope *sl2vls;
	uint32_t n_groups, n_levels, n_rules, n_vlarbs, n_sl2vls;
	uint32_t default_level; /* index into levels */
	bool has_level_pkeys; /* set if some level names P_Keys */
	uint16_t sls;	      /* a bit for each SL of the levels */
	unsigned words;	      /* length of a row in words of 64 rules; at least 1 */
	struct qos_index *index; /* private to qos_index.c */
};

/*
 * Parses text. Returns 0: `*ret` is one reference, warnings are in `r`; or -EINVAL: errors are in
 * `r`, `*ret` is untouched.
 */
int qos_policy_parse(const char *text, size_t len, const char *file, struct conf_report *r,
		     struct qos_policy **ret);
struct qos_policy *qos_policy_ref(const struct qos_policy *p);
struct qos_policy *qos_policy_unref(const struct qos_policy *p); /* NULL is fine; returns NULL */
FREEP(qos_policy_unref, struct qos_policy)

bool qos_ranges_have(const struct qos_ranges *r, uint64_t value);

/* ---- requests -------------------------------------------------------------------------------- */

/* The criteria in a request. A criterion that it lacks matches no rule that has it. */
struct qos_request {
	bool has_service, has_class, has_pkey;
	uint64_t service;
	uint16_t class, pkey;
};

/* Rows of p->words words each, valid as long as the policy. */
struct qos_asked {
	const uint64_t *service, *class, *pkey;
};

struct qos_asked qos_policy_ask(const struct qos_policy *p, const struct qos_request *rq);

/* ---- ports ----------------------------------------------------------------------------------- */

/*
 * The criteria of a port. Its row has 2 * p->words words: first the rules that allow it as a
 * source, then those that allow it as a destination.
 */
struct qos_port {
	guid_t guid;
	const char *name;  /* description of the node */
	uint8_t num;	   /* 0: the switch itself, on behalf of its ports too */
	uint8_t n_ports;   /* number of ports of the node */
	enum qos_type type;
	bool is_self;
};

/* The row of a port without regard to its P_Keys. `ret` is overwritten. */
void qos_policy_port(const struct qos_policy *p, const struct qos_port *port, uint64_t *ret);
/* Does some group name P_Keys or partitions? */
bool qos_policy_has_pkeys(const struct qos_policy *p);
/* The additional rules for ports with this P_Key; NULL: none. */
const uint64_t *qos_policy_pkey(const struct qos_policy *p, uint16_t pkey);
/* Adds the additional rules for ports of a partition, by its name, to `ret`. False: none. */
bool qos_policy_partition(const struct qos_policy *p, const char *name, uint64_t *ret);
/* Is the port in the group, without regard to P_Keys? Slow: for documents. */
bool qos_group_has(const struct qos_group *g, const struct qos_port *port);

/* ---- the rule that decides ------------------------------------------------------------------- */

/* Rows of the two ports: by port, and by P_Keys or NULL. */
struct qos_ends {
	const uint64_t *src[2], *dst[2];
};

/* The number of the lowest bit of word `i`; `bits` is not 0. */
static inline uint32_t qos_first_rule(unsigned i, uint64_t bits)
{
	return i * 64 + (uint32_t)__builtin_ctzll(bits);
}

/* The first rule that matches ports whose second rows are NULL. */
static inline uint32_t qos_match_plain(const struct qos_policy *p, const struct qos_asked *asked,
				       const uint64_t *src, const uint64_t *dst)
{
	const uint64_t *service = asked->service, *class = asked->class, *pkey = asked->pkey;

	for (unsigned i = 0, n = p->words; i < n; i++) {
		uint64_t all = service[i] & class[i] & pkey[i] & src[i] & dst[n + i];

		if (all)
			return qos_first_rule(i, all);
	}
	return QOS_NO_RULE;
}

/* The first rule from `from` on that matches; QOS_NO_RULE: none, the default level holds. */
static inline uint32_t qos_policy_match(const struct qos_policy *p, const struct qos_asked *asked,
					const struct qos_ends *ends, uint32_t from)
{
	for (unsigned i = from / 64, n = p->words; i < n; i++) {
		uint64_t src = ends->src[0][i] | (ends->src[1] ? ends->src[1][i] : 0);
		uint64_t dst = ends->dst[0][n + i] | (ends->dst[1] ? ends->dst[1][n + i] : 0);
		uint64_t all = src & dst & asked->service[i] & asked->class[i] & asked->pkey[i];

		if (i == from / 64)
			all &= UINT64_MAX << from % 64;
		if (all)
			return qos_first_rule(i, all);
	}
	return QOS_NO_RULE;
}

/* The first rule that matches; called for every path. */
static inline uint32_t qos_policy_first(const struct qos_policy *p, const struct qos_asked *asked,
					const struct qos_ends *ends)
{
	if (ends->src[1] || ends->dst[1])
		return qos_policy_match(p, asked, ends, 0);
	return qos_match_plain(p, asked, ends->src[0], ends->dst[0]);
}

/* Do the same rules match a path and its reverse path, whatever the request? */
static inline bool qos_ends_are_alike(const struct qos_ends *e)
{
	return e->src[0] == e->dst[0] && e->src[1] == e->dst[1];
}

static inline const struct qos_level *qos_policy_level(const struct qos_policy *p, uint32_t rule)
{
	return &p->levels[rule == QOS_NO_RULE ? p->default_level : p->rules[rule].level];
}
