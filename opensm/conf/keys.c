// SPDX-License-Identifier: BSD-2-Clause
/*
 * Warnings of keys that everyone knows (the defaults of all subnet managers), of protection without
 * a key (with --strict an error), and of lines that take protection away that a profile would give.
 * A configuration in which nothing relies on keys gets none of them.
 */
#include <string.h>

#include "conf/profile.h"
#include "util/mem.h"
#include "util/str.h"

#define WELL_KNOWN 1 /* default sm_key and sa_key of all subnet managers */

/*
 * Options that rely on keys if they are not at their defaults, as do those of profiles. With its
 * keys this manager authenticates itself to ports, other managers and trusted hosts.
 */
static const enum conf_id relying[] = {
	CONF_ID_m_key,
	CONF_ID_sm_key,
	CONF_ID_sa_key,
	CONF_ID_allowed_sm_guids,
	CONF_ID_m_key_seed_file,
	CONF_ID_periodic_key_update,
	CONF_ID_security_violation_policy,
	CONF_ID_sa_etm_allow_untrusted_guidinfo_rec,
	CONF_ID_sa_etm_allow_guidinfo_rec_by_vf,
	CONF_ID_sa_etm_allow_untrusted_proxy_requests,
	CONF_ID_sa_rate_threshold,
	CONF_ID_sa_pr_full_world_queries_allowed,
	CONF_ID_randomize_sa_key,
	CONF_ID_randomize_sm_key,
	CONF_ID_require_standby,
	CONF_ID_cc_key_enable,
};

/* A guid_location_policy of "off" differs from its default, but relies on no key. */
static bool relies(const struct conf *c, enum conf_id id)
{
	return !conf_value_is_default(c, id) &&
	       !(id == CONF_ID_guid_location_policy && str_equal(c->guid_location_policy, "off"));
}

static bool asks_for_protection(const struct conf *c)
{
	if (conf_profile(c) != CONF_PROFILE_OPEN)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(relying); i++)
		if (relies(c, relying[i]))
			return true;
	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		if (conf_profile_value(CONF_PROFILE_TENANT, id) && relies(c, id))
			return true;
	return false;
}

/* Is there no M_Key? With m_key_per_port a seed is drawn if none is given. */
static bool has_no_m_key(const struct conf *c)
{
	return !c->m_key && !c->m_key_per_port;
}

/* Is protection by M_Keys asked for, without an M_Key? */
static bool protects_nothing(const struct conf *c)
{
	return has_no_m_key(c) &&
	       (c->m_key_protection_level || conf_profile(c) != CONF_PROFILE_OPEN);
}

/* Can every host change every port, without regard to other protection? */
static bool leaves_ports_open(const struct conf *c)
{
	return has_no_m_key(c) && !protects_nothing(c);
}

static bool has_known_sm_key(const struct conf *c)
{
	return c->sm_key == WELL_KNOWN && !c->randomize_sm_key;
}

static bool has_no_sm_key(const struct conf *c)
{
	return !c->sm_key;
}

static bool has_known_sa_key(const struct conf *c)
{
	return c->sa_key == WELL_KNOWN && !c->randomize_sa_key;
}

static bool has_no_sa_key(const struct conf *c)
{
	return !c->sa_key;
}

static bool has_no_cc_key(const struct conf *c)
{
	return c->congestion_control && c->cc_key_enable == 2 && !c->cc_key && !c->m_key_per_port;
}

static bool allows_all_managers(const struct conf *c)
{
	return !c->allowed_sm_guids && conf_profile(c) != CONF_PROFILE_OPEN;
}

/*
 * `cause`: the option that is blamed if the option itself has no line; `strict`: severity with
 * --strict.
 */
