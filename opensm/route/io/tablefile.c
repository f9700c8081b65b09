// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reading of tables, and the engine `file`. Of each entry four bytes are kept, so that a file of a
 * large fabric takes less memory than its text. VLs are in offline/base/lanefile.c.
 */
#include "route/io/tablefile.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "conf/text/lines.h"
#include "route/core/aside.h"
#include "route/select/engines.h"
#include "util/bisect.h"
#include "util/told.h"

#define LIDS 0xC000u

struct table {
	guid_t guid;
	size_t first, n; /* entries */
	char *file;	 /* where it begins */
	unsigned line;
};

struct copies {
	guid_t guid;
	lid_t mlid;
	uint64_t mask[4];
};

struct distance {
	guid_t guid;
	lid_t lid;
	uint8_t hops;
};

struct tablefile {
	struct table *tables;
	size_t n_tables, cap_tables;
	uint32_t *entries; /* LID << 8 | port */
	size_t n_entries, cap_entries;
	struct copies *copies;
	size_t n_copies, cap_copies;
	struct distance *distances;
	size_t n_distances, cap_distances;
	lid_t range_top; /* the last LID of the range in the heads of dump_fts and ibroute */
	guid_t *owners; /* per LID: the GUID of its port, from the text; 0: not given */
};

struct tablefile *tablefile_new(void)
{
	struct tablefile *f = xcalloc(1, sizeof(*f));

	f->owners = xcalloc(LIDS, sizeof(*f->owners));
	return f;
}

struct tablefile *tablefile_free(struct tablefile *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n_tables; i++)
		free(f->tables[i].file);
	FREE_ALL(f->tables, f->entries, f->copies, f->distances, f->owners, f);
	return NULL;
}

bool tablefile_has_tables(const struct tablefile *f)
{
	return f->n_tables;
}

/* ---- lines ----------------------------------------------------------------------------------- */

enum section {
	SECTION_NONE,
	SECTION_TABLE,	/* "0x0001 001 ..." */
	SECTION_FDB,	/* "0x0001 : 001 ..." */
	SECTION_COPIES, /* "0xC000 : 0x001 ..." */
	SECTION_MATRIX, /* "0x0001: 00 ff ..." */
};

enum { TOLD_OWNER };

struct reader {
	struct tablefile *f;
	struct conf_report *report;
	enum section section;
	guid_t guid;
	struct told told;
};

