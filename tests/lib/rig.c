// SPDX-License-Identifier: BSD-2-Clause
/* The loop that daemon.c is in life, in virtual time. */
#include "tests/lib/rig.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/no-syslog.h"
#include "util/mem.h"
#include "util/random.h"

struct rig *rig_new(struct sim *sim)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig->sim = sim;
	return rig;
}

static void submit_job(void *arg, struct sm_job *job)
{
	struct rig_sm *s = arg;
	struct rig_job *j = xcalloc(1, sizeof(*j)), **at = &s->jobs;

	j->job = job;
	j->due = sim_now(s->rig->sim) +
		 (job->disk ? MAX(s->rig->disk_time, s->rig->job_time) : s->rig->job_time);
	while (*at && (*at)->due <= j->due)
		at = &(*at)->next;
	j->next = *at;
	*at = j;
}

static void subnet_up(void *arg, const struct sm *sm)
{
	struct rig_sm *s = arg;

	s->ups++;
}

static void status(void *arg, const char *line)
{
	struct rig_sm *s = arg;

	snprintf(s->status, sizeof(s->status), "%s", line);
}

static void event(void *arg, const struct sm_event *e)
{
	struct rig_sm *s = arg;

	s->rig->event(s, e);
}

static void perf(void *arg, struct transport_event *ev, mono_t now)
{
	struct rig_sm *s = arg;

	s->rig->perf(s, ev, now);
}

static void congestion(void *arg, struct transport_event *ev, mono_t now)
{
	struct rig_sm *s = arg;

	s->rig->congestion(s, ev, now);
}

static uint64_t read_clock(const struct rig *rig)
{
	return rig->clock ? rig->clock() : 0;
}

/* In a daemon another thread does it, and the manager goes on. */
static void run_job(struct rig *rig, struct sm_job *job)
{
	uint64_t before = read_clock(rig);

	job->run(job);
	rig->spent -= read_clock(rig) - before + rig->clock_takes;
}

/* Runs what was handed out and is due by `now`, in order; true if there was something. */
static bool run_jobs(struct rig_sm *s, mono_t now)
{
	bool any = false;

	while (s->jobs && s->jobs->due <= now) {
		struct rig_job *j = s->jobs;

		s->jobs = j->next;
		run_job(s->rig, j->job);
		j->job->done(j->job);
		free(j);
		any = true;
	}
	return any;
}

static int64_t realtime(void *arg)
{
	const struct rig_sm *s = arg;

	return s->rig->epoch + (int64_t)(sim_now(s->rig->sim) / MONO_S);
}

/* The same in each run, and not the same for two managers. */
static void draw(void *arg, void *ret, size_t len)
{
	struct rig_sm *s = arg;
	uint8_t *byte = ret;

	for (size_t i = 0; i < len; i++)
		byte[i] = (uint8_t)random_next(&s->ids);
}

/* RIG_MAX_SMS: all are running. */
static unsigned free_place(const struct rig *rig)
{
	unsigned i = 0;

	if (rig->n_sms < RIG_MAX_SMS)
		return rig->n_sms;
	while (i < RIG_MAX_SMS && rig->sms[i].sm)
		i++;
	return i;
}

int rig_start(struct rig *rig, const char *node, int port, const struct conf *conf,
	      const char *cache_dir)
{
	unsigned place = free_place(rig);
	struct rig_sm *s = &rig->sms[place];
	struct sm_paths paths = { .cache_dir = cache_dir, .dump_dir = cache_dir };
	struct sm_hooks hooks = { .submit_job = submit_job,
				  .subnet_up = subnet_up,
				  .status = status,
				  .draw = draw,
				  .arg = s };
	struct transport *tr;

	hooks.realtime = rig->epoch ? realtime : NULL;
	hooks.event = rig->event ? event : NULL;
	hooks.perf = rig->perf ? perf : NULL;
	hooks.congestion = rig->congestion ? congestion : NULL;
	hooks.engines = rig->engines;
	if (place == RIG_MAX_SMS)
		return -ENOSPC;
	tr = sim_attach(rig->sim, node, port);
	if (!tr)
		return -ENODEV;
	*s = (struct rig_sm){ .rig = rig, .tr = tr, .ids = rig->n_starts++ };
	snprintf(s->node, sizeof(s->node), "%s", node);
	transport_set_issm(tr, true);
	s->sm = sm_new(conf, rig->between ? rig->between(s) : tr, &paths, &hooks);
	rig->n_sms = MAX(rig->n_sms, place + 1);
	return (int)place;
}

