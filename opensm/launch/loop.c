// SPDX-License-Identifier: BSD-2-Clause
/*
 * The event loop of the launcher: signals, children, what they say, ports that come, one timer.
 */
#include "launch/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-device.h>
#include <unistd.h>

#include "launch/ports.h"
#include "launch/process.h"
#include "launch/say.h"
#include "util/file.h"
#include "util/mem.h"

#define DEFAULT_WATCHDOG (60 * MONO_S)
#define RELOAD_LIMIT (30 * MONO_S)
#define PORTS_POLL (30 * MONO_S)	/* udev tells of ports; this is for the rest of their birth */
#define PORTS_POLL_ALONE (5 * MONO_S)	/* nobody tells */
#define ACCURACY (100 * MONO_MS)

mono_t launcher_now(const struct launcher *l)
{
	uint64_t now = 0;

	sd_event_now(l->event, CLOCK_MONOTONIC, &now);
	return (mono_t)now;
}

/* ---- what instances say -------------------------------------------------------------------- */

static void on_message(struct instance *i, const struct process_message *m)
{
	mono_t now = launcher_now(i->launcher);

	if (m->has_status) {
		memcpy(i->status, m->status, sizeof(i->status));
		i->faulted = m->faulted;
	}
	if (m->reloading)
		i->reload_seen = true;
	if (m->ready) {
		supervise_ready(&i->life, now);
		if (i->reload_seen)
			i->reloading = i->reload_seen = false;
	}
	if (m->alive)
		supervise_fed(&i->life, now);
	if (m->hung) {
		i->hung = true;
		process_signal(i, SIGABRT);
	}
}

static void read_messages(struct instance *i)
{
	struct process_message m;

	if (!i->notify)
		return;
	while (process_next_message(sd_event_source_get_io_fd(i->notify), i->pid, &m))
		on_message(i, &m);
}

static int on_notify(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	read_messages(arg);
	return 0;
}

/* ---- lives of processes -------------------------------------------------------------------- */

static void put_last(struct instance *i, const siginfo_t *si)
{
	if (i->hung)
		snprintf(i->last, sizeof(i->last), "no sign of life, killed");
	else if (si->si_code == CLD_EXITED && i->faulted)
		snprintf(i->last, sizeof(i->last), "%s", i->status);
	else if (si->si_code == CLD_EXITED)
		snprintf(i->last, sizeof(i->last), "exit status %d", si->si_status);
	else
		snprintf(i->last, sizeof(i->last), "signal %d (%s)", si->si_status,
			 strsignal(si->si_status));
}

/* After the state has changed by an end that nobody asked for. */
static void say_end(struct instance *i, mono_t now)
{
	if (i->life.state == SUPERVISE_FAILED) {
		say_of(LOG_ID_INSTANCE_FAILED, i->plan.name, LOG_ERR,
		       "FAILED for good: %s; it is tried again at a reload or a restart", i->last);
	} else if (i->life.state == SUPERVISE_WAITING) {
		i->delay = i->life.due - now;
		say_of(LOG_ID_INSTANCE_ENDED, i->plan.name, LOG_WARNING,
		       "ended: %s; it starts again in %" PRId64 " s", i->last, i->delay / MONO_S);
	} else {
		say_of(LOG_ID_NONE, i->plan.name, LOG_INFO, "has ended");
	}
}

static void forget_process(struct instance *i)
{
	i->child = sd_event_source_disable_unref(i->child);
	i->notify = sd_event_source_disable_unref(i->notify);
	i->pid = 0;
	i->reloading = i->reload_seen = false;
}

static int on_child(sd_event_source *s, const siginfo_t *si, void *arg)
{
	struct instance *i = arg;
	struct launcher *l = i->launcher;
	mono_t now = launcher_now(l);
	bool for_good = si->si_code == CLD_EXITED && supervise_is_permanent(si->si_status);

	read_messages(i); /* its last words */
	put_last(i, si);
	forget_process(i);
	supervise_ended(&i->life, for_good && !i->hung, now);
	say_end(i, now);
	i->status[0] = '\0';
	i->faulted = i->hung = false;
	launcher_replace_ended(l);
	return 0;
}