static const char *skip(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

const char *tablefile_number(const char *p, int base, uint64_t max, uint64_t *ret)
{
	char *end;

	p = skip(p);
	if (!isxdigit((unsigned char)*p))
		return NULL;
	*ret = strtoull(p, &end, base);
	return end == p || *ret > max ? NULL : end;
}

/* The GUID behind `word` on the line; false: there is none. */
static bool guid_after(const char *text, const char *word, guid_t *ret)
{
	const char *p = strstr(text, word);
	uint64_t guid;

	if (!p || !tablefile_number(p + strlen(word), 16, UINT64_MAX, &guid) || !guid)
		return false;
	*ret = guid;
	return true;
}

static void fault(struct reader *r, const struct line *line, const char *p, const char *expected)
{
	struct conf_place at = line_place(line, p);

	conf_report_at(r->report, CONF_ERROR, &at, "expected %s", expected);
}

static void begin_table(struct reader *r, const struct line *line)
{
	struct tablefile *f = r->f;

	APPEND(f->tables, f->n_tables, f->cap_tables) = (struct table){
		.guid = r->guid, .first = f->n_entries,
		.file = xstrdup(line->at.file ? line->at.file : ""), .line = line->at.line,
	};
}

/* "Unicast lids [0x0-0xc0] of": keeps the last of the range. */
static void note_range(struct reader *r, const char *p)
{
	const char *dash = strstr(p, "[0x") ? strchr(strstr(p, "[0x"), '-') : NULL;
	uint64_t top;

	if (dash && tablefile_number(dash + 1, 16, LIDS - 1, &top))
		r->f->range_top = MAX(r->f->range_top, (lid_t)top);
}

lid_t tablefile_left_out(const struct tablefile *f)
{
	for (size_t i = 0; i < f->n_entries; i++)
		if (f->entries[i] >> 8 >= f->range_top)
			return 0;
	return f->range_top;
}

/* The head of a section; false: the line is none. */
static bool is_head(struct reader *r, const struct line *line, const char *p)
{
	static const struct {
		const char *begins, *word;
		enum section section;
	} heads[] = {
		{ "Unicast lids", "guid 0x", SECTION_TABLE },
		{ "dump_ucast_routes: Switch", "Switch 0x", SECTION_FDB },
		{ "Multicast mlids", NULL, SECTION_NONE },
		{ "Switch:", "guid 0x", SECTION_MATRIX },
		{ "Switch ", "Switch 0x", SECTION_COPIES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		if (strncmp(p, heads[i].begins, strlen(heads[i].begins)))
			continue;
		r->section = heads[i].section;
		note_range(r, p);
		if (heads[i].word && !guid_after(p, heads[i].word, &r->guid)) {
			r->section = SECTION_NONE;
			fault(r, line, p, "the GUID of a switch on this line");
		}
		if (r->section == SECTION_TABLE || r->section == SECTION_FDB)
			begin_table(r, line);
		return true;
	}
	return false;
}

static void add_entry(struct reader *r, const struct line *line, lid_t lid, uint8_t port,
		      const char *rest)
{
	struct tablefile *f = r->f;
	guid_t owner;

	APPEND(f->entries, f->n_entries, f->cap_entries) = (uint32_t)lid << 8 | port;
	f->tables[f->n_tables - 1].n++;
	if (!guid_after(rest, "portguid 0x", &owner))
		return;
	if (!f->owners[lid])
		f->owners[lid] = owner;
	else if (f->owners[lid] != owner && told_first(&r->told, TOLD_OWNER))
		conf_report_at(r->report, CONF_WARNING, &line->at,
			       "LID %u is that of port 0x%016" PRIx64 " here and of 0x%016" PRIx64
			       " before; going by the first (told once)",
			       lid, owner, f->owners[lid]);
}

static void read_entry(struct reader *r, const struct line *line, const char *p)
{
	const char *start = p;
	uint64_t lid, port;

	p = tablefile_number(p, 16, LIDS - 1, &lid);
	if (p && r->section == SECTION_FDB) {
		p = skip(p);
		p = *p == ':' ? p + 1 : NULL;
		if (p && !strncmp(skip(p), "UNREACHABLE", 11))
			return;
	}
	if (!p) {
		fault(r, line, start, "a unicast LID and a port");
		return;
	}
	start = p;
	p = tablefile_number(p, 10, LFT_NO_PORT, &port);
	if (!p || (*p && !isspace((unsigned char)*p)))
		fault(r, line, start, "a port, 0 to 255");
	else if (port != LFT_NO_PORT)
		add_entry(r, line, (lid_t)lid, (uint8_t)port, p);
}

static void read_copies(struct reader *r, const struct line *line, const char *p)
{
	struct tablefile *f = r->f;
	struct copies c = { .guid = r->guid };
	const char *start = p;
	uint64_t mlid, port;

	p = tablefile_number(p, 16, MLID_MAX, &mlid);
	p = p ? skip(p) : NULL;
	if (!p || *p != ':' || mlid < MLID_MIN) {
		fault(r, line, start, "a multicast LID and ports");
		return;
	}
	for (p = skip(p + 1); *p; p = skip(p)) {
		start = p;
		p = tablefile_number(p, 16, LFT_NO_PORT, &port);
		if (!p) {
			fault(r, line, start, "a port, 0x000 to 0x0FF");
			return;
		}
		c.mask[port / 64] |= UINT64_C(1) << port % 64;
	}
	c.mlid = (lid_t)mlid;
	APPEND(f->copies, f->n_copies, f->cap_copies) = c;
}

static void read_distance(struct reader *r, const struct line *line, const char *p)
{
	struct tablefile *f = r->f;
	const char *start = p;
	uint64_t lid, hops;

	p = tablefile_number(p, 16, LIDS - 1, &lid);
	if (!p || *p != ':' || !tablefile_number(p + 1, 16, UINT8_MAX, &hops)) {
		fault(r, line, start, "a unicast LID and hops");
		return;
	}
	APPEND(f->distances, f->n_distances, f->cap_distances) = (struct distance){
		.guid = r->guid, .lid = (lid_t)lid, .hops = (uint8_t)hops,
	};
}

static void on_line(void *arg, struct line *line)
{
	struct reader *r = arg;
	const char *p = skip(line->text);

	if (*p == '#' || !*p || is_head(r, line, p) || strncmp(p, "0x", 2))
		return;
	switch (r->section) {
	case SECTION_NONE:
		return;
	case SECTION_TABLE:
	case SECTION_FDB:
		read_entry(r, line, p);
		return;
	case SECTION_COPIES:
		read_copies(r, line, p);
		return;
	case SECTION_MATRIX:
		read_distance(r, line, p);
		return;
	}
}

void tablefile_read(struct tablefile *f, const char *path, const char *text, size_t len,
		    struct conf_report *report)
{
	struct reader r = { .f = f, .report = report };

	lines_split(path, text, len, report, on_line, &r);
}

/* ---- routes ---------------------------------------------------------------------------------- */

/* The present LID of the port that had `lid` in the text, by its GUID, if that port is here. */
static lid_t lid_now(const struct topo *t, guid_t owner, lid_t lid)
{
	const struct topo_host *end = owner ? topo_find_end(t, owner) : NULL;
	uint32_t sw = owner && !end ? topo_find_switch(t, owner) : TOPO_NONE;
	lid_t base = 0;
	unsigned range = 1;

	if (end) {
		base = end->lid;
		range = 1u << end->lmc;
	} else if (sw != TOPO_NONE) {
		base = t->switches[sw].lid;
		range = 1u << t->switches[sw].lmc;
	}
	if (!base || (lid >= base && lid < base + range))
		return lid;
	return (lid_t)(base + (lid & (range - 1)));
}

struct remap {
	lid_t *now;	   /* per LID of the text */
	unsigned told;	   /* warnings about single entries */
	unsigned n_strange;
};

static void fill_row(const struct tablefile *f, const struct table *table, struct routes *r,
		     uint32_t sw, struct remap *map, struct conf_report *report)
{
	const struct topo *t = r->topo;

	for (size_t i = table->first; i < table->first + table->n; i++) {
		lid_t lid = (lid_t)(f->entries[i] >> 8), now = map->now[lid];
		uint8_t port = (uint8_t)f->entries[i];

		if (port > t->switches[sw].n_ports) {
			if (map->told++ < 20)
				conf_report_add(report, CONF_WARNING, table->file, table->line, 0,
						"switch 0x%016" PRIx64
						" sends LID %u to port %u and has %u ports",
						table->guid, lid, port, t->switches[sw].n_ports);
			continue;
		}
		routes_row(r, sw)[now] = port;
	}
}

static lid_t find_lids(const struct tablefile *f, const struct topo *t, struct remap *map)
{
	lid_t top = t->max_lid;

	map->now = xcalloc(LIDS, sizeof(*map->now));
	for (unsigned lid = 0; lid < LIDS; lid++)
		map->now[lid] = lid_now(t, f->owners[lid], (lid_t)lid);
	for (size_t i = 0; i < f->n_entries; i++)
		top = MAX(top, map->now[f->entries[i] >> 8]);
	return top;
}

static void fill_hops(const struct tablefile *f, struct routes *r)
{
	const struct topo *t = r->topo;
	_cleanup_free_ uint32_t *of_lid = NULL;
	size_t size = (size_t)t->n_switches * t->n_switches;

	if (!f->n_distances || !size)
		return;
	of_lid = xmalloc_ones(LIDS, sizeof(*of_lid));
	for (uint32_t s = 0; s < t->n_switches; s++)
		if (t->switches[s].lid && t->switches[s].lid < LIDS)
			of_lid[t->switches[s].lid] = s;
	if (!r->hops)
		r->hops = xmalloc(size);
	memset(r->hops, 0xFF, size);
	for (size_t i = 0; i < f->n_distances; i++) {
		uint32_t sw = topo_find_switch(t, f->distances[i].guid),
			 to = of_lid[f->distances[i].lid];

		if (sw != TOPO_NONE && to != TOPO_NONE)
			r->hops[(size_t)to * t->n_switches + sw] = f->distances[i].hops;
	}
}

struct routes *tablefile_routes(const struct tablefile *f, const struct topo *t, const char *engine,
				struct conf_report *report)
{
	struct remap map = { .now = NULL };
	struct routes *r = routes_new(t, engine, find_lids(f, t, &map));
	_cleanup_free_ bool *has = xcalloc(t->n_switches, sizeof(*has));
	unsigned n_without = 0;

	for (size_t i = 0; i < f->n_tables; i++) {
		uint32_t sw = topo_find_switch(t, f->tables[i].guid);

		if (sw != TOPO_NONE) {
			has[sw] = true;
			fill_row(f, &f->tables[i], r, sw, &map, report);
		} else if (map.n_strange++ < 20) {
			conf_report_add(report, CONF_WARNING, f->tables[i].file, f->tables[i].line,
					0,
					"switch 0x%016" PRIx64
					" is not in this fabric; its table is passed over",
					f->tables[i].guid);
		}
	}
	for (uint32_t s = 0; s < t->n_switches; s++)
		n_without += !has[s];
	if (n_without)
		conf_report_add(report, CONF_WARNING, NULL, 0, 0, "%u of %u switches have no table",
				n_without, t->n_switches);
	if (map.n_strange || n_without || map.told)
		snprintf(r->note, sizeof(r->note),
			 "%u tables of switches that are not here, %u switches without, "
			 "%u entries to ports that are none",
			 map.n_strange, n_without, map.told);
	fill_hops(f, r);
	free(map.now);
	return r;
}

/* ---- multicast ------------------------------------------------------------------------------- */

static int by_mlid(const void *a, const void *b)
{
	const struct copies *x = a, *y = b;

	return COMPARE(x->mlid, y->mlid) ?: COMPARE(x->guid, y->guid);
}

static struct mcast_tree *tree_of(const struct topo *t, const struct copies *c, size_t n)
{
	struct mcast_tree *tree = xcalloc(1, sizeof(*tree) + n * sizeof(tree->rows[0]));

	tree->refs = 1;
	tree->root = MCAST_NONE;
	for (size_t i = 0; i < n; i++) {
		struct mcast_row *row = &tree->rows[tree->n_rows];
		uint32_t sw = topo_find_switch(t, c[i].guid);

		if (sw == TOPO_NONE || (tree->n_rows && row[-1].sw == sw))
			continue;
		*row = (struct mcast_row){ .guid = c[i].guid, .sw = sw, .up = MCAST_NONE };
		memcpy(row->mask, c[i].mask, sizeof(row->mask));
		tree->n_rows++;
	}
	return tree;
}

uint32_t tablefile_trees(const struct tablefile *f, const struct topo *t, struct mcast_tree ***ret,
			 lid_t **ret_mlids)
{
	_cleanup_free_ struct copies *all = xmemdup(f->copies, f->n_copies * sizeof(*all));
	uint32_t n = 0;

	*ret = xcalloc(f->n_copies, sizeof(**ret));
	*ret_mlids = xcalloc(f->n_copies, sizeof(**ret_mlids));
	SORT(all, f->n_copies, by_mlid);
	for (size_t i = 0, end; i < f->n_copies; i = end) {
		for (end = i; end < f->n_copies && all[end].mlid == all[i].mlid;)
			end++;
		(*ret_mlids)[n] = all[i].mlid;
		(*ret)[n++] = tree_of(t, &all[i], end - i);
	}
	return n;
}

/* ---- the engine ------------------------------------------------------------------------------ */

/* The first error of the report, as the reason why. */
static struct routes *give_up(const struct conf_report *report, char *why, size_t why_len)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct conf_finding *found = &report->findings[i];
		_cleanup_free_ char *text = conf_finding_text(found);

		if (found->severity == CONF_ERROR)
			return route_refuse(why, why_len, "%s", text);
	}
	return NULL;
}

