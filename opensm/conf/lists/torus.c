// SPDX-License-Identifier: BSD-2-Clause
/* Reads torus-2QoS.conf. The engine finds out whether the fabric is such a torus. */
#include "conf/lists/torus.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/lists/lists.h"
#include "conf/text/lines.h"
#include "util/mem.h"
#include "util/str.h"

#define BLANKS " \t\r\v\f"

struct reader {
	struct torus_conf *to;
	struct conf_report *report;
	const struct line *line;
	char *rest;	 /* unread text of the line */
	size_t cap;
	bool has_shape, seed_open;
	unsigned faults;
};

struct keyword {
	const char *name;
	void (*read)(struct reader *rd, unsigned which);
	unsigned which;
};

static void complain(struct reader *rd, const char *word, const char *expected)
{
	struct conf_place at = line_place(rd->line, word);
	char quoted[CONF_QUOTE_MAX];

	rd->faults++;
	conf_report_at(rd->report, CONF_ERROR, &at, "%s; expected %s; the file is not used",
		       *word ? conf_quote(word, strlen(word), quoted) : "nothing", expected);
}

static void remark(struct reader *rd, const char *word, const char *what)
{
	struct conf_place at = line_place(rd->line, word);
	char quoted[CONF_QUOTE_MAX];

	conf_report_at(rd->report, CONF_WARNING, &at, "%s %s",
		       conf_quote(word, strlen(word), quoted), what);
}

/* Reads one radix with its suffix. */
static void read_size(struct reader *rd, unsigned dim, bool wraps)
{
	char *word = conf_line_word(&rd->rest);
	size_t len = strlen(word);
	uint64_t size;
	char last = len ? word[len - 1] : '\0';
	bool open = last == 'm' || last == 'M', closed = last == 't' || last == 'T';
	char number[24];

	len -= open || closed;
	if (len < sizeof(number)) {
		memcpy(number, word, len);
		number[len] = '\0';
	}
	if (len >= sizeof(number) || str_to_u64(number, 0, TORUS_SIZE_MAX, &size) < 0) {
		complain(rd, word, "a number of switches, with t for a ring or m for a line");
		return;
	}
	if (!size)
		remark(rd, word, "switches are taken as 1");
	rd->to->size[dim] = size ? (unsigned)size : 1;
	rd->to->wraps[dim] = size > 2 && (closed || (wraps && !open));
}

static void read_shape(struct reader *rd, unsigned wraps)
{
	if (rd->has_shape) {
		complain(rd, rd->line->text + strspn(rd->line->text, BLANKS), "one torus or mesh");
		return;
	}
	rd->has_shape = true;
	for (unsigned dim = 0; dim < 3; dim++)
		read_size(rd, dim, wraps);
}

static struct torus_seed *seed_of(struct reader *rd)
{
	if (!rd->seed_open) {
		GROW(rd->to->seeds, rd->to->n_seeds + 1, rd->cap);
		rd->to->seeds[rd->to->n_seeds++] = (struct torus_seed){ .line = rd->line->at.line };
		rd->seed_open = true;
	}
	return &rd->to->seeds[rd->to->n_seeds - 1];
}

static bool read_guid(struct reader *rd, const char *word, guid_t *ret)
{
	if (str_to_u64(word, 0, UINT64_MAX, ret) == 0 && *ret)
		return true;
	complain(rd, word, "the node GUID of a switch");
	return false;
}

/* Reads a link of a seed; `which`: 2 * dimension, + 1 for minus. */
static void read_link(struct reader *rd, unsigned which)
{
	char *from_word = conf_line_word(&rd->rest), *to_word = conf_line_word(&rd->rest);
	struct torus_seed *seed = seed_of(rd);
	guid_t from, to;

	if (!read_guid(rd, from_word, &from) || !read_guid(rd, to_word, &to))
		return;
	if (seed->from && seed->from != from) {
		complain(rd, from_word, "the same first switch in all links of a seed");
		return;
	}
	if (from == to) {
		complain(rd, to_word, "a neighbour of the first switch");
		return;
	}
	if (seed->to[which / 2][which % 2])
		remark(rd, to_word, "takes the place of an earlier line of this seed");
	seed->from = from;
	seed->to[which / 2][which % 2] = to;
}