static int watch_process(struct launcher *l, struct instance *i, int fd)
{
	int r = sd_event_add_io(l->event, &i->notify, fd, EPOLLIN, on_notify, i);

	if (r < 0) {
		close(fd);
		return r;
	}
	sd_event_source_set_io_fd_own(i->notify, true);
	/* Words before the end of who spoke them. */
	sd_event_source_set_priority(i->notify, SD_EVENT_PRIORITY_IMPORTANT);
	return sd_event_add_child(l->event, &i->child, i->pid, WEXITED, on_child, i);
}

static void start(struct launcher *l, struct instance *i)
{
	_cleanup_free_ char *what = NULL;
	mono_t now = launcher_now(l);
	int fd;

	instance_place(i, l->paths);
	fd = instance_folders(i, l->paths, &what);
	if (fd >= 0)
		fd = process_start(i, l->paths, l->watchdog, &what);
	supervise_started(&i->life, now);
	if (fd >= 0) {
		int r = watch_process(l, i, fd);

		if (r >= 0) {
			say_of(LOG_ID_NONE, i->plan.name, LOG_INFO, "starts as process %d", (int)i->pid);
			return;
		}
		what = xasprintf("cannot watch the process: %s", strerror(-r));
		process_signal(i, SIGKILL);
		forget_process(i);
	}
	snprintf(i->last, sizeof(i->last), "%s", what);
	supervise_ended(&i->life, false, now);
	say_end(i, now);
}

/* Does what is due for this one, until nothing is. */
static void advance(struct launcher *l, struct instance *i)
{
	for (;;) {
		switch (supervise_next(&i->life, launcher_now(l))) {
		case SUPERVISE_NOTHING:
			return;
		case SUPERVISE_START:
			start(l, i);
			break;
		case SUPERVISE_ABORT:
			say_of(LOG_ID_NONE, i->plan.name, LOG_ERR, "gives no sign of life, it is killed");
			i->hung = true;
			process_signal(i, SIGABRT);
			break;
		case SUPERVISE_KILL:
			process_signal(i, SIGKILL);
			break;
		}
	}
}

/* ---- after each turn ----------------------------------------------------------------------- */

static void set_timer(struct launcher *l)
{
	mono_t due = l->reloading ? l->reload_limit : MONO_NEVER;

	for (size_t n = 0; n < l->n; n++)
		due = mono_min(due, supervise_due(&l->items[n]->life));
	if (due == MONO_NEVER) {
		sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(l->timer, (uint64_t)due);
	sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT);
}

/* All have failed for good, and no port that comes could change that. */
static bool is_hopeless(const struct launcher *l)
{
	for (size_t n = 0; n < l->n; n++)
		if (l->items[n]->life.state != SUPERVISE_FAILED)
			return false;
	return l->n > 0 && !l->choice.all_ports;
}

static void settle(struct launcher *l)
{
	for (size_t n = 0; n < l->n; n++)
		advance(l, l->items[n]);
	if (!l->stopping && is_hopeless(l)) {
		l->ready = true; /* it never will be: not said */
		report_tell(l);
		say(LOG_ERR, "nothing is left that could run: %s", l->status);
		sd_event_exit(l->event, LAUNCH_EXIT_CONFIG);
		return;
	}
	report_tell(l);
	set_timer(l);
	if (l->stopping && l->n == 0)
		sd_event_exit(l->event, 0);
}

static int on_post(sd_event_source *s, void *arg)
{
	settle(arg);
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	return 0; /* settle() does what is due */
}

/* ---- signals ------------------------------------------------------------------------------- */

