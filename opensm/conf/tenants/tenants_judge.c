// SPDX-License-Identifier: BSD-2-Clause
/*
 * Makes the entry of a request: checks its values, whether the file allows the change, and the
 * generation; then, by action, adds the rows.
 *
 * A partition that the file defines with flag "api" has its fields from the file. A request may
 * name only the same fields, and changes only members.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "conf/tenants/tenants_internal.h"
#include "ib/codes.h"
#include "util/bisect.h"

#define SL_MAX	     15
#define DEFAULT_MTU  4
#define DEFAULT_RATE 3 /* 10 Gb/s, as in partitions.conf */

struct judge {
	const struct tenants *t;
	const struct partitions *file;
	const struct tenant_request *rq;
	const struct tenant_partition *held; /* NULL: the table does not have the partition */
	const struct partition *filed;	     /* NULL: the file does not have the partition */
	struct tenant_member *members;	     /* members of the request, sorted by GUID, each once */
	size_t n_members;
	struct tenant_entry *ret;
	size_t cap;
	char *why;
	size_t why_size;
};

static enum tenant_fault refuse(const struct judge *j, enum tenant_fault fault, const char *fmt,
				...) __attribute__((format(printf, 3, 4)));

static enum tenant_fault refuse(const struct judge *j, enum tenant_fault fault, const char *fmt,
				...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(j->why, j->why_size, fmt, args);
	va_end(args);
	return fault;
}

static struct tenant_row *add_row(struct judge *j, enum tenant_row_kind kind, uint16_t pkey)
{
	struct tenant_entry *e = j->ret;

	GROW(e->rows, e->n_rows + 1, j->cap);
	e->rows[e->n_rows] = (struct tenant_row){ .kind = kind, .pkey = pkey };
	return &e->rows[e->n_rows++];
}

static void add_member(struct judge *j, uint16_t pkey, const struct tenant_member *m)
{
	add_row(j, TENANT_ROW_MEMBER, pkey)->member = *m;
}

static void add_left(struct judge *j, guid_t guid)
{
	add_row(j, TENANT_ROW_LEFT, j->rq->pkey)->member.guid = guid;
}

/* --- Values --------------------------------------------------------------------------------- */

static bool is_printable(char letter)
{
	return letter >= ' ' && letter <= '~';
}

bool tenants_name_is_fine(const char *name, size_t size)
{
	size_t len = strnlen(name, size);

	for (size_t i = 0; i < len; i++)
		if (!is_printable(name[i]))
			return false;
	return len < size;
}

bool tenants_fields_are_fine(uint8_t mtu, uint8_t rate, uint8_t sl)
{
	return mtu >= IB_MTU_256 && mtu <= IB_MTU_4096 && rate >= IB_RATE_MIN &&
	       rate <= IB_RATE_MAX && sl <= SL_MAX;
}

static enum tenant_fault judge_fields(const struct judge *j)
{
	const struct tenant_request *rq = j->rq;
	const struct tenant_fields *f = &rq->fields;

	if (rq->has & TENANT_NAME && !tenants_name_is_fine(f->name, sizeof(f->name)))
		return refuse(j, TENANT_INVALID,
			      "the name of partition 0x%04x has a character that cannot be "
			      "printed; expected at most %d of printable ASCII",
			      rq->pkey, PARTITION_NAME_MAX);
	if (rq->has & TENANT_MTU && (f->mtu < IB_MTU_256 || f->mtu > IB_MTU_4096))
		return refuse(j, TENANT_INVALID, "%u is no MTU code; expected %d-%d", f->mtu,
			      IB_MTU_256, IB_MTU_4096);
	if (rq->has & TENANT_RATE && (f->rate < IB_RATE_MIN || f->rate > IB_RATE_MAX))
		return refuse(j, TENANT_INVALID, "%u is no rate code; expected %d-%d", f->rate,
			      IB_RATE_MIN, IB_RATE_MAX);
	if (rq->has & TENANT_SL && f->sl > SL_MAX)
		return refuse(j, TENANT_INVALID, "%u is no service level; expected 0-%d", f->sl,
			      SL_MAX);
	return TENANT_FINE;
}