static struct routes *compute(const struct route_job *job, struct tablefile *f,
			      struct conf_report *report, char *why, size_t why_len)
{
	const struct route_text *lfts = &job->options.lfts, *matrix = &job->options.lid_matrix;
	struct routes *r;

	if ((lfts->name && !lfts->text) || (matrix->name && !matrix->text))
		return route_refuse(why, why_len, "%s cannot be read",
				    lfts->name && !lfts->text ? lfts->name : matrix->name);
	if (lfts->text)
		tablefile_read(f, lfts->name, lfts->text, lfts->len, report);
	if (lfts->text && !report->errors && !f->n_tables)
		return route_refuse(why, why_len, "%s has no forwarding table", lfts->name);
	if (matrix->text)
		tablefile_read(f, matrix->name, matrix->text, matrix->len, report);
	if (report->errors)
		return give_up(report, why, why_len);
	if (lfts->text)
		return tablefile_routes(f, job->topo, "file", report);
	r = minhop_compute(job, why, why_len); /* entries that are in no file */
	if (r) {
		snprintf(r->engine, sizeof(r->engine), "file");
		routes_set_aside(r);
		fill_hops(f, r);
	}
	return r;
}

struct routes *tablefile_compute(const struct route_job *job, char *why, size_t why_len)
{
	_cleanup_(tablefile_freep) struct tablefile *f = tablefile_new();
	struct conf_report report = { 0 };
	struct routes *r = compute(job, f, &report, why, why_len);

	conf_report_clear(&report);
	return r;
}
