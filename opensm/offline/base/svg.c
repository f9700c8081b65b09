// SPDX-License-Identifier: BSD-2-Clause
#include "offline/base/svg.h"

void svg_escaped(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\'': fputs("&#39;", out); break;
		default: fputc(*text >= ' ' && *text <= '~' ? *text : ' ', out);
		}
}

const char *svg_switch_name(const struct topofile *names, const struct topo *t, uint32_t sw)
{
	const char *name = topofile_name(names, t->switches[sw].guid);

	return name ? name : "";
}