static const struct weakness {
	enum conf_id id, cause;
	enum conf_severity strict;
	bool (*is_there)(const struct conf *c);
	const char *text;
} weaknesses[] = {
	{ CONF_ID_m_key, CONF_ID_m_key_protection_level, CONF_ERROR, protects_nothing,
	  "0 protects no port, whatever m_key_protection_level; expected a random number of 64 "
	  "bits; every host can change every port" },
	{ CONF_ID_m_key, CONF_ID_security_profile, CONF_WARNING, leaves_ports_open,
	  "0 is what every port has by default; expected a random number of 64 bits, and "
	  "m_key_protection_level 1 or 2; every host can change every port" },
	{ CONF_ID_sm_key, CONF_ID_security_profile, CONF_WARNING, has_known_sm_key,
	  "1 is what every subnet manager has by default; expected a random number of 64 bits; any "
	  "host can act as subnet manager" },
	{ CONF_ID_sm_key, CONF_ID_security_profile, CONF_WARNING, has_no_sm_key,
	  "0 believes every subnet manager; expected a random number of 64 bits; any host can act "
	  "as subnet manager" },
	{ CONF_ID_sa_key, CONF_ID_security_profile, CONF_WARNING, has_known_sa_key,
	  "1 is what every subnet manager has by default; expected a random number of 64 bits; any "
	  "host can read every record of subnet administration" },
	{ CONF_ID_sa_key, CONF_ID_security_profile, CONF_WARNING, has_no_sa_key,
	  "0 trusts every request; expected a random number of 64 bits; any host can read every "
	  "record of subnet administration" },
	{ CONF_ID_cc_key_enable, CONF_ID_cc_key_enable, CONF_ERROR, has_no_cc_key,
	  "2 gives no device a key while cc_key is 0 and m_key_per_port FALSE; expected a cc_key "
	  "that is a random number of 64 bits" },
	{ CONF_ID_allowed_sm_guids, CONF_ID_security_profile, CONF_WARNING, allows_all_managers,
	  "not set; expected the port GUIDs of all subnet managers; one that has the sm_key is "
	  "believed, wherever it is" },
};

/* The line that is the cause of a weakness; all zero: the file has none. */
static struct conf_place place_of(const struct conf *c, const struct weakness *w)
{
	if (c->file_line[w->id])
		return conf_place(c, w->id);
	if (c->file_line[w->cause])
		return conf_place(c, w->cause);
	return conf_place(c, CONF_ID_security_profile);
}

/*
 * Remarks on lines that override the profile. A line with the default value may be left over in a
 * complete file as -c writes it, so it is a warning.
 */
static void advise_overrides(const struct conf *c, const struct conf *since, struct conf_report *r)
{
	enum conf_profile profile = conf_profile(c);

	for (unsigned id = 0; id < CONF_N_OPTIONS; id++) {
		const char *expected = conf_profile_value(profile, id);
		_cleanup_free_ char *value = expected ? conf_value_text(c, id) : NULL;

		if (!expected || !c->file_line[id] || strcmp(value, expected) == 0)
			continue;
		if (since && conf_profile(since) == profile && conf_value_equal(c, since, id))
			continue;
		conf_report_option(r, conf_value_is_default(c, id) ? CONF_WARNING : CONF_NOTE, c,
				   id,
				   "%s; security_profile %s would give %s, and this line counts",
				   value, c->security_profile, expected);
	}
}

static bool has_weakness(const struct conf *c, const struct weakness *w)
{
	return w->is_there(c) && asks_for_protection(c);
}

static enum conf_severity severity_of(const struct conf *c, const struct weakness *w)
{
	return c->strict ? w->strict : CONF_WARNING;
}

void conf_advise_keys(const struct conf *c, const struct conf *since, struct conf_report *r)
{
	advise_overrides(c, since, r);
	for (size_t i = 0; i < ARRAY_SIZE(weaknesses); i++) {
		const struct weakness *w = &weaknesses[i];
		struct conf_place at = place_of(c, w);

		if (has_weakness(c, w) && !(since && has_weakness(since, w)))
			conf_report_at(r, severity_of(c, w), &at, "%s: %s",
				       conf_option(w->id)->name, w->text);
	}
}
