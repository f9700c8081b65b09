// SPDX-License-Identifier: BSD-2-Clause
/*
 * Remembers engines that died, the longest run, and the state of the child. Starts and ends
 * nothing.
 */
#include "sm/routing/route_memory.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#define ROWS	      ROUTE_SKIPS
#define FIRST_PAUSE   (60 * MONO_S)
#define LONGEST_PAUSE (3600 * MONO_S)
/* Time without a repetition after which a fault counts as new. */
#define FORGOTTEN     (2 * LONGEST_PAUSE)

/*
 * The least time that a computation has. As long as nothing is known of its engine it has more for
 * each cell of its tables, up to a limit: slowest of all are irregular fabrics (CPU time of one
 * thread, tests/bench/engines.tsv: auto on 512 random switches 13 s, which is 5 s for a million
 * cells; lash and nue on hypercubes and dragonflies 1.5 s). Of large fabrics auto needs 2 s for
 * 43,904 hosts on a tree and dnup 10 s for a torus of 4,096 switches; where slow engines may be
 * asked, dfsssp 15 s for the former and up to 122 s for a torus of 2,744 switches with 16,464
 * hosts. When a run of it is known, it has so many times that.
 */
#define LEAST_MS	10000
#define CELLS_PER_MS	125
#define MORE_MOST_MS	20000
#define MORE_SLOW_MS	170000
#define TIMES_KNOWN	5

/* Pauses before another attempt to start a process for routing, after that has failed. */
#define CHILD_PAUSE	     (10 * MONO_S)
#define CHILD_PAUSE_MOST     (300 * MONO_S)

struct row {
	char engine[32];
	char how[96];
	bool had_tables;
	unsigned times;
	/* again: time from which the engine may run; MONO_NEVER: it may run now */
	mono_t died, again;
};

struct route_memory {
	struct row rows[ROWS];
	unsigned n_rows;
	struct route_death_count counts[ROUTE_DEATH_COUNTS];
	unsigned n_counts;
	struct route_runs runs; /* runs of the engine that is first in the list now */
	/* errno of the last attempt to start a process; 0: it succeeded */
	int no_child;
	/* child_again: time of the next attempt; MONO_NEVER: none is due */
	mono_t child_pause, child_again;
	/* The last run of the child, if it still lives, with its result and configuration. */
	uint64_t serial;
	struct routes *routes;
	struct conf *conf;
	struct conf_files *files;
};

struct route_memory *route_memory_new(void)
{
	struct route_memory *m = xcalloc(1, sizeof(*m));

	m->child_again = MONO_NEVER;
	return m;
}

static void forget_child(struct route_memory *m)
{
	m->serial = 0;
	m->routes = routes_unref(m->routes);
	conf_unref(m->conf);
	conf_files_unref(m->files);
	m->conf = NULL;
	m->files = NULL;
}

struct route_memory *route_memory_free(struct route_memory *m)
{
	if (!m)
		return NULL;
	forget_child(m);
	free(m);
	return NULL;
}

static uint64_t cells_of(const struct topo *t)
{
	return (uint64_t)t->n_switches * t->max_lid;
}

/* ---- noting --------------------------------------------------------------------------------- */

static void count_death(struct route_memory *m, const struct route_death *d)
{
	unsigned i = 0;

	while (i < m->n_counts &&
	       (strcmp(m->counts[i].engine, d->engine) || strcmp(m->counts[i].cause, d->cause)))
		i++;
	if (i == ROUTE_DEATH_COUNTS) {
		i = ROUTE_DEATH_COUNTS - 1;
		snprintf(m->counts[i].engine, sizeof(m->counts[i].engine), "other");
		snprintf(m->counts[i].cause, sizeof(m->counts[i].cause), "other");
	} else if (i == m->n_counts) {
		memcpy(m->counts[i].engine, d->engine, sizeof(d->engine));
		memcpy(m->counts[i].cause, d->cause, sizeof(d->cause));
		m->n_counts++;
	}
	m->counts[i].n++;
}

static struct row *row_of(struct route_memory *m, const struct route_death *d)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < m->n_rows; i++) {
		if (!strcmp(m->rows[i].engine, d->engine) && m->rows[i].had_tables == d->had_tables)
			return &m->rows[i];
		if (m->rows[i].died < m->rows[oldest].died)
			oldest = i;
	}
	if (m->n_rows < ROWS)
		oldest = m->n_rows++;
	m->rows[oldest] = (struct row){ .had_tables = d->had_tables };
	memcpy(m->rows[oldest].engine, d->engine, sizeof(d->engine));
	return &m->rows[oldest];
}

static void note_death(struct route_memory *m, const struct route_death *d, mono_t now)
{
	struct row *row = row_of(m, d);
	mono_t pause = FIRST_PAUSE;

	if (row->times && now - row->died > FORGOTTEN)
		row->times = 0;
	for (unsigned i = 0; i < row->times && pause < LONGEST_PAUSE; i++)
		pause *= 2;
	row->times++;
	row->died = now;
	row->again = now + MIN(pause, LONGEST_PAUSE);
	memcpy(row->how, d->how, sizeof(row->how));
}

