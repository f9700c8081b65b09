// SPDX-License-Identifier: BSD-2-Clause
/*
 * VLs as text: SLs per source node and LID, SL2VL tables per switch. Made into the scheme that
 * routes_check() knows (sl2vl.h): SLs per source switch, and SL2VL by classes of ports, which are
 * found by what ports have in common.
 */
#include "offline/base/lanefile.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "conf/text/lines.h"
#include "route/io/tablefile.h"
#include "util/bisect.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/told.h"

#define UNSAID 0xFF

enum { TOLD_TWO_SLS };

struct vl_reader {
	const struct routes *routes;
	const struct topo *topo;
	struct conf_report *report;
	uint8_t *sl;	    /* sl[switch * row_size + LID] */
	uint8_t **tables;   /* per switch: [(in * (n_ports + 1) + out) * SL2VL_SLS]; NULL: none */
	struct node_port {
		guid_t node;
		uint32_t sw;
	} *ports;	    /* CAs and routers, by GUID of their node */
	/* switch of the present dump section; TOPO_NONE: it is not in the topo */
	uint32_t sw;
	struct told told;
};

static void fault(struct vl_reader *r, const struct line *line, const char *expected)
{
	conf_report_at(r->report, CONF_ERROR, &line->at, "expected %s", expected);
}

static bool number(const char **p, int base, uint64_t max, uint64_t *ret)
{
	const char *end = tablefile_number(*p, base, max, ret);

	*p = end ? end : *p;
	return end;
}

/* ---- SLs of paths ---------------------------------------------------------------------------- */

static int by_node(const void *a, const void *b)
{
	const struct node_port *x = a, *y = b;

	return COMPARE(x->node, y->node);
}

static void find_ports(struct vl_reader *r)
{
	const struct topo *t = r->topo;

	r->ports = xcalloc(t->n_hosts, sizeof(*r->ports));
	for (uint32_t h = 0; h < t->n_hosts; h++)
		r->ports[h] =
			(struct node_port){ .node = t->hosts[h].node_guid, .sw = t->hosts[h].sw };
	SORT(r->ports, t->n_hosts, by_node);
}

static void set_sl(struct vl_reader *r, const struct line *line, uint32_t sw, lid_t lid,
		   uint8_t sl)
{
	uint8_t *there = &r->sl[(size_t)sw * r->routes->row_size + lid];

	if (*there != UNSAID && *there != sl && told_first(&r->told, TOLD_TWO_SLS)) {
		conf_report_at(r->report, CONF_ERROR, &line->at,
			       "ports on switch 0x%016" PRIx64
			       " send to LID %u on SL %u and on SL %u; "
			       "that cannot be judged",
			       r->topo->switches[sw].guid, lid, *there, sl);
	}
	*there = sl;
}

/* "0x0000000000100001 12 3": source node, or the switch that the sources are on, LID, SL. */
static void on_sl(void *arg, struct line *line)
{
	struct vl_reader *r = arg;
	const char *p = line->text;
	uint64_t node, lid, sl;
	uint32_t at, sw;

	while (isspace((unsigned char)*p))
		p++;
	if (!*p || *p == '#')
		return;
	if (!number(&p, 16, UINT64_MAX, &node) || !number(&p, 0, 0xBFFF, &lid) ||
	    !number(&p, 0, SL2VL_SLS - 1, &sl)) {
		fault(r, line, "the GUID of a node, a LID and an SL");
		return;
	}
	sw = topo_find_switch(r->topo, node);
	if (sw != TOPO_NONE && lid < r->routes->row_size)
		set_sl(r, line, sw, (lid_t)lid, (uint8_t)sl);
	at = BISECT(i, 0, r->topo->n_hosts, r->ports[i].node < node);
	for (; at < r->topo->n_hosts && r->ports[at].node == node; at++)
		if (r->ports[at].sw != TOPO_NONE && lid < r->routes->row_size)
			set_sl(r, line, r->ports[at].sw, (lid_t)lid, (uint8_t)sl);
}

