// SPDX-License-Identifier: BSD-2-Clause
/* Documents in a tenth of their size: a cable is one row, and texts are numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "page/page.h"
#include "util/mem.h"

/* Texts by number; number 0 is "". */
struct words {
	struct json_object *list, *by_text;
};

struct compact {
	struct json_object *by_guid; /* node GUID: index of the node */
	struct json_object *nodes;   /* rows of nodes */
	struct json_object *links;
	struct words kinds, states, why;
};

/* Types of nodes in a row. */
enum { ROW_HOST, ROW_SWITCH, ROW_ROUTER, ROW_GONE };

static void words_init(struct words *w)
{
	w->list = json_object_new_array();
	w->by_text = json_object_new_object();
	json_object_array_add(w->list, json_object_new_string(""));
}

static int64_t number_of(struct words *w, const char *text)
{
	int64_t n = (int64_t)js_len(w->list);

	if (!text[0])
		return 0;
	if (js_has(w->by_text, text))
		return js_int(w->by_text, text);
	json_object_object_add(w->by_text, text, json_object_new_int64(n));
	json_object_array_add(w->list, json_object_new_string(text));
	return n;
}

/* The list, which is the caller's. */
static struct json_object *words_end(struct words *w)
{
	json_object_put(w->by_text);
	return w->list;
}

static void add_int(struct json_object *row, int64_t n)
{
	json_object_array_add(row, json_object_new_int64(n));
}

static void add_row(struct compact *c, const char *name, const char *guid, int64_t type,
		    int64_t n_ports, int64_t lid)
{
	struct json_object *row = json_object_new_array();

	json_object_object_add(c->by_guid, guid,
			       json_object_new_int64((int64_t)js_len(c->nodes)));
	json_object_array_add(row, json_object_new_string(name));
	json_object_array_add(row, json_object_new_string(guid));
	add_int(row, type);
	add_int(row, n_ports);
	add_int(row, lid);
	json_object_array_add(c->nodes, row);
}

static void add_node(struct compact *c, struct json_object *node)
{
	const char *type = js_str(node, "type");
	struct json_object *ports = js_get(node, "ports");
	int64_t lid = js_int(node, "lid");

	for (size_t i = 0; !lid && i < js_len(ports); i++)
		lid = js_int(js_at(ports, i), "lid");
	add_row(c, js_str(node, "name"), js_str(node, "node_guid"),
		!strcmp(type, "switch") ? ROW_SWITCH :
		!strcmp(type, "router") ? ROW_ROUTER :
					  ROW_HOST,
		js_int(node, "n_ports"), lid);
}

/* "4x NDR 400|NDR": as it runs, and the fastest speed that is enabled. */
static int64_t kind_of(struct compact *c, struct json_object *port)
{
	char text[100];

	if (!js_int(port, "width"))
		return 0;
	snprintf(text, sizeof(text), "%dx %.10s %g|%.10s", (int)js_int(port, "width"),
		 js_str(port, "speed"), js_num(port, "gbps"), js_str(port, "speed_enabled"));
	return number_of(&c->kinds, text);
}

/* The port with this number of a node; NULL: none. */
static struct json_object *port_of(struct json_object *node, int64_t num)
{
	struct json_object *ports = js_get(node, "ports");
	size_t n = js_len(ports);

	/* Ports come in order, of a switch all of them. */
	if (num > 0 && (size_t)num <= n && js_int(js_at(ports, (size_t)num - 1), "port") == num)
		return js_at(ports, (size_t)num - 1);
	for (size_t i = 0; i < n; i++)
		if (js_int(js_at(ports, i), "port") == num)
			return js_at(ports, i);
	return NULL;
}

/* -1: there is no such node. */
static int64_t index_of(struct compact *c, const char *guid)
{
	return js_has(c->by_guid, guid) ? js_int(c->by_guid, guid) : -1;
}

/*
 * The node at the other end of a cable that fell: one that is there, or one that left, which gets a
 * row of its own at its first port. -1: not known.
 */