static void stop(struct launcher *l)
{
	if (l->stopping)
		return;
	l->stopping = true;
	sd_notify(0, "STOPPING=1");
	say(LOG_INFO, "ending");
	for (size_t n = 0; n < l->n; n++)
		if (supervise_stop(&l->items[n]->life, launcher_now(l)))
			process_signal(l->items[n], SIGTERM);
	launcher_replace_ended(l);
}

/* True if there are others than before. */
static bool read_ports(struct launcher *l)
{
	size_t n;
	uint64_t *ports = ports_list(l->paths->sys_dir, &n);
	bool same = n == l->n_ports && memcmp(ports, l->ports, n * sizeof(*ports)) == 0;

	free(l->ports);
	l->ports = ports;
	l->n_ports = n;
	return !same;
}

static void reload(struct launcher *l)
{
	struct choice choice;

	if (l->stopping)
		return;
	l->reloading = true;
	l->reload_limit = launcher_now(l) + RELOAD_LIMIT;
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, launcher_now(l));
	read_ports(l);
	free(l->refused);
	l->refused = NULL;
	if (launcher_plan(l, &choice, &l->refused) < 0)
		say_of(LOG_ID_SETTINGS_REFUSED, NULL, LOG_ERR,
		       "the reload took nothing over (%s), all instances stay as they are",
		       l->refused);
	else
		launcher_follow(l, &choice, true);
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *arg)
{
	struct launcher *l = arg;

	switch (si->ssi_signo) {
	case SIGHUP:
		reload(l);
		break;
	case SIGUSR1:
		for (size_t n = 0; n < l->n; n++)
			process_signal(l->items[n], SIGUSR1);
		break;
	default:
		stop(l);
		break;
	}
	return 0;
}

/* ---- ports --------------------------------------------------------------------------------- */

/* PORTS=ALL has an instance for each that came; no settings of another kind come into force without a reload. */
static void follow_ports(struct launcher *l)
{
	struct choice choice;
	_cleanup_free_ char *error = NULL;

	if (launcher_plan(l, &choice, &error) < 0)
		return;
	if (choice.all_ports) {
		launcher_follow(l, &choice, false);
		return;
	}
	say(LOG_NOTICE, "the settings are not those in force any more (%s): no instance for new ports "
			"before a reload", choice.rule_text);
	choose_clear(&choice);
}

/* Where there are others than before, whoever waits is tried. */
static void look_at_ports(struct launcher *l)
{
	if (!read_ports(l) || l->stopping)
		return;
	say(LOG_INFO, "the InfiniBand ports of this host have changed, there are %zu", l->n_ports);
	for (size_t n = 0; n < l->n; n++)
		supervise_hurry(&l->items[n]->life, launcher_now(l));
	if (l->choice.all_ports)
		follow_ports(l);
}

static int on_device(sd_device_monitor *m, sd_device *device, void *arg)
{
	look_at_ports(arg);
	return 0;
}

static int on_poll(sd_event_source *s, uint64_t usec, void *arg)
{
	struct launcher *l = arg;
	bool alone = access("/run/udev/control", F_OK) < 0;

	look_at_ports(l);
	sd_event_source_set_time(s, (uint64_t)(launcher_now(l) +
					       (alone ? PORTS_POLL_ALONE : PORTS_POLL)));
	return 0;
}

