// SPDX-License-Identifier: BSD-2-Clause
/* Commands to a fabric that is being served; one row each. See control.h. */
#include "sim/serve/control.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "sim/cca.h"
#include "util/mem.h"
#include "util/str.h"

#define MAX_WORDS 8

struct command {
	struct control *c;
	struct sim *sim;
	unsigned n;
	char *words[MAX_WORDS];
	int node; /* words[1], where the row says so */
	unsigned port;
};

static __attribute__((format(printf, 2, 3))) int refuse(struct control *c, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(c->said, sizeof(c->said), fmt, args);
	va_end(args);
	return -EINVAL;
}

static int number(struct command *cmd, unsigned i, uint64_t max, uint64_t *ret)
{
	if (i >= cmd->n || str_to_u64(cmd->words[i], 0, max, ret) < 0)
		return refuse(cmd->c, "expected a number up to %llu", (unsigned long long)max);
	return 0;
}

/* A decimal fraction, as in "0.5". */
static int fraction(struct command *cmd, unsigned i, double max, double *ret)
{
	char *end = NULL;
	double v = i < cmd->n ? strtod(cmd->words[i], &end) : 0;

	if (!end || end == cmd->words[i] || *end || !(v >= 0) || v > max)
		return refuse(cmd->c, "expected a number from 0 to %g", max);
	*ret = v;
	return 0;
}

static int milliseconds(struct command *cmd, unsigned i, mono_t *ret)
{
	uint64_t v;
	int r = number(cmd, i, 86400000, &v);

	if (r == 0)
		*ret = (mono_t)v * MONO_MS;
	return r;
}

/* words[i] chooses between two; 0 or 1 in *ret. */
static int choice(struct command *cmd, unsigned i, const char *no, const char *yes, bool *ret)
{
	const char *word = i < cmd->n ? cmd->words[i] : "";

	if (strcmp(word, no) && strcmp(word, yes))
		return refuse(cmd->c, "expected %s or %s", yes, no);
	*ret = !strcmp(word, yes);
	return 0;
}

static int do_loss(struct command *cmd)
{
	double pct = 0;
	int r = fraction(cmd, 1, 100, &pct);

	if (r == 0)
		sim_set_loss(cmd->sim, pct, pct);
	return r;
}

static int do_node_loss(struct command *cmd)
{
	double pct = 0;
	int r = fraction(cmd, 2, 100, &pct);

	if (r == 0)
		sim_set_node_loss(cmd->sim, cmd->node, pct, pct);
	return r;
}

static int do_link_loss(struct command *cmd)
{
	uint64_t pct;
	int r = number(cmd, 3, 100, &pct);

	if (r == 0)
		sim_set_link_loss(cmd->sim, cmd->node, cmd->port, (unsigned)pct);
	return r;
}

static int do_duplicates(struct command *cmd)
{
	double pct = 0;
	int r = fraction(cmd, 1, 100, &pct);

	if (r == 0)
		sim_set_duplicates(cmd->sim, pct);
	return r;
}

static int do_reorder(struct command *cmd)
{
	double pct = 0;
	mono_t by = 0;
	int r = fraction(cmd, 1, 100, &pct);

	if (r == 0)
		r = milliseconds(cmd, 2, &by);
	if (r == 0)
		sim_set_reorder(cmd->sim, pct, by);
	return r;
}

static int do_delay(struct command *cmd)
{
	uint64_t hop, jitter = 0;
	int r = number(cmd, 1, 10000000, &hop);

	if (r == 0 && cmd->n > 2)
		r = number(cmd, 2, 10000000, &jitter);
	if (r == 0)
		sim_set_delay(cmd->sim, (mono_t)hop, (mono_t)jitter);
	return r;
}

static int do_link(struct command *cmd)
{
	bool up;
	int r = choice(cmd, 3, "down", "up", &up);

	if (r < 0)
		return r;
	r = up ? sim_link_up(cmd->sim, cmd->node, cmd->port)
	       : sim_link_down(cmd->sim, cmd->node, cmd->port);
	return r < 0 ? refuse(cmd->c, "nothing is plugged there") : 0;
}

static int do_reboot(struct command *cmd)
{
	mono_t down = MONO_S;
	int r = cmd->n > 2 ? milliseconds(cmd, 2, &down) : 0;

	if (r == 0)
		sim_reboot(cmd->sim, cmd->node, down);
	return r;
}

