// SPDX-License-Identifier: BSD-2-Clause
/*
 * Commands about what ports count and send, files that administrators write, and what other
 * programs write into devices.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ib/notices.h"
#include "sm/health/sick.h"
#include "sm/out_of_use/out_of_use.h"
#include "tests/scenario/front.h"
#include "tests/scenario/scenario.h"
#include "util/file.h"
#include "util/hash.h"
#include "util/mem.h"

#define SOON (5 * MONO_MS) /* a trap arrives, a Set of another program is done */

/* ---- counters ---- */

/* errors A:P N: symbol errors of ten seconds, as the performance manager tells the master. */
static int cmd_errors(struct scenario *s, const struct words *w)
{
	struct port_counts c = { .interval_us = 10000000, .known = 1u << PORT_COUNT_SYMBOL_ERRORS };
	struct sm *master = s->rig ? rig_master(s->rig) : NULL;
	unsigned port;
	uint64_t n;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	CHECK(parse_number(s, w->w[2], UINT32_MAX, &n));
	if (!master)
		return fault(s, "there is not exactly one MASTER");
	c.grown[PORT_COUNT_SYMBOL_ERRORS] = n;
	sm_port_counts(master, sim_node_guid(SIM(s), node), port, &c);
	return 0;
}

/* counts A:P COUNTER N: as its performance agent shows it; counts A:P clear */
static int cmd_counts(struct scenario *s, const struct words *w)
{
	static const struct {
		const char *name;
		enum sim_counter which;
	} rows[] = {
		{ "symbol-errors", SIM_SYMBOL_ERRORS }, { "recoveries", SIM_LINK_RECOVERIES },
		{ "link-downed", SIM_LINK_DOWNED },	{ "receive-errors", SIM_RCV_ERRORS },
		{ "discards", SIM_XMIT_DISCARDS },	{ "packets-sent", SIM_XMIT_PACKETS },
	};
	unsigned port;
	uint64_t n;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	if (is(w->w[2], "clear") && w->n == 3)
		return sim_clear_counters(SIM(s), node, port);
	if (w->n != 4)
		return fault(s, "expected counts NODE:PORT COUNTER N, or ... clear");
	CHECK(parse_number(s, w->w[3], UINT64_MAX, &n));
	if (is(w->w[2], "p-key-violations"))
		return sim_count_pkey_violations(SIM(s), node, port, (unsigned)n);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (is(w->w[2], rows[i].name))
			return sim_count_errors(SIM(s), node, port, rows[i].which, n);
	return fault(s, "no counter '%s'", w->w[2]);
}

/* complain A:P N: the master takes N traps about errors of this port, all at once */
static int cmd_complain(struct scenario *s, const struct words *w)
{
	struct sm *master = s->rig ? rig_master(s->rig) : NULL;
	unsigned port;
	struct node *n;
	uint64_t times;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	CHECK(parse_number(s, w->w[2], 10000, &times));
	n = master ? fabric_find_node(sm_fabric(master), sim_node_guid(SIM(s), node)) : NULL;
	if (!n)
		return fault(s, "no single master knows that port");
	sm_dispatch(master, sim_now(SIM(s)));
	for (unsigned i = 0; i < times; i++)
		out_of_use_complaint(master, &n->ports[port], TRAP_LINK_INTEGRITY + i % 3);
	return 0;
}

/* counters NODE silent|basic: its performance agent */
static int cmd_counters(struct scenario *s, const struct words *w)
{
	int node;

	CHECK(parse_node(s, w->w[1], &node));
	if (!is(w->w[2], "silent") && !is(w->w[2], "basic"))
		return fault(s, "expected silent or basic");
	return sim_set_pma(SIM(s), node, is(w->w[2], "silent") ? SIM_PMA_SILENT : SIM_PMA_BASIC);
}

/* state-table NODE|all none|right|lies|refused: SwitchPortStateTable */
static int cmd_state_table(struct scenario *s, const struct words *w)
{
	static const char *const kinds[] = { [SIM_NO_STATE_TABLE] = "none",
					     [SIM_STATE_TABLE] = "right",
					     [SIM_STATE_TABLE_LIES] = "lies",
					     [SIM_STATE_TABLE_REFUSED] = "refused" };
	int node;

	CHECK(parse_node_or_all(s, w->w[1], &node));
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++)
		if (is(kinds[i], w->w[2])) {
			sim_set_state_table(SIM(s), node, (enum sim_state_table)i);
			return 0;
		}
	return fault(s, "expected none, right, lies or refused");
}