/* ---- SL2VL ----------------------------------------------------------------------------------- */

static uint8_t *table_row(struct vl_reader *r, uint32_t sw, uint64_t in, uint64_t out)
{
	size_t n = r->topo->switches[sw].n_ports + 1u;

	if (in >= n || out >= n)
		return NULL;
	if (!r->tables[sw]) {
		r->tables[sw] = xmalloc(n * n * SL2VL_SLS);
		memset(r->tables[sw], UNSAID, n * n * SL2VL_SLS);
	}
	return r->tables[sw] + (in * n + out) * SL2VL_SLS;
}

/* "0x0000000000200001 1 2 0x01 0x23 ...": switch, ports, VLs of two SLs per byte. */
static void read_bytes(struct vl_reader *r, const struct line *line, const char *p)
{
	uint64_t guid, in, out, two;
	uint32_t sw;
	uint8_t *row;

	if (!number(&p, 16, UINT64_MAX, &guid) || !number(&p, 0, 255, &in) ||
	    !number(&p, 0, 255, &out)) {
		fault(r, line, "the GUID of a switch, two ports and eight bytes");
		return;
	}
	sw = topo_find_switch(r->topo, guid);
	row = sw == TOPO_NONE ? NULL : table_row(r, sw, in, out);
	for (unsigned i = 0; i < SL2VL_SLS / 2; i++) {
		if (!number(&p, 16, UINT8_MAX, &two)) {
			fault(r, line, "eight bytes behind the ports");
			return;
		}
		if (row) {
			row[2 * i] = (uint8_t)(two >> 4);
			row[2 * i + 1] = (uint8_t)(two & 15);
		}
	}
}

/* "1   2   : 0  1 ...": ports, sixteen VLs. */
static void read_dump_row(struct vl_reader *r, const struct line *line, const char *p)
{
	uint64_t in, out, vl;
	uint8_t *row;

	if (r->sw == TOPO_NONE)
		return;
	if (!number(&p, 10, 255, &in) || !number(&p, 10, 255, &out)) {
		fault(r, line, "two ports and sixteen VLs");
		return;
	}
	while (*p == ' ' || *p == ':')
		p++;
	row = table_row(r, r->sw, in, out);
	for (unsigned sl = 0; sl < SL2VL_SLS; sl++) {
		if (!number(&p, 10, 15, &vl)) {
			fault(r, line, "sixteen VLs behind the ports");
			return;
		}
		if (row)
			row[sl] = (uint8_t)vl;
	}
}

static void on_sl2vl(void *arg, struct line *line)
{
	struct vl_reader *r = arg;
	const char *p = line->text;
	uint64_t guid;

	while (isspace((unsigned char)*p))
		p++;
	if (!*p || *p == '#')
		return;
	if (!strncmp(p, "0x", 2)) {
		read_bytes(r, line, p);
	} else if (isdigit((unsigned char)*p)) {
		read_dump_row(r, line, p);
	} else {
		r->sw = TOPO_NONE;
		if (strncmp(p, "Switch ", 7))
			return; /* tables of CAs do not matter: their cables end there */
		p += 7;
		if (number(&p, 16, UINT64_MAX, &guid))
			r->sw = topo_find_switch(r->topo, guid);
	}
}

/* ---- classes of ports ------------------------------------------------------------------------ */

/* A number for the set of the rows `step` bytes apart. */
static uint64_t hash_of_rows(const uint8_t *first, size_t n, size_t step)
{
	uint64_t all[256], h = HASH_START;
	size_t n_all = 0;

	for (size_t i = 0; i < n; i++)
		if (first[i * step] != UNSAID)
			all[n_all++] = hash_bytes(HASH_START, first + i * step, SL2VL_SLS);
	SORT(all, n_all, compare_u64);
	for (size_t i = 0; i < n_all; i++)
		if (!i || all[i] != all[i - 1])
			h = hash_bytes(h, &all[i], sizeof(all[i]));
	return h;
}