static int do_power(struct command *cmd)
{
	bool on;
	int r = choice(cmd, 2, "off", "on", &on);

	if (r == 0)
		sim_power(cmd->sim, cmd->node, on);
	return r;
}

static int do_silent(struct command *cmd)
{
	bool silent;
	int r = choice(cmd, 2, "off", "on", &silent);

	if (r == 0)
		sim_set_silent(cmd->sim, cmd->node, silent ? SIM_SILENT : SIM_ANSWERS, 0);
	return r;
}

static int do_port(struct command *cmd)
{
	struct seat *seat;
	bool back;
	int r = choice(cmd, 3, "gone", "back", &back);

	if (r < 0)
		return r;
	if (sim_node_is_switch(cmd->sim, cmd->node) != (cmd->port == 0))
		return refuse(cmd->c,
			      "programs have no such port open: 0 on switches, 1 and up on others");
	seat = seats_at(cmd->c->seats, cmd->node, cmd->port);
	if (back)
		seat_plug(seat);
	else
		seat_unplug(seat);
	return 0;
}

static int do_split(struct command *cmd)
{
	bool on;
	int r = choice(cmd, 2, "off", "on", &on);

	if (r == 0 && sim_node_is_switch(cmd->sim, cmd->node))
		return refuse(cmd->c, "switches have one device");
	if (r == 0)
		seats_split(cmd->c->seats, cmd->node, on);
	return r;
}

static int do_device(struct command *cmd)
{
	bool smi, back;
	int r = choice(cmd, 2, "gsi", "smi", &smi);

	if (r == 0)
		r = choice(cmd, 3, "gone", "back", &back);
	if (r == 0 && !seats_host(cmd->c->seats, cmd->node)->split)
		return refuse(cmd->c, "the node has one device (split NODE on)");
	if (r == 0)
		seats_device_away(cmd->c->seats, cmd->node, smi ? DEVICE_SMI : DEVICE_MAIN, !back);
	return r;
}

static int do_ethernet(struct command *cmd)
{
	uint64_t n;
	int r = number(cmd, 2, ETHERNET_MAX, &n);

	if (r == 0)
		seats_set_ethernet(cmd->c->seats, cmd->node, (unsigned)n);
	return r;
}

static int do_gmp_lid(struct command *cmd)
{
	uint64_t lid;
	int r = number(cmd, 2, 0xBFFF, &lid);

	if (r == 0)
		seats_set_gmp_lid(cmd->c->seats, cmd->node, (unsigned)lid);
	return r;
}

/* Generic notice of this number, with the LID of the port where notices about ports have it. */
static int do_trap(struct command *cmd)
{
	uint8_t notice[SMP_DATA_SIZE] = { 0 };
	lid_t lid = sim_port_lid(cmd->sim, cmd->node, cmd->port);
	uint64_t trap, type;
	int r = number(cmd, 3, 0xFFFF, &trap);

	if (r == 0)
		r = number(cmd, 4, 0x7F, &type);
	if (r < 0)
		return r;
	notice[0] = (uint8_t)(0x80 | type);
	notice[3] = sim_node_is_switch(cmd->sim, cmd->node) ? IB_NODE_SWITCH : IB_NODE_CA;
	ib_bits_put(notice, 32, 16, trap);
	ib_bits_put(notice, 48, 16, lid);
	/* 128 has it first among its details, the others behind two reserved bytes (13.4.8.2). */
	ib_bits_put(notice, trap == 128 ? 80 : 96, 16, lid);
	sim_send_trap(cmd->sim, cmd->node, cmd->port, notice);
	return 0;
}

static const char *const counter_names[SIM_COUNTERS] = {
	"symbol_errors",    "link_recoveries",	"link_downed",	      "rcv_errors",
	"rcv_remote_errors", "rcv_relay_errors", "xmit_discards",     "xmit_constraints",
	"rcv_constraints",  "link_integrity",	"buffer_overruns",    "vl15_dropped",
	"xmit_data",	    "rcv_data",		"xmit_packets",	      "rcv_packets",
	"xmit_wait",	    "qp1_dropped",	"sync_errors",	      "fec_corrected",
	"fec_uncorrectable", "rcv_local_physical", "rcv_malformed",   "rcv_buffer_overrun",
	"rcv_dlid_mapping", "rcv_vl_mapping",	"rcv_looping",	      "discards_inactive",
	"discards_mtu",	    "discards_lifetime", "discards_hoq",
};