static void read_dateline(struct reader *rd, unsigned dim)
{
	char *word = conf_line_word(&rd->rest);
	const char *digits = word + (*word == '-' || *word == '+');
	struct torus_seed *seed = seed_of(rd);
	unsigned size = MAX(rd->to->size[dim], 1u);
	uint64_t number;

	if (str_to_u64(digits, 0, size - 1, &number) < 0) {
		complain(rd, word, "a number between minus and plus the size of the dimension");
		return;
	}
	seed->dateline[dim] = *word == '-' ? -(int)number : (int)number;
}

static void read_next_seed(struct reader *rd, unsigned which)
{
	(void)which;
	rd->seed_open = false;
}

static void read_number(struct reader *rd, unsigned which)
{
	char *word = conf_line_word(&rd->rest);
	uint64_t number;

	if (str_to_u64(word, 0, UINT32_MAX, &number) < 0) {
		complain(rd, word, "a number");
		return;
	}
	*(which ? &rd->to->max_changes : &rd->to->portgroup_max_ports) = (unsigned)number;
}

static void read_order(struct reader *rd, unsigned which)
{
	char *word = conf_line_word(&rd->rest);
	uint64_t port;

	(void)which;
	do {
		if (str_to_u64(word, 0, IB_MAX_PORTS, &port) < 0) {
			complain(rd, word, "numbers of ports");
			return;
		}
		if (!memchr(rd->to->order, (int)port, rd->to->n_order))
			rd->to->order[rd->to->n_order++] = (uint8_t)port;
		word = conf_line_word(&rd->rest);
	} while (*word && *word != '#');
}

static const struct keyword keywords[] = {
	{ "torus", read_shape, true },		{ "mesh", read_shape, false },
	{ "xp_link", read_link, 0 },		{ "xm_link", read_link, 1 },
	{ "yp_link", read_link, 2 },		{ "ym_link", read_link, 3 },
	{ "zp_link", read_link, 4 },		{ "zm_link", read_link, 5 },
	{ "x_dateline", read_dateline, 0 },	{ "y_dateline", read_dateline, 1 },
	{ "z_dateline", read_dateline, 2 },	{ "next_seed", read_next_seed, 0 },
	{ "portgroup_max_ports", read_number, 0 }, { "max_changes", read_number, 1 },
	{ "port_order", read_order, 0 },
};

static void read_line(void *arg, struct line *line)
{
	struct reader *rd = arg;
	char *word;

	rd->line = line;
	rd->rest = line->text;
	word = conf_line_word(&rd->rest);
	if (!*word || *word == '#')
		return;
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++) {
		if (strcmp(word, keywords[i].name) != 0)
			continue;
		if (!rd->has_shape && keywords[i].read != read_shape)
			complain(rd, word, "torus or mesh first");
		else
			keywords[i].read(rd, keywords[i].which);
		return;
	}
	complain(rd, word,
		 "a keyword (torus, mesh, xp_link ..., x_dateline ..., next_seed, "
		 "portgroup_max_ports, "
		 "port_order, max_changes)");
}

int torus_conf_read_text(const char *path, const char *text, size_t len, struct torus_conf **ret,
			 struct conf_report *r)
{
	_cleanup_(torus_conf_freep) struct torus_conf *t = xcalloc(1, sizeof(*t));
	struct reader rd = { .to = t, .report = r };
	int e;

	*ret = NULL;
	t->portgroup_max_ports = 16;
	t->max_changes = 32;
	e = lines_split(path, text, len, r, read_line, &rd);
	if (e < 0)
		return e;
	if (!rd.has_shape && !rd.faults) {
		struct conf_place at = { .file = path };

		rd.faults++;
		conf_report_at(r, CONF_ERROR, &at,
			       "has neither torus nor mesh; the file is not used");
	}
	if (rd.faults)
		return -EINVAL;
	*ret = take(t);
	return 0;
}

struct torus_conf *torus_conf_free(struct torus_conf *t)
{
	if (!t)
		return NULL;
	free(t->seeds);
	free(t);
	return NULL;
}
