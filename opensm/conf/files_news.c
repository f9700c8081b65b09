// SPDX-License-Identifier: BSD-2-Clause
/*
 * What is new in files that were read again, in words for the log.
 */
#include <string.h>

#include "conf/files.h"
#include "util/mem.h"

/* ---- partitions ---------------------------------------------------------------------------- */

static int compare_items(const void *a, const void *b)
{
	const struct partition_item *x = a, *y = b;

	if (x->who != y->who)
		return x->who < y->who ? -1 : 1;
	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Each member once, sorted, with the item that counts. To be freed. */
static struct partition_item *members_of(const struct partition *p, size_t *ret_n)
{
	struct partition_item *items = xmemdup(p->items, p->n_items * sizeof(*items));
	size_t n = 0;

	qsort(items, p->n_items, sizeof(*items), compare_items);
	for (size_t i = 0; i < p->n_items; i++) {
		bool same =
			n && items[n - 1].who == items[i].who && items[n - 1].guid == items[i].guid;

		n -= same;
		items[n++] = items[i];
	}
	*ret_n = n;
	return items;
}

static void diff_members(const struct partition *a, const struct partition *b,
			 struct partitions_changes *ret)
{
	size_t na, nb, i = 0, k = 0;
	_cleanup_free_ struct partition_item *x = members_of(a, &na), *y = members_of(b, &nb);

	while (i < na || k < nb) {
		struct partition_item left = i < na ? x[i] : y[k], right = k < nb ? y[k] : x[i];
		int order;

		left.seq = right.seq = 0;
		order = i == na ? 1 : k == nb ? -1 : compare_items(&left, &right);
		ret->members += order || left.member != right.member || left.indx0 != right.indx0;
		i += order <= 0;
		k += order >= 0;
	}
}

static const struct partition_group *find_group(const struct partitions *p, const uint8_t mgid[16])
{
	for (size_t i = 0; i < p->n_groups; i++)
		if (memcmp(p->groups[i].mgid, mgid, 16) == 0)
			return &p->groups[i];
	return NULL;
}

static bool groups_differ(const struct partition_group *a, const struct partition_group *b)
{
	return a->pkey != b->pkey || a->qkey != b->qkey || a->flow != b->flow || a->mtu != b->mtu ||
	       a->rate != b->rate || a->sl != b->sl || a->tclass != b->tclass || a->hop != b->hop ||
	       a->life != b->life || a->scope != b->scope;
}

static void diff_groups(const struct partitions *a, const struct partitions *b,
			struct partitions_changes *ret)
{
	for (size_t i = 0; i < a->n_groups; i++) {
		const struct partition_group *other = find_group(b, a->groups[i].mgid);

		ret->groups += !other || groups_differ(&a->groups[i], other);
	}
	for (size_t i = 0; i < b->n_groups; i++)
		ret->groups += !find_group(a, b->groups[i].mgid);
}

void partitions_diff(const struct partitions *a, const struct partitions *b,
		     struct partitions_changes *ret)
{
	*ret = (struct partitions_changes){ 0 };
	for (size_t i = 0; i < a->n; i++) {
		const struct partition *other = partitions_find(b, a->list[i].pkey);

		if (other)
			diff_members(&a->list[i], other, ret);
		else
			ret->removed++;
	}
	for (size_t i = 0; i < b->n; i++)
		ret->added += !partitions_find(a, b->list[i].pkey);
	diff_groups(a, b, ret);
	ret->other = !ret->added && !ret->removed && !ret->members && !ret->groups &&
		     !partitions_equal(a, b);
}

/* Adds "N THINGS VERB" to a list; the first gets "partitions: " before it. */
static void add_count(FILE *out, bool *first, size_t n, const char *thing, const char *verb)
{
	if (!n)
		return;
	fprintf(out, "%s%zu %s%s%s", *first ? "partitions: " : ", ", n, thing,
		*thing && n > 1 ? "s "
		: *thing	? " "
				: "",
		verb);
	*first = false;
}

static void say_partitions(FILE *out, const struct partitions *a, const struct partitions *b)
{
	struct partitions_changes c;
	bool first = true;

	if (!a) {
		fprintf(out, "partitions: %zu", b->n);
		return;
	}
	partitions_diff(a, b, &c);
	add_count(out, &first, c.added, "", "added");
	add_count(out, &first, c.removed, "", "removed");
	add_count(out, &first, c.members, "member", "changed");
	add_count(out, &first, c.groups, "multicast group", "changed");
	if (c.other)
		fputs("partitions: names, service levels or order changed", out);
}

/* ---- lists --------------------------------------------------------------------------------- */

static size_t entries(const struct conf_file *f)
{
	if (!f)
		return 0;
	switch (f->kind) {
	case CONF_FILE_PARTITIONS:
		return f->partitions ? f->partitions->n : 0;
	case CONF_FILE_PREFIXES:
		return f->prefixes.n;
	case CONF_FILE_ORDER:
	case CONF_FILE_ROOTS:
	case CONF_FILE_CN:
	case CONF_FILE_IO:
	case CONF_FILE_MC_ROOTS:
		return f->guids.n;
	case CONF_FILE_IDS:
		return f->ids.n;
	case CONF_FILE_PORT_ORDER:
		return f->port_orders.n;
	case CONF_FILE_TORUS:
		return f->torus != NULL;
	case CONF_FILE_LFTS:
	case CONF_FILE_LID_MATRIX:
		return f->len;
	case CONF_FILE_IGNORE:
	case CONF_FILE_WEIGHTS:
		return f->ports.n;
	case CONF_FILE_NAMES:
		return conf_names_count(f->names);
	case CONF_FILE_MODULES:
		return f->modules.n;
	case CONF_N_FILES:
		break;
	}
	return 0;
}

static void say_torus(FILE *out, const struct conf_file *a, const struct conf_file *b)
{
	const struct torus_conf *was = a ? a->torus : NULL, *is = b ? b->torus : NULL;

	if (!is && !was)
		return;
	fprintf(out, "%s: ", conf_file_key(CONF_FILE_TORUS));
	if (is)
		fprintf(out, "%ux%ux%u, %zu seeds", is->size[0], is->size[1], is->size[2], is->n_seeds);
	else
		fputs("none", out);
	if (was)
		fprintf(out, ", was %ux%ux%u, %zu seeds", was->size[0], was->size[1], was->size[2], was->n_seeds);
}

static void say_file(FILE *out, const struct conf_file *a, const struct conf_file *b)
{
	const struct conf_file *either = b ? b : a;

	if (either->kind == CONF_FILE_PARTITIONS && b && b->partitions)
		say_partitions(out, a ? a->partitions : NULL, b->partitions);
	else if (either->kind == CONF_FILE_TORUS)
		say_torus(out, a, b);
	else if (either->kind != CONF_FILE_PARTITIONS && (entries(a) || entries(b)))
		fprintf(out, "%s: %zu %s, were %zu", conf_file_key(either->kind), entries(b),
			either->text ? "bytes" : "entries", entries(a));
}

/* NULL: nothing that counts. To be freed. */
static char *file_news(const struct conf_file *a, const struct conf_file *b)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (a == b)
		return NULL;
	out = open_memstream(&text, &len);
	say_file(out, a, b);
	fclose(out);
	if (len)
		return text;
	free(text);
	return NULL;
}

char *conf_files_news(const struct conf_files *before, const struct conf_files *now)
{
	char *text = NULL;

	for (unsigned i = 0; i < CONF_N_FILES; i++) {
		_cleanup_free_ char *former = text;
		_cleanup_free_ char *news = file_news(before ? before->of[i] : NULL, now->of[i]);

		text = former && news ? xasprintf("%s; %s", former, news) : take(former);
		if (!text)
			text = take(news);
	}
	return text;
}