static int counter_named(struct command *cmd, unsigned *ret)
{
	for (unsigned i = 0; i < SIM_COUNTERS; i++)
		if (strcmp(counter_names[i], cmd->words[3]) == 0) {
			*ret = i;
			return 0;
		}
	return refuse(cmd->c, "no counter '%s'", cmd->words[3]);
}

static int do_counter(struct command *cmd)
{
	uint64_t n;
	unsigned i = 0;
	int r = number(cmd, 4, UINT64_MAX, &n);

	if (r == 0)
		r = counter_named(cmd, &i);
	return r < 0 ? r : sim_count_errors(cmd->sim, cmd->node, cmd->port, i, n);
}

static int do_rate(struct command *cmd)
{
	uint64_t n;
	unsigned i = 0;
	int r = number(cmd, 4, UINT64_MAX, &n);

	if (r == 0)
		r = counter_named(cmd, &i);
	return r < 0 ? r : sim_set_rate(cmd->sim, cmd->node, cmd->port, i, n);
}

static int do_clear_counters(struct command *cmd)
{
	return sim_clear_counters(cmd->sim, cmd->node, cmd->port);
}

/* A switch: packets were marked at PORT. A host: marks came. Flows by the LIDs of both ends. */
static int do_cc_mark(struct command *cmd)
{
	uint64_t from, to;

	if (number(cmd, 3, LID_MAX_UCAST, &from) < 0 || number(cmd, 4, LID_MAX_UCAST, &to) < 0)
		return -EINVAL;
	return sim_cc_mark(cmd->sim, cmd->node, cmd->port, (lid_t)from, (lid_t)to);
}

static int do_pma(struct command *cmd)
{
	static const char *const names[] = { "extended", "basic", "wide", "silent" };

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], cmd->words[2]) == 0)
			return sim_set_pma(cmd->sim, cmd->node, i);
	return refuse(cmd->c, "'%s' is none of extended, basic, wide, silent", cmd->words[2]);
}

static int do_desc(struct command *cmd)
{
	sim_set_desc(cmd->sim, cmd->node, cmd->words[2]);
	return 0;
}

/* As a device with another firmware: what the tables had is gone. */
static int do_pkeys(struct command *cmd)
{
	uint64_t cap;
	int r = number(cmd, 2, 0xFFFF, &cap);

	if (r == 0 && !cap)
		return refuse(cmd->c, "expected 1 to 65535");
	if (r == 0)
		sim_set_pkey_cap(cmd->sim, cmd->node, (unsigned)cap);
	return r;
}

static int do_watch_keys(struct command *cmd)
{
	uint64_t level;
	int r = number(cmd, 1, 3, &level);

	if (r == 0)
		sim_watch_keys(cmd->sim, (unsigned)level);
	return r;
}

static int do_watch_secret(struct command *cmd)
{
	uint64_t secret;
	int r = number(cmd, 1, UINT64_MAX, &secret);

	if (r == 0 && !sim_watch_secret(cmd->sim, secret))
		return refuse(cmd->c, "%u secrets are watched already", SIM_SECRETS);
	return r;
}

/* The simulator may have another working directory than its caller. */
static int do_key_files(struct command *cmd)
{
	for (unsigned i = 1; i < cmd->n; i++) {
		if (cmd->words[i][0] != '/')
			return refuse(cmd->c, "'%s' does not start with /", cmd->words[i]);
	}
	if (cmd->c->key_files)
		key_files_follow(cmd->c->key_files, cmd->words + 1, cmd->n - 1);
	else
		cmd->c->key_files = key_files_new(cmd->sim, cmd->words + 1, cmd->n - 1);
	return 0;
}

static int do_own_port(struct command *cmd)
{
	bool open;
	int r = choice(cmd, 1, "locked", "open", &open);

	if (r == 0)
		sim_set_own_port_open(cmd->sim, open);
	return r;
}

static int do_gets(struct command *cmd)
{
	bool open;
	int r = choice(cmd, 1, "locked", "open", &open);

	if (r == 0)
		sim_set_gets_open(cmd->sim, open);
	return r;
}

static int do_time(struct command *cmd)
{
	double scale = 0;
	int r = fraction(cmd, 1, 1000, &scale);

	if (r == 0 && scale < 0.001)
		return refuse(cmd->c, "expected 0.001 to 1000");
	if (r == 0)
		vclock_scale(&cmd->c->clock, cmd->c->real, scale);
	return r;
}

