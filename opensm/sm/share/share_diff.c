// SPDX-License-Identifier: BSD-2-Clause
/*
 * Differences between this manager and another, for people: as MASTER those that a standby last
 * reported, as STANDBY those from the copy of the master's configuration.
 */
#include <string.h>

#include "sm/share/share_internal.h"
#include "sm/base/key_mark.h"
#include "util/mem.h"

/* The reason why the differences of a standby are unknown; NULL: they are known. */
static const char *why_not_compared(const struct sm *sm, guid_t guid, struct share_said *ret)
{
	const struct ledger_key key = share_said_key(guid);

	if (!sm->m.share->own->replicate_configuration)
		return "replicate_configuration is FALSE here";
	if (!channel_is_standby(sm, guid))
		return "there is no channel to it: it is no standby of this version of opensm, or "
		       "does not answer";
	if (!share_said(sm, &key, ret))
		return "it has not answered yet";
	switch (ret->status) {
	case SHARE_DECLINED:
		return "replicate_configuration is FALSE there";
	case SHARE_DAMAGED:
		return "it does not understand our configuration";
	case SHARE_DISK:
		return "it cannot store our configuration; its log says why";
	case SHARE_STORED:
	case SHARE_COMING:
		break;
	}
	return ret->hash == sm->m.share->hash ? NULL : "it has not answered yet";
}

static void ask_standby(const struct sm *sm, struct sm_manager_diff *ret)
{
	struct share_said said;

	ret->unknown = why_not_compared(sm, ret->guid, &said);
	if (!ret->unknown)
		ret->text = xasprintf("%.*s", (int)said.len, said.diff);
	ret->theirs_first = true;
}

static void compare_copy(const struct sm *sm, struct sm_manager_diff *ret)
{
	const struct copied *c = sm->m.share->copied;

	if (!sm->m.share->own->replicate_configuration)
		ret->unknown = "replicate_configuration is FALSE here";
	else if (c && c->from == ret->guid)
		ret->text = copied_diff(sm->conf, c, key_mark_short);
	else
		ret->unknown = ret->guid == elect_polled(sm)
				       ? "its configuration has not come yet"
				       : "a standby is compared with the master alone";
}

bool sm_manager_diff_at(const struct sm *sm, unsigned n, struct sm_manager_diff *ret)
{
	struct sm_manager other;

	if (!sm_manager_at(sm, n, &other))
		return false;
	*ret = (struct sm_manager_diff){ .guid = other.guid };
	memcpy(ret->where, other.where, sizeof(ret->where));
	if (sm->state == SM_MASTER)
		ask_standby(sm, ret);
	else if (sm->state == SM_STANDBY)
		compare_copy(sm, ret);
	else
		ret->unknown = "this manager is neither master nor standby now";
	return true;
}
