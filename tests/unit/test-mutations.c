// SPDX-License-Identifier: BSD-2-Clause
/*
 * --verify sees every change of valid tables, or the change is harmless: 1,000 entries of LFTs, of
 * SL2VL tables (valid VLs, and VL 15) and of multicast tables are changed, one at a time, in tables
 * of several engines. The judge beside it follows every packet and copy by itself and shares
 * nothing with the verifier but the changed tables, which the verifier reads as text.
 */
#include "tests/unit/route-desk.h"

#include <inttypes.h>
#include <stdio.h>

#include "offline/base/lanefile.h"
#include "offline/verify.h"
#include "route/mcast/mcast.h"
#include "route/select/choose.h"
#include "tests/lib/rounds.h"
#include "util/random.h"

#define MLID  0xC005
#define LIDS  512
#define PORTS 16 /* most of a switch, 0 included */
#define NODES 64 /* most switches */
#define VLS   8
/* Where any SL may be used, changes are made for 0 and 1: all others are like 2. */
#define SLS_TOLD_APART 3
/* A channel with its VL: (switch, port, VL). */
#define CHANNELS (NODES * PORTS * VLS)

struct tables {
	const struct topo *t;
	bool has_lanes, has_sls;
	unsigned n_vls;
	uint8_t lft[NODES][LIDS];
	uint8_t sl[NODES][LIDS]; /* of paths from end ports of a switch */
	uint8_t vl[NODES][PORTS][PORTS][SL2VL_SLS];
	uint32_t copies[NODES];
};

/* What packets meet. */
struct found {
	uint64_t lost, dropped, copies_missed;
	bool twice; /* a switch gets a copy twice */
	bool loop;
};

/* ---- the judge --------------------------------------------------------------------------- */

static bool next[CHANNELS][PORTS * VLS]; /* of the channel's far switch */
static bool goes_on[CHANNELS];	  /* there is any next */
static uint8_t colour[CHANNELS];	  /* 0 unseen, 1 on the way, 2 done */

static const struct topo_port *end_of(const struct topo *t, uint32_t channel)
{
	return topo_port(t, channel / VLS / PORTS, channel / VLS % PORTS);
}

static uint32_t channel_of(uint32_t sw, unsigned port, unsigned vl)
{
	return (sw * PORTS + port) * VLS + vl;
}

static bool closes_a_cycle(const struct topo *t, uint32_t c)
{
	colour[c] = 1;
	for (unsigned k = 0; goes_on[c] && k < PORTS * VLS; k++) {
		uint32_t to;

		if (!next[c][k])
			continue;
		to = channel_of(end_of(t, c)->sw, k / VLS, k % VLS);
		if (colour[to] == 1 || (!colour[to] && closes_a_cycle(t, to)))
			return true;
	}
	colour[c] = 2;
	return false;
}

static bool has_cycle(const struct topo *t)
{
	memset(colour, 0, sizeof(colour));
	for (uint32_t c = 0; c < CHANNELS; c++)
		if (!colour[c] && closes_a_cycle(t, c))
			return true;
	return false;
}

/* One packet on one SL. 0: it arrives; 'l': lost; 'd': dropped by SL2VL. */
static char follow(const struct tables *m, const struct topo_host *from, uint32_t to, lid_t lid,
		   uint8_t sl)
{
	const struct topo *t = m->t;
	uint32_t sw = from->sw, before = CHANNELS;
	unsigned in = from->sw_port;

	for (unsigned hops = 0; hops <= t->n_switches; hops++) {
		unsigned out = m->lft[sw][lid], vl;
		const struct topo_port *port;

		if (!out || out > t->switches[sw].n_ports)
			return 'l';
		vl = m->has_lanes ? m->vl[sw][in][out][sl] : 0;
		if (vl == SL2VL_VL_DROP)
			return 'd';
		port = topo_port(t, sw, out);
		if (port->sw == TOPO_NONE)
			return port->host == to ? 0 : 'l';
		if (before != CHANNELS)
			next[before][out * VLS + vl] = goes_on[before] = true;
		before = channel_of(sw, out, vl);
		in = port->port;
		sw = port->sw;
	}
	return 'l';
}

