// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pictures from files: which kind it is, and those of topofile. The others have a file each.
 */
#include "topo/expect_file.h"

#include <errno.h>
#include <string.h>

#include "conf/text/lines.h"

static enum expect_type type_of(enum topofile_type type)
{
	return type == TOPOFILE_SWITCH ? EXPECT_SWITCH
	       : type == TOPOFILE_CA   ? EXPECT_CA
				       : EXPECT_ROUTER;
}

static struct expect_port end_of(const struct topofile *f, uint32_t row)
{
	const struct topofile_port *p = &f->ports[row];
	const struct ib_speed *speed = ib_speed_named(p->speed, strlen(p->speed));

	return (struct expect_port){ .guid = p->guid,
				     .node = p->node,
				     .number = p->number,
				     .rate = { p->width, speed ? speed->tenths : 0 } };
}

struct expect *expect_from_topofile(const struct topofile *f)
{
	struct expect_builder *b = expect_builder_new();

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const struct topofile_node *n = &f->nodes[i];

		expect_add_node(b, &(struct expect_node){ .guid = n->guid,
							  .sysimg_guid = n->sysimg_guid,
							  .type = type_of(n->type),
							  .size = n->n_ports,
							  .name = n->name });
	}
	for (uint32_t i = 0; i < f->n_ports; i++) {
		struct expect_port one = end_of(f, i), two;

		if (f->ports[i].peer == TOPO_NONE || f->ports[i].peer < i)
			continue;
		two = end_of(f, f->ports[i].peer);
		expect_add_cable(b, &one, &two);
	}
	return expect_build(b);
}

bool expect_text_is_csv(const char *text, size_t len)
{
	const char *p = text, *end = text + len, *eol;
	size_t n;

	for (; p < end; p = eol + 1) {
		eol = memchr(p, '\n', (size_t)(end - p)) ?: end;
		while (p < eol && strchr(" \t\r", *p))
			p++;
		if (p == eol || *p == '#')
			continue;
		for (n = 0; p + n < eol && !strchr("\"'#{[(=,", p[n]); n++)
			;
		return p + n < eol && p[n] == ',';
	}
	return false;
}

enum expect_format expect_text_format(const char *text, size_t len)
{
	if (expect_text_is_ndt(text, len))
		return EXPECT_NDT;
	if (expect_text_is_csv(text, len))
		return EXPECT_CSV;
	return expect_text_is_topo(text, len) ? EXPECT_TOPO : EXPECT_NETDISCOVER;
}

struct expect *expect_read_text(const char *path, const char *text, size_t len,
				struct conf_report *r)
{
	_cleanup_(topofile_freep) struct topofile *f = NULL;

	switch (expect_text_format(text, len)) {
	case EXPECT_NDT:
		return expect_read_ndt(path, text, len, r);
	case EXPECT_CSV:
		return expect_read_csv(path, text, len, r);
	case EXPECT_TOPO:
		return expect_read_topo(path, text, len, r);
	case EXPECT_NETDISCOVER:
		f = topofile_read_text(path, text, len, r);
	}
	return f ? expect_from_topofile(f) : NULL;
}

struct expect *expect_read(const char *path, struct conf_report *r)
{
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int e = lines_load_most(path, TOPOFILE_MAX, r, &text, &len);

	if (e < 0) {
		if (e == -ENOENT)
			lines_missing(path, r);
		return NULL;
	}
	return expect_read_text(path, text, len, r);
}
