// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rows of engines that died, the longest run, and the state of the child. Nothing here starts or
 * ends anything.
 */
#include "sm/routing/route_memory.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

#define ROWS	      ROUTE_SKIPS
#define FIRST_PAUSE   (60 * MONO_S)
#define LONGEST_PAUSE (3600 * MONO_S)
/* A fault that did not come back for so long begins anew. */
#define FORGOTTEN     (2 * LONGEST_PAUSE)

/*
 * The least time that a computation has; what it has more for each cell of its tables as long as
 * nothing is known, and how much more of that where slow engines may be asked: a few times what
 * they need where they are slowest (nue on a torus of 4,096 switches: 31 s; dfsssp on one of 2,744
 * switches and 16,464 hosts, on busy processors: 122 s); below what the watchdog of the daemon
 * takes for a job that hangs; and how many times the longest run it has when that is known.
 */
#define LEAST_MS      10000
#define CELLS_PER_MS  1000
#define TIMES_SLOW    5
#define MOST_MS	      540000
#define TIMES_LONGEST 10

struct row {
	char engine[32];
	char how[96];
	bool had_tables;
	unsigned times;
	mono_t died, again; /* again MONO_NEVER: it may be asked */
};

struct route_memory {
	struct row rows[ROWS];
	unsigned n_rows;
	struct route_death_count counts[ROUTE_DEATH_COUNTS];
	unsigned n_counts;
	uint64_t longest_cells;
	unsigned longest_ms;
	/* The child, if it lives, made `routes` in this run, of that configuration. */
	uint64_t serial;
	struct routes *routes;
	struct conf *conf;
	struct conf_files *files;
};

struct route_memory *route_memory_new(void)
{
	return xcalloc(1, sizeof(struct route_memory));
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

void route_memory_note(struct route_memory *m, const struct routes *routes,
		       const struct route_report *report, const struct conf *conf,
		       const struct conf_files *files, mono_t now)
{
	for (unsigned i = 0; i < report->n_deaths; i++) {
		count_death(m, &report->deaths[i]);
		if (!report->deaths[i].quiet)
			note_death(m, &report->deaths[i], now);
	}
	forget_child(m);
	if (!routes || !report->serial)
		return;
	m->serial = report->serial;
	m->routes = routes_ref(routes);
	m->conf = conf_ref(conf);
	m->files = conf_files_ref(files);
	m->longest_ms = MAX(m->longest_ms, report->ms);
	m->longest_cells = MAX(m->longest_cells, cells_of(routes->topo));
}

void route_memory_forgive(struct route_memory *m)
{
	m->n_rows = 0;
	m->longest_cells = 0; /* other engines take other times */
	m->longest_ms = 0;
}

mono_t route_memory_next(const struct route_memory *m)
{
	mono_t next = MONO_NEVER;

	for (unsigned i = 0; i < m->n_rows; i++)
		if (!m->rows[i].had_tables)
			next = mono_min(next, m->rows[i].again);
	return next;
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
	bool same =
		m->serial && t->previous == m->routes && t->conf == m->conf && t->files == m->files;

	return same && !t->held && !t->weigh && !t->fresh ? m->serial : 0;
}

unsigned route_memory_fresh_limit_ms(const struct topo *t, bool slow)
{
	return (unsigned)MIN(LEAST_MS + cells_of(t) / CELLS_PER_MS * (slow ? TIMES_SLOW : 1),
			     MOST_MS);
}

unsigned route_memory_limit_ms(const struct route_memory *m, const struct topo *t, bool slow)
{
	uint64_t cells = cells_of(t), more = route_memory_fresh_limit_ms(t, slow) - LEAST_MS;

	if (m->longest_cells && cells <= m->longest_cells + m->longest_cells / 4)
		more = MIN(more, (uint64_t)TIMES_LONGEST * m->longest_ms);
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
	for (unsigned i = 0; i < m->n_rows && len < cap; i++) {
		const struct row *row = &m->rows[i];

		if (!row->had_tables && is_out(row, now))
			len += (size_t)snprintf(
				ret + len, cap - len, "%s%s (%s; it is asked again in %u s)",
				len ? ", " : "", row->engine[0] ? row->engine : "before any engine",
				row->how, (unsigned)((row->again - now + MONO_S - 1) / MONO_S));
	}
}
