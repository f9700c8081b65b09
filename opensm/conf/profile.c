// SPDX-License-Identifier: BSD-2-Clause
/*
 * The table of profiles, and how they are applied. Weaknesses that remain (keys): keys.c. The
 * checklist of a whole subnet: api/security.c.
 */
#include "conf/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "conf/value.h"
#include "util/mem.h"

static const char *const words[CONF_PROFILES] = {
	[CONF_PROFILE_OPEN] = "open",
	[CONF_PROFILE_GUARDED] = "guarded",
	[CONF_PROFILE_TENANT] = "tenant",
};

/*
 * A row per option: its value in guarded and in tenant; NULL: its own default. Profile open changes
 * nothing. No option here may cost a restart, as profiles can change at SIGHUP.
 */
static const struct profile_row {
	enum conf_id id;
	const char *guarded, *tenant;
} rows[] = {
	{ CONF_ID_m_key_protection_level, "1", "2" },
	{ CONF_ID_m_key_lease_period, "60", "60" },
	{ CONF_ID_m_key_per_port, NULL, "TRUE" },
	{ CONF_ID_sa_enhanced_trust_model, NULL, "TRUE" },
	{ CONF_ID_sa_etm_max_num_mcgs, NULL, "128" },
	{ CONF_ID_sa_etm_max_num_srvcs, NULL, "32" },
	{ CONF_ID_sa_etm_max_num_event_subs, NULL, "32" },
	{ CONF_ID_sa_check_sgid_spoofing, NULL, "TRUE" },
	{ CONF_ID_default_membership, NULL, "limited" },
	{ CONF_ID_guid_location_policy, NULL, "hold" },
};

static const struct conf_place nowhere;

enum conf_profile conf_profile(const struct conf *c)
{
	/* A typing error must not lead to less protection than was asked for. */
	if (c->file_faulty[CONF_ID_security_profile] && !c->file_line[CONF_ID_security_profile])
		return CONF_PROFILE_TENANT;
	for (enum conf_profile p = CONF_PROFILE_OPEN; p < CONF_PROFILES; p++)
		if (strcmp(c->security_profile, words[p]) == 0)
			return p;
	abort(); /* a word in options.def that is not here */
}

static const char *value_of_row(const struct profile_row *row, enum conf_profile profile)
{
	switch (profile) {
	case CONF_PROFILE_GUARDED:
		return row->guarded;
	case CONF_PROFILE_TENANT:
		return row->tenant;
	case CONF_PROFILE_OPEN:
	case CONF_PROFILES:
		break;
	}
	return NULL;
}

const char *conf_profile_value(enum conf_profile profile, enum conf_id id)
{
	assert(profile < CONF_PROFILES && id < CONF_N_OPTIONS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].id == id)
			return value_of_row(&rows[i], profile);
	return NULL;
}

static void apply_row(struct conf *c, const struct profile_row *row, enum conf_profile now,
		      struct conf_report *r)
{
	const char *text = value_of_row(row, now);
	enum conf_id id = row->id;

	if (c->file_line[id] || c->given[id] || c->copied[id]) {
		c->profiled[id] = false;
		return;
	}
	/*
	 * The profile was applied before; the rules between values may have changed the value
	 * since.
	 */
	if (c->profiled[id] && c->profile == now)
		return;
	if (c->profiled[id])
		value_set_default(c, id);
	c->profiled[id] = text && conf_set(c, id, text, &nowhere, r) == 0;
}

/* Replaces a faulty word by that of the profile in force, which is then shown everywhere. */
static void correct_word(struct conf *c, enum conf_profile now, struct conf_report *r)
{
	if (strcmp(c->security_profile, words[now]) == 0)
		return;
	free(c->security_profile);
	c->security_profile = xstrdup(words[now]);
	conf_report_add(r, CONF_ERROR, c->file, 0, 0,
			"security_profile: its line is faulty; uses %s, the strictest, until it is "
			"corrected",
			words[now]);
}

void conf_profile_apply(struct conf *c, struct conf_report *r)
{
	enum conf_profile now = conf_profile(c);

	correct_word(c, now, r);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		apply_row(c, &rows[i], now, r);
	c->profile = now;
}