/* Notes the time that the engine took; other engines take other times. */
static void note_run(struct route_memory *m, const struct topo *t,
		     const struct route_report *report)
{
	struct route_runs *runs = &m->runs;

	if (strcmp(runs->first, report->first)) {
		*runs = (struct route_runs){ 0 };
		memcpy(runs->first, report->first, sizeof(runs->first));
	}
	runs->longest_cells = MAX(runs->longest_cells, cells_of(t));
	runs->longest_ms = MAX(runs->longest_ms, report->ms);
	if (!report->fresh)
		return;
	runs->fresh_cells = cells_of(t);
	runs->fresh_ms = report->ms;
}

/* Notes if there was a process; the pause doubles each time there was none. */
static void note_child(struct route_memory *m, const struct route_report *report, mono_t now)
{
	if (report->no_child) {
		m->child_pause = m->no_child ? MIN(2 * m->child_pause, CHILD_PAUSE_MOST)
					     : CHILD_PAUSE;
		m->child_again = now + m->child_pause;
		m->no_child = report->no_child;
	} else if (report->serial || report->n_deaths) {
		m->child_again = MONO_NEVER;
		m->no_child = 0;
	}
}

void route_memory_note(struct route_memory *m, const struct routes *routes,
		       const struct route_report *report, const struct conf *conf,
		       const struct conf_files *files, mono_t now)
{
	for (unsigned i = 0; i < report->n_deaths; i++) {
		count_death(m, &report->deaths[i]);
		if (!report->deaths[i].quiet)
			note_death(m, &report->deaths[i], now);
	}
	note_child(m, report, now);
	forget_child(m);
	if (!routes || !report->serial)
		return;
	m->serial = report->serial;
	m->routes = routes_ref(routes);
	m->conf = conf_ref(conf);
	m->files = conf_files_ref(files);
	note_run(m, routes->topo, report);
}

void route_memory_forgive(struct route_memory *m)
{
	m->n_rows = 0;
	m->runs = (struct route_runs){ 0 }; /* other options, other times */
}

mono_t route_memory_next(const struct route_memory *m)
{
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < m->n_rows; i++)
		if (!m->rows[i].had_tables)
			next = mono_min(next, m->rows[i].again);
	return next;
}

mono_t route_memory_child_next(const struct route_memory *m)
{
	return m->child_again;
}

bool route_memory_release_child(struct route_memory *m, mono_t now)
{
	if (m->child_again > now)
		return false;
	m->child_again = MONO_NEVER;
	return true;
}

int route_memory_no_child(const struct route_memory *m)
{
	return m->no_child;
}

bool route_memory_release(struct route_memory *m, mono_t now)
{
	bool some = false;

	for (unsigned i = 0; i < m->n_rows; i++)
		if (!m->rows[i].had_tables && m->rows[i].again <= now) {
			m->rows[i].again = MONO_NEVER;
			some = true;
		}
	return some;
}

/* ---- what follows from it ------------------------------------------------------------------- */

static bool is_out(const struct row *row, mono_t now)
{
	return row->again != MONO_NEVER && row->again > now;
}

void route_memory_apply(const struct route_memory *m, struct route_task *t, mono_t now)
{
	for (unsigned i = 0; i < m->n_rows; i++) {
		const struct row *row = &m->rows[i];
		struct route_skip *skip = &t->skip[t->n_skip];

		if (!is_out(row, now))
			continue;
		if (row->had_tables) {
			t->fresh |= t->previous && routes_are_by(t->previous, row->engine);
		} else if (t->n_skip < ROUTE_SKIPS) {
			memcpy(skip->engine, row->engine, sizeof(skip->engine));
			memcpy(skip->why, row->how, sizeof(row->how));
			t->n_skip++;
		}
	}
}

uint64_t route_memory_follows(const struct route_memory *m, const struct route_task *t)
{
	bool same = m->serial && t->previous == m->routes && t->files == m->files &&
		    conf_is_same(t->conf, m->conf);

	return same && !t->held && !t->weigh && !t->fresh ? m->serial : 0;
}

struct route_runs route_memory_runs(const struct route_memory *m)
{
	return m->runs;
}

unsigned route_limit_ms(const struct route_runs *runs, const struct topo *t, const char *first,
			bool fresh, bool slow)
{
	uint64_t cells = cells_of(t), like = fresh ? runs->fresh_cells : runs->longest_cells;
	uint64_t more = MIN(cells / CELLS_PER_MS, slow ? MORE_SLOW_MS : MORE_MOST_MS);
	unsigned known = fresh ? runs->fresh_ms : runs->longest_ms;

	if (like && !strcmp(runs->first, first) && cells <= like + like / 4)
		more = MIN(more, (uint64_t)TIMES_KNOWN * known);
	return (unsigned)(LEAST_MS + more);
}

const struct route_death_count *route_memory_counts(const struct route_memory *m, unsigned *ret_n)
{
	*ret_n = m->n_counts;
	return m->counts;
}

void route_memory_str(const struct route_memory *m, mono_t now, char *ret, size_t cap)
{
	size_t len = 0;

	assert(cap);
	ret[0] = '\0';
	if (m->no_child)
		len += (size_t)snprintf(ret, cap, "a process of its own (%s)",
					strerror(m->no_child));
	for (unsigned i = 0; i < m->n_rows && len < cap; i++) {
		const struct row *row = &m->rows[i];

		if (!row->had_tables && is_out(row, now))
			len += (size_t)snprintf(
				ret + len, cap - len, "%s%s (%s; it is asked again in %u s)",
				len ? ", " : "", row->engine[0] ? row->engine : "before any engine",
				row->how, (unsigned)((row->again - now + MONO_S - 1) / MONO_S));
	}
}
