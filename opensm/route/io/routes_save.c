// SPDX-License-Identifier: BSD-2-Clause
/* A line with kind and version, then topo and routes in the format of util/pack.h. */
#include "route/io/routes_save.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "route/io/routes_pack.h"
#include "topo/topo_pack.h"
#include "util/mem.h"

#define TITLE "opensm " PACKAGE_VERSION " tables\n"

int routes_save(const struct routes *r, FILE *out)
{
	struct pack p = { 0 };
	bool ok;

	pack_bytes(&p, TITLE, strlen(TITLE));
	topo_pack(r->topo, NULL, &p);
	routes_pack(r, NULL, &p);
	errno = EIO;
	ok = fwrite(p.bytes, 1, p.n, out) == p.n;
	free(p.bytes);
	return ok ? 0 : -errno;
}

struct routes *routes_restore(const void *bytes, size_t n, char *why, size_t why_len)
{
	_cleanup_(topo_unrefp) struct topo *t = NULL;
	struct unpack u = { .at = bytes, .left = n };
	char title[sizeof(TITLE)] = "";
	struct routes *r;

	unpack_bytes(&u, title, sizeof(TITLE) - 1);
	if (u.bad || strcmp(title, TITLE) != 0)
		return route_refuse(why, why_len, "it does not begin with the line \"%.*s\"",
				    (int)strlen(TITLE) - 1, TITLE);
	t = topo_unpack(&u, NULL);
	r = t ? routes_unpack(&u, t, NULL) : NULL;
	if (!r || u.left) {
		snprintf(why, why_len, "it is damaged at byte %zu of %zu", n - u.left, n);
		routes_unref(r);
		return NULL;
	}
	return r;
}
