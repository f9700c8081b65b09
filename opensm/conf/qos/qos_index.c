// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes rows of rules from criteria (qos_policy.h), once per policy.
 *
 * Numbers: the ranges of all rules are cut at each begin and end. Between two cuts the same rules
 * allow every number; a lookup finds the last cut that is not above.
 *
 * Names: sorted; those with a range in them are few, and are compared one by one.
 *
 * Groups are not looked up: a group has the row of the rules that name it, and GUIDs, names and
 * types in the group have that row.
 */
#include <ctype.h>
#include <string.h>

#include "conf/qos/qos_internal.h"
#include "conf/qos/qos_rows.h"
#include "util/bisect.h"

#define ROWS_MAX_BYTES ((size_t)64 << 20)
#define NO_ROW	       UINT32_MAX
#define N_TYPES	       3

struct cut {
	uint64_t from; /* first number; the range ends at the next cut */
	uint32_t row;
};

struct cuts {
	struct cut *items; /* the first is at number 0 */
	size_t n;
};

struct name_row {
	const char *name;
	const struct qos_port_name *port; /* NULL: a name of a partition */
	uint32_t row;
};

struct names {
	struct name_row *items;
	size_t n, cap;
};

struct qos_index {
	struct qos_rows *asked; /* rows of p->words words */
	struct qos_rows *ports; /* rows of 2 * p->words words */
	struct cuts services, classes, pkeys;	  /* by criteria of requests */
	struct cuts guids, port_pkeys;		  /* by criteria of ports */
	uint32_t no_service, no_class, no_pkey;   /* rows of requests without the criterion */
	uint32_t *of_group;
	uint32_t any_port;
	uint32_t of_type[N_TYPES], self;	  /* NO_ROW: no group has the criterion */
	struct names names, patterns, partitions;
};

/* ---- numbers -------------------------------------------------------------------------------- */

/* The begin (step 1) or end (step -1) of a range of a rule or group. */
struct edge {
	uint64_t at;
	uint32_t key;
	int8_t step;
};

struct edges {
	struct edge *items;
	size_t n, cap;
};

static void add_edges(struct edges *e, uint32_t key, const struct qos_ranges *ranges)
{
	for (size_t i = 0; i < ranges->n; i++) {
		GROW(e->items, e->n + 2, e->cap);
		e->items[e->n++] = (struct edge){ ranges->items[i].first, key, 1 };
		if (ranges->items[i].last < UINT64_MAX)
			e->items[e->n++] = (struct edge){ ranges->items[i].last + 1, key, -1 };
	}
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return COMPARE(x->at, y->at);
}

/* Number of ranges at the present position, for each bit. */
struct sweep {
	uint64_t *row;
	uint32_t *counts;
	unsigned words;
};