/*
 * Key of a port: the rows from and to it. `level` 1: its number as well; 2: and all of the table it
 * is part of. Ports with the same role in switches of the same kind are one class.
 */
static uint64_t key_of(const struct vl_reader *r, uint32_t sw, unsigned port, unsigned level)
{
	size_t n = r->topo->switches[sw].n_ports + 1u;
	const uint8_t *table = r->tables[sw];
	uint64_t keys[4] = { level };

	if (!table)
		return 0;
	keys[1] = hash_of_rows(table + port * n * SL2VL_SLS, n, SL2VL_SLS);
	keys[2] = hash_of_rows(table + port * SL2VL_SLS, n, n * SL2VL_SLS);
	keys[3] = level ? port : 0;
	if (level == 2)
		keys[1] = keys[2] = hash_bytes(0, table, n * n * SL2VL_SLS);
	return hash_bytes(HASH_START, keys, sizeof(keys));
}

/* class_of[] of all ports; how many classes, or 0: more than fit. */
static unsigned find_classes(const struct vl_reader *r, unsigned level, uint8_t *class_of)
{
	uint64_t keys[255];
	unsigned n = 0;

	for (uint32_t s = 0; s < r->topo->n_switches; s++)
		for (unsigned p = 0; p <= r->topo->switches[s].n_ports; p++) {
			uint64_t key = key_of(r, s, p, level);
			unsigned c = 0;

			while (c < n && keys[c] != key)
				c++;
			if (c == n && n == ARRAY_SIZE(keys))
				return 0;
			if (c == n)
				keys[n++] = key;
			class_of[r->topo->switches[s].first_port + p] = (uint8_t)c;
		}
	return n;
}

/* The table by classes; false: two rows of the same classes differ. */
static bool fold(const struct vl_reader *r, const uint8_t *class_of, unsigned n_classes,
		 uint8_t *vl)
{
	memset(vl, UNSAID, (size_t)n_classes * n_classes * SL2VL_SLS);
	for (uint32_t s = 0; s < r->topo->n_switches; s++) {
		size_t n = r->topo->switches[s].n_ports + 1u;
		const uint8_t *class = class_of + r->topo->switches[s].first_port;

		for (size_t i = 0; r->tables[s] && i < n * n; i++) {
			const uint8_t *row = r->tables[s] + i * SL2VL_SLS;
			uint8_t *to =
				vl + ((size_t) class[i / n] * n_classes + class[i % n]) * SL2VL_SLS;

			if (row[0] == UNSAID)
				continue;
			if (to[0] != UNSAID && memcmp(to, row, SL2VL_SLS))
				return false;
			memcpy(to, row, SL2VL_SLS);
		}
	}
	return true;
}

static struct sl2vl *vls_by_classes(struct vl_reader *r, enum sl2vl_by by)
{
	unsigned n_vls = 1;

	for (unsigned level = 0; level < 3; level++) {
		_cleanup_free_ uint8_t *class_of = xcalloc(topo_n_entries(r->topo), 1);
		unsigned n_classes = find_classes(r, level, class_of);
		struct sl2vl *l;

		if (!n_classes)
			continue;
		l = sl2vl_new(r->topo, SL2VL_VLS_MAX, by, r->routes->row_size, n_classes);
		if (!fold(r, class_of, n_classes, l->vl)) {
			sl2vl_free(l);
			continue;
		}
		l->class_of = take(class_of);
		for (size_t i = 0; i < (size_t)n_classes * n_classes * SL2VL_SLS; i++) {
			if (l->vl[i] == UNSAID)
				l->vl[i] = 0;
			if (l->vl[i] != SL2VL_VL_DROP)
				n_vls = MAX(n_vls, l->vl[i] + 1u);
		}
		l->n_vls = (uint8_t)n_vls;
		return l;
	}
	conf_report_add(r->report, CONF_ERROR, NULL, 0, 0,
			"the SL2VL tables differ from port to port in more than 255 ways; that "
			"cannot be judged");
	return NULL;
}