/* defer A:P on|off: the port is Active-Defer in SwitchPortStateTable while it is ACTIVE */
static int cmd_defer(struct scenario *s, const struct words *w)
{
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	if (!is(w->w[2], "on") && !is(w->w[2], "off"))
		return fault(s, "expected on or off");
	return sim_set_defer(SIM(s), node, port, is(w->w[2], "on"));
}

/* enable A:P, disable A:P: as ibportstate */
static int cmd_enable(struct scenario *s, const struct words *w)
{
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	return sim_link_enable(SIM(s), node, port, is(w->w[0], "enable"));
}

/* keep-key NODE[:P]: the M_Key that the port has now is `kept` */
static int cmd_keep_key(struct scenario *s, const struct words *w)
{
	struct sim_m_key has;
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	if (!sim_port_m_key(SIM(s), node, port, &has))
		return fault(s, "%s is no end port", w->w[1]);
	s->kept_key = has.key;
	return 0;
}

/* wrong-key NODE[:P]: a Set with a wrong M_Key comes to it, and its trap gets lost */
static int cmd_wrong_key(struct scenario *s, const struct words *w)
{
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	sim_wrong_m_key(SIM(s), node, port);
	return 0;
}

/* ---- traps ---- */

static const struct ib_field head_fields[] = IB_LAYOUT_ROWS(NOTICE_LIST),
			     link_fields[] = IB_LAYOUT_ROWS(NOTICE_LINK_LIST),
			     error_fields[] = IB_LAYOUT_ROWS(NOTICE_ERRORS_LIST),
			     local_fields[] = IB_LAYOUT_ROWS(NOTICE_LOCAL_LIST),
			     image_fields[] = IB_LAYOUT_ROWS(NOTICE_IMAGE_LIST),
			     mkey_fields[] = IB_LAYOUT_ROWS(NOTICE_MKEY_LIST),
			     key_fields[] = IB_LAYOUT_ROWS(NOTICE_KEY_LIST),
			     switch_key_fields[] = IB_LAYOUT_ROWS(NOTICE_SWITCH_KEY_LIST);

/* Which traps have which fields. */
static const struct {
	unsigned first, last;
	const struct ib_field *fields;
	size_t n;
} layouts[] = {
	{ 0, UINT16_MAX, head_fields, ARRAY_SIZE(head_fields) },
	{ TRAP_LINK_STATE, TRAP_LINK_STATE, link_fields, ARRAY_SIZE(link_fields) },
	{ TRAP_LINK_INTEGRITY, TRAP_FLOW_CONTROL, error_fields, ARRAY_SIZE(error_fields) },
	{ TRAP_LOCAL_CHANGE, TRAP_LOCAL_CHANGE, local_fields, ARRAY_SIZE(local_fields) },
	{ TRAP_SYSIMG_GUID, TRAP_SYSIMG_GUID, image_fields, ARRAY_SIZE(image_fields) },
	{ TRAP_BAD_MKEY, TRAP_BAD_MKEY, mkey_fields, ARRAY_SIZE(mkey_fields) },
	{ TRAP_BAD_PKEY, TRAP_BAD_QKEY, key_fields, ARRAY_SIZE(key_fields) },
	{ TRAP_SWITCH_BAD_PKEY, TRAP_SWITCH_BAD_PKEY, switch_key_fields,
	  ARRAY_SIZE(switch_key_fields) },
};

static const struct ib_field *find_field(uint64_t trap, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		for (size_t k = 0;
		     trap >= layouts[i].first && trap <= layouts[i].last && k < layouts[i].n; k++)
			if (is(layouts[i].fields[k].name, name))
				return &layouts[i].fields[k];
	return NULL;
}

