// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page of the fabric for a browser, without scripts from elsewhere: as one file
 * (opensmctl report), or served and living (opensm-rest).
 *
 * compact.c makes the daemon's documents small; the scripts and the style, which the build turns
 * into texts, show them. What devices say of themselves stays data: it is never a part of the
 * page's markup or scripts.
 */
#pragma once

#include <stdio.h>

#include "client/js.h"

/*
 * Topology as arrays: {"nodes": [[name, guid, type, ports, lid]], "links": [[node, port, node,
 * port, kind, state, state, why, why]], "kinds", "states", "why"}. Names and reasons occur once.
 * Type 0: host, 1: switch, 2: router, 3: left the fabric.
 */
struct json_object *page_compact(struct json_object *topology);
/*
 * CableHistory as arrays: {"since", "errors_counted", "facts": ["up"], "texts", "cables": [[seconds
 * since 1970, fact, count, text, guid, port, guid, port]]}.
 */
struct json_object *page_compact_history(struct json_object *history);
/* Status before and after the others were asked for: the fabric has changed in between. */
bool page_is_mixed(struct json_object *before, struct json_object *after);

/*
 * A text that is another one when the fabric or its tables are, from Status; the caller's. `status`
 * NULL, or of a manager without a subnet: "".
 */
char *page_key(struct json_object *status);

/* Documents of the daemon that are in the page as they are. */
struct page_part {
	const char *member, *method;
	bool is_small; /* asked for again whenever something happens */
	bool is_secret; /* for administrators alone */
};
extern const struct page_part page_parts[]; /* ends with a row without a member */

/*
 * Writes `o` for a <script> element: every <, > and & is escaped, so that no text in it can end the
 * element.
 */
void page_write_json(FILE *out, struct json_object *o);

/* The page as it is served: it loads /page.css and /page.js; the caller's. */
char *page_served(void);

extern const char page_js[], page_css[], page_html[]; /* page.html: what is fixed */
