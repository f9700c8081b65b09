// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the instances there are to those there should be: at the start, at a reload, and when a port
 * comes. Then what systemd says of their units is read and told, until a signal ends that. The
 * units outlive no launcher: ExecStopPost= of opensm.service stops them.
 */
#include "launch/launcher.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "launch/clash.h"
#include "launch/gather.h"
#include "launch/ports.h"
#include "launch/journal.h"
#include "util/mem.h"
#include "util/str.h"

#define RETRY	   (60 * MONO_S) /* StartLimitIntervalSec= of opensm@.service */
#define ACCURACY   (100 * MONO_MS)
/* udev tells of ports; this is for the rest of their birth, and where no udevd runs. */
#define PORTS_POLL (30 * MONO_S)

static mono_t now_of(const struct launcher *l)
{
	uint64_t now = 0;

	sd_event_now(l->event, CLOCK_MONOTONIC, &now);
	return (mono_t)now;
}

/* ---- slots --------------------------------------------------------------------------------- */

static struct slot *slot_add(struct launcher *l, struct instance *i)
{
	struct slot *s;

	GROW(l->slots, l->n + 1, l->cap);
	s = &l->slots[l->n++];
	*s = (struct slot){ .instance = i, .unit = unit_name(i->name), .stale = true };
	return s;
}

static void slot_clear(struct slot *s)
{
	instance_free(s->instance);
	free(s->unit);
	free(s->obstacle);
}

static struct slot *slot_of(const struct launcher *l, const char *name)
{
	for (size_t n = 0; n < l->n; n++)
		if (str_equal(l->slots[n].instance->name, name))
			return &l->slots[n];
	return NULL;
}

bool launcher_is_busy(const struct launcher *l)
{
	for (size_t n = 0; n < l->n; n++)
		if (l->slots[n].now.busy)
			return true;
	return false;
}

/* Frees slots that are not wanted any more and have stopped. */
static void drop_gone(struct launcher *l)
{
	size_t kept = 0;

	for (size_t n = 0; n < l->n; n++) {
		struct slot *s = &l->slots[n];

		if (!s->gone || s->now.busy) {
			l->slots[kept++] = *s;
			continue;
		}
		unit_reset(l->units, s->unit);
		slot_clear(s);
	}
	l->n = kept;
}

/* ---- what systemd is asked for ------------------------------------------------------------- */

static void slot_order(struct launcher *l, struct slot *s, const char *method)
{
	free(s->obstacle);
	s->obstacle = unit_job(l->units, method, s->unit);
	s->stale = true;
	s->retry = 0;
	if (s->obstacle)
		journal_about(LOG_ID_INSTANCE_FAILED, s->instance->name, LOG_ERR,
			      "%s is refused: %s", method, s->obstacle);
}

/* Starts that were requested are no crashes: they do not count for the start limit. */
static void slot_start(struct launcher *l, struct slot *s, const char *method)
{
	unit_reset(l->units, s->unit);
	slot_order(l, s, method);
}

static void end_unwanted(struct launcher *l, const struct choice *c)
{
	for (size_t n = 0; n < l->n; n++) {
		struct slot *s = &l->slots[n];

		if (s->gone || choice_find(c, s->instance->name))
			continue;
		journal_about(LOG_ID_NONE, s->instance->name, LOG_NOTICE, "is not wanted any more");
		s->gone = true;
		slot_order(l, s, "StopUnit");
	}
}

/*
 * Reloads a running instance with the same settings, restarts one with others, starts one that has
 * ended.
 */
static void slot_renew(struct launcher *l, struct slot *s, struct instance *i)
{
	bool same = instance_equal(s->instance, i) && !s->gone;

	instance_free(s->instance);
	s->instance = i;
	s->gone = false;
	if (!same)
		slot_start(l, s, "RestartUnit");
	else if (s->now.phase == UNIT_RUNNING || s->now.phase == UNIT_STARTING)
		slot_order(l, s, "ReloadUnit");
	else
		slot_start(l, s, "StartUnit");
}

static void warn_of_clashes(const struct launcher *l)
{
	struct instance **items = xcalloc(l->n + 1, sizeof(*items));
	struct conf_report r = { 0 };
	size_t n_items = 0;

	for (size_t n = 0; n < l->n; n++)
		if (!l->slots[n].gone)
			items[n_items++] = l->slots[n].instance;
	clash_find(items, n_items, &r);
	journal_findings(&r);
	conf_report_clear(&r);
	free(items);
}

/*
 * Changes the slots to `choice`, which is emptied. `hup`: instances that are not wanted any more
 * are stopped, and others reload; otherwise new ports get instances, and no other is changed.
 */
