// SPDX-License-Identifier: BSD-2-Clause
/* The configuration in force: the own one, completed by that of a master. */
#include "sm/share/share.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sm/share/share_internal.h"
#include "sm/base/about.h"
#include "util/mem.h"

MACHINE_MEMORY(share);

/* ---- pins ---------------------------------------------------------------------------------- */

static char *names_of(const struct copied_pins *pins)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < pins->n; i++)
		fprintf(out, "%s%s", i ? ", " : "", conf_option(pins->ids[i])->name);
	fclose(out);
	return text;
}

/*
 * Time before local differences are logged: until then the copy of the last master may be in force,
 * and the files of only one host may have been read again.
 */
#define PINS_WAIT (15 * MONO_S)

/* Logs the local differences, once per set. */
static void tell_pins(struct share *s)
{
	_cleanup_free_ char *names = names_of(&s->pins);

	s->tell_at = 0;
	if (s->pins_told ? strcmp(s->pins_told, names) == 0 : !*names)
		return;
	free(s->pins_told);
	s->pins_told = take(names);
	if (s->pins.n)
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_ERROR,
		       "options that are set otherwise here than at the master, and kept: %s; "
		       "a failover will change the fabric (opensmctl managers --diff)",
		       s->pins_told);
	else
		log_on(ABOUT(.id = LOG_ID_REPLICA), LOGB_INFO,
		       "no option is set otherwise here than at the master any more");
}

/* ---- the configuration in force ------------------------------------------------------------ */

static void tell_findings(const struct conf_report *report)
{
	for (size_t i = 0; i < report->n; i++)
		log_verbose("the configuration of the master: %s", report->findings[i].text);
}

struct conf *share_layered(struct sm *sm, const struct conf *own)
{
	struct share *s = sm->m.share;
	struct conf_report report = { 0 };
	struct conf *conf;

	if (own != s->own) {
		conf_unref(s->own);
		s->own = conf_ref(own);
	}
	s->is_due = s->is_row_due = true;
	s->pins.n = 0;
	if (!s->copied || !own->replicate_configuration)
		return conf_ref(own);
	conf = copied_layer(own, s->copied, sm->tr->port_guid, s->folder, &s->pins, &report);
	tell_findings(&report);
	conf_report_clear(&report);
	s->tell_at = sm->now + PINS_WAIT;
	return conf;
}

const struct conf *share_own(const struct sm *sm)
{
	return sm->m.share->own;
}

/* ---- life ---------------------------------------------------------------------------------- */

void share_new(struct sm *sm, const struct conf *own, const struct sm_paths *paths)
{
	struct share *s = sm->m.share;

	if (paths && paths->cache_dir) {
		s->folder = xasprintf("%s/from-master", paths->cache_dir);
		if (own->replicate_configuration)
			s->copied = share_load(s->folder);
	}
	sm->conf = share_layered(sm, own);
}

static bool is_key(const struct ledger_key *a, const struct ledger_key *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* Called for changed rows; rows of other standbys need no new decision. */
void share_take_rows(struct sm *sm, const struct ledger_key *keys, size_t n)
{
	const struct ledger_key text = share_text_key();
	const struct ledger_key own = share_said_key(sm->tr->port_guid);

	for (size_t i = 0; i < n; i++) {
		if (is_key(&keys[i], &text) || is_key(&keys[i], &own))
			sm->m.share->is_due = sm->m.share->is_row_due = true;
		share_master_hears(sm, &keys[i]);
	}
}

void share_free(struct sm *sm)
{
	struct share *s = sm->m.share;

	copied_unref(s->copied);
	conf_unref(s->own);
	conf_unref(s->text_of);
	conf_files_unref(s->text_of_files);
	free(s->folder);
	free(s->pins_told);
	free(s->text);
}

static unsigned count_copied(const struct conf *c)
{
	unsigned n = 0;

	for (unsigned id = 0; id < CONF_N_OPTIONS; id++)
		n += c->copied[id];
	return n;
}

/* Logs in one line that copied options are in force. */
static void tell_rule(struct sm *sm)
{
	const time_t at = (time_t)sm->conf->copied_at;
	unsigned n = count_copied(sm->conf);
	struct tm tm;
	char when[40];

	if (!n || !localtime_r(&at, &tm))
		return;
	strftime(when, sizeof(when), "%F %T", &tm);
	log_guid(sm, sm->conf->copied_from, LOG_ID_REPLICA, LOGB_INFO,
		 "%u options and files are as this former master had them, copied at %s "
		 "(opensmctl options)",
		 n, when);
}

void share_state_changed(struct sm *sm)
{
	struct share *s = sm->m.share;

	s->is_due = s->is_row_due = true;
	memset(s->with_told, 0, sizeof(s->with_told));
	if (s->tell_at)
		s->tell_at = sm->now + PINS_WAIT;
	if (sm->state == SM_MASTER)
		tell_rule(sm);
}

void share_reconfigured(struct sm *sm, const struct conf *before)
{
	sm->m.share->is_due = sm->m.share->is_row_due = true;
}

void share_tick(struct sm *sm)
{
	struct share *s = sm->m.share;

	if (s->tell_at && sm->now >= s->tell_at && sm->state == SM_STANDBY)
		tell_pins(s);
	if (sm->state == SM_MASTER)
		share_master_tick(sm);
	else if (sm->state == SM_STANDBY)
		share_standby_tick(sm);
}

mono_t share_next(const struct sm *sm)
{
	const struct share *s = sm->m.share;

	if (sm->state == SM_MASTER)
		return share_master_next(sm);
	if (sm->state != SM_STANDBY)
		return MONO_NEVER;
	return mono_min(share_standby_next(sm), s->tell_at ? s->tell_at : MONO_NEVER);
}