static int64_t former_end(struct compact *c, struct json_object *gone)
{
	const char *guid = js_str(gone, "node_guid");

	if (!guid[0])
		return -1;
	if (index_of(c, guid) < 0)
		add_row(c, js_str(gone, "name"), guid, ROW_GONE, 0, 0);
	return index_of(c, guid);
}

/*
 * A port without a cable is a row where it has something to say: it is not down, or its cable fell.
 * A cable that fell between two nodes that are there is written at the end of lower number.
 */
static void add_open(struct compact *c, int64_t a, struct json_object *port)
{
	const char *state = js_str(port, "state");
	struct json_object *gone = js_get(port, "was_cabled_to"), *row;
	int64_t b = gone ? former_end(c, gone) : -1;

	if (b < 0 && (!state[0] || !strcmp(state, "down")))
		return;
	if (b >= 0 && b < a)
		return;
	row = json_object_new_array();
	add_int(row, a);
	add_int(row, js_int(port, "port"));
	add_int(row, b);
	add_int(row, b < 0 ? 0 : js_int(gone, "port"));
	add_int(row, kind_of(c, port));
	add_int(row, number_of(&c->states, state));
	add_int(row, b < 0 ? 0 : number_of(&c->states, "down"));
	add_int(row, number_of(&c->why, js_str(port, "why_not")));
	json_object_array_add(c->links, row);
}

static void add_link(struct compact *c, struct json_object *nodes, int64_t a,
		     struct json_object *port)
{
	struct json_object *end = js_get(port, "peer"), *far, *row;
	int64_t b = index_of(c, js_str(end, "node_guid")), ap = js_int(port, "port");
	int64_t bp = js_int(end, "port"), why_a, why_b;

	/* The end of lower number writes the row; a cable from a node to itself as well. */
	if (b < 0 || b < a || (b == a && bp < ap))
		return;
	far = port_of(js_at(nodes, (size_t)b), bp);
	row = json_object_new_array();
	add_int(row, a);
	add_int(row, ap);
	add_int(row, b);
	add_int(row, bp);
	add_int(row, kind_of(c, port));
	add_int(row, number_of(&c->states, js_str(port, "state")));
	add_int(row, number_of(&c->states, js_str(far, "state")));
	why_a = number_of(&c->why, js_str(port, "why_not"));
	why_b = number_of(&c->why, js_str(far, "why_not"));
	if (why_a || why_b)
		add_int(row, why_a);
	if (why_b)
		add_int(row, why_b);
	json_object_array_add(c->links, row);
}

static void add_links(struct compact *c, struct json_object *nodes, size_t a)
{
	struct json_object *ports = js_get(js_at(nodes, a), "ports");

	for (size_t i = 0; i < js_len(ports); i++) {
		struct json_object *port = js_at(ports, i);

		if (js_get(port, "peer"))
			add_link(c, nodes, (int64_t)a, port);
		else
			add_open(c, (int64_t)a, port);
	}
}

/* Aggregation nodes are parts of their switches. */
static struct json_object *nodes_to_draw(struct json_object *topology)
{
	struct json_object *all = js_get(topology, "nodes"), *ret = json_object_new_array();

	for (size_t i = 0; i < js_len(all); i++)
		if (strcmp(js_str(js_at(all, i), "role"), "aggregation") != 0)
			json_object_array_add(ret, json_object_get(js_at(all, i)));
	return ret;
}

struct json_object *page_compact(struct json_object *topology)
{
	struct json_object *nodes = nodes_to_draw(topology), *ret = json_object_new_object();
	struct compact c = { .by_guid = json_object_new_object(),
			     .nodes = json_object_new_array(),
			     .links = json_object_new_array() };

	words_init(&c.kinds);
	words_init(&c.states);
	words_init(&c.why);
	for (size_t i = 0; i < js_len(nodes); i++)
		add_node(&c, js_at(nodes, i));
	for (size_t i = 0; i < js_len(nodes); i++)
		add_links(&c, nodes, i);
	json_object_object_add(ret, "nodes", c.nodes);
	json_object_object_add(ret, "links", c.links);
	json_object_object_add(ret, "kinds", words_end(&c.kinds));
	json_object_object_add(ret, "states", words_end(&c.states));
	json_object_object_add(ret, "why", words_end(&c.why));
	json_object_put(c.by_guid);
	json_object_put(nodes);
	return ret;
}