/* A number, or a node: its LID; `+`: another number each time. */
static int parse_lid_or_number(struct scenario *s, const char *word, uint64_t *ret)
{
	unsigned port;
	int node;

	if (is(word, "+")) {
		*ret = ++s->drawn;
		return 0;
	}
	if (*word >= '0' && *word <= '9')
		return parse_number(s, word, UINT64_MAX, ret);
	CHECK(parse_port(s, word, &node, &port));
	*ret = sim_port_lid(SIM(s), node, port);
	return 0;
}

/* 1.3.1.2: bytes. False: it is none. */
static bool parse_bytes(const char *word, uint8_t *ret)
{
	char *end;

	do {
		*ret++ = (uint8_t)strtoul(word, &end, 10);
		if (end == word || (*end && *end != '.'))
			return false;
		word = end + 1;
	} while (*end);
	return true;
}

static int set_field(struct scenario *s, uint8_t *notice, uint64_t trap, const char *name,
		     const char *value)
{
	const struct ib_field *field = find_field(trap, name);
	uint64_t v;

	if (field && field->width > 64 && parse_bytes(value, notice + field->offset / 8))
		return 0;
	CHECK(parse_lid_or_number(s, value, &v));
	if (!field || field->width > 64)
		return fault(s, "trap %u has no '%s'", (unsigned)trap, name);
	ib_bits_put(notice, field->offset, field->width, v);
	return 0;
}

/* trap NODE NUMBER [FIELD VALUE]...: the node's agent sends it; without fields, about itself */
static int cmd_trap(struct scenario *s, const struct words *w)
{
	uint8_t notice[SMP_DATA_SIZE] = { 0 }, info[SMP_DATA_SIZE];
	unsigned port;
	uint64_t trap;
	lid_t lid;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	CHECK(parse_number(s, w->w[2], 0xFFFF, &trap));
	if (w->n % 2 == 0)
		return fault(s, "expected trap NODE NUMBER [FIELD VALUE]...");
	lid = sim_port_lid(SIM(s), node, port);
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, trap);
	ib_put(notice, NT_ISSUER_LID, lid);
	if (trap == TRAP_LINK_STATE)
		ib_put(notice, N128_LID, lid);
	else if (trap == TRAP_SWITCH_BAD_PKEY)
		ib_put(notice, N259_SWITCH_LID, lid);
	else
		ib_put(notice, N129_LID, lid);
	if (trap >= TRAP_LINK_INTEGRITY && trap <= TRAP_FLOW_CONTROL)
		ib_put(notice, N129_PORT, 1);
	if (trap == TRAP_LOCAL_CHANGE && sim_read(SIM(s), node, IB_ATTR_PORT_INFO, port, info) == 0)
		ib_put(notice, N144_CAP_MASK, ib_get(info, PI_CAP_MASK));
	for (unsigned i = 3; i < w->n; i += 2)
		CHECK(set_field(s, notice, trap, w->w[i], w->w[i + 1]));
	sim_send_trap(SIM(s), node, port, notice);
	rig_run(s->rig, sim_now(SIM(s)) + SOON);
	return 0;
}

/* stop-packet SWITCH:P LIAR: it stops a packet that has LIAR's LID as source, counts it, says so */
static int cmd_stop_packet(struct scenario *s, const struct words *w)
{
	_cleanup_free_ char *text = xasprintf("%llu", (unsigned long long)++s->drawn);
	const char *colon = strrchr(w->w[1], ':');
	struct words trap = { .n = 11,
			      .w = { "trap", NULL, "259", "LID1", w->w[2], "P_KEY", "0x8124", "QP1",
				     text, "PORT", colon ? colon + 1 : "" } };
	unsigned port;
	int node;

	CHECK(parse_port(s, w->w[1], &node, &port));
	sim_count_pkey_violations(SIM(s), node, port, 1);
	trap.w[1] = sim_node_id(SIM(s), node);
	return cmd_trap(s, &trap);
}

static int cmd_trap_loss(struct scenario *s, const struct words *w)
{
	double pct;

	CHECK(parse_percent(s, w->w[1], &pct));
	if (!scenario_sim(s))
		return -EINVAL;
	sim_set_trap_loss(SIM(s), pct);
	return 0;
}

/* ---- files ---- */