static void step_bit(struct sweep *s, uint32_t bit, int step)
{
	s->counts[bit] += (uint32_t)step;
	if (s->counts[bit])
		s->row[bit / 64] |= UINT64_C(1) << bit % 64;
	else
		s->row[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}

/*
 * Begins or ends a range. Its bit is the key; with `of_key` all bits of row of_key[key] are meant.
 */
static void step_key(struct sweep *s, const struct edge *e, const struct qos_rows *rows,
		     const uint32_t *of_key)
{
	const uint64_t *row = of_key ? qos_rows_at(rows, of_key[e->key]) : NULL;

	if (!row) {
		step_bit(s, e->key, e->step);
		return;
	}
	for (unsigned i = 0; i < s->words; i++)
		for (uint64_t left = row[i]; left; left &= left - 1)
			step_bit(s, i * 64 + (uint32_t)__builtin_ctzll(left), e->step);
}

/*
 * Makes a cut at each edge. `base`: row of the rules that allow every number; NULL: none. Frees the
 * edges. False: too much memory.
 */
static bool make_cuts(struct qos_rows *rows, unsigned words, const uint64_t *base,
		      struct edges *edges, const uint32_t *of_key, struct cuts *ret)
{
	struct sweep s = { xcalloc(words, sizeof(uint64_t)),
			   xcalloc((size_t)words * 64, sizeof(uint32_t)), words };
	size_t i = 0;

	for (unsigned bit = 0; base && bit < words * 64; bit++)
		if (base[bit / 64] >> bit % 64 & 1)
			step_bit(&s, bit, 1);
	if (edges->n)
		qsort(edges->items, edges->n, sizeof(*edges->items), compare_edges);
	ret->items = xcalloc(edges->n + 1, sizeof(*ret->items));
	for (uint64_t at = 0; qos_rows_bytes(rows) <= ROWS_MAX_BYTES;) {
		for (; i < edges->n && edges->items[i].at == at; i++)
			step_key(&s, &edges->items[i], rows, of_key);
		ret->items[ret->n++] = (struct cut){ at, qos_rows_put(rows, s.row) };
		if (i == edges->n)
			break;
		at = edges->items[i].at;
	}
	free(s.row);
	free(s.counts);
	free(edges->items);
	return qos_rows_bytes(rows) <= ROWS_MAX_BYTES;
}

static uint32_t find_cut(const struct cuts *c, uint64_t value)
{
	size_t at = BISECT(i, 1, c->n, c->items[i].from <= value);

	return c->items[at - 1].row;
}

/* ---- requests ------------------------------------------------------------------------------- */

static const struct qos_ranges *classes_of(const struct qos_rule *r)
{
	return &r->classes;
}

static const struct qos_ranges *services_of(const struct qos_rule *r)
{
	return &r->services;
}

static const struct qos_ranges *pkeys_of(const struct qos_rule *r)
{
	return &r->pkeys;
}

/* Indexes one criterion of requests. `*ret_none`: row of the rules without that criterion. */
static bool index_asked(const struct qos_policy *p, struct qos_index *x,
			const struct qos_ranges *(*of)(const struct qos_rule *r), struct cuts *ret,
			uint32_t *ret_none)
{
	_cleanup_free_ uint64_t *base = xcalloc(p->words, sizeof(*base));
	struct edges edges = { 0 };

	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct qos_ranges *ranges = of(&p->rules[i]);

		if (!ranges->n)
			base[i / 64] |= UINT64_C(1) << i % 64;
		add_edges(&edges, i, ranges);
	}
	*ret_none = qos_rows_put(x->asked, base);
	return make_cuts(x->asked, p->words, base, &edges, NULL, ret);
}

static bool index_requests(const struct qos_policy *p, struct qos_index *x)
{
	x->asked = qos_rows_new(p->words);
	return index_asked(p, x, services_of, &x->services, &x->no_service) &&
	       index_asked(p, x, classes_of, &x->classes, &x->no_class) &&
	       index_asked(p, x, pkeys_of, &x->pkeys, &x->no_pkey);
}

struct qos_asked qos_policy_ask(const struct qos_policy *p, const struct qos_request *rq)
{
	const struct qos_index *x = p->index;
	uint32_t service = rq->has_service ? find_cut(&x->services, rq->service) : x->no_service;
	uint32_t class = rq->has_class ? find_cut(&x->classes, rq->class) : x->no_class;
	uint32_t pkey = rq->has_pkey ? find_cut(&x->pkeys, rq->pkey & 0x7FFF) : x->no_pkey;

	return (struct qos_asked){ qos_rows_at(x->asked, service), qos_rows_at(x->asked, class),
				   qos_rows_at(x->asked, pkey) };
}

/* ---- groups --------------------------------------------------------------------------------- */