static int do_quit(struct command *cmd)
{
	cmd->c->quit = true;
	return 0;
}

enum needs { NOTHING, NODE, PORT };

static const struct row {
	const char *word;
	enum needs needs;
	unsigned min, max; /* words behind it */
	const char *form, *help;
	int (*run)(struct command *cmd);
} rows[] = {
	{ "loss", NOTHING, 1, 1, "PERCENT", "of all MADs, each way", do_loss },
	{ "node-loss", NODE, 2, 2, "NODE PERCENT", "of what goes to this node, and of its answers",
	  do_node_loss },
	{ "link-loss", PORT, 3, 3, "NODE PORT PERCENT", "of what crosses this cable",
	  do_link_loss },
	{ "duplicates", NOTHING, 1, 1, "PERCENT", "of deliveries that arrive twice",
	  do_duplicates },
	{ "reorder", NOTHING, 2, 2, "PERCENT MS", "of deliveries are held back by up to MS",
	  do_reorder },
	{ "delay", NOTHING, 1, 2, "HOP-US [JITTER-US]", "per hop, and by chance per way",
	  do_delay },
	{ "link", PORT, 3, 3, "NODE PORT up|down", "the cable", do_link },
	{ "reboot", NODE, 1, 2, "NODE [MS]", "power cycle; links are back after MS (1000)",
	  do_reboot },
	{ "power", NODE, 2, 2, "NODE on|off", "", do_power },
	{ "silent", NODE, 2, 2, "NODE on|off", "its management agent does not answer", do_silent },
	{ "port", PORT, 3, 3, "NODE PORT gone|back", "the device is taken from under its programs",
	  do_port },
	{ "split", NODE, 2, 2, "NODE on|off", "SMPs by device smi0, GMPs by sim0, as XDR adapters",
	  do_split },
	{ "device", NODE, 3, 3, "NODE smi|gsi gone|back", "one of the two of a split node",
	  do_device },
	{ "ethernet", NODE, 2, 2, "NODE N", "so many devices of Ethernet beside", do_ethernet },
	{ "gmp-lid", NODE, 2, 2, "NODE LID", "what the GSI device says its LID is; 0: the truth",
	  do_gmp_lid },
	{ "trap", PORT, 4, 4, "NODE PORT NUMBER TYPE", "a generic notice, until it is repressed",
	  do_trap },
	{ "counter", PORT, 4, 4, "NODE PORT NAME N", "adds to a performance counter", do_counter },
	{ "rate", PORT, 4, 4, "NODE PORT NAME N", "a performance counter grows by N each second",
	  do_rate },
	{ "clear-counters", PORT, 2, 2, "NODE PORT", "as another program does", do_clear_counters },
	{ "cc-mark", PORT, 4, 4, "NODE PORT FROM-LID TO-LID",
	  "an event in the congestion log of a switch's port, or of a host", do_cc_mark },
	{ "pma", NODE, 2, 2, "NODE extended|basic|wide|silent",
	  "what its performance agent can do", do_pma },
	{ "desc", NODE, 2, 2, "NODE TEXT", "changes the NodeDescription", do_desc },
	{ "pkeys", NODE, 2, 2, "NODE N", "length of its P_Key tables; they are empty then",
	  do_pkeys },
	{ "watch-keys", NOTHING, 1, 1, "LEVEL", "counts M_Keys that are lost from now on; 0: ends",
	  do_watch_keys },
	{ "watch-secret", NOTHING, 1, 1, "N", "counts MADs of hosts with this number in them",
	  do_watch_secret },
	{ "key-files", NOTHING, 0, KEY_FOLDERS_MAX, "FOLDER...",
	  "each of these cache folders of managers must open all ports from now on", do_key_files },
	{ "own-port", NOTHING, 1, 1, "open|locked", "a host needs no M_Key for its own port",
	  do_own_port },
	{ "gets", NOTHING, 1, 1, "open|locked", "no port asks for an M_Key of what only reads",
	  do_gets },
	{ "time", NOTHING, 1, 1, "SCALE", "virtual seconds per second", do_time },
	{ "quit", NOTHING, 0, 0, "", "ends the fabric", do_quit },
};

