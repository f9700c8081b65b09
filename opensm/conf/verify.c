// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules between values (opensm-conf.md 5, V2-V10), and the folder of log and dumps. A struct conf
 * never has a value outside its own range, so that is not checked here.
 */
#include <inttypes.h>
#include <string.h>

#include "conf/conf.h"
#include "conf/lists/lists.h"
#include "conf/profile.h"
#include "util/mem.h"
#include "util/str.h"

#define NO_LIMIT      0x7FFFFFFF
#define RATE_300_GBS  18
#define NO_RATE_LIMIT 63

/* V2 */
static void verify_window(struct conf *c, struct conf_report *r)
{
	if (c->max_wire_smps)
		return;
	c->max_wire_smps = NO_LIMIT;
	conf_report_option(r, CONF_NOTE, c, CONF_ID_max_wire_smps, "0 means no limit; uses %d",
			   NO_LIMIT);
}

/* V4 */
static void verify_timeouts(struct conf *c, struct conf_report *r)
{
	if (c->long_transaction_timeout >= c->transaction_timeout)
		return;
	conf_report_option(r, CONF_NOTE, c, CONF_ID_long_transaction_timeout,
			   "%u is less than transaction_timeout; uses %u",
			   c->long_transaction_timeout, c->transaction_timeout);
	c->long_transaction_timeout = c->transaction_timeout;
}

/* V6 */
static void verify_enforcement(struct conf *c, struct conf_report *r)
{
	if (!c->no_partition_enforcement || strcmp(c->part_enforce, "off") == 0)
		return;
	conf_report_option(r, CONF_NOTE, c, CONF_ID_no_partition_enforcement,
			   "deprecated; sets part_enforce to off");
	free(c->part_enforce);
	c->part_enforce = xstrdup("off");
}

/* V8: a level out of range becomes 2, so that ports stay protected. */
static void verify_protection(struct conf *c, struct conf_report *r)
{
	if (c->m_key_protection_level <= 3)
		return;
	conf_report_option(r, CONF_ERROR, c, CONF_ID_m_key_protection_level,
			   "%u is out of range; expected 0-3; uses 2", c->m_key_protection_level);
	c->m_key_protection_level = 2;
}

static void set_lease(struct conf *c, uint16_t lease, struct conf_report *r)
{
	conf_report_option(r, CONF_WARNING, c, CONF_ID_m_key_lease_period,
			   "%u s would run out between sweeps, of which two are to be within it; "
			   "uses %u",
			   c->m_key_lease_period, lease);
	c->m_key_lease_period = lease;
}

static void set_interval(struct conf *c, uint32_t interval, struct conf_report *r)
{
	conf_report_option(r, CONF_WARNING, c, CONF_ID_sweep_interval,
			   "%u would let m_key_lease_period run out; uses %u", c->sweep_interval,
			   interval);
	c->sweep_interval = interval;
}

/*
 * V9: a sweep reads each port, which restarts the lease. Any host can start the timer of a port at
 * any time, and a Get may be lost, so two sweeps must be within a lease.
 */
static void verify_lease(struct conf *c, struct conf_report *r)
{
	if (!c->m_key_protection_level || !c->m_key_lease_period)
		return;
	if (!c->sweep_interval)
		set_interval(c, MAX((c->m_key_lease_period - 1u) / 2, 1u), r);
	if (c->sweep_interval > UINT16_MAX / 2)
		set_interval(c, UINT16_MAX / 2, r);
	if (2 * c->sweep_interval >= c->m_key_lease_period)
		set_lease(c, (uint16_t)(2 * c->sweep_interval + 1), r);
}

/* V10 */
static void verify_rate(struct conf *c, struct conf_report *r)
{
	if (!c->use_original_extended_sa_rates_only || c->max_rate_enum <= RATE_300_GBS)
		return;
	conf_report_option(r, CONF_NOTE, c, CONF_ID_use_original_extended_sa_rates_only,
			   "deprecated; sets max_rate_enum to %d", RATE_300_GBS);
	c->max_rate_enum = RATE_300_GBS;
}

/*
 * Other managers have a key that was set. They cannot have one that was drawn, so managers in
 * allowed_sm_guids would not be trusted.
 */
static void verify_drawn_sm_key(struct conf *c, const struct conf_guids *allowed,
				struct conf_report *r)
{
	if (!c->randomize_sm_key)
		return;
	if (!conf_value_is_default(c, CONF_ID_sm_key)) {
		conf_report_option(r, CONF_ERROR, c, CONF_ID_randomize_sm_key,
				   "TRUE, and sm_key is set: either is the key; expected one of "
				   "both; uses sm_key");
		c->randomize_sm_key = false;
	} else if (allowed->n > 1) {
		conf_report_option(r, CONF_WARNING, c, CONF_ID_randomize_sm_key,
				   "TRUE, and allowed_sm_guids names other managers: none of them "
				   "knows the key, so none is a standby");
	}
}

/* Reports words that are no GUIDs, before they lock a subnet manager out. */
static void verify_allowed(struct conf *c, struct conf_report *r)
{
	struct conf_place at = conf_place(c, CONF_ID_allowed_sm_guids);
	struct conf_guids guids;

	conf_guids_words("allowed_sm_guids", c->allowed_sm_guids, &at, &guids, r);
	verify_drawn_sm_key(c, &guids, r);
	conf_guids_clear(&guids);
}

void conf_verify(struct conf *c, struct conf_report *r)
{
	conf_profile_apply(c, r);
	verify_window(c, r);
	verify_timeouts(c, r);
	verify_enforcement(c, r);
	verify_protection(c, r);
	verify_lease(c, r);
	verify_rate(c, r);
	verify_allowed(c, r);
}

/* "DIR/name" with one slash in between. */
static char *path_in(const char *dir, const char *name)
{
	size_t len = strlen(dir);

	return xasprintf("%s%s%s", dir, len && dir[len - 1] == '/' ? "" : "/", name);
}

void conf_settle(struct conf *c)
{
	if (!c->logdir)
		return;
	if (conf_value_is_default(c, CONF_ID_log_file)) {
		free(c->log_file);
		c->log_file = path_in(c->logdir, "opensm.log");
	}
	if (conf_value_is_default(c, CONF_ID_dump_files_dir)) {
		free(c->dump_files_dir);
		c->dump_files_dir = path_in(c->logdir, "");
	}
}
