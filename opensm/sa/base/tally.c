// SPDX-License-Identifier: BSD-2-Clause
/*
 * Counts requests by attribute, method and answer. As requesters choose the first two, unknown
 * attributes are counted together, and rows are limited.
 */
#include <string.h>

#include "sa/base/sa_internal.h"
#include "util/mem.h"

struct sa_tally {
	struct sa_count rows[SA_COUNT_ROWS];
	unsigned n_rows;
	struct sa_drop_count drops[SA_DROP_ROWS];
	unsigned n_drops;
};

struct sa_tally *tally_new(void)
{
	return xcalloc(1, sizeof(struct sa_tally));
}

struct sa_tally *tally_free(struct sa_tally *t)
{
	free(t);
	return NULL;
}

static struct sa_count *row_of(struct sa_tally *t, uint16_t attr, uint8_t method, uint16_t status)
{
	unsigned i = 0;

	while (i < t->n_rows && (t->rows[i].attr != attr || t->rows[i].method != method ||
				 t->rows[i].status != status))
		i++;
	if (i == SA_COUNT_ROWS)
		return &t->rows[i - 1];
	if (i == t->n_rows && t->n_rows++ < SA_COUNT_ROWS - 1)
		t->rows[i] = (struct sa_count){ .attr = attr, .method = method, .status = status };
	return &t->rows[i];
}

/* The method to count under; those without a name are counted together. */
static uint8_t method_of(const struct sa_request *rq)
{
	return strcmp(mad_method_name(rq->method), mad_method_name(0x7E)) ? rq->method : 0;
}

void tally_answer(struct sa_tally *t, const struct sa_request *rq, uint16_t status)
{
	row_of(t, sa_attr_name(rq->attr) ? rq->attr : 0, method_of(rq), status)->n++;
}

void tally_drop(struct sa_tally *t, const struct sa_request *rq, const struct sa_why *why)
{
	static const struct sa_why other = { "other", "other reasons" };
	unsigned i = 0;

	tally_answer(t, rq, SA_NO_ANSWER);
	while (i < t->n_drops && strcmp(t->drops[i].why->word, why->word))
		i++;
	if (i == SA_DROP_ROWS)
		i--;
	if (i == t->n_drops)
		t->drops[t->n_drops++].why = i == SA_DROP_ROWS - 1 ? &other : why;
	t->drops[i].n++;
}

const struct sa_count *sa_counts(const struct sa *sa, unsigned *ret_n)
{
	*ret_n = sa->tally->n_rows;
	return sa->tally->rows;
}

const struct sa_drop_count *sa_drop_counts(const struct sa *sa, unsigned *ret_n)
{
	*ret_n = sa->tally->n_drops;
	return sa->tally->drops;
}
