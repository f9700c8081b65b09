// SPDX-License-Identifier: BSD-2-Clause
#include "sm/channel/peer_rows.h"

#include <string.h>

#include "sm/sm_internal.h"

void *peer_row_find(const void *rows, size_t size, guid_t guid)
{
	const unsigned char *row = rows;
	guid_t at;

	for (unsigned i = 0; i < MAX_REMOTE_SMS; i++, row += size) {
		memcpy(&at, row, sizeof(at));
		if (at == guid)
			return (void *)row;
	}
	return NULL;
}

void peer_row_change(void *rows, size_t size, unsigned *n_used, guid_t guid, bool connected)
{
	unsigned char *row = guid ? peer_row_find(rows, size, guid) : NULL;

	if (row)
		memset(row, 0, size);
	row = connected && guid ? peer_row_find(rows, size, 0) : NULL;
	if (!row)
		return;
	memset(row, 0, size);
	memcpy(row, &guid, sizeof(guid));
	*n_used = MAX(*n_used, (unsigned)((size_t)(row - (unsigned char *)rows) / size) + 1);
}