void rig_kill(struct rig *rig, unsigned sm)
{
	struct rig_sm *s = &rig->sms[sm];

	if (!s->sm)
		return;
	run_jobs(s, MONO_NEVER);
	s->sm = sm_free(s->sm);
	s->tr = transport_close(s->tr);
}

void rig_stop(struct rig *rig, unsigned sm)
{
	struct rig_sm *s = &rig->sms[sm];

	if (!s->sm)
		return;
	transport_set_issm(s->tr, false);
	sm_shutdown(s->sm);
	rig_kill(rig, sm);
}

struct rig *rig_free(struct rig *rig)
{
	if (!rig)
		return NULL;
	for (unsigned i = 0; i < rig->n_sms; i++)
		rig_kill(rig, i);
	sim_free(rig->sim);
	free(rig);
	return NULL;
}

void rig_freeze(struct rig *rig, unsigned sm, bool frozen)
{
	rig->sms[sm].frozen = frozen;
}

int rig_find(const struct rig *rig, const char *node)
{
	for (unsigned i = 0; i < rig->n_sms; i++)
		if (rig->sms[i].sm && !strcmp(rig->sms[i].node, node))
			return (int)i;
	return -1;
}

unsigned rig_count(const struct rig *rig, enum sm_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < rig->n_sms; i++)
		n += rig->sms[i].sm && !rig->sms[i].frozen && sm_state(rig->sms[i].sm) == state;
	return n;
}

struct sm *rig_master(const struct rig *rig)
{
	if (rig_count(rig, SM_MASTER) != 1)
		return NULL;
	for (unsigned i = 0; i < rig->n_sms; i++)
		if (rig->sms[i].sm && !rig->sms[i].frozen && sm_state(rig->sms[i].sm) == SM_MASTER)
			return rig->sms[i].sm;
	return NULL;
}

bool rig_sweeping(const struct rig *rig)
{
	for (unsigned i = 0; i < rig->n_sms; i++)
		if (rig->sms[i].sm && !rig->sms[i].frozen && sm_sweeping(rig->sms[i].sm))
			return true;
	return false;
}

static bool runs(const struct rig_sm *s)
{
	return s->sm && !s->frozen;
}

static mono_t next_event(const struct rig *rig)
{
	mono_t next = sim_next(rig->sim);

	for (unsigned i = 0; i < rig->n_sms; i++) {
		const struct rig_sm *s = &rig->sms[i];

		if (!runs(s))
			continue;
		next = mono_min(next, sim_has_mail(s->tr) ? sim_now(rig->sim) : sm_next(s->sm));
		next = s->jobs ? mono_min(next, s->jobs->due) : next;
	}
	return next;
}

/* Not inlined: tests/cost counts the instructions that are spent within it. */
static __attribute__((noinline)) void rig_dispatch(struct rig_sm *s, mono_t now)
{
	uint64_t before = read_clock(s->rig);

	do
		sm_dispatch(s->sm, now);
	while (run_jobs(s, now) || sim_has_mail(s->tr));
	s->rig->spent += read_clock(s->rig) - before;
	s->rig->spent -= s->rig->clock_takes;
}

/*
 * A manager that wants to be called at once for ever holds the clock: that is a fault of its own.
 */
#define MAX_STANDSTILL 1000000

static void check_standstill(struct rig *rig, mono_t before)
{
	rig->standstill = sim_now(rig->sim) > before ? 0 : rig->standstill + 1;
	if (rig->standstill < MAX_STANDSTILL)
		return;
	fprintf(stderr, "rig: no manager comes to rest at %lld us\n", (long long)before);
	abort();
}

bool rig_step(struct rig *rig, mono_t until)
{
	mono_t next = next_event(rig), before = sim_now(rig->sim);
	mono_t now = next > until ? until : next < before ? before : next;

	sim_advance(rig->sim, now);
	if (next > until)
		return false;
	check_standstill(rig, before);
	for (unsigned i = 0; i < rig->n_sms; i++) {
		struct rig_sm *s = &rig->sms[i];

		if (!runs(s))
			continue;
		rig->acting = s->node;
		if (run_jobs(s, now) || sim_has_mail(s->tr) || sm_next(s->sm) <= now)
			rig_dispatch(s, now);
		rig->acting = NULL;
	}
	return true;
}

void rig_run(struct rig *rig, mono_t until)
{
	while (rig_step(rig, until))
		;
}
