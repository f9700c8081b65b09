// SPDX-License-Identifier: BSD-2-Clause
/*
 * Preloaded into ibdiagnet and ibis under libumad2sim: a client that registers the LID-routed SM
 * class also gets the directed-route one. Without it libumad2sim has nowhere to put a MAD of that
 * class and the client crashes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <infiniband/umad.h>
#include <infiniband/umad_types.h>

typedef int (*register_fn)(int port, int mgmt_class, int version, uint8_t rmpp, long *methods);

int umad_register(int port, int mgmt_class, int version, uint8_t rmpp,
		  long methods[16 / sizeof(long)])
{
	register_fn real = (register_fn)dlsym(RTLD_NEXT, "umad_register");

	if (mgmt_class == UMAD_CLASS_SUBN_LID_ROUTED)
		real(port, UMAD_CLASS_SUBN_DIRECTED_ROUTE, version, rmpp, NULL);
	return real(port, mgmt_class, version, rmpp, methods);
}