static void judge_pair(const struct tables *m, uint32_t from, uint32_t to, struct found *ret)
{
	const struct topo_host *a = &m->t->hosts[from];
	lid_t lid = m->t->hosts[to].lid;
	unsigned first = m->has_sls ? m->sl[a->sw][lid] : 0;
	unsigned last = m->has_sls || !m->has_lanes ? first : SLS_TOLD_APART - 1;
	bool arrives = false, lost = false;

	for (unsigned sl = first; sl <= last; sl++)
		switch (follow(m, a, to, lid, (uint8_t)sl)) {
		case 0: arrives = true; break;
		case 'l': lost = true; break;
		}
	if (lost)
		ret->lost++;
	else if (!arrives)
		ret->dropped++;
}

/* A copy that came to a switch. */
struct copy {
	uint32_t sw;
	unsigned in;
	uint32_t channel;
};

/*
 * What is sent to the group from behind port `port` (0: by the switch) with service level 0. True:
 * a switch gets a copy twice.
 */
static bool judge_copies(const struct tables *m, uint32_t from, unsigned port, bool *got)
{
	const struct topo *t = m->t;
	struct copy queue[NODES] = { { from, port, CHANNELS } };
	bool been[NODES] = { false }, twice = false;
	unsigned n = 1;

	been[from] = true;
	for (unsigned i = 0; i < n; i++) {
		struct copy c = queue[i];

		for (unsigned p = 1; p <= t->switches[c.sw].n_ports; p++) {
			const struct topo_port *to = topo_port(t, c.sw, p);
			unsigned vl = m->has_lanes ? m->vl[c.sw][c.in][p][0] : 0;

			if (p == c.in || !(m->copies[c.sw] >> p & 1) || vl == SL2VL_VL_DROP)
				continue;
			if (to->host != TOPO_NONE)
				got[to->host] = true;
			if (to->sw == TOPO_NONE)
				continue;
			if (c.channel != CHANNELS)
				next[c.channel][p * VLS + vl] = goes_on[c.channel] = true;
			if (been[to->sw]) {
				twice = true;
				continue;
			}
			been[to->sw] = true;
			queue[n++] = (struct copy){ to->sw, to->port, channel_of(c.sw, p, vl) };
		}
	}
	return twice;
}

static bool is_member(const struct tables *m, uint32_t host)
{
	const struct topo_host *h = &m->t->hosts[host];

	return m->copies[h->sw] >> h->sw_port & 1;
}

/* Members send, and so may any other port: what those wait for counts, too. */
static void judge_group(const struct tables *m, struct found *ret)
{
	uint32_t n = m->t->n_hosts;

	for (uint32_t a = 0; a < n; a++) {
		const struct topo_host *h = &m->t->hosts[a];
		bool *got = xcalloc(n, sizeof(*got));
		bool twice = judge_copies(m, h->sw, h->sw_port, got);

		for (uint32_t b = 0; is_member(m, a) && b < n; b++)
			ret->copies_missed += b != a && is_member(m, b) && !got[b];
		ret->twice |= twice;
		free(got);
	}
	for (uint32_t s = 0; s < m->t->n_switches; s++) {
		bool *got = xcalloc(n, sizeof(*got));

		judge_copies(m, s, 0, got);
		free(got);
	}
}

static void judge(const struct tables *m, struct found *ret)
{
	uint32_t n = m->t->n_hosts;

	*ret = (struct found){ 0 };
	memset(next, 0, sizeof(next));
	memset(goes_on, 0, sizeof(goes_on));
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			if (a != b)
				judge_pair(m, a, b, ret);
	judge_group(m, ret);
	ret->loop = has_cycle(m->t);
}

static bool is_harmless(const struct found *f)
{
	return !f->lost && !f->dropped && !f->copies_missed && !f->twice && !f->loop;
}

/* ---- the verifier ------------------------------------------------------------------------ */