static int resolve(struct command *cmd, const struct row *row)
{
	uint64_t port = 0;
	int r = 0;

	if (row->needs == NOTHING)
		return 0;
	cmd->node = sim_find(cmd->sim, cmd->words[1]);
	if (cmd->node < 0)
		return refuse(cmd->c, "no node '%s'", cmd->words[1]);
	if (row->needs == PORT)
		r = number(cmd, 2, sim_node_ports(cmd->sim, cmd->node), &port);
	cmd->port = (unsigned)port;
	return r;
}

/* Splits at blanks; "a b" is one word. */
static int split(struct command *cmd, char *line)
{
	char *at = line;

	for (;;) {
		at += strspn(at, " \t\r\n");
		if (!*at || *at == '#')
			return 0;
		if (cmd->n == MAX_WORDS)
			return refuse(cmd->c, "too many words");
		if (*at == '"') {
			cmd->words[cmd->n++] = ++at;
			at += strcspn(at, "\"");
		} else {
			cmd->words[cmd->n++] = at;
			at += strcspn(at, " \t\r\n");
		}
		if (*at)
			*at++ = 0;
	}
}

int control_line(struct control *c, const char *line)
{
	_cleanup_free_ char *copy = xstrdup(line);
	struct command cmd = { .c = c, .sim = c->sim };
	const struct row *row = rows;
	int r;

	snprintf(c->said, sizeof(c->said), "ok");
	r = split(&cmd, copy);
	if (r < 0 || cmd.n == 0)
		return r;
	while (row < rows + ARRAY_SIZE(rows) && strcmp(row->word, cmd.words[0]))
		row++;
	if (row == rows + ARRAY_SIZE(rows))
		return refuse(c, "no command '%s'", cmd.words[0]);
	if (cmd.n - 1 < row->min || cmd.n - 1 > row->max)
		return refuse(c, "expected: %s %s", row->word, row->form);
	r = resolve(&cmd, row);
	return r < 0 ? r : row->run(&cmd);
}

int control_lines(struct control *c, const char *text, size_t n)
{
	_cleanup_free_ char *copy = xcalloc(1, n + 1);
	char *at = copy, *end;
	int r = 0;

	memcpy(copy, text, n);
	while (r == 0 && *at) {
		end = at + strcspn(at, "\n");
		if (*end)
			*end++ = 0;
		r = control_line(c, at);
		at = end;
	}
	return r;
}

void control_help(FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		fprintf(out, "  %-12s%-24s%s\n", rows[i].word, rows[i].form, rows[i].help);
}

void control_stats(const struct control *c, FILE *out)
{
	struct ufile_counts sum = seats_counts(c->seats);
	const struct sim_secret_watch *secrets = sim_secrets_watched(c->sim);

	fprintf(out, "time %.6f\nscale %g\nsent %llu\nreceived %llu\nreturned %llu\ndropped %llu\n",
		(double)sim_now(c->sim) / (double)MONO_S, c->clock.scale,
		(unsigned long long)sum.sent, (unsigned long long)sum.received,
		(unsigned long long)sum.returned, (unsigned long long)sum.dropped);
	fprintf(out, "smp_gets %llu\nsmp_sets %llu\ntraps %llu\n",
		(unsigned long long)sim_gets(c->sim), (unsigned long long)sim_sets(c->sim),
		(unsigned long long)sim_count(c->sim, 0, MAD_TRAP));
	fprintf(out, "secrets_looked_for_in %llu\nsecrets_seen %llu\n",
		(unsigned long long)secrets->looks, (unsigned long long)secrets->seen);
	if (secrets->seen)
		fprintf(out, "first_secret %u from %s class 0x%02x method 0x%02x attr 0x%04x\n",
			secrets->first.secret, sim_node_id(c->sim, secrets->first.node),
			secrets->first.mgmt_class, secrets->first.method, secrets->first.attr);
}

void control_check(const struct control *c, FILE *out)
{
	struct sim_verdict v;

	sim_check_all(c->sim, &v);
	fprintf(out, "%s\n", sim_verdict_good(&v) ? "good" : v.first[0] ? v.first : "not good");
	fprintf(out,
		"end_ports %u\nports_not_active %u\nlids_missing %u\nlids_duplicate "
		"%u\nsm_lid_wrong %u\n",
		v.end_ports, v.ports_not_active, v.lids_missing, v.lids_duplicate, v.sm_lid_wrong);
	fprintf(out, "pairs %llu\nunreachable %llu\nlooping %llu\nloops_ever %llu\n",
		(unsigned long long)v.pairs, (unsigned long long)v.unreachable,
		(unsigned long long)v.looping, (unsigned long long)v.loops_ever);
}