/* ---- history --------------------------------------------------------------------------------- */

static void add_end(struct json_object *row, struct json_object *end)
{
	json_object_array_add(row, json_object_new_string(js_str(end, "node_guid")));
	add_int(row, js_int(end, "port"));
}

/* "2026-11-22T05:40:00.123456Z" in seconds since 1970; 0: it is no time. */
static int64_t seconds_of(const char *text)
{
	struct tm tm = { 0 };

	return strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) ? (int64_t)timegm(&tm) : 0;
}

static struct json_object *history_row(struct json_object *cable, struct words *facts,
				       struct words *texts)
{
	struct json_object *row = json_object_new_array(), *ends = js_get(cable, "ends");

	add_int(row, seconds_of(js_str(cable, "time")));
	add_int(row, number_of(facts, js_str(cable, "fact")));
	add_int(row, js_int(cable, "count"));
	add_int(row, number_of(texts, js_str(cable, "text")));
	for (size_t i = 0; i < js_len(ends); i++)
		add_end(row, js_at(ends, i));
	return row;
}

struct json_object *page_compact_history(struct json_object *history)
{
	struct json_object *cables = js_get(history, "cables"), *ret, *rows;
	struct words facts, texts;

	if (!cables)
		return json_object_get(history);
	ret = json_object_new_object();
	rows = json_object_new_array();
	words_init(&facts);
	words_init(&texts);
	for (size_t i = 0; i < js_len(cables); i++)
		json_object_array_add(rows, history_row(js_at(cables, i), &facts, &texts));
	json_object_object_add(ret, "since", json_object_get(js_get(history, "since")));
	json_object_object_add(ret, "errors_counted",
			       json_object_get(js_get(history, "errors_counted")));
	json_object_object_add(ret, "facts", words_end(&facts));
	json_object_object_add(ret, "texts", words_end(&texts));
	json_object_object_add(ret, "cables", rows);
	return ret;
}

/* ---- parts ----------------------------------------------------------------------------------- */

const struct page_part page_parts[] = {
	{ "alarms", "Alarms", true, false },	  { "marks", "Marks", true, false },
	{ "health", "Health", true, false },	  { "traffic", "Traffic", true, false },
	{ "managers", "Managers", true, false },  { "events", "Events", false, false },
	{ "drift", "Drift", false, false },	  { "security", "Security", false, true },
	{ 0 },
};

char *page_served(void)
{
	return xasprintf("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			 "<meta name=\"viewport\" content=\"width=device-width, "
			 "initial-scale=1\">\n"
			 "<link rel=\"icon\" href=\"data:,\">\n<title>Fabric</title>\n"
			 "<link rel=\"stylesheet\" href=\"/page.css\">\n"
			 "<script src=\"/page.js\" defer></script>\n</head>\n%s</body>\n</html>\n",
			 page_html);
}

void page_write_json(FILE *out, struct json_object *o)
{
	const char *text = json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	for (const char *s = text; *s; s++) {
		if (*s == '<' || *s == '>' || *s == '&')
			fprintf(out, "\\u%04x", (unsigned)*s);
		else
			putc(*s, out);
	}
}

/* ---- one moment, or several ------------------------------------------------------------------ */

/* Number of changes of the fabric; -1: the daemon does not report it, or is gone. */
static int64_t edits_of(struct json_object *status)
{
	struct json_object *subnet = json_object_object_get(status, "subnet");
	struct json_object *edits = json_object_object_get(subnet, "edits");

	return edits ? json_object_get_int64(edits) : -1;
}

char *page_key(struct json_object *status)
{
	struct json_object *subnet = js_get(status, "subnet");

	if (!subnet)
		return xstrdup("");
	return xasprintf("%s/%" PRId64 "/%" PRId64, js_str(status, "started"),
			 js_int(subnet, "edits"), js_int(js_get(status, "routing"), "runs"));
}

bool page_is_mixed(struct json_object *before, struct json_object *after)
{
	return edits_of(before) < 0 || edits_of(before) != edits_of(after);
}
