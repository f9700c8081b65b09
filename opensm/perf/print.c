// SPDX-License-Identifier: BSD-2-Clause
/* The texts about counters as OpenSM writes them (files.md 7, console.md 6), byte for byte. */
#include <assert.h>
#include <inttypes.h>
#include <time.h>

#include "perf/perf_internal.h"
#include "util/mem.h"

#define TIME_STRLEN 32

#define PERF_TEXT_(NAME, text, field, other) text,
static const char *const error_names[PERF_ERRORS] = { PERF_ERROR_LIST(PERF_TEXT_) };
static const char *const data_names[PERF_DATA] = { PERF_DATA_LIST(PERF_TEXT_) };

const char *perf_error_name(enum perf_error e)
{
	assert(e < PERF_ERRORS);
	return error_names[e];
}

/* As ctime() without its newline. */
static char *time_text(int64_t seconds, char ret[TIME_STRLEN])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(ret, TIME_STRLEN, "%a %b %e %H:%M:%S %Y", &tm))
		ret[0] = '\0';
	return ret;
}

static void put_time(const char *what, int64_t at, FILE *out)
{
	char text[TIME_STRLEN];

	fprintf(out, "     %-21s: %s\n", what, time_text(at, text));
}

/* Ports of a node that have been read. */
#define EACH_PORT(n, num)                                                                          \
	(unsigned num = (n)->has_port0 ? 0 : 1; num <= (n)->n_ports; num++)                        \
		if ((n)->ports[num].valid)

/* The beginning of a port's block: its place, and its error counters, or those that are not 0. */
static void put_errors(const struct perf_node *n, unsigned port, bool all, FILE *out)
{
	const struct perf_port *p = &n->ports[port];

	fprintf(out, "\"%s\" 0x%" PRIx64 " active %s port %u\n", n->name, n->guid,
		n->active ? "TRUE" : "FALSE", port);
	put_time("Last Reset", p->reset_at, out);
	put_time("Last Error Update", p->errors_at, out);
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		if (all || p->errors[i])
			fprintf(out, "     %-21s: %" PRIu64 "\n", error_names[i], p->errors[i]);
}

/* "48600 (189.844KB)": data in octets, four times what the counter says; packets as they are. */
static void put_data(enum perf_data d, uint64_t value, FILE *out)
{
	static const char units[] = " KMGTPE";
	bool is_octets = d == PERF_XMIT_DATA || d == PERF_RCV_DATA;
	double shown = is_octets ? 4.0 * (double)value : (double)value;
	unsigned unit = 0;

	while (shown > 1024 && unit < sizeof(units) - 2) {
		shown /= 1024;
		unit++;
	}
	fprintf(out, "     %-21s: %" PRIu64 " (%5.3f", data_names[d], value, shown);
	if (unit)
		putc(units[unit], out);
	fprintf(out, "%s)\n", is_octets ? "B" : "");
}

void perf_print_node(const struct perf_node *node, int port, FILE *out)
{
	assert(node && port <= 255);
	for EACH_PORT(node, num) {
		const struct perf_port *p = &node->ports[num];

		if (port >= 0 && (unsigned)port != num)
			continue;
		put_errors(node, num, true, out);
		put_time("Last Data Update", p->data_at, out);
		for (unsigned i = 0; i < PERF_DATA; i++)
			put_data(i, p->data[i], out);
	}
}

bool perf_any_error(const uint64_t errors[PERF_ERRORS])
{
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		if (errors[i])
			return true;
	return false;
}

void perf_print_errors(const struct perf_node *node, FILE *out)
{
	for EACH_PORT(node, num)
		if (perf_any_error(node->ports[num].errors))
			put_errors(node, num, false, out);
}

static void machine_head(FILE *out)
{
	fputs("\nName\tGUID\tActive\tPort\tLast Reset\tLast Error Update\tLast Data Update", out);
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		fprintf(out, "\t%s", i == PERF_LINK_INTEGRITY ? "link_int_err" : error_names[i]);
	for (unsigned i = 0; i < PERF_DATA; i++)
		fprintf(out, "\t%s", data_names[i]);
	putc('\n', out);
}

static void machine_port(const struct perf_node *n, unsigned num, FILE *out)
{
	const struct perf_port *p = &n->ports[num];
	char reset[TIME_STRLEN], errors[TIME_STRLEN], data[TIME_STRLEN];

	fprintf(out, "%s\t0x%" PRIx64 "\t%s\t%u\t%s\t%s\t%s", n->name, n->guid,
		n->active ? "TRUE" : "FALSE", num, time_text(p->reset_at, reset),
		time_text(p->errors_at, errors), time_text(p->data_at, data));
	for (unsigned i = 0; i < PERF_ERRORS; i++)
		fprintf(out, "\t%" PRIu64, p->errors[i]);
	for (unsigned i = 0; i < PERF_DATA; i++)
		fprintf(out, "\t%" PRIu64, p->data[i]);
	putc('\n', out);
}

void perf_print_machine(const struct perf_node *n, FILE *out)
{
	machine_head(out);
	for EACH_PORT(n, num)
		machine_port(n, num, out);
}

void perf_print_all(const struct perf *p, bool machine, FILE *out)
{
	const struct perf_node *n;

	for (unsigned i = 0; (n = perf_node_at(p, i)); i++) {
		if (machine)
			perf_print_machine(n, out);
		else
			perf_print_node(n, -1, out);
	}
}