static void show_opened(const struct control *c, const struct sim_opened *o, FILE *out)
{
	fprintf(out, "opened %s port %u at %.6f: key 0x%016llx level %u\n",
		sim_node_id(c->sim, o->node), o->port, (double)o->at / (double)MONO_S,
		(unsigned long long)o->has.key, o->has.protect);
}

static const char *keys_verdict(const struct control *c)
{
	const struct sim_key_watch *w = sim_keys_watched(c->sim);

	if (w->opened)
		return "ports were open";
	if (c->key_files && key_files_locked_out(c->key_files))
		return "ports were locked out";
	return w->level ? "good" : "not watched";
}

void control_keys(const struct control *c, FILE *out)
{
	const struct sim_key_watch *w = sim_keys_watched(c->sim);
	struct sim_m_key has;

	fprintf(out, "%s\nlevel %u\nlooks %llu\nopened %llu\n", keys_verdict(c), w->level,
		(unsigned long long)w->looks, (unsigned long long)w->opened);
	for (unsigned i = 0; i < w->opened && i < SIM_OPENED_MAX; i++)
		show_opened(c, &w->first[i], out);
	if (c->key_files)
		key_files_show(c->key_files, out);
	for (int i = 0; i < (int)sim_n_nodes(c->sim); i++) {
		for (unsigned p = 0; p <= sim_node_ports(c->sim, i); p++) {
			if (!sim_port_m_key(c->sim, i, p, &has))
				continue;
			fprintf(out, "port 0x%016llx 0x%016llx %u %u %u %s %u\n",
				(unsigned long long)has.guid, (unsigned long long)has.key,
				has.protect, has.lease, has.violations, sim_node_id(c->sim, i), p);
		}
	}
}

/* An external port of a switch: all that its blocks hold. */
static void show_switch_pkeys(const struct control *c, int node, unsigned port, FILE *out)
{
	uint8_t block[SMP_DATA_SIZE];

	for (unsigned b = 0;
	     sim_read(c->sim, node, IB_ATTR_PKEY_TABLE, port << 16 | b, block) == 0; b++) {
		for (unsigned at = 0; at < SMP_DATA_SIZE * 8; at += 16) {
			unsigned key = (unsigned)ib_bits_get(block, at, 16);

			if (key)
				fprintf(out, " 0x%04x", key);
		}
	}
}

static void show_end_port_pkeys(const struct control *c, int node, unsigned port, FILE *out)
{
	uint8_t info[SMP_DATA_SIZE] = { 0 };

	sim_read(c->sim, node, IB_ATTR_NODE_INFO, 0, info);
	for (unsigned i = 0; i < ib_get(info, NI_PARTITION_CAP); i++) {
		unsigned key = sim_port_pkey(c->sim, node, port, i);

		if (key)
			fprintf(out, " 0x%04x", key);
	}
}

void control_pkeys(const struct control *c, FILE *out)
{
	struct sim_m_key end;

	for (int i = 0; i < (int)sim_n_nodes(c->sim); i++) {
		for (unsigned p = 0; p <= sim_node_ports(c->sim, i); p++) {
			bool is_end = sim_port_m_key(c->sim, i, p, &end);

			if (p == 0 && !is_end)
				continue;
			fprintf(out, "%s %u", sim_node_id(c->sim, i), p);
			(is_end ? show_end_port_pkeys : show_switch_pkeys)(c, i, p, out);
			fputc('\n', out);
		}
	}
}

void control_state(const struct control *c, FILE *out)
{
	for (int i = 0; i < (int)sim_n_nodes(c->sim); i++)
		fprintf(out, "%s %016llx\n", sim_node_id(c->sim, i),
			(unsigned long long)sim_node_fingerprint(c->sim, i));
}

void control_nodes(const struct control *c, FILE *out)
{
	uint8_t desc[SMP_DATA_SIZE];
	char text[SMP_DATA_SIZE + 1];

	for (int i = 0; i < (int)sim_n_nodes(c->sim); i++) {
		sim_read(c->sim, i, IB_ATTR_NODE_DESC, 0, desc);
		fprintf(out, "%d\t%s\t0x%016llx\t%u\t%s\n", i, sim_node_id(c->sim, i),
			(unsigned long long)sim_node_guid(c->sim, i), sim_node_ports(c->sim, i),
			str_printable(desc, sizeof(desc), text, sizeof(text)));
	}
}
