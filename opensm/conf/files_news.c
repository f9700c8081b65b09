// SPDX-License-Identifier: BSD-2-Clause
/* Changes in files that were read again, in words for the log. */
#include <string.h>

#include "conf/files.h"
#include "util/mem.h"

/* Differences between two sets of partitions, names and order excluded. */
struct changes {
	size_t added, removed; /* partitions, by P_Key */
	/* items added, removed or with another membership, in partitions of both sets */
	size_t members;
	size_t groups;	/* multicast groups added, removed or changed */
	bool other;	/* set if anything else differs: names, service levels, order of items */
};

/* ---- partitions ---------------------------------------------------------------------------- */

static int compare_items(const void *a, const void *b)
{
	const struct partition_item *x = a, *y = b;

	if (x->ports != y->ports)
		return x->ports < y->ports ? -1 : 1;
	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The members, sorted, each with the item that decides. To be freed. */
static struct partition_item *members_of(const struct partition *p, size_t *ret_n)
{
	struct partition_item *items = xmemdup(p->items, p->n_items * sizeof(*items));
	size_t n = 0;

	qsort(items, p->n_items, sizeof(*items), compare_items);
	for (size_t i = 0; i < p->n_items; i++) {
		if (n && items[n - 1].ports == items[i].ports && items[n - 1].guid == items[i].guid)
			n--;
		items[n++] = items[i];
	}
	*ret_n = n;
	return items;
}

static void diff_members(const struct partition *a, const struct partition *b, struct changes *ret)
{
	size_t na, nb, i = 0, k = 0;
	_cleanup_free_ struct partition_item *x = members_of(a, &na), *y = members_of(b, &nb);

	while (i < na || k < nb) {
		struct partition_item left = i < na ? x[i] : y[k], right = k < nb ? y[k] : x[i];
		int order;

		left.seq = right.seq = 0;
		order = i == na ? 1 : k == nb ? -1 : compare_items(&left, &right);
		if (order || left.member != right.member || left.indx0 != right.indx0)
			ret->members++;
		if (order <= 0)
			i++;
		if (order >= 0)
			k++;
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

static void diff_groups(const struct partitions *a, const struct partitions *b, struct changes *ret)
{
	for (size_t i = 0; i < a->n_groups; i++) {
		const struct partition_group *other = find_group(b, a->groups[i].mgid);

		if (!other || groups_differ(&a->groups[i], other))
			ret->groups++;
	}
	for (size_t i = 0; i < b->n_groups; i++)
		if (!find_group(a, b->groups[i].mgid))
			ret->groups++;
}

static void diff_partitions(const struct partitions *a, const struct partitions *b,
			    struct changes *ret)
{
	*ret = (struct changes){ 0 };
	for (size_t i = 0; i < a->n; i++) {
		const struct partition *other = partitions_find(b, a->list[i].pkey);

		if (other)
			diff_members(&a->list[i], other, ret);
		else
			ret->removed++;
	}
	for (size_t i = 0; i < b->n; i++)
		if (!partitions_find(a, b->list[i].pkey))
			ret->added++;
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

static void print_partitions(FILE *out, const struct partitions *a, const struct partitions *b)
{
	struct changes c;
	bool first = true;

	if (!a) {
		fprintf(out, "partitions: %zu", b->n);
		return;
	}
	diff_partitions(a, b, &c);
	add_count(out, &first, c.added, "", "added");
	add_count(out, &first, c.removed, "", "removed");
	add_count(out, &first, c.members, "member", "changed");
	add_count(out, &first, c.groups, "multicast group", "changed");
	if (c.other)
		fputs("partitions: names, service levels, flag api or order changed", out);
}

/* ---- lists --------------------------------------------------------------------------------- */

static size_t count_entries(const struct conf_file *f)
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
	case CONF_FILE_EXPECTED:
		return f->len;
	case CONF_FILE_IGNORE:
	case CONF_FILE_WEIGHTS:
		return f->ports.n;
	case CONF_FILE_NAMES:
		return conf_names_count(f->names);
	case CONF_FILE_MODULES:
		return f->modules.n;
	case CONF_FILE_QOS:
		return f->policy ? f->policy->n_rules : 0;
	case CONF_FILE_QUIRKS:
		return f->quirks.n;
	case CONF_FILE_HEALTH:
		return f->health.n;
	case CONF_FILE_HOST_ORDER:
		return f->hosts.n;
	case CONF_N_FILES:
		break;
	}
	return 0;
}

static const char *count_unit(enum conf_file_kind kind)
{
	if (kind == CONF_FILE_QOS)
		return "rules";
	return kind == CONF_FILE_LFTS || kind == CONF_FILE_LID_MATRIX || kind == CONF_FILE_EXPECTED
		       ? "bytes"
		       : "entries";
}

static void print_torus(FILE *out, const struct conf_file *a, const struct conf_file *b)
{
	const struct torus_conf *was = a ? a->torus : NULL, *is = b ? b->torus : NULL;

	if (!is && !was)
		return;
	fprintf(out, "%s: ", conf_file_key(CONF_FILE_TORUS));
	if (is)
		fprintf(out, "%ux%ux%u, %zu seeds", is->size[0], is->size[1], is->size[2],
			is->n_seeds);
	else
		fputs("none", out);
	if (was)
		fprintf(out, ", was %ux%ux%u, %zu seeds", was->size[0], was->size[1], was->size[2],
			was->n_seeds);
}

static void print_file(FILE *out, const struct conf_file *a, const struct conf_file *b)
{
	const struct conf_file *either = b ? b : a;

	if (either->kind == CONF_FILE_PARTITIONS && b && b->partitions)
		print_partitions(out, a ? a->partitions : NULL, b->partitions);
	else if (either->kind == CONF_FILE_TORUS)
		print_torus(out, a, b);
	else if (either->kind != CONF_FILE_PARTITIONS && (count_entries(a) || count_entries(b)))
		fprintf(out, "%s: %zu %s, were %zu", conf_file_key(either->kind), count_entries(b),
			count_unit(either->kind), count_entries(a));
}

/* A clause on the changes of a file; NULL: no relevant ones. To be freed. */
static char *file_news(const struct conf_file *a, const struct conf_file *b)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (a == b)
		return NULL;
	out = open_memstream(&text, &len);
	print_file(out, a, b);
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