static char *text_of_tables(const struct tables *m, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	for (uint32_t s = 0; s < m->t->n_switches; s++) {
		fprintf(out, "Unicast lids [0x0-0x%x] of switch Lid %u guid 0x%016" PRIx64 ":\n",
			LIDS - 1, m->t->switches[s].lid, m->t->switches[s].guid);
		for (unsigned lid = 1; lid < LIDS; lid++)
			if (m->lft[s][lid] != LFT_NO_PORT)
				fprintf(out, "0x%04x %03u\n", lid, m->lft[s][lid]);
		fprintf(out, "Switch 0x%016" PRIx64 "\n0x%04x :", m->t->switches[s].guid, MLID);
		for (unsigned p = 0; p < PORTS; p++)
			if (m->copies[s] >> p & 1)
				fprintf(out, " 0x%03x", p);
		fputc('\n', out);
	}
	fclose(out);
	return text;
}

static char *text_of_sls(const struct tables *m, size_t *ret_len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	for (uint32_t a = 0; a < m->t->n_hosts; a++)
		for (uint32_t b = 0; b < m->t->n_hosts; b++)
			fprintf(out, "0x%016" PRIx64 " %u %u\n", m->t->hosts[a].node_guid,
				m->t->hosts[b].lid, m->sl[m->t->hosts[a].sw][m->t->hosts[b].lid]);
	fclose(out);
	return text;
}

static char *text_of_sl2vl(const struct tables *m, size_t *ret_len)
{
	const struct topo *t = m->t;
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned in = 0; in <= t->switches[s].n_ports; in++)
			for (unsigned to = 1; to <= t->switches[s].n_ports; to++) {
				fprintf(out, "0x%016" PRIx64 " %u %u", t->switches[s].guid, in, to);
				for (unsigned sl = 0; sl < SL2VL_SLS; sl += 2)
					fprintf(out, " 0x%x%x", m->vl[s][in][to][sl],
						m->vl[s][in][to][sl + 1]);
				fputc('\n', out);
			}
	fclose(out);
	return text;
}

static void read_lanes(const struct tables *m, struct verify *v)
{
	struct conf_report report = { 0 };
	struct lanefile_text sls = { .path = "sls" }, sl2vl = { .path = "sl2vl" };
	_cleanup_free_ char *a = text_of_sls(m, &sls.len), *b = text_of_sl2vl(m, &sl2vl.len);

	sls.text = a;
	sl2vl.text = b;
	v->routes->lanes = lanefile_read(v->routes, m->has_sls ? &sls : NULL, &sl2vl, &report);
	assert_int_equal(report.n, 0);
	assert_non_null(v->routes->lanes);
}

static void verify(const struct tables *m, struct verify *ret)
{
	static const struct verify_args args = { .threads = 1 };
	struct conf_report report = { 0 };
	size_t len;
	_cleanup_free_ char *text = text_of_tables(m, &len);

	*ret = (struct verify){ .args = &args, .topo = topo_ref(m->t) };
	ret->tables = tablefile_new();
	tablefile_read(ret->tables, "tables", text, len, &report);
	ret->routes = tablefile_routes(ret->tables, ret->topo, "tables", &report);
	ret->n_trees = tablefile_trees(ret->tables, ret->topo, &ret->trees, &ret->mlids);
	assert_int_equal(report.n, 0);
	if (m->has_lanes)
		read_lanes(m, ret);
	verify_tables(ret);
}

/* ---- both -------------------------------------------------------------------------------- */

/* Do both find the same? Loops are compared where nothing else is wrong. Returns: harmless. */
static bool agree(const struct tables *m, const char *what)
{
	struct found f;
	struct verify v;
	bool harmless;

	judge(m, &f);
	verify(m, &v);
	harmless = is_harmless(&f);
	if (verify_holds(&v) != harmless || v.verdict.lost != f.lost || v.dropped.n != f.dropped)
		fail_msg("%s: lost %" PRIu64 ", dropped %" PRIu64 ", copies missed %" PRIu64
			 ", twice %d, loop %d; the verifier: lost %" PRIu64 ", dropped %" PRIu64
			 ", groups %u, loop %d",
			 what, f.lost, f.dropped, f.copies_missed, f.twice, f.loop, v.verdict.lost,
			 v.dropped.n, v.n_groups, v.loops);
	verify_clear(&v);
	return harmless;
}

/* ---- valid tables ------------------------------------------------------------------------ */