static int compare_members(const void *va, const void *vb)
{
	const struct tenant_member *a = va, *b = vb;

	return COMPARE(a->guid, b->guid);
}

/* Sorts the members of the request; a GUID given twice must have the same membership. */
static enum tenant_fault judge_members(struct judge *j)
{
	struct tenant_member *m = j->members;

	if (j->rq->n_members)
		memcpy(m, j->rq->members, j->rq->n_members * sizeof(*m));
	qsort(m, j->rq->n_members, sizeof(*m), compare_members);
	for (size_t i = 0; i < j->rq->n_members; i++) {
		bool again = j->n_members && m[j->n_members - 1].guid == m[i].guid;
		const struct tenant_member *last = again ? &m[j->n_members - 1] : NULL;

		if (!m[i].guid)
			return refuse(j, TENANT_INVALID,
				      "GUID 0 is of no port; expected a port GUID");
		if (again && j->rq->action != TENANT_REMOVE &&
		    (last->full != m[i].full || last->index0 != m[i].index0))
			return refuse(j, TENANT_INVALID,
				      "GUID 0x%016" PRIx64 " is named twice with different "
				      "memberships; expected one of them",
				      m[i].guid);
		if (!again)
			m[j->n_members++] = m[i];
	}
	return TENANT_FINE;
}

static enum tenant_fault judge_values(struct judge *j)
{
	const struct tenant_request *rq = j->rq;
	enum tenant_fault fault = judge_fields(j);

	if (rq->pkey < 1 || rq->pkey > PKEY_BASE)
		return refuse(j, TENANT_INVALID,
			      "0x%04x is no P_Key of a partition; expected 0x0001-0x7fff",
			      rq->pkey);
	if (fault)
		return fault;
	if (rq->n_members > TENANT_REQUEST_MAX)
		return refuse(j, TENANT_TOO_MANY,
			      "the request has %zu members; expected at most %u, so it must be "
			      "split",
			      rq->n_members, TENANT_REQUEST_MAX);
	if (rq->n_members && (rq->action == TENANT_CREATE || rq->action == TENANT_DELETE ||
			      rq->action == TENANT_CONFIGURE))
		return refuse(j, TENANT_INVALID,
			      "the request has members; expected none where a partition is "
			      "created empty, deleted or configured");
	j->members = xcalloc(rq->n_members + 1, sizeof(*j->members));
	return judge_members(j);
}

/* --- Of the file ---------------------------------------------------------------------------- */

#define PLACE_MAX 300

/* "FILE:LINE", as continuation of "is defined in". */
static const char *place_of(const struct judge *j, char ret[PLACE_MAX])
{
	const char *file = j->file && j->file->file ? j->file->file : "partitions.conf";

	if (j->filed && j->filed->line)
		snprintf(ret, PLACE_MAX, "%s:%u", file, j->filed->line);
	else
		snprintf(ret, PLACE_MAX, "%s (there without a line)", file);
	return ret;
}

/*
 * Does the request only take rights away? The table may have members from before the file had the
 * partition.
 */
static bool only_lowers(const struct judge *j)
{
	return j->held && (j->rq->action == TENANT_REMOVE || j->rq->action == TENANT_DELETE);
}

static enum tenant_fault judge_file(const struct judge *j)
{
	uint16_t pkey = j->rq->pkey;
	char place[PLACE_MAX];

	if (pkey == PKEY_DEFAULT && j->rq->action == TENANT_DELETE)
		return refuse(j, TENANT_READ_ONLY,
			      "0x7fff is the default partition, which is never deleted");
	if (only_lowers(j) || (j->filed ? j->filed->api : pkey != PKEY_DEFAULT))
		return TENANT_FINE;
	if (pkey == PKEY_DEFAULT && !(j->filed && j->filed->line))
		return refuse(j, TENANT_READ_ONLY,
			      "0x7fff is the default partition: all ports are members; expected "
			      "another P_Key, or a line for it with flag \"api\" in "
			      "partitions.conf");
	return refuse(j, TENANT_READ_ONLY,
		      "partition 0x%04x is defined in %s without flag \"api\"; expected that flag, "
		      "or a P_Key that is not in the file",
		      pkey, place_of(j, place));
}