/* Without SL2VL tables the VL is the SL; packets with SL 15 are dropped. */
static struct sl2vl *vls_plain(const struct vl_reader *r, enum sl2vl_by by)
{
	struct sl2vl *l = sl2vl_new(r->topo, SL2VL_VLS_MAX, by, r->routes->row_size, 1);

	for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
		l->vl[sl] = (uint8_t)sl;
	l->n_vls = SL2VL_VLS_MAX;
	return l;
}

struct sl2vl *lanefile_read(const struct routes *routes, const struct lanefile_text *sls,
			    const struct lanefile_text *sl2vl, struct conf_report *report)
{
	enum sl2vl_by by = sls ? SL2VL_BY_SWITCH_LID : SL2VL_BY_NOTHING;
	const struct topo *t = routes->topo;
	struct vl_reader r = { .routes = routes, .topo = t, .report = report, .sw = TOPO_NONE };
	size_t n = (size_t)t->n_switches * routes->row_size;
	unsigned errors = report->errors;
	struct sl2vl *l = NULL;

	r.tables = xcalloc(t->n_switches, sizeof(*r.tables));
	if (sls) {
		find_ports(&r);
		r.sl = xmalloc(n + 1);
		memset(r.sl, UNSAID, n + 1);
		lines_split(sls->path, sls->text, sls->len, report, on_sl, &r);
	}
	if (sl2vl)
		lines_split(sl2vl->path, sl2vl->text, sl2vl->len, report, on_sl2vl, &r);
	if (report->errors == errors)
		l = sl2vl ? vls_by_classes(&r, by) : vls_plain(&r, by);
	for (size_t i = 0; l && sls && i < n; i++)
		l->sl[i] = r.sl[i] == UNSAID ? 0 : r.sl[i];
	for (uint32_t s = 0; s < t->n_switches; s++)
		free(r.tables[s]);
	free(r.tables);
	free(r.ports);
	free(r.sl);
	return l;
}

/* ---- written, in the formats that ibdmchk reads: files.md 4 -------------------------------- */

static void write_pair(const struct routes *r, const struct topo_host *from,
		       const struct topo_host *to, FILE *out)
{
	TOPO_EACH_LID(to, lid)
		if (from->sw != TOPO_NONE && to->sw != TOPO_NONE)
			fprintf(out, "0x%016" PRIx64 " %u %u\n", from->node_guid, lid,
				sl2vl_sl(r->lanes, from->sw, to->sw, (lid_t)lid, 0));
}

void lanefile_write_psl(const struct routes *r, FILE *out)
{
	const struct topo *t = r->topo;

	for (uint32_t a = 0; a < t->n_hosts; a++) {
		for (uint32_t b = 0; b < t->n_hosts; b++)
			if (a != b)
				write_pair(r, &t->hosts[a], &t->hosts[b], out);
		for (uint32_t b = 0; b < t->n_asides; b++)
			write_pair(r, &t->hosts[a], &t->asides[b], out);
	}
}

void lanefile_write_sl2vl(const struct routes *r, FILE *out)
{
	const struct topo *t = r->topo;

	for (uint32_t s = 0; r->lanes && s < t->n_switches; s++)
		for (unsigned in = 0; in <= t->switches[s].n_ports; in++)
			for (unsigned to = 1; to <= t->switches[s].n_ports; to++) {
				fprintf(out, "0x%016" PRIx64 " %u %u", t->switches[s].guid, in, to);
				for (unsigned sl = 0; sl < SL2VL_SLS; sl += 2)
					fprintf(out, " 0x%x%x",
						sl2vl_vl(r->lanes, t, s, in, to, (uint8_t)sl),
						sl2vl_vl(r->lanes, t, s, in, to,
							 (uint8_t)(sl + 1)));
				fputc('\n', out);
			}
}