static void take_lanes(struct tables *m, const struct routes *r)
{
	const struct topo *t = m->t;

	m->has_lanes = r->lanes;
	m->n_vls = r->lanes ? r->lanes->n_vls : 1;
	m->has_sls = r->lanes && r->lanes->by != SL2VL_BY_NOTHING;
	for (uint32_t s = 0; r->lanes && s < t->n_switches; s++) {
		for (uint32_t h = 0; h < t->n_hosts; h++)
			m->sl[s][t->hosts[h].lid] =
				sl2vl_sl(r->lanes, s, t->hosts[h].sw, t->hosts[h].lid, 0);
		for (unsigned in = 0; in <= t->switches[s].n_ports; in++)
			for (unsigned out = 1; out <= t->switches[s].n_ports; out++)
				for (unsigned sl = 0; sl < SL2VL_SLS; sl++)
					m->vl[s][in][out][sl] =
						sl2vl_vl(r->lanes, t, s, in, out, (uint8_t)sl);
	}
}

/* Every third end port is in the group. */
static void take_copies(struct tables *m, const struct routes *r)
{
	struct mcast_planner *p = mcast_planner_new(&(struct mcast_params){
		.topo = m->t, .routes = r, .depends = cdg_of(r, 1) });
	struct mcast_member members[NODES * PORTS];
	struct mcast_tree *tree;
	unsigned n = 0;

	for (uint32_t h = 0; h < m->t->n_hosts; h += 3)
		members[n++] = (struct mcast_member){ .sw = m->t->hosts[h].sw,
						      .port = m->t->hosts[h].sw_port,
						      .receive = true };
	tree = mcast_plan(p, &(struct mcast_job){ .mlid = MLID, .members = members,
						  .n_members = n });
	assert_false(tree->unproved);
	for (uint32_t i = 0; i < tree->n_rows; i++)
		m->copies[tree->rows[i].sw] = (uint32_t)tree->rows[i].mask[0];
	mcast_tree_unref(tree);
	mcast_planner_free(p);
}

static struct tables *tables_of(const struct topo *t, const char *engine)
{
	const struct route_chain chain = { .list = engine };
	const struct route_job job = { .topo = t, .threads = 1, .options = { .max_vls = 4 } };
	struct tables *m = xcalloc(1, sizeof(*m));
	struct route_choice choice;
	_cleanup_(routes_unrefp) struct routes *r = route_choose(&chain, &job, &choice);

	assert_non_null(r);
	assert_true(t->n_switches <= NODES && r->top < LIDS);
	m->t = t;
	for (uint32_t s = 0; s < t->n_switches; s++)
		for (unsigned lid = 0; lid < LIDS; lid++)
			m->lft[s][lid] = lid <= r->top ? routes_port(r, s, (lid_t)lid)
						       : LFT_NO_PORT;
	take_lanes(m, r);
	take_copies(m, r);
	return m;
}

/* ---- changes ----------------------------------------------------------------------------- */

static unsigned below(uint64_t *seed, unsigned n)
{
	return (unsigned)(random_next(seed) % n);
}

static uint32_t any_switch(const struct tables *m, uint64_t *seed)
{
	return below(seed, m->t->n_switches);
}

/* To another port, or to none, of a LID that some end port has. */
static void change_lft(struct tables *m, uint64_t *seed)
{
	uint32_t s = any_switch(m, seed);
	lid_t lid = m->t->hosts[below(seed, m->t->n_hosts)].lid;
	unsigned port = 1 + below(seed, m->t->switches[s].n_ports + 1u);

	m->lft[s][lid] = port > m->t->switches[s].n_ports ? LFT_NO_PORT : (uint8_t)port;
}

/* An entry that packets of some path meet, often where they go on; at times any entry. */
static uint8_t *any_vl(struct tables *m, uint64_t *seed)
{
	const struct topo *t = m->t;
	const struct topo_host *from = &t->hosts[below(seed, t->n_hosts)];
	const struct topo_host *to = &t->hosts[below(seed, t->n_hosts)];
	uint32_t s = from->sw;
	unsigned in = from->sw_port, out = m->lft[s][to->lid];
	unsigned sl = m->has_sls ? m->sl[s][to->lid] : below(seed, 4) / 3;

	while (s != to->sw && topo_port(t, s, out)->sw != to->sw && below(seed, 3)) {
		in = topo_port(t, s, out)->port;
		s = topo_port(t, s, out)->sw;
		out = m->lft[s][to->lid];
	}
	if (!below(seed, 4))
		in = below(seed, t->switches[s].n_ports + 1u);
	return &m->vl[s][in][out][sl];
}

