// SPDX-License-Identifier: BSD-2-Clause
/*
 * infiniband_mad/umadN names device and port; infiniband/DEVICE/ports/N tells the link layer and
 * the GUID.
 */
#include "launch/ports.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

#define CAP_SM_DISABLED 0x400u /* bit 10 of CapabilityMask, as in ib/attrs.h */

/*
 * The first line, without its end, of the file that `fmt` names; files of /sys have no honest size.
 * False: there is none.
 */
__attribute__((format(printf, 3, 4))) static bool read_line(char *ret, int cap, const char *fmt,
							    ...)
{
	_cleanup_free_ char *path = NULL;
	va_list ap;
	bool got;
	FILE *f;

	va_start(ap, fmt);
	path = xvasprintf(fmt, ap);
	va_end(ap);
	f = fopen(path, "re");
	if (!f)
		return false;
	got = fgets(ret, cap, f) != NULL;
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
	char device[64], number[16], text[64];
	_cleanup_free_ char *port = NULL;

	if (!read_line(device, sizeof(device), "%s/infiniband_mad/%s/ibdev", sys_dir, umad) ||
	    !read_line(number, sizeof(number), "%s/infiniband_mad/%s/port", sys_dir, umad))
		return 0;
	port = xasprintf("%s/infiniband/%s/ports/%s", sys_dir, device, number);
	if (read_line(text, sizeof(text), "%s/link_layer", port) &&
	    !str_equal(text, "InfiniBand") && !str_equal(text, "IB"))
		return 0;
	if (read_line(text, sizeof(text), "%s/cap_mask", port) && takes_no_smps(text))
		return 0;
	return read_line(text, sizeof(text), "%s/gids/0", port) ? guid_of_gid(text) : 0;
}

bool ports_have(const uint64_t *ports, size_t n, uint64_t guid)
{
	for (size_t i = 0; i < n; i++)
		if (ports[i] == guid)
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

		if (guid && !ports_have(guids, found, guid))
			guids[found++] = guid;
		free(entries[i]);
	}
	free(entries);
	*ret_n = found;
	return guids;
}