static void follow_choice(struct launcher *l, struct choice *choice, bool hup)
{
	if (hup)
		end_unwanted(l, choice);
	choose_clear(&l->choice);
	l->choice = *choice;
	*choice = (struct choice){ 0 };
	for (size_t n = 0; n < l->choice.n; n++) {
		struct instance *i = l->choice.items[n];
		struct slot *s = slot_of(l, i->name);

		if (s && !hup)
			continue;
		l->choice.items[n] = NULL;
		instance_place(i, l->paths);
		if (s)
			slot_renew(l, s, i);
		else
			slot_start(l, slot_add(l, i), "StartUnit");
	}
	warn_of_clashes(l);
}

/* Reads the files. 0, or -errno and nothing changes; findings are said. */
static int read_files(struct launcher *l, struct choice *ret, char **ret_error)
{
	struct conf_report r = { 0 };
	int fault = gather(l->paths, l->ports, l->n_ports, ret, &r);

	journal_findings(&r);
	*ret_error = fault < 0 ? gather_first_error(&r) : NULL;
	conf_report_clear(&r);
	return fault;
}

/* ---- what systemd says --------------------------------------------------------------------- */

static void report_phase(struct launcher *l, const struct slot *s)
{
	const char *name = s->instance->name;
	char end[600];

	report_end(s, end, sizeof(end));
	if (s->now.phase == UNIT_FAILED)
		journal_about(LOG_ID_INSTANCE_FAILED, name, LOG_ERR,
			      "FAILED for good: %s; it is tried again at a reload or a restart",
			      end);
	else if (s->now.phase == UNIT_WAITING)
		journal_about(LOG_ID_INSTANCE_ENDED, name, LOG_WARNING,
			      "ended: %s; systemd starts it again", end);
	else if (s->now.phase == UNIT_PAUSED)
		journal_about(LOG_ID_INSTANCE_ENDED, name, LOG_ERR,
			      "FAILED again and again, last with %s; it is tried again in %" PRId64
			      " s",
			      end, RETRY / MONO_S);
	else
		journal_about(LOG_ID_NONE, name, LOG_INFO, "is %s", unit_phase_name(s->now.phase));
}

static void read_slot(struct launcher *l, struct slot *s)
{
	enum unit_phase former = s->now.phase;

	s->stale = false;
	if (!unit_read(l->units, s->unit, &s->now))
		return;
	if (s->obstacle)
		s->now.phase = UNIT_FAILED;
	if (s->now.phase != former)
		report_phase(l, s);
	if (s->now.phase != UNIT_PAUSED)
		s->retry = 0;
	else if (!s->retry)
		s->retry = now_of(l) + RETRY;
}

static void on_change(void *arg, const char *unit)
{
	struct launcher *l = arg;

	for (size_t n = 0; n < l->n; n++)
		if (!unit || str_equal(l->slots[n].unit, unit))
			l->slots[n].stale = true;
}

/* ---- ports --------------------------------------------------------------------------------- */

/* Reads the ports of the host. True: they have changed. */
static bool read_ports(struct launcher *l)
{
	size_t n;
	uint64_t *ports = ports_list(l->paths->sys_dir, &n);
	bool same = n == l->n_ports && memcmp(ports, l->ports, n * sizeof(*ports)) == 0;

	l->ports_due = now_of(l) + PORTS_POLL;
	free(l->ports);
	l->ports = ports;
	l->n_ports = n;
	return !same;
}

/*
 * With PORTS=ALL each new port gets an instance; other settings come into force by a reload only.
 */
static void look_at_ports(struct launcher *l)
{
	_cleanup_free_ char *error = NULL;
	struct choice choice;

	if (!read_ports(l))
		return;
	journal_text(LOG_INFO, "the InfiniBand ports of this host have changed, there are %zu",
		     l->n_ports);
	if (!l->choice.all_ports || read_files(l, &choice, &error) < 0)
		return;
	if (choice.all_ports) {
		follow_choice(l, &choice, false);
		return;
	}
	journal_text(LOG_NOTICE,
		     "the settings are not those in force any more (%s): no instance for new ports "
		     "before a reload",
		     choice.rule);
	choose_clear(&choice);
}

/* ---- after each turn of the loop ----------------------------------------------------------- */

/* Have all instances failed for good, so that no new port could help? */
static bool is_hopeless(const struct launcher *l)
{
	for (size_t n = 0; n < l->n; n++)
		if (l->slots[n].now.phase != UNIT_FAILED)
			return false;
	return l->n > 0 && !l->choice.all_ports && !launcher_is_busy(l);
}

static void set_timer(struct launcher *l)
{
	mono_t due = l->choice.all_ports ? l->ports_due : MONO_NEVER;

	for (size_t n = 0; n < l->n; n++)
		if (l->slots[n].retry)
			due = mono_min(due, l->slots[n].retry);
	sd_event_source_set_time(l->timer, (uint64_t)due);
	sd_event_source_set_enabled(l->timer, due == MONO_NEVER ? SD_EVENT_OFF : SD_EVENT_ONESHOT);
}

