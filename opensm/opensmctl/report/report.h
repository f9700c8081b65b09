// SPDX-License-Identifier: BSD-2-Clause
/*
 * A report of the fabric: one file for a browser, without network and without scripts from
 * elsewhere.
 *
 * ../report.c asks the daemon and writes the page; compact.c makes the Topology document small;
 * report.js and report.css, which the build turns into texts, show it. What devices say of
 * themselves stays data: it is never a part of the page's markup or scripts.
 */
#pragma once

#include <stdio.h>

#include "opensmctl/format/js.h"

/*
 * Topology as arrays: {"nodes": [[name, guid, type, ports, lid]], "links": [[node, port, node,
 * port, kind, state, state, why, why]], "kinds", "states", "why"}. Names and reasons occur once.
 */
struct json_object *report_compact(struct json_object *topology);
/* Status before and after the others were asked for: the fabric has changed in between. */
bool report_is_mixed(struct json_object *before, struct json_object *after);
/*
 * Writes `o` for a <script> element: every <, > and & is escaped, so that no text in it can end the
 * element.
 */
void report_write_json(FILE *out, struct json_object *o);

extern const char report_js[], report_css[], report_html[]; /* report.html: what is fixed */
