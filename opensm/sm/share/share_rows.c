// SPDX-License-Identifier: BSD-2-Clause
/* Rows of the shared configuration: keys, and the encoding of a standby's report. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/share/share_internal.h"
#include "util/mem.h"

static struct ledger_key key_of(const char *name)
{
	struct ledger_key key = { .table = LEDGER_CONFIG, .len = (uint8_t)strlen(name) };

	memcpy(key.bytes, name, key.len);
	return key;
}

struct ledger_key share_text_key(void)
{
	return key_of("configuration");
}

struct ledger_key share_said_key(guid_t guid)
{
	char name[LEDGER_KEY_MAX];

	snprintf(name, sizeof(name), "differs 0x%016" PRIx64, guid);
	return key_of(name);
}

bool share_is_row(const struct sm *sm, const struct settle_edit *e)
{
	struct ledger_value v;

	if (!ledger_get(settle_ledger(sm), &e->key, &v))
		return e->removed;
	return !e->removed && v.dot.by.guid == sm->tr->port_guid && v.len == e->len &&
	       memcmp(v.bytes, e->bytes, v.len) == 0;
}

uint8_t *share_said_pack(const struct share_said *said, uint32_t *ret_len)
{
	size_t len = MIN(said->len, (size_t)SHARE_DIFF_MAX);
	uint8_t *bytes = xcalloc(1, SAID_BYTES + len);

	ib_put(bytes, SAID_FORMAT, SHARE_SAID_FORMAT);
	ib_put(bytes, SAID_STATUS, said->status);
	ib_put(bytes, SAID_PINS, said->pins);
	ib_put(bytes, SAID_HASH, said->hash);
	ib_put(bytes, SAID_LIFE, said->life);
	if (len)
		memcpy(bytes + SAID_BYTES, said->diff, len);
	*ret_len = (uint32_t)(SAID_BYTES + len);
	return bytes;
}

static bool is_own_row(const struct ledger_key *key, guid_t writer)
{
	const struct ledger_key own = share_said_key(writer);

	return key->len == own.len && memcmp(key->bytes, own.bytes, own.len) == 0;
}

bool share_said(const struct sm *sm, const struct ledger_key *key, struct share_said *ret)
{
	struct ledger_value v;

	if (!ledger_get(settle_ledger(sm), key, &v) || !is_own_row(key, v.dot.by.guid) ||
	    v.len < SAID_BYTES || ib_get(v.bytes, SAID_FORMAT) != SHARE_SAID_FORMAT)
		return false;
	*ret = (struct share_said){
		.guid = v.dot.by.guid,
		.status = ib_get(v.bytes, SAID_STATUS),
		.pins = (unsigned)ib_get(v.bytes, SAID_PINS),
		.hash = ib_get(v.bytes, SAID_HASH),
		.life = ib_get(v.bytes, SAID_LIFE),
		.diff = (const char *)v.bytes + SAID_BYTES,
		.len = v.len - SAID_BYTES,
	};
	return ret->status >= SHARE_STORED && ret->status <= SHARE_DISK &&
	       ret->life == channel_life_of(sm, ret->guid);
}
