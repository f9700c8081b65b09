// SPDX-License-Identifier: BSD-2-Clause
/* Pictures as text that others read: NVIDIA's CSV, UFM's NDT, and what ibnetdiscover writes. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "topo/expect_file.h"
#include "util/bisect.h"
#include "util/mem.h"
#include "util/str.h"

#define LEARNT "# opensm topology, learnt "

static void write_head(int64_t learnt, FILE *out)
{
	time_t t = (time_t)learnt;
	char text[40] = "";
	struct tm tm;

	if (learnt <= 0)
		return;
	if (gmtime_r(&t, &tm))
		strftime(text, sizeof(text), " (%FT%TZ)", &tm);
	fprintf(out, LEARNT "%" PRId64 "%s by opensm %s\n", learnt, text, PACKAGE_VERSION);
}

int64_t expect_text_learnt(const char *text, size_t len)
{
	const char *eol = memchr(text, '\n', len);
	char number[21] = "";
	size_t head = strlen(LEARNT);
	uint64_t n;

	if (!eol || (size_t)(eol - text) <= head || memcmp(text, LEARNT, head) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(number) - 1 && text[head + i] >= '0' && text[head + i] <= '9';
	     i++)
		number[i] = text[head + i];
	return str_to_u64(number, 10, INT64_MAX, &n) < 0 ? 0 : (int64_t)n;
}

static void write_csv(const struct expect *x, FILE *out)
{
	static const char *const uses[] = {
		[EXPECT_UP] = "Active", [EXPECT_OFF] = "Disabled", [EXPECT_EITHER] = "Any"
	};

	for (uint32_t i = 0; i < x->n_ports; i++) {
		const struct expect_port *p = &x->ports[i], *q = &x->ports[p->peer];

		if (p->peer > i)
			fprintf(out, "0x%016" PRIx64 ",%u,0x%016" PRIx64 ",%u,Any,%s\n",
				x->nodes[p->node].guid, p->number, x->nodes[q->node].guid,
				q->number, uses[p->use]);
	}
}

static bool has_other_use(const struct expect *x)
{
	for (uint32_t i = 0; i < x->n_ports; i++)
		if (x->ports[i].use != EXPECT_UP ||
		    x->nodes[x->ports[i].node].type == EXPECT_ANY_TYPE)
			return true;
	return false;
}

static enum topofile_type type_of(const struct expect_node *n)
{
	assert(n->type != EXPECT_ANY_TYPE);
	return n->type == EXPECT_SWITCH ? TOPOFILE_SWITCH
	       : n->type == EXPECT_CA	? TOPOFILE_CA
					: TOPOFILE_ROUTER;
}

static uint8_t size_of(const struct expect *x, const struct expect_node *n)
{
	return MAX(n->size, n->n_ports ? x->ports[n->first_port + n->n_ports - 1].number : 0);
}

static struct topofile_port port_of(const struct expect *x, uint32_t row)
{
	const struct expect_port *p = &x->ports[row];
	const struct ib_speed *speed = ib_speed_of(p->rate.speed);
	struct topofile_port ret = { .guid = p->guid,
				     .node = p->node,
				     .peer = p->peer,
				     .number = p->number,
				     .width = speed ? p->rate.width : 0 };

	if (speed)
		snprintf(ret.speed, sizeof(ret.speed), "%s", speed->name);
	return ret;
}

/* As ibnetdiscover: first the switches. Rows of ports stay where they are. */
static void write_nodes(const struct expect *x, FILE *out)
{
	_cleanup_free_ struct topofile_node *nodes = xcalloc(x->n_nodes + 1u, sizeof(*nodes));
	_cleanup_free_ struct topofile_port *ports = xcalloc(x->n_ports + 1u, sizeof(*ports));
	struct topofile f = {
		.nodes = nodes, .ports = ports, .n_nodes = x->n_nodes, .n_ports = x->n_ports
	};

	for (uint32_t i = 0; i < x->n_ports; i++)
		ports[i] = port_of(x, i);
	for (uint32_t i = 0; i < x->n_nodes; i++) {
		const struct expect_node *n = &x->nodes[i];

		if (n->type == EXPECT_ANY_TYPE)
			continue;
		nodes[i] = (struct topofile_node){ .type = type_of(n),
						   .guid = n->guid,
						   .sysimg_guid = n->sysimg_guid,
						   .port_guid = n->guid,
						   .first_port = n->first_port,
						   .n_rows = n->n_ports,
						   .n_ports = size_of(x, n),
						   .name = (char *)(uintptr_t)n->name };
	}
	topofile_write(&f, out);
}

