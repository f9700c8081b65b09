// SPDX-License-Identifier: BSD-2-Clause
/* VLs as text, in the formats that ibdmchk reads: files.md 4, routing.md 4.2. */
#include <inttypes.h>

#include "route/io/tablefile.h"

void tablefile_write_psl(const struct routes *r, FILE *out)
{
	const struct topo *t = r->topo;

	for (uint32_t a = 0; a < t->n_hosts; a++)
		for (uint32_t b = 0; b < t->n_hosts; b++)
			for (unsigned k = 0; t->hosts[b].lid && k < 1u << t->hosts[b].lmc; k++) {
				lid_t lid = (lid_t)(t->hosts[b].lid + k);

				if (a == b || t->hosts[a].sw == TOPO_NONE ||
				    t->hosts[b].sw == TOPO_NONE)
					continue;
				fprintf(out, "0x%016" PRIx64 " %u %u\n", t->hosts[a].node_guid, lid,
					sl2vl_sl(r->lanes, t->hosts[a].sw, t->hosts[b].sw, lid, 0));
			}
}

void tablefile_write_sl2vl(const struct routes *r, FILE *out)
{
	const struct topo *t = r->topo;

	for (uint32_t s = 0; r->lanes && s < t->n_switches; s++)
		for (unsigned in = 0; in <= t->switches[s].n_ports; in++)
			for (unsigned to = 1; to <= t->switches[s].n_ports; to++) {
				fprintf(out, "0x%016" PRIx64 " %u %u", t->switches[s].guid, in, to);
				for (unsigned sl = 0; sl < SL2VL_SLS; sl += 2)
					fprintf(out, " 0x%x%x",
						sl2vl_vl(r->lanes, t, s, in, to, (uint8_t)sl),
						sl2vl_vl(r->lanes, t, s, in, to,
							 (uint8_t)(sl + 1)));
				fputc('\n', out);
			}
}
