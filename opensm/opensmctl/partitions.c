// SPDX-License-Identifier: BSD-2-Clause
/* partitions create, delete, add, remove, set, configure, verify: changes at run time. */
#include "opensmctl/partitions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"
#include "util/str.h"

/* ---- which partition ------------------------------------------------------------------------ */

#define PKEY_BASE 0x7FFF
#define PKEY_FULL 0x8000 /* bit of full members (10.9.2) */

static bool read_pkey(const char *word, uint64_t *ret)
{
	bool is_hex = str_starts(word, "0x") || str_starts(word, "0X");

	return str_to_u64(word + (is_hex ? 2 : 0), is_hex ? 16 : 10, UINT16_MAX, ret) == 0;
}

/* Is a member asked for as a limited one, though the P_Key is that of full members? */
static bool names_limited(struct json_object *members)
{
	for (size_t i = 0; i < js_len(members); i++)
		if (strstr(json_object_get_string(js_at(members, i)), "=limited"))
			return true;
	return false;
}

/* 0x8005 is P_Key 0x0005 as a full member has it. CTL_OK, or the exit code of an error. */
static int drop_full_bit(struct ctl *c, const char *word, uint64_t pkey,
			 struct json_object *parameters)
{
	char base[8];

	snprintf(base, sizeof(base), "0x%04x", (unsigned)pkey & PKEY_BASE);
	if (names_limited(js_get(parameters, "members")))
		return ctl_usage(c, NULL,
				 "%s is %s, full member, and a member is to be limited: write %s",
				 word, base, base);
	ctl_refuse(c, "%s is %s, full member", word, base);
	json_object_object_add(parameters, "pkey", json_object_new_string(base));
	return CTL_OK;
}

/* Puts the P_Key of the partition of this name in the place of the name. */
static int find_pkey(struct ctl *c, struct json_object *partitions, const char *name,
		     struct json_object *parameters)
{
	const char *found = NULL;

	for (size_t i = 0; i < js_len(partitions); i++) {
		struct json_object *p = js_at(partitions, i);

		if (strcmp(js_str(p, "name"), name))
			continue;
		if (found)
			return ctl_refuse(c,
					  "'%s' is the name of partitions %s and %s: say which "
					  "by its P_Key",
					  name, found, js_str(p, "pkey"));
		found = js_str(p, "pkey");
	}
	if (!found)
		return ctl_refuse(c, "no partition '%s'; expected its name, or a P_Key (0x0001 to "
				  "0x7fff)",
				  name);
	json_object_object_add(parameters, "pkey", json_object_new_string(found));
	return CTL_OK;
}

static int settle_pkey(struct ctl *c, const char *verb, struct json_object *parameters)
{
	_cleanup_free_ char *word = xstrdup(js_str(parameters, "pkey"));
	struct json_object *answer;
	uint64_t pkey;
	int r;

	if (read_pkey(word, &pkey))
		return pkey > PKEY_BASE && pkey != PKEY_FULL ?
			       drop_full_bit(c, word, pkey, parameters) :
			       CTL_OK;
	if (!strcmp(verb, "create"))
		return ctl_usage(c, NULL,
				 "partitions create: '%s' is no P_Key (0x0001 to 0x7ffe); a name "
				 "is given with name=%s",
				 word, word);
	answer = ctl_call(c, "TenantPartitions", NULL);
	if (!answer)
		return c->exit_code;
	r = find_pkey(c, js_get(answer, "partitions"), word, parameters);
	json_object_put(answer);
	return r;
}

/* ---- changes -------------------------------------------------------------------------------- */

int partition_change(struct ctl *c)
{
	const char *verb = js_str(c->words, "action");
	struct json_object *answer;
	int r = settle_pkey(c, verb, c->words);

	if (r != CTL_OK)
		return r;
	partition_read_members(c->words);
	answer = ctl_call(c, "ChangePartition", json_object_get(c->words));
	if (!answer)
		return c->exit_code;
	if (c->json)
		ctl_print_json(c, answer);
	else
		partition_print_change(c, verb, answer);
	json_object_put(answer);
	return CTL_OK;
}

/* ---- verify ---------------------------------------------------------------------------------- */

struct verifying {
	struct ctl *c;
	bool differs;
};

/* Devices are as they shall be, and the partitions are useless all the same. */
static void print_all_limited(const struct ctl *c, struct json_object *answer)
{
	struct json_object *pkeys = js_get(answer, "all_limited_pkeys");
	int64_t n = js_int(answer, "all_limited");
	char partitions[64];

	if (!n)
		return;
	printf("%s%s without a full member%s, so that no member can talk to another:",
	       ctl_color(c, CTL_WARN), ctl_plural(n, "partition", partitions),
	       ctl_color(c, CTL_PLAIN));
	for (size_t i = 0; i < js_len(pkeys); i++)
		printf(" %s", json_object_get_string(js_at(pkeys, i)));
	printf("%s\n", js_len(pkeys) < (size_t)n ? " ..." : "");
}

static bool on_verified(void *arg, struct json_object *answer)
{
	struct verifying *v = arg;
	int64_t wrong = js_int(answer, "wrong"), silent = js_int(answer, "silent");
	int64_t crowded = js_int(answer, "without_room");
	char ports[64], blocks[64], silents[64], crowds[64];

	v->differs = wrong || silent || crowded;
	if (v->c->json) {
		ctl_print_json(v->c, answer);
		return false;
	}
	partition_print_blocks(v->c, js_get(answer, "differences"));
	printf("%s and %s read: ", ctl_plural(js_int(answer, "ports"), "port", ports),
	       ctl_plural(js_int(answer, "blocks"), "block", blocks));
	if (wrong)
		printf("%s%" PRId64 " differ%s", ctl_color(v->c, CTL_BAD), wrong,
		       ctl_color(v->c, CTL_PLAIN));
	else
		printf("%sall are as they shall be%s", ctl_color(v->c, CTL_GOOD),
		       ctl_color(v->c, CTL_PLAIN));
	if (silent)
		printf(", no answer from %s", ctl_plural(silent, "port", silents));
	putchar('\n');
	if (crowded)
		printf("%sThe P_Key tables of %s have no room for all their P_Keys%s; which do not "
		       "fit where: opensmctl partitions\n",
		       ctl_color(v->c, CTL_BAD), ctl_plural(crowded, "port", crowds),
		       ctl_color(v->c, CTL_PLAIN));
	print_all_limited(v->c, answer);
	return false;
}

int partition_verify(struct ctl *c)
{
	struct verifying v = { .c = c };
	int r = ctl_call_more(c, "VerifyPartitions", NULL, on_verified, &v);

	if (r != CTL_OK)
		return r;
	return v.differs ? CTL_REFUSED : CTL_OK;
}
