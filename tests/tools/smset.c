// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sets SMInfo of a subnet manager, in the name of the manager on this port or of another GUID:
 *
 *   smset LID|-D 0,1,2 MODIFIER STATE KEY [GUID]
 *
 * MODIFIER 1 HANDOVER, 2 ACKNOWLEDGE, 3 DISABLE, 4 STANDBY, 5 DISCOVER, 0 asks only (Get); STATE is
 * what we say of ourselves, as a number. Prints "status 0x0000 state 2" from the answer, and
 * " key 0x0" of one to a Get; exit status 1 without one.
 */
#include <endian.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ib/mad.h"
#include "util/mem.h"

#define TIMEOUT_MS 2000

static int fail(const char *what)
{
	fprintf(stderr, "smset: %s\n", what);
	return 2;
}

/* "0,1,2" */
static struct dr_path read_path(const char *text)
{
	struct dr_path path = { 0 };

	for (const char *at = strchr(text, ','); at && path.length < IB_MAX_HOPS;
	     at = strchr(at + 1, ','))
		path.hop[++path.length] = (uint8_t)strtoul(at + 1, NULL, 10);
	return path;
}

static int set(int port, const char *const *to, const uint8_t *info, unsigned mod)
{
	const struct smp_head head = {
		.method = mod ? MAD_SET : MAD_GET, .attr = IB_ATTR_SM_INFO, .mod = mod, .tid = 0x5e7
	};
	bool directed = strcmp(to[0], "-D") == 0;
	int lid_agent = umad_register(port, MAD_CLASS_SMI_LID, 1, 0, NULL);
	int dr_agent = umad_register(port, MAD_CLASS_SMI_DR, 1, 0, NULL);
	int length = MAD_SIZE;
	_cleanup_free_ void *umad = xcalloc(1, umad_size() + MAD_SIZE);
	uint8_t *mad = umad_get_mad(umad);
	struct dr_path path;

	if (directed) {
		path = read_path(to[1]);
		smp_build_dr(mad, &head, &path, info);
	} else {
		smp_build_lid(mad, &head, info);
	}
	umad_set_addr(umad, directed ? LID_PERMISSIVE : atoi(to[0]), 0, 0, 0);
	if (umad_send(port, directed ? dr_agent : lid_agent, umad, MAD_SIZE, TIMEOUT_MS, 0) < 0)
		return fail("the request cannot be sent");
	if (umad_recv(port, umad, &length, TIMEOUT_MS + 1000) < 0 || umad_status(umad)) {
		printf("no answer\n");
		return 1;
	}
	printf("status 0x%04x state %u", (unsigned)ib_get(mad, SMP_STATUS),
	       (unsigned)ib_get(smp_data(mad), SMI_STATE));
	if (!mod)
		printf(" key 0x%" PRIx64, ib_get(smp_data(mad), SMI_SM_KEY));
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	int first = argc > 1 && strcmp(argv[1], "-D") == 0 ? 3 : 2, port, r;
	uint8_t info[SMP_DATA_SIZE] = { 0 };
	umad_port_t own;

	if (argc < first + 3)
		return fail("usage: smset LID|-D PATH MODIFIER STATE KEY [GUID]");
	if (umad_init() < 0 || umad_get_port(NULL, 0, &own) < 0)
		return fail("no port");
	ib_put(info, SMI_GUID,
	       argc > first + 3 ? strtoull(argv[first + 3], NULL, 0) : be64toh(own.port_guid));
	umad_release_port(&own);
	ib_put(info, SMI_STATE, strtoul(argv[first + 1], NULL, 0));
	ib_put(info, SMI_SM_KEY, strtoull(argv[first + 2], NULL, 0));
	port = umad_open_port(NULL, 0);
	if (port < 0)
		return fail("the port does not open");
	r = set(port, (const char *const *)argv + 1, info, (unsigned)strtoul(argv[first], NULL, 0));
	umad_close_port(port);
	return r;
}