/* NULL: nobody will tell; the poll sees it. */
static sd_device_monitor *watch_devices(struct launcher *l)
{
	sd_device_monitor *m = NULL;

	if (sd_device_monitor_new(&m) >= 0 &&
	    sd_device_monitor_filter_add_match_subsystem_devtype(m, "infiniband_mad", NULL) >= 0 &&
	    sd_device_monitor_attach_event(m, l->event) >= 0 &&
	    sd_device_monitor_start(m, on_device, l) >= 0)
		return m;
	return sd_device_monitor_unref(m);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int add_sources(struct launcher *l)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };
	sd_event_source *poll = NULL, *post = NULL;
	int r;

	for (size_t n = 0; n < ARRAY_SIZE(signals); n++) {
		r = sd_event_add_signal(l->event, NULL, signals[n], on_signal, l);
		if (r < 0)
			return r;
	}
	r = sd_event_add_time(l->event, &l->timer, CLOCK_MONOTONIC, 0, ACCURACY, on_timer, l);
	if (r < 0)
		return r;
	r = sd_event_add_time(l->event, &poll, CLOCK_MONOTONIC, 0, MONO_S, on_poll, l);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(poll, SD_EVENT_ON);
	sd_event_source_set_floating(poll, true);
	sd_event_source_unref(poll);
	r = sd_event_add_post(l->event, &post, on_post, l);
	if (r < 0)
		return r;
	sd_event_source_set_floating(post, true);
	sd_event_source_unref(post);
	r = sd_event_set_watchdog(l->event, true);
	return r < 0 ? r : 0;
}

static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* What systemd grants us is what we grant the instances. */
static mono_t watchdog_of_instances(void)
{
	uint64_t usec;

	return sd_watchdog_enabled(0, &usec) > 0 ? (mono_t)usec : DEFAULT_WATCHDOG;
}

/* Two launchers would take each other's sockets. Held until the end of the process. 0 or -errno, said. */
static int lock(const struct launch_paths *p)
{
	_cleanup_free_ char *path = xasprintf("%s/launch.lock", p->run_dir);
	int fd, r = file_mkdirs(p->run_dir, 0755);

	if (r < 0) {
		say(LOG_ERR, "cannot make %s: %s", p->run_dir, strerror(-r));
		return r;
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	r = -errno;
	if (r == -EWOULDBLOCK)
		say(LOG_ERR, "%s is locked: another opensm-launch works in that folder", path);
	else
		say(LOG_ERR, "cannot lock %s: %s", path, strerror(-r));
	return r;
}

/* The first instances. 0 or the exit status. */
static int begin(struct launcher *l)
{
	struct choice choice;

	if (lock(l->paths) < 0)
		return 1;
	l->ports = ports_list(l->paths->sys_dir, &l->n_ports);
	if (launcher_plan(l, &choice, &l->refused) < 0) {
		l->ready = true; /* it never will be: not said */
		report_tell(l);
		say_of(LOG_ID_SETTINGS_REFUSED, NULL, LOG_ERR, "%s", l->status);
		return LAUNCH_EXIT_CONFIG;
	}
	say(LOG_INFO, "%zu instance%s (%s)", choice.n, choice.n == 1 ? "" : "s", choice.rule_text);
	launcher_follow(l, &choice, false);
	return 0;
}

static void clear(struct launcher *l)
{
	for (size_t n = 0; n < l->n; n++)
		instance_free(l->items[n]);
	free(l->items);
	choose_clear(&l->choice);
	free(l->ports);
	free(l->refused);
	free(l->status);
	free(l->state);
	sd_event_source_unref(l->timer);
	sd_event_unref(l->event);
}

int launcher_run(const struct launch_paths *paths, struct title title)
{
	struct launcher l = { .paths = paths, .title = title };
	sd_device_monitor *monitor;
	int r, status;

	block_signals();
	l.watchdog = watchdog_of_instances();
	r = sd_event_default(&l.event);
	if (r >= 0)
		r = add_sources(&l);
	if (r < 0) {
		say(LOG_ERR, "no event loop: %s", strerror(-r));
		return 1;
	}
	monitor = watch_devices(&l);
	status = begin(&l);
	if (status == 0) {
		status = sd_event_loop(l.event);
		if (status < 0)
			say(LOG_ERR, "the event loop failed: %s", strerror(-status));
	}
	sd_device_monitor_unref(monitor);
	clear(&l);
	return status < 0 ? 1 : status;
}
