// SPDX-License-Identifier: BSD-2-Clause
/*
 * dump_portguid: GUIDs of ports of nodes that one of several expressions fits, by description.
 *
 * An expression can take any time and any memory: descriptions are matched by a worker, and what
 * makes the C library's matcher explode (nested repetition counts, back-references) is refused.
 */
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <string.h>

#include "console/console_internal.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/str.h"
#include "view/view.h"

#define MAX_EXPRESSIONS	     32
#define MAX_EXPRESSION_BYTES 256

struct guid_row {
	guid_t guid;
	uint32_t node; /* index into nodes of the view */
};

struct guid_list {
	struct view *view; /* NULL: it is not whole yet; one reference */
	struct guid_row *rows;
	size_t n, cap;
	regex_t expressions[MAX_EXPRESSIONS];
	unsigned n_expressions;
	char *path; /* NULL: to the session */
};

static void drop_list(void *snapshot)
{
	struct guid_list *l = snapshot;

	for (unsigned i = 0; i < l->n_expressions; i++)
		regfree(&l->expressions[i]);
	view_unref(l->view);
	free(l->rows);
	free(l->path);
	free(l);
}

/* ---- the list ------------------------------------------------------------------------------ */

static void add_guid(struct guid_list *l, guid_t guid, uint32_t node)
{
	if (!guid)
		return;
	GROW(l->rows, l->n + 1, l->cap);
	l->rows[l->n++] = (struct guid_row){ guid, node };
}

/*
 * Adds GUIDs that hosts requested, which no view has: entry 0 of the first block is the port's own.
 */
static void add_aliases(struct guid_list *l, const struct fabric *f, const struct view_port *vp)
{
	const struct port *p = fabric_find_port(f, vp->guid);

	for (unsigned block = 0; p && p->tables[TABLE_GUIDS] && block < p->tables[TABLE_GUIDS]->n;
	     block++) {
		const uint8_t *guids = fabric_cell(f, p, TABLE_GUIDS, block);

		for (unsigned i = block ? 0 : 1; guids && i < GUIDS_PER_BLOCK; i++)
			add_guid(l, ib_bits_get(guids, i * 64, 64), vp->node);
	}
}

/* The order of the peer's map: GUIDs in wire order, read by a little-endian machine. */
static int by_wire(const void *a, const void *b)
{
	uint64_t x = __builtin_bswap64(((const struct guid_row *)a)->guid);
	uint64_t y = __builtin_bswap64(((const struct guid_row *)b)->guid);

	return (x > y) - (x < y);
}

static void fill_list(void *snapshot, struct view *v, const struct sm *sm)
{
	struct guid_list *l = snapshot;

	l->view = v;
	for (uint32_t i = 0; i < l->view->n_ports; i++) {
		const struct view_port *p = &l->view->ports[i];

		if (!p->guid || !p->known)
			continue;
		add_guid(l, p->guid, p->node);
		add_aliases(l, sm_fabric(sm), p);
	}
}

/* ---- on the worker ------------------------------------------------------------------------- */

static bool fits_any(const struct guid_list *l, const char *name)
{
	for (unsigned i = 0; i < l->n_expressions; i++)
		if (!regexec(&l->expressions[i], name, 0, NULL, 0))
			return true;
	return false;
}

static void print_rows(struct guid_list *l, FILE *out)
{
	_cleanup_free_ bool *chosen = xcalloc(l->view->n_nodes + 1u, sizeof(*chosen));

	for (uint32_t i = 0; i < l->view->n_nodes; i++)
		chosen[i] = fits_any(l, view_node_name(l->view, &l->view->nodes[i]));
	qsort(l->rows, l->n, sizeof(*l->rows), by_wire);
	for (size_t i = 0; i < l->n; i++)
		if (chosen[l->rows[i].node] && (!i || l->rows[i].guid != l->rows[i - 1].guid))
			fprintf(out, "0x%" PRIx64 "\n", l->rows[i].guid);
}

/* 0 or -errno. */
static int write_file(struct guid_list *l)
{
	struct file_replace *f = file_replace_open(l->path, false);

	if (!f)
		return -errno;
	print_rows(l, file_replace_stream(f));
	return file_replace_commit(f, false);
}

static void print_list(void *snapshot, FILE *out)
{
	struct guid_list *l = snapshot;
	int r = l->path ? write_file(l) : 0;

	if (r < 0)
		fprintf(out, "Could not open file %s: %s\n", l->path, strerror(-r));
	if (r < 0 || !l->path)
		print_rows(l, out);
}

/* ---- the line ------------------------------------------------------------------------------ */

/* Has the pattern at most one repetition count, of two digits, and no back references? */
static bool is_harmless(const char *text)
{
	unsigned counts = 0;

	if (strlen(text) > MAX_EXPRESSION_BYTES)
		return false;
	for (const char *at = text; *at; at++) {
		if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
			return false;
		counts += *at == '{';
		if (*at == '{' && strspn(at + 1, "0123456789,") > 5)
			return false;
	}
	return counts <= 1;
}

static void add_expression(struct console *c, struct guid_list *l, const char *text)
{
	char shown[MAX_EXPRESSION_BYTES];

	if (l->n_expressions < MAX_EXPRESSIONS && is_harmless(text) &&
	    !regcomp(&l->expressions[l->n_expressions], text, REG_EXTENDED | REG_NOSUB))
		l->n_expressions++;
	else
		fprintf(c->out, "Cannot parse regular expression '%s'. Skipping\n",
			str_printable(text, strlen(text), shown, sizeof(shown)));
}

/* Below dump_files_dir, by its plain name or by its whole path; else NULL, and printed. */
static char *allowed_path(struct console *c, const char *name)
{
	const char *dir = c->config.api->conf->dump_files_dir;
	size_t len = strlen(dir);
	const char *plain = name;

	while (len && dir[len - 1] == '/')
		len--;
	if (!strncmp(name, dir, len) && name[len] == '/')
		plain = name + len + 1;
	if (!strchr(plain, '/') && plain[0] != '.' && plain[0])
		return xasprintf("%.*s/%s", (int)len, dir, plain);
	fprintf(c->out, "Could not open file %s: only files right below %.*s/ are written\n", name,
		(int)len, dir);
	return NULL;
}

static void read_line(struct console *c, struct guid_list *l, struct console_words *w)
{
	const char *word;

	while ((word = console_word(w))) {
		if (strcmp(word, "file")) {
			add_expression(c, l, word);
			continue;
		}
		word = console_word(w);
		if (!word) {
			fputs("No file name passed\n", c->out);
		} else if (console_may(c, "dump_portguid file")) {
			free(l->path);
			l->path = allowed_path(c, word);
		}
	}
}

void console_dump_portguid(struct console *c, struct console_words *w, mono_t now)
{
	struct sm *sm = console_sm(c);
	struct sm_flags flags;
	struct guid_list *l;

	if (!sm)
		return;
	sm_flags(sm, &flags);
	if (flags.starting || flags.first_sweep || !sm_fabric(sm)->own_port) {
		fputs("Subnet is not ready yet. Try again later\n", c->out);
		return;
	}
	l = xcalloc(1, sizeof(*l));
	read_line(c, l, w);
	if (!l->n_expressions) {
		fputs("No valid expression provided. Aborting\n", c->out);
		drop_list(l);
		return;
	}
	console_print_view(c, &(struct console_viewer){ .snapshot = l,
							.copied = fill_list,
							.print = print_list,
							.drop = drop_list });
}
