// SPDX-License-Identifier: BSD-2-Clause
/* The status (console.md 3), line by line as scripts read it, once or repeatedly. */
#include <inttypes.h>
#include <string.h>

#include "console/console_internal.h"
#include "sa/sa.h"

#define LOOP_INTERVAL (3 * MONO_S)
#define LOOP_HINT     "use \"q<ret>\" to quit loop\n"

static const char *state_name(enum sm_state state)
{
	switch (state) {
	case SM_NOT_ACTIVE:
		return "Not Active ";
	case SM_DISCOVERING:
		return "Discovering";
	case SM_STANDBY:
		return "Standby    ";
	case SM_MASTER:
		return "Master     ";
	}
	return "UNKNOWN    ";
}

static void print_perfmgr(struct console *c)
{
	const struct perf_status *st = perf_status(c->config.api->perf);

	fprintf(c->out, "   PerfMgr state/sweep state : %s/%s\n\n", console_perf_state(st),
		console_perf_sweep(st));
}

static void print_plugins(struct console *c)
{
	const struct plugins *ps = c->config.plugins;
	const char *name = ps ? plugins_name(ps, 0) : NULL;

	fputs("   Loaded event plugins :", c->out);
	for (unsigned i = 0; name; name = plugins_name(ps, ++i))
		fprintf(c->out, " %s", name);
	fputs(ps && plugins_name(ps, 0) ? "\n\n" : " <none>\n\n", c->out);
}

static void print_manager(struct console *c, const struct sm *sm, const struct sm_flags *flags)
{
	const struct routes *routes = sm_routes(sm);

	fprintf(c->out,
		"   OpenSM Version       : OpenSM %s\n"
		"   SM State             : %s\n"
		"   SM Priority          : %u\n"
		"   SA State             : %s\n"
		"   Routing Engine       : %s\n",
		c->config.api->version, state_name(sm_state(sm)), sm_priority(sm),
		flags->serving ? "Ready" : "Init", routes ? routes->engine : "none");
	print_plugins(c);
	print_perfmgr(c);
}

static void print_mads(struct console *c, const struct sm *sm)
{
	const struct mad_engine *mad = sm_mad(sm);
	const struct sa_stats *sa = sa_stats(sm_sa(sm));
	uint64_t asked = mad_sent(mad, MAD_GET) + mad_sent(mad, MAD_SET), answered = 0, strays = 0;
	const struct mad_count *counts;
	unsigned n;

	counts = mad_counts(mad, &n);
	for (unsigned i = 0; i < n; i++)
		answered += counts[i].answered + counts[i].bad_status;
	for (enum mad_stray why = 0; why < MAD_STRAYS; why++)
		strays += mad_strays(mad)[why];
	fprintf(c->out,
		"   MAD stats\n"
		"   ---------\n"
		"   QP0 MADs outstanding           : %u\n"
		"   QP0 MADs outstanding (on wire) : %u\n"
		"   QP0 MADs rcvd                  : %" PRIu64 "\n"
		"   QP0 MADs sent                  : %" PRIu64 "\n"
		"   QP0 unicasts sent              : %" PRIu64 "\n"
		"   QP0 unknown MADs rcvd          : %" PRIu64 "\n"
		"   SA MADs outstanding            : %u\n"
		"   SA MADs rcvd                   : %" PRIu64 "\n"
		"   SA MADs sent                   : %" PRIu64 "\n"
		"   SA unknown MADs rcvd           : 0\n"
		"   SA MADs ignored                : %" PRIu64 "\n\n",
		mad_pending(mad), mad_on_wire(mad), answered, mad_sent(mad, 0),
		mad_sent(mad, 0) - asked, strays, sa->queries, sa->requests,
		sa->answered + sa->refused, sa->dropped);
}

static void print_flags(struct console *c, const struct sm *sm, const struct sm_flags *flags)
{
	fprintf(c->out,
		"   Subnet flags\n"
		"   ------------\n"
		"   Sweeping enabled               : %d\n"
		"   Sweep interval (seconds)       : %u\n"
		"   Ignore existing lfts           : 0\n" /* LFTs are kept if they are correct */
		"   Subnet Init errors             : %d\n"
		"   In sweep hop 0                 : %d\n"
		"   First time master sweep        : %d\n"
		"   Coming out of standby          : %d\n\n",
		sm_sweeping_enabled(sm), (unsigned)sm_conf(sm)->sweep_interval, flags->init_errors,
		flags->starting, flags->first_sweep, flags->from_standby);
}

static void print_managers(struct console *c, const struct sm *sm)
{
	const struct port *own = sm_fabric(sm)->own_port;
	struct sm_manager m;

	fputs("   Known SMs\n"
	      "   ---------\n"
	      "   Port GUID       SM State    Priority\n"
	      "   ---------       --------    --------\n",
	      c->out);
	fprintf(c->out, "   0x%" PRIx64 " %s %u        SELF\n", own ? own->guid : 0,
		state_name(sm_state(sm)), sm_priority(sm));
	for (unsigned i = 0; sm_manager_at(sm, i, &m); i++)
		fprintf(c->out, "   0x%" PRIx64 " %s %u\n", m.guid,
			m.known ? state_name(m.state) : "UNKNOWN    ", m.priority);
	fputs("\n", c->out);
}

static void print_status(struct console *c)
{
	struct sm *sm = console_sm(c);
	struct sm_flags flags;

	if (!sm)
		return;
	sm_flags(sm, &flags);
	print_manager(c, sm, &flags);
	print_mads(c, sm);
	print_flags(c, sm, &flags);
	print_managers(c, sm);
}

/* ---- status loop --------------------------------------------------------------------------- */

void console_status(struct console *c, struct console_words *w, mono_t now)
{
	const char *how = console_word(w);

	if (how && strcmp(how, "loop")) {
		c->help = "status";
	} else if (!how) {
		print_status(c);
	} else {
		c->looping = true;
		fputs("Looping on status command...\n", c->out);
		console_status_again(c, now);
	}
}

void console_status_again(struct console *c, mono_t now)
{
	c->loop_at = now + LOOP_INTERVAL;
	print_status(c);
	fputs(LOOP_HINT, c->out);
}

void console_status_hint(struct console *c, struct console_words *w)
{
	const char *word = console_word(w);

	c->looping = !word || strcmp(word, "q") != 0;
	if (c->looping)
		fputs(LOOP_HINT, c->out);
}