/* Replaces bytes of a name of the file that the table cannot store. */
static void clean_name(struct tenant_fields *f, uint16_t pkey)
{
	for (char *letter = f->name; *letter; letter++)
		if (!is_printable(*letter))
			*letter = '?';
	if (!f->name[0])
		memcpy(f->name, tenants_default_fields(pkey).name, sizeof(f->name));
}

/* The fields that the file gives the partition. */
static struct tenant_fields fields_of_file(const struct judge *j)
{
	const struct partition_group *g = partitions_find_broadcast(j->file, j->rq->pkey);
	struct tenant_fields f = { .ipoib = g, .mtu = DEFAULT_MTU, .rate = DEFAULT_RATE };

	memcpy(f.name, j->filed->name, sizeof(f.name));
	clean_name(&f, j->rq->pkey);
	f.sl = j->filed->sl;
	if (g) {
		f.mtu = g->mtu;
		f.rate = g->rate;
		f.sl = g->sl;
	}
	return f;
}

/* --- Fields --------------------------------------------------------------------------------- */

/* The present fields of the partition, or those of a new one for which none are requested. */
static struct tenant_fields fields_before(const struct judge *j)
{
	if (j->filed)
		return fields_of_file(j);
	return j->held ? j->held->fields : tenants_default_fields(j->rq->pkey);
}

/* Those fields, changed as requested. */
static struct tenant_fields fields_asked(const struct judge *j, const struct tenant_fields *before)
{
	const struct tenant_request *rq = j->rq;
	const struct tenant_fields *asked = &rq->fields;
	struct tenant_fields f = *before;

	if (rq->has & TENANT_NAME && *asked->name)
		memcpy(f.name, asked->name, sizeof(f.name));
	else if (rq->has & TENANT_NAME)
		f = tenants_default_fields(rq->pkey);
	f.behind = before->behind;
	f.ipoib = rq->has & TENANT_IPOIB ? asked->ipoib : before->ipoib;
	f.mtu = rq->has & TENANT_MTU ? asked->mtu : before->mtu;
	f.rate = rq->has & TENANT_RATE ? asked->rate : before->rate;
	f.sl = rq->has & TENANT_SL ? asked->sl : before->sl;
	return f;
}

/* The names of the fields that differ, as "name, ipoib". */
static const char *differences(const struct tenant_fields *a, const struct tenant_fields *b,
			       char ret[48])
{
	const char *const words[] = { strcmp(a->name, b->name) != 0 ? ", name" : "",
				      a->ipoib != b->ipoib ? ", ip_over_ib" : "",
				      a->mtu != b->mtu ? ", MTU" : "",
				      a->rate != b->rate ? ", rate" : "",
				      a->sl != b->sl ? ", service level" : "" };
	char text[48];

	snprintf(text, sizeof(text), "%s%s%s%s%s", words[0], words[1], words[2], words[3],
		 words[4]);
	snprintf(ret, sizeof(text), "%s", *text ? text + 2 : "");
	return ret;
}

/*
 * The number of groups of the file, and of IPoIB groups of partitions that only the table has;
 * below the limit an upper bound.
 */
static size_t count_groups(const struct judge *j)
{
	size_t n = j->t->n_ipoib + (j->file ? j->file->n_groups : 1);

	if (n < PARTITION_GROUPS_MAX || !j->file)
		return n;
	for (size_t i = 0; i < j->file->n; i++) {
		const struct tenant_partition *p = tenants_find(j->t, j->file->list[i].pkey);

		n -= p && p->fields.ipoib ? 1 : 0;
	}
	return n;
}

static enum tenant_fault set_fields(struct judge *j, const struct tenant_fields *f)
{
	bool had_group = j->held && j->held->fields.ipoib;

