// SPDX-License-Identifier: BSD-2-Clause
/* Lines are compared by name and port: a port has one cable, however often it is listed. */
#include "topo/formats/by_name.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/bisect.h"

const char *by_name_keep(struct by_name *b, const char *name)
{
	char *copy = arena_calloc(&b->names, strlen(name) + 1, 1);

	memcpy(copy, name, strlen(name));
	return copy;
}

void by_name_add(struct by_name *b, const struct by_name_cable *cable)
{
	struct by_name_cable back = *cable;

	assert(cable->at.name && cable->to.name);
	back.at = cable->to;
	back.to = cable->at;
	GROW(b->rows, b->n + 2, b->cap);
	b->rows[b->n++] = *cable;
	b->rows[b->n++] = back;
}

static int by_end(const struct by_name_end *a, const struct by_name_end *b)
{
	return strcmp(a->name, b->name) ?: COMPARE(a->port, b->port);
}

static int by_row(const void *va, const void *vb)
{
	const struct by_name_cable *a = va, *b = vb;

	return by_end(&a->at, &b->at) ?: COMPARE(a->line, b->line);
}

/* Two lines about one port. False: they contradict each other. */
static bool check_pair(struct by_name *n, const struct by_name_cable *a,
		       const struct by_name_cable *b)
{
	if (by_end(&a->to, &b->to))
		conf_report_add(n->report, CONF_ERROR, n->path, b->line, 1,
				"port %u of %s leads to port %u of %s; expected port %u of "
				"%s, as in line %u; the file is not used",
				b->at.port, b->at.name, b->to.port, b->to.name, a->to.port,
				a->to.name, a->line);
	else if (a->use != b->use && by_end(&b->at, &b->to) < 0)
		conf_report_add(n->report, CONF_ERROR, n->path, b->line, 1,
				"the cable at port %u of %s has another state; expected that of "
				"line %u; the file is not used",
				b->at.port, b->at.name, a->line);
	else
		return true;
	return false;
}

static bool agree(struct by_name *n)
{
	bool ret = true;

	for (size_t i = 1; i < n->n; i++)
		if (!by_end(&n->rows[i - 1].at, &n->rows[i].at))
			ret &= check_pair(n, &n->rows[i - 1], &n->rows[i]);
	return ret;
}

static struct expect *make(const struct by_name *t)
{
	struct expect_builder *b = expect_builder_new();
	_cleanup_free_ const char **names = xcalloc(t->n + 1, sizeof(*names));
	struct expect *x;
	uint32_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct expect_node node = { .guid = expect_number_guid(n),
						  .name = t->rows[i].at.name };

		if (n && !strcmp(names[n - 1], node.name))
			continue;
		names[n++] = node.name;
		expect_add_node(b, &node);
	}
	for (size_t i = 0; i < t->n; i++) {
		const struct by_name_cable *r = &t->rows[i];
		struct expect_port one = { .number = r->at.port, .use = r->use, .rate = r->rate };
		struct expect_port two = { .number = r->to.port, .use = r->use, .rate = r->rate };

		if (by_end(&r->at, &r->to) > 0)
			continue;
		one.node = BISECT(k, 0, n, strcmp(names[k], r->at.name) < 0);
		two.node = BISECT(k, 0, n, strcmp(names[k], r->to.name) < 0);
		expect_add_cable(b, &one, &two);
	}
	x = expect_build(b);
	expect_index_names(x);
	return x;
}

struct expect *by_name_make(struct by_name *b)
{
	if (b->n)
		qsort(b->rows, b->n, sizeof(*b->rows), by_row);
	return agree(b) ? make(b) : NULL;
}

void by_name_done(struct by_name *b)
{
	arena_done(&b->names);
	free(b->rows);
}