static void change_vl(struct tables *m, uint64_t *seed)
{
	*any_vl(m, seed) = below(seed, 4) ? 0 : (uint8_t)below(seed, m->n_vls + 1);
}

static void drop_vl(struct tables *m, uint64_t *seed)
{
	*any_vl(m, seed) = SL2VL_VL_DROP;
}

/* A cable between switches more, or less, in the row of one switch or of both. */
static void change_copies(struct tables *m, uint64_t *seed)
{
	for (;;) {
		uint32_t s = any_switch(m, seed);
		unsigned p = 1 + below(seed, m->t->switches[s].n_ports);
		const struct topo_port *to = topo_port(m->t, s, p);

		if (to->sw == TOPO_NONE)
			continue;
		m->copies[s] ^= 1u << p;
		if (below(seed, 2))
			m->copies[to->sw] ^= 1u << to->port;
		return;
	}
}

struct change {
	const char *name;
	void (*make)(struct tables *m, uint64_t *seed);
	bool of_lanes;
	unsigned most; /* so many harmless ones are made in the same tables */
	unsigned seen, harmless;
};

/* Changes that are harmless stay, as many as `most`: a cycle of VLs needs more than one. */
static void try(const struct tables *valid, struct change *c, unsigned n, uint64_t *seed)
{
	struct tables *m = xmalloc(sizeof(*m));

	for (unsigned i = 0, made = 0; i < n; i++) {
		if (!made)
			*m = *valid;
		c->make(m, seed);
		if (agree(m, c->name)) {
			c->harmless++;
			made = (made + 1) % c->most;
		} else {
			c->seen++;
			made = 0;
		}
	}
	free(m);
}

static void every_change_is_seen_or_harmless(void **state)
{
	const struct {
		const char *engine;
		struct topo *t;
	} cases[] = {
		{ "auto", topogen_fat_tree2(5, 3, 3, 2, NULL) },
		{ "updn,no_fallback", topogen_random(20, 4, 2, &(struct topogen){ .seed = 3 }) },
		{ "lash,no_fallback", topogen_torus((unsigned[]){ 5, 5, 1 }, 1, NULL) },
		{ "dfsssp,no_fallback", topogen_torus((unsigned[]){ 5, 3, 1 }, 2, NULL) },
		{ "minhop,no_fallback", topogen_slim_fly(5, 1, NULL) },
		{ "minhop,no_fallback", topogen_torus((unsigned[]){ 5, 1, 1 }, 2, NULL) },
	};
	struct change changes[] = {
		{ "an LFT entry", change_lft, false, 1, 0, 0 },
		{ "an SL2VL entry", change_vl, true, 30, 0, 0 },
		{ "an SL2VL entry of VL 15", drop_vl, true, 1, 0, 0 },
		{ "a multicast edge", change_copies, false, 1, 0, 0 },
	};
	unsigned n = 0;
	uint64_t seed = 19;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tables *m = tables_of(cases[i].t, cases[i].engine);

		print_message("# %s: %u switches, %u VLs, SLs %d\n", cases[i].engine,
			      m->t->n_switches, m->n_vls, m->has_sls);
		assert_true(agree(m, "no change"));
		for (size_t k = 0; k < ARRAY_SIZE(changes); k++) {
			if (changes[k].of_lanes && !m->has_lanes)
				continue;
			try(m, &changes[k], changes[k].most > 1 ? 150 : test_rounds(50), &seed);
		}
		free(m);
		topo_unref(cases[i].t);
	}
	for (size_t k = 0; k < ARRAY_SIZE(changes); k++) {
		n += changes[k].seen + changes[k].harmless;
		print_message("# %s: %u seen, %u harmless\n", changes[k].name, changes[k].seen,
			      changes[k].harmless);
		assert_true(changes[k].seen > 1 && changes[k].harmless > 1);
	}
	assert_true(n >= test_rounds(1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_change_is_seen_or_harmless),
	};

	return cmocka_run_group_tests_name("mutations", tests, NULL, NULL);
}