	if (f->ipoib && !had_group && !j->filed && count_groups(j) >= PARTITION_GROUPS_MAX)
		return refuse(j, TENANT_TOO_MANY,
			      "there are %d multicast groups already, as many as there are "
			      "multicast LIDs; expected ip_over_ib false for partition 0x%04x",
			      PARTITION_GROUPS_MAX, j->rq->pkey);
	add_row(j, TENANT_ROW_PARTITION, j->rq->pkey)->fields = *f;
	return TENANT_FINE;
}

/* Adds the row that makes the partition or changes its fields, as requested. */
static enum tenant_fault judge_partition(struct judge *j)
{
	struct tenant_fields before = fields_before(j), f = fields_asked(j, &before);
	bool same = tenants_fields_equal(&before, &f);
	char place[PLACE_MAX], what[48];

	if (j->filed && !same)
		return refuse(j, TENANT_READ_ONLY,
			      "%s of partition 0x%04x: expected what %s has for it, where alone it "
			      "can be changed",
			      differences(&before, &f, what), j->rq->pkey, place_of(j, place));
	return j->held && same ? TENANT_FINE : set_fields(j, &f);
}

/* --- Actions -------------------------------------------------------------------------------- */

static enum tenant_fault judge_create(struct judge *j)
{
	struct tenant_fields before = fields_before(j), f = fields_asked(j, &before);
	char what[48];

	if (!j->held && !j->filed)
		return set_fields(j, &f);
	if (tenants_fields_equal(&before, &f))
		return TENANT_FINE;
	return refuse(j, TENANT_EXISTS, "partition 0x%04x (%s) is there with another %s",
		      j->rq->pkey, before.name, differences(&before, &f, what));
}

static enum tenant_fault refuse_unknown(const struct judge *j)
{
	return refuse(j, TENANT_UNKNOWN, "there is no partition 0x%04x", j->rq->pkey);
}

static enum tenant_fault judge_delete(struct judge *j)
{
	if (j->held)
		add_row(j, TENANT_ROW_GONE, j->rq->pkey);
	else if (!j->filed)
		return refuse_unknown(j);
	return TENANT_FINE;
}

static enum tenant_fault judge_configure(struct judge *j)
{
	struct tenant_fields before, f;

	if (!j->held && !j->filed)
		return refuse_unknown(j);
	before = fields_before(j);
	f = fields_asked(j, &before);
	/* Without a change the table needs no row for it. */
	return tenants_fields_equal(&before, &f) ? TENANT_FINE : judge_partition(j);
}

static bool is_so(const struct judge *j, const struct tenant_member *m)
{
	const struct tenant_member *is = j->held ? tenants_member(j->held, m->guid) : NULL;

	return is && is->full == m->full && is->index0 == m->index0;
}

/* Index 0 of a port is given to one partition: removes it from another one first. */
static void take_index0(struct judge *j)
{
	for (size_t i = 0; i < j->n_members; i++) {
		const struct tenant_member *m = &j->members[i], *other;
		uint16_t pkey = m->index0 ? tenants_at_index0(j->t, m->guid) : 0;

		if (!pkey || pkey == j->rq->pkey)
			continue;
		other = tenants_member(tenants_find(j->t, pkey), m->guid);
		add_member(j, pkey,
			   &(struct tenant_member){ .guid = m->guid, .full = other->full });
	}
}

static enum tenant_fault judge_add(struct judge *j)
{
	enum tenant_fault fault = judge_partition(j);

	if (fault)
		return fault;
	take_index0(j);
	for (size_t i = 0; i < j->n_members; i++)
		if (!is_so(j, &j->members[i]))
			add_member(j, j->rq->pkey, &j->members[i]);
	return TENANT_FINE;
}

static enum tenant_fault judge_set(struct judge *j)
{
	enum tenant_fault fault = judge_partition(j);
	size_t n_old = j->held ? j->held->n_members : 0, old = 0;

	if (fault)
		return fault;
	take_index0(j);
	for (size_t i = 0; i < j->n_members; i++) {
		const struct tenant_member *m = &j->members[i];

		for (; old < n_old && j->held->members[old].guid < m->guid; old++)
			add_left(j, j->held->members[old].guid);
		if (old < n_old && j->held->members[old].guid == m->guid)
			old++;
		if (!is_so(j, m))
			add_member(j, j->rq->pkey, m);
	}
	for (; old < n_old; old++)
		add_left(j, j->held->members[old].guid);
	return TENANT_FINE;
}

