// SPDX-License-Identifier: BSD-2-Clause
/*
 * infiniband_mad/umadN names device and port; infiniband/DEVICE/ports/N tells the link layer and
 * the GUID.
 */
#include "launch/ports.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

#define CAP_SM_DISABLED 0x400u /* bit 10 of CapabilityMask, as in ib/attrs.h */

/* First line of a file of /sys without its end; files of /sys have no honest size. False: none. */
static bool read_line(const char *path, char *ret, size_t cap)
{
	FILE *f = fopen(path, "re");
	bool got;

	if (!f)
		return false;
	got = fgets(ret, (int)cap, f) != NULL;
	fclose(f);
	if (got)
		ret[strcspn(ret, "\n")] = '\0';
	return got;
}

/* The lower half of "fe80:0000:0000:0000:0002:c903:0000:1234"; 0: another shape. */
static uint64_t guid_of_gid(const char *gid)
{
	uint64_t guid = 0, group;
	char digits[5] = { 0 };

	if (strlen(gid) != 39)
		return 0;
	for (unsigned i = 4; i < 8; i++) {
		memcpy(digits, gid + 5 * i, 4);
		if (str_to_u64(digits, 16, 0xFFFF, &group) < 0)
			return 0;
		guid = guid << 16 | group;
	}
	return guid;
}

/* IsSMDisabled: SMPs of that port go through another device, which has an entry of its own. */
static bool takes_no_smps(const char *cap_mask)
{
	uint64_t mask;

	return str_to_u64(cap_mask, 0, UINT32_MAX, &mask) == 0 && mask & CAP_SM_DISABLED;
}

/* 0: not a port for us. */
static uint64_t guid_of(const char *sys_dir, const char *umad)
{
	_cleanup_free_ char *device_path = xasprintf("%s/infiniband_mad/%s/ibdev", sys_dir, umad);
	_cleanup_free_ char *port_path = xasprintf("%s/infiniband_mad/%s/port", sys_dir, umad);
	_cleanup_free_ char *layer_path = NULL, *gid_path = NULL, *cap_path = NULL;
	char device[64], port[16], text[64];

	if (!read_line(device_path, device, sizeof(device)) ||
	    !read_line(port_path, port, sizeof(port)))
		return 0;
	layer_path = xasprintf("%s/infiniband/%s/ports/%s/link_layer", sys_dir, device, port);
	if (read_line(layer_path, text, sizeof(text)) && !str_equal(text, "InfiniBand") &&
	    !str_equal(text, "IB"))
		return 0;
	cap_path = xasprintf("%s/infiniband/%s/ports/%s/cap_mask", sys_dir, device, port);
	if (read_line(cap_path, text, sizeof(text)) && takes_no_smps(text))
		return 0;
	gid_path = xasprintf("%s/infiniband/%s/ports/%s/gids/0", sys_dir, device, port);
	return read_line(gid_path, text, sizeof(text)) ? guid_of_gid(text) : 0;
}

static bool is_among(const uint64_t *guids, size_t n, uint64_t guid)
{
	for (size_t i = 0; i < n; i++)
		if (guids[i] == guid)
			return true;
	return false;
}

static int is_umad(const struct dirent *e)
{
	return str_starts(e->d_name, "umad");
}

uint64_t *ports_list(const char *sys_dir, size_t *ret_n)
{
	_cleanup_free_ char *folder = xasprintf("%s/infiniband_mad", sys_dir);
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_umad, versionsort);
	uint64_t *guids = xcalloc(n > 0 ? (size_t)n : 1, sizeof(*guids));
	size_t found = 0;

	for (int i = 0; i < n; i++) {
		uint64_t guid = guid_of(sys_dir, entries[i]->d_name);

		if (guid && !is_among(guids, found, guid))
			guids[found++] = guid;
		free(entries[i]);
	}
	free(entries);
	*ret_n = found;
	return guids;
}