static void set_bit(uint64_t *row, unsigned bit)
{
	row[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Makes the rows of all groups, one after the other, and the row of rules that allow every port. */
static void mark_groups(const struct qos_policy *p, uint64_t *groups, uint64_t *any)
{
	const unsigned words = 2 * p->words, half = p->words * 64;

	for (uint32_t i = 0; i < p->n_rules; i++) {
		const struct qos_rule *r = &p->rules[i];

		for (size_t k = 0; k < r->sources.n; k++)
			set_bit(&groups[(size_t)r->sources.items[k] * words], i);
		for (size_t k = 0; k < r->destinations.n; k++)
			set_bit(&groups[(size_t)r->destinations.items[k] * words], half + i);
		if (!r->sources.n)
			set_bit(any, i);
		if (!r->destinations.n)
			set_bit(any, half + i);
	}
}

/* Stores the rows of all groups. False: too much memory. */
static bool index_groups(const struct qos_policy *p, struct qos_index *x)
{
	const unsigned words = 2 * p->words;
	_cleanup_free_ uint64_t *groups =
		try_calloc((size_t)p->n_groups + 1, words * sizeof(uint64_t), 4 * ROWS_MAX_BYTES);
	_cleanup_free_ uint64_t *any = xcalloc(words, sizeof(*any));

	if (!groups)
		return false;
	x->ports = qos_rows_new(words);
	x->of_group = xcalloc(p->n_groups + 1u, sizeof(*x->of_group));
	mark_groups(p, groups, any);
	x->any_port = qos_rows_put(x->ports, any);
	for (uint32_t i = 0; i < p->n_groups; i++)
		x->of_group[i] = qos_rows_put(x->ports, &groups[(size_t)i * words]);
	return qos_rows_bytes(x->ports) <= ROWS_MAX_BYTES;
}

static void or_row(uint64_t *ret, const uint64_t *row, unsigned words)
{
	for (unsigned i = 0; i < words; i++)
		ret[i] |= row[i];
}

/* Adds the row of a group to row `*number` (NO_ROW: an empty one), and stores the new number. */
static void join_row(const struct qos_policy *p, struct qos_index *x, uint32_t *number,
		     uint32_t group)
{
	_cleanup_free_ uint64_t *row = xcalloc(2 * p->words, sizeof(*row));

	if (*number != NO_ROW)
		or_row(row, qos_rows_at(x->ports, *number), 2 * p->words);
	or_row(row, qos_rows_at(x->ports, x->of_group[group]), 2 * p->words);
	*number = qos_rows_put(x->ports, row);
}

static void index_types(const struct qos_policy *p, struct qos_index *x)
{
	x->self = NO_ROW;
	for (unsigned t = 0; t < N_TYPES; t++)
		x->of_type[t] = NO_ROW;
	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (p->groups[i].self)
			join_row(p, x, &x->self, i);
		for (unsigned t = 0; t < N_TYPES; t++)
			if (p->groups[i].types >> t & 1)
				join_row(p, x, &x->of_type[t], i);
	}
}

/* ---- names ---------------------------------------------------------------------------------- */

static void add_name(struct names *n, const char *name, const struct qos_port_name *port,
		     uint32_t row)
{
	GROW(n->items, n->n + 1, n->cap);
	n->items[n->n++] = (struct name_row){ name, port, row };
}

static int compare_names(const void *a, const void *b)
{
	const struct name_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void sort_names(struct names *n)
{
	if (n->n)
		qsort(n->items, n->n, sizeof(*n->items), compare_names);
}

static void index_names(const struct qos_policy *p, struct qos_index *x)
{
	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct qos_group *g = &p->groups[i];

		for (size_t k = 0; k < g->n_names; k++)
			add_name(g->names[k].has_range ? &x->patterns : &x->names,
				 g->names[k].desc, &g->names[k], x->of_group[i]);
		for (size_t k = 0; k < g->partitions.n; k++)
			add_name(&x->partitions, g->partitions.items[k], NULL, x->of_group[i]);
	}
	sort_names(&x->names);
	sort_names(&x->partitions);
}

/* The index of the first of equal names. */
static size_t find_name(const struct names *n, const char *name)
{
	return BISECT(i, 0, n->n, strcmp(n->items[i].name, name) < 0);
}

/* Reads up to nine digits. False: none, or more. */
static bool read_digits(const char **at, uint32_t *ret)
{
	const char *from = *at;

	for (*ret = 0; isdigit((unsigned char)**at); (*at)++)
		*ret = *ret * 10 + (uint32_t)(**at - '0');
	return *at > from && *at - from <= 9;
}

/* Compares "[3-17]" at `*pattern` with digits of the name, and skips both. */
static bool match_range(const char **pattern, const char **name)
{
	const char *p = *pattern + 1;
	uint32_t first, last, value;

	if (!read_digits(&p, &first) || *p++ != '-' || !read_digits(&p, &last) || *p++ != ']' ||
	    !read_digits(name, &value))
		return false;
	*pattern = p;
	return value >= first && value <= last;
}

static bool match_from_start(const char *pattern, const char *name)
{
	while (*pattern) {
		if (*pattern == '[' && isdigit((unsigned char)*name)) {
			if (!match_range(&pattern, &name))
				return false;
		} else if (*pattern++ != *name++) {
			return false;
		}
	}
	return !*name;
}

/* Is the name equal, brackets included, or in the ranges of the pattern? */
static bool match_pattern(const char *pattern, const char *name)
{
	return !strcmp(pattern, name) || match_from_start(pattern, name);
}

/* Is it the port of that name? A switch matches if it has the port. */
static bool is_named_port(const struct qos_port_name *n, const struct qos_port *port)
{
	return port->num ? n->port == port->num : n->port <= port->n_ports;
}

static void or_names(const struct qos_policy *p, const struct qos_port *port, uint64_t *ret)
{
	const struct qos_index *x = p->index;
	size_t at = x->names.n ? find_name(&x->names, port->name) : 0;

	for (; at < x->names.n && !strcmp(x->names.items[at].name, port->name); at++)
		if (is_named_port(x->names.items[at].port, port))
			or_row(ret, qos_rows_at(x->ports, x->names.items[at].row), 2 * p->words);
	for (size_t i = 0; i < x->patterns.n; i++)
		if (is_named_port(x->patterns.items[i].port, port) &&
		    match_pattern(x->patterns.items[i].name, port->name))
			or_row(ret, qos_rows_at(x->ports, x->patterns.items[i].row), 2 * p->words);
}

/* ---- ports ---------------------------------------------------------------------------------- */

void qos_policy_port(const struct qos_policy *p, const struct qos_port *port, uint64_t *ret)
{
	const struct qos_index *x = p->index;
	unsigned words = 2 * p->words;

	memcpy(ret, qos_rows_at(x->ports, x->any_port), words * sizeof(*ret));
	or_row(ret, qos_rows_at(x->ports, find_cut(&x->guids, port->guid)), words);
	if (port->is_self && x->self != NO_ROW)
		or_row(ret, qos_rows_at(x->ports, x->self), words);
	for (unsigned t = 0; t < N_TYPES; t++)
		if (port->type >> t & 1 && x->of_type[t] != NO_ROW)
			or_row(ret, qos_rows_at(x->ports, x->of_type[t]), words);
	or_names(p, port, ret);
}

bool qos_policy_has_pkeys(const struct qos_policy *p)
{
	return p->index->port_pkeys.n > 1 || p->index->partitions.n;
}

const uint64_t *qos_policy_pkey(const struct qos_policy *p, uint16_t pkey)
{
	const struct qos_index *x = p->index;

	if (x->port_pkeys.n == 1)
		return NULL;
	return qos_rows_at(x->ports, find_cut(&x->port_pkeys, pkey & 0x7FFF));
}

bool qos_policy_partition(const struct qos_policy *p, const char *name, uint64_t *ret)
{
	const struct qos_index *x = p->index;
	size_t at = x->partitions.n ? find_name(&x->partitions, name) : 0;
	bool any = false;

	for (; at < x->partitions.n && !strcmp(x->partitions.items[at].name, name); at++) {
		or_row(ret, qos_rows_at(x->ports, x->partitions.items[at].row), 2 * p->words);
		any = true;
	}
	return any;
}

bool qos_group_has(const struct qos_group *g, const struct qos_port *port)
{
	if (qos_ranges_have(&g->guids, port->guid) || (g->self && port->is_self) ||
	    g->types & port->type)
		return true;
	for (size_t i = 0; i < g->n_names; i++)
		if (is_named_port(&g->names[i], port) &&
		    (g->names[i].has_range ? match_pattern(g->names[i].desc, port->name)
					   : !strcmp(g->names[i].desc, port->name)))
			return true;
	return false;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool index_ports(const struct qos_policy *p, struct qos_index *x)
{
	struct edges guids = { 0 }, pkeys = { 0 };

	if (!index_groups(p, x))
		return false;
	index_types(p, x);
	index_names(p, x);
	for (uint32_t i = 0; i < p->n_groups; i++) {
		add_edges(&guids, i, &p->groups[i].guids);
		add_edges(&pkeys, i, &p->groups[i].pkeys);
	}
	make_cuts(x->ports, 2 * p->words, NULL, &guids, x->of_group, &x->guids);
	return make_cuts(x->ports, 2 * p->words, NULL, &pkeys, x->of_group, &x->port_pkeys);
}

bool index_make(struct qos_policy *p)
{
	p->index = xcalloc(1, sizeof(*p->index));
	return index_requests(p, p->index) && index_ports(p, p->index);
}

struct qos_index *index_free(struct qos_index *x)
{
	if (!x)
		return NULL;
	qos_rows_free(x->asked);
	qos_rows_free(x->ports);
	free(x->services.items);
	free(x->classes.items);
	free(x->pkeys.items);
	free(x->guids.items);
	free(x->port_pkeys.items);
	free(x->of_group);
	free(x->names.items);
	free(x->patterns.items);
	free(x->partitions.items);
	free(x);
	return NULL;
}