static enum tenant_fault judge_remove(struct judge *j)
{
	bool keep = j->rq->keep_empty || j->rq->pkey == PKEY_DEFAULT;

	for (size_t i = 0; j->held && i < j->n_members; i++)
		if (tenants_member(j->held, j->members[i].guid))
			add_left(j, j->members[i].guid);
	if (j->ret->n_rows && j->ret->n_rows == j->held->n_members && !keep) {
		j->ret->n_rows = 0;
		add_row(j, TENANT_ROW_GONE, j->rq->pkey);
	}
	return TENANT_FINE;
}

/* --- All ------------------------------------------------------------------------------------ */

static enum tenant_fault judge_generation(const struct judge *j)
{
	uint64_t is = j->held ? j->held->generation : 0;

	if (!j->rq->if_generation || j->rq->generation == is)
		return TENANT_FINE;
	return refuse(j, TENANT_OVERTAKEN,
		      "partition 0x%04x has generation %" PRIu64 "; expected %" PRIu64
		      ", so it was changed since",
		      j->rq->pkey, is, j->rq->generation);
}

static enum tenant_fault judge_table(const struct judge *j)
{
	if (j->t->generation < TENANT_GENERATION_MAX)
		return TENANT_FINE;
	return refuse(j, TENANT_TOO_MANY,
		      "the table has generation %" PRIu64 ", the last one; expected a lower one",
		      j->t->generation);
}

static enum tenant_fault judge_action(struct judge *j)
{
	switch (j->rq->action) {
	case TENANT_CREATE:
		return judge_create(j);
	case TENANT_DELETE:
		return judge_delete(j);
	case TENANT_ADD:
		return judge_add(j);
	case TENANT_REMOVE:
		return judge_remove(j);
	case TENANT_SET:
		return judge_set(j);
	case TENANT_CONFIGURE:
		return judge_configure(j);
	}
	return refuse(j, TENANT_INVALID, "unknown action %d", (int)j->rq->action);
}

/* Checks the number of members in all partitions after the change. */
static enum tenant_fault judge_size(const struct judge *j)
{
	size_t n = j->t->n_members;

	for (size_t i = 0; i < j->ret->n_rows; i++) {
		const struct tenant_row *row = &j->ret->rows[i];
		bool of_it = row->pkey == j->rq->pkey;

		if (row->kind == TENANT_ROW_LEFT)
			n--;
		else if (row->kind == TENANT_ROW_MEMBER && of_it &&
			 !(j->held && tenants_member(j->held, row->member.guid)))
			n++;
	}
	if (n <= TENANT_MEMBERS_MAX)
		return TENANT_FINE;
	return refuse(j, TENANT_TOO_MANY,
		      "all partitions would have %zu members; expected at most %u", n,
		      TENANT_MEMBERS_MAX);
}

enum tenant_fault tenants_judge(const struct tenants *t, const struct partitions *file,
				const struct tenant_request *rq, int64_t at,
				struct tenant_entry *ret, char *why, size_t why_size)
{
	struct tenant_entry e = { .at = at };
	struct judge j = { .t = t, .file = file, .rq = rq, .ret = &e };
	enum tenant_fault fault;

	assert(t && rq && ret && why && why_size && (rq->members || !rq->n_members));
	e.generation = t->generation + 1;
	j.why = why;
	j.why_size = why_size;
	*why = '\0';
	j.held = tenants_find(t, rq->pkey);
	j.filed = file && rq->pkey <= PKEY_BASE ? partitions_find(file, rq->pkey) : NULL;
	fault = judge_table(&j) ?: judge_values(&j);
	fault = fault ?: judge_file(&j) ?: judge_generation(&j) ?: judge_action(&j);
	fault = fault ?: judge_size(&j);
	free(j.members);
	if (fault)
		tenant_entry_clear(&e);
	else
		*ret = e;
	return fault;
}