/* What stands between braces, as text to be freed; NULL: it is none. */
static char *expand_one(struct scenario *s, const char *inner)
{
	unsigned port;
	int node;

	if (!scenario_sim(s))
		return NULL;
	if (is(inner, "hash"))
		return xstrdup("#");
	if (*inner == '/')
		return xasprintf("%s%s", front_scratch(s->front), inner);
	if (parse_port(s, inner, &node, &port) < 0)
		return NULL;
	return xasprintf("0x%016" PRIx64,
			 sim_node_guid(SIM(s), node) + (strchr(inner, ':') ? port : 0));
}

char *scenario_expand(struct scenario *s, const char *word)
{
	char *ret = xstrdup("");

	while (*word) {
		size_t plain = strcspn(word, "{"), n = strcspn(word + plain, "}");
		_cleanup_free_ char *inner = NULL, *value = NULL, *before = ret;

		if (word[plain] && word[plain + n] && n > 1 && word[plain + 1] != '"') {
			inner = xasprintf("%.*s", (int)n - 1, word + plain + 1);
			value = expand_one(s, inner);
			n++;
		} else {
			value = xasprintf("%.*s", (int)n, word + plain);
		}
		if (!value) {
			before = NULL;
			free(ret);
			return NULL;
		}
		ret = xasprintf("%s%.*s%s", before, (int)plain, word, value);
		word += plain + n;
	}
	return ret;
}

char *scenario_join(struct scenario *s, const struct words *w, unsigned first)
{
	char *ret = xstrdup("");

	for (unsigned i = first; i < w->n; i++) {
		_cleanup_free_ char *word = scenario_expand(s, w->w[i]), *before = ret;

		if (!word) {
			before = NULL;
			free(ret);
			return NULL;
		}
		ret = xasprintf("%s%s%s", before, i > first ? " " : "", word);
	}
	return ret;
}

/*
 * Lines of the file that contain each of the words from `first` on are taken out; without words,
 * every second line.
 */
static int drop_lines(struct scenario *s, const char *path, const struct words *w, unsigned first)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	unsigned line = 0;
	char *save;
	FILE *f;

	if (file_read(path, 1 << 20, &text, &len) < 0 || !(f = fopen(path, "w")))
		return fault(s, "'%s' cannot be read", path);
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		unsigned has = 0;

		for (unsigned i = first; i < w->n; i++) {
			_cleanup_free_ char *word = scenario_expand(s, w->w[i]);

			has += word && strstr(l, word);
		}
		if (w->n > first ? has < w->n - first : line++ % 2 == 0)
			fprintf(f, "%s\n", l);
	}
	fclose(f);
	return 0;
}

/* Adds the line with the checksum of all others. */
static int seal_file(struct scenario *s, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	FILE *f;

	if (file_read(path, 1 << 20, &text, &len) < 0 || !(f = fopen(path, "a")))
		return fault(s, "'%s' cannot be read", path);
	fprintf(f, "end 0x%016" PRIx64 "\n", hash_bytes(HASH_START, text, len));
	fclose(f);
	return 0;
}

/*
 * file NAME without WORD...; file NAME: empty; file NAME TEXT: a line more; file NAME gone;
 * file NAME folder: a folder is in its place; file NAME halved: every second line is gone;
 * file NAME sealed: a last line, as former builds wrote it; file NAME private|public: to be read by
 * its owner alone, by all
 */
static int cmd_file(struct scenario *s, const struct words *w)
{
	_cleanup_free_ char *path = NULL, *text = NULL;
	FILE *f;

	if (!scenario_sim(s))
		return -EINVAL;
	path = xasprintf("%s/%s", front_scratch(s->front), w->w[1]);
	if (w->n == 3 && is(w->w[2], "gone"))
		return remove(path) < 0 ? fault(s, "there is no such file") : 0;
	if (w->n == 3 && is(w->w[2], "folder"))
		return mkdir(path, 0700) < 0 ? fault(s, "'%s' cannot be made", path) : 0;
	if (w->n == 3 && (is(w->w[2], "private") || is(w->w[2], "public")))
		return chmod(path, is(w->w[2], "public") ? 0644 : 0600);
	if (w->n == 3 && is(w->w[2], "sealed"))
		return seal_file(s, path);
	if (w->n == 3 && is(w->w[2], "halved"))
		return drop_lines(s, path, w, 3);
	if (w->n > 3 && is(w->w[2], "without"))
		return drop_lines(s, path, w, 3);
	text = scenario_join(s, w, 2);
	f = text ? fopen(path, w->n == 2 ? "w" : "a") : NULL;
	if (!f)
		return text ? fault(s, "'%s' cannot be written", path) : -EINVAL;
	if (w->n > 2)
		fprintf(f, "%s\n", text);
	fclose(f);
	return 0;
}