/* ---- NDT ------------------------------------------------------------------------------------- */

struct called {
	char name[EXPECT_CALLED_MAX]; /* as the reader of NDT calls the node; "": not by its name */
	uint32_t node;
};

/* Will the file be read with the same name: no control characters, no blanks at its ends? */
static bool is_plain(const char *name)
{
	for (const char *p = name; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7F)
			return false;
	return *name && *name != ' ' && name[strlen(name) - 1] != ' ' && !str_starts(name, "0x");
}

static int by_called(const void *va, const void *vb)
{
	const struct called *a = va, *b = vb;

	return strcmp(a->name, b->name) ?: COMPARE(a->node, b->node);
}

/* By node: set if its name is written, as no other node is called so. */
static bool *has_own_name(const struct expect *x)
{
	_cleanup_free_ struct called *all = xcalloc(x->n_nodes + 1u, sizeof(*all));
	bool *ret = xcalloc(x->n_nodes + 1u, sizeof(*ret));

	for (uint32_t i = 0; i < x->n_nodes; i++) {
		const char *name = x->nodes[i].name;

		all[i].node = i;
		if (is_plain(name) && !expect_called_label(all[i].name, name) &&
		    !expect_called(all[i].name, name, strlen(name), ""))
			all[i].name[0] = '\0';
	}
	qsort(all, x->n_nodes, sizeof(*all), by_called);
	for (uint32_t i = 0; i < x->n_nodes; i++)
		ret[all[i].node] =
			all[i].name[0] && (!i || strcmp(all[i - 1].name, all[i].name) != 0) &&
			(i + 1 == x->n_nodes || strcmp(all[i + 1].name, all[i].name) != 0);
	return ret;
}

/* A field of CSV, in quotes where it needs them. */
static void write_field(const char *text, FILE *out)
{
	if (!strpbrk(text, ",\"") && text[0] != '#') {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++)
		fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
	fputc('"', out);
}

static void write_ndt_end(const struct expect *x, uint32_t row, const bool *named, FILE *out)
{
	const struct expect_port *p = &x->ports[row];
	const struct expect_node *n = &x->nodes[p->node];

	if (named[p->node])
		write_field(n->name, out);
	else
		fprintf(out, "S%016" PRIx64, n->guid);
	fprintf(out, ",Port %u,", p->number);
}

static void write_ndt(const struct expect *x, FILE *out)
{
	static const char *const uses[] = {
		[EXPECT_UP] = "Active", [EXPECT_OFF] = "Disabled", [EXPECT_EITHER] = "No-discover"
	};
	_cleanup_free_ bool *named = has_own_name(x);

	fputs("StartDev,StartPort,EndDev,EndPort,State\n", out);
	for (uint32_t i = 0; i < x->n_ports; i++) {
		if (x->ports[i].peer < i)
			continue;
		write_ndt_end(x, i, named, out);
		write_ndt_end(x, x->ports[i].peer, named, out);
		fprintf(out, "%s\n", uses[x->ports[i].use]);
	}
}

void expect_write(const struct expect *x, enum expect_format format, int64_t learnt, FILE *out)
{
	assert(format != EXPECT_TOPO);
	if (format == EXPECT_NDT) {
		write_ndt(x, out);
		return;
	}
	write_head(learnt, out);
	if (format == EXPECT_CSV || has_other_use(x))
		write_csv(x, out);
	else
		write_nodes(x, out);
}