/* Its first turn is at once: the first report. */
static int on_timer(sd_event_source *source, uint64_t usec, void *arg)
{
	struct launcher *l = arg;

	for (size_t n = 0; n < l->n; n++)
		if (l->slots[n].retry && l->slots[n].retry <= now_of(l))
			slot_order(l, &l->slots[n], "StartUnit");
	if (l->ports_due <= now_of(l))
		look_at_ports(l);
	return 0;
}

static int on_post(sd_event_source *source, void *arg)
{
	struct launcher *l = arg;

	for (size_t n = 0; n < l->n; n++)
		if (l->slots[n].stale)
			read_slot(l, &l->slots[n]);
	drop_gone(l);
	if (!l->stopping && is_hopeless(l)) {
		l->owes_ready = false; /* READY=1 is never sent */
		report_update(l);
		journal_text(LOG_ERR, "nothing is left that could run: %s", l->status);
		return sd_event_exit(l->event, LAUNCH_EXIT_CONFIG);
	}
	report_update(l);
	set_timer(l);
	return 0;
}

/* ---- signals ------------------------------------------------------------------------------- */

static void reload_all(struct launcher *l)
{
	struct choice choice;

	l->owes_ready = true;
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, now_of(l));
	read_ports(l);
	free(l->refused);
	l->refused = NULL;
	if (read_files(l, &choice, &l->refused) < 0)
		journal_about(LOG_ID_SETTINGS_REFUSED, NULL, LOG_ERR,
			      "the reload took nothing over (%s), all instances stay as they are",
			      l->refused);
	else
		follow_choice(l, &choice, true);
}

/* Failed units lose their failed state when they are not wanted any more. */
static void stop_service(struct launcher *l)
{
	l->stopping = true;
	sd_notify(0, "STOPPING=1");
	for (size_t n = 0; n < l->n; n++)
		unit_reset(l->units, l->slots[n].unit);
	report_update(l);
	sd_event_exit(l->event, 0);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *arg)
{
	struct launcher *l = arg;

	switch (si->ssi_signo) {
	case SIGHUP:
		reload_all(l);
		break;
	case SIGURG:
		look_at_ports(l);
		break;
	case SIGUSR1:
		for (size_t n = 0; n < l->n; n++)
			unit_signal(l->units, l->slots[n].unit, SIGUSR1);
		break;
	default:
		stop_service(l);
		break;
	}
	return 0;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int add_sources(struct launcher *l)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGURG };
	sd_event_source *post = NULL;
	int r = sd_event_default(&l->event);

	for (size_t n = 0; r >= 0 && n < ARRAY_SIZE(signals); n++)
		r = sd_event_add_signal(l->event, NULL, signals[n], on_signal, l);
	if (r >= 0)
		r = sd_event_add_time(l->event, &l->timer, CLOCK_MONOTONIC, 0, ACCURACY, on_timer,
				      l);
	if (r >= 0)
		r = sd_event_add_post(l->event, &post, on_post, l);
	if (r >= 0) {
		sd_event_source_set_floating(post, true);
		sd_event_source_unref(post);
		r = sd_event_set_watchdog(l->event, true);
	}
	return r < 0 ? r : units_open(l->event, on_change, l, &l->units);
}

/* The first instances. 0 or the exit status. */
static int start_service(struct launcher *l)
{
	struct choice choice;

	read_ports(l);
	if (read_files(l, &choice, &l->refused) < 0) {
		l->owes_ready = false; /* READY=1 is never sent */
		report_update(l);
		journal_about(LOG_ID_SETTINGS_REFUSED, NULL, LOG_ERR, "%s", l->status);
		return LAUNCH_EXIT_CONFIG;
	}
	journal_text(LOG_INFO, "%zu instance%s (%s)", choice.n, choice.n == 1 ? "" : "s",
		     choice.rule);
	follow_choice(l, &choice, false);
	return 0;
}

static void launcher_clear(struct launcher *l)
{
	for (size_t n = 0; n < l->n; n++)
		slot_clear(&l->slots[n]);
	free(l->slots);
	choose_clear(&l->choice);
	free(l->ports);
	free(l->refused);
	free(l->status);
	free(l->state);
	units_free(l->units);
	sd_event_source_unref(l->timer);
	sd_event_unref(l->event);
}

int launcher_run(const struct launch_paths *paths)
{
	struct launcher l = { .paths = paths, .owes_ready = true };
	int r = add_sources(&l), status = 1;

	if (r < 0)
		journal_text(LOG_ERR, "systemd does not answer: %s", strerror(-r));
	else
		status = start_service(&l);
	if (status == 0) {
		status = sd_event_loop(l.event);
		if (status < 0)
			journal_text(LOG_ERR, "the event loop failed: %s", strerror(-status));
	}
	launcher_clear(&l);
	return status < 0 ? 1 : status;
}