/* ---- other programs ---- */

static int write_as_other(struct scenario *s, const char *from, int node, uint16_t attr,
			  uint32_t mod, const uint8_t *payload)
{
	const struct smp_head head = { .method = MAD_SET, .attr = attr, .mod = mod, .tid = 7 };
	struct transport_addr to = {
		.lid = sim_port_lid(SIM(s), node, sim_node_is_switch(SIM(s), node) ? 0 : 1)
	};
	struct transport *tr = sim_attach(SIM(s), from, 0);
	uint8_t mad[MAD_SIZE];

	if (!tr)
		return fault(s, "no program can start on '%s'", from);
	smp_build_lid(mad, &head, payload);
	transport_send(tr, &to, mad, sizeof(mad), 1000);
	rig_run(s->rig, sim_now(SIM(s)) + SOON);
	transport_close(tr);
	return 0;
}

/* A program on HOST sends this to the switch that HOST is plugged into. */
static int send_to_switch(struct scenario *s, const char *from, const struct smp_head *head,
			  const uint8_t *payload)
{
	const struct transport_addr to = { .lid = LID_PERMISSIVE };
	const struct dr_path path = { .length = 1, .hop = { 0, 1 } };
	struct transport *tr = sim_attach(SIM(s), from, 0);
	uint8_t mad[MAD_SIZE];

	if (!tr)
		return fault(s, "no program can start on '%s'", from);
	smp_build_dr(mad, head, &path, payload);
	transport_send(tr, &to, mad, sizeof(mad), 1000);
	rig_run(s->rig, sim_now(SIM(s)) + SOON);
	transport_close(tr);
	return 0;
}

/* try-key HOST: a program there sends a Set with a wrong M_Key, another one each time */
static int cmd_try_key(struct scenario *s, const struct words *w)
{
	const struct smp_head head = { .method = MAD_SET,
				       .attr = IB_ATTR_PORT_INFO,
				       .mod = 1,
				       .m_key = 0xbad0000 + ++s->drawn,
				       .tid = s->drawn };
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	if (!scenario_sim(s))
		return -EINVAL;
	return send_to_switch(s, w->w[1], &head, info);
}

/*
 * foreign HOST NODE TABLE MODIFIER BIT WIDTH VALUE: a program on HOST writes these bits of a block
 * of a table.
 */
static int cmd_foreign(struct scenario *s, const struct words *w)
{
	uint8_t payload[SMP_DATA_SIZE];
	struct table_bits at;
	uint64_t value;

	CHECK(parse_table_bits(s, w->w + 2, &at));
	CHECK(parse_number(s, w->w[7], UINT32_MAX, &value));
	if (sim_read(SIM(s), at.node, at.attr, at.mod, payload) < 0)
		return fault(s, "there is no such block");
	ib_bits_put(payload, at.bit, at.width, value);
	return write_as_other(s, w->w[1], at.node, at.attr, at.mod, payload);
}

const struct command port_commands[] = {
	{ "wrong-key", 2, 2, cmd_wrong_key }, { "state-table", 3, 3, cmd_state_table },
	{ "defer", 3, 3, cmd_defer },
	{ "try-key", 2, 2, cmd_try_key },     { "stop-packet", 3, 3, cmd_stop_packet },
	{ "complain", 3, 3, cmd_complain },   { "errors", 3, 3, cmd_errors },
	{ "counts", 3, 4, cmd_counts },	      { "counters", 3, 3, cmd_counters },
	{ "enable", 2, 2, cmd_enable },	      { "disable", 2, 2, cmd_enable },
	{ "keep-key", 2, 2, cmd_keep_key },   { "trap", 3, MAX_WORDS, cmd_trap },
	{ "trap-loss", 2, 2, cmd_trap_loss }, { "file", 2, MAX_WORDS, cmd_file },
	{ "foreign", 8, 8, cmd_foreign },     { 0 },
};
