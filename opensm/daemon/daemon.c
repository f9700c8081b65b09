// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event loop: MADs, one timer, signals, the worker's results, the watchdog.
 *
 *   WAITING --port opened--> RUNNING --port vanished--> WAITING
 *
 * A port that is not there yet, or belongs to another SM, is waited for and never exited on.
 */
#include "daemon/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "daemon/conf_reload.h"
#include "daemon/counters.h"
#include "daemon/host_check.h"
#include "daemon/listen.h"
#include "daemon/notify.h"
#include "daemon/release.h"
#include "daemon/route_child.h"
#include "daemon/timer.h"
#include "daemon/worker.h"
#include "dump/dump_turns.h"
#include "libvendor/stop_guard.h"
#include "libvendor/umad.h"
#include "sm/routing/route_job.h"
#include "sm/sm.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/told.h"

#define REOPEN_INTERVAL (1 * MONO_S)
#define REOPEN_SOON	(20 * MONO_MS)
/* How long the end waits for writes to the disk, and for a computation to give up; in ms. */
#define DISK_PATIENCE	2000
#define WORKER_PATIENCE 200
/* Time to serve a stop signal, and then to end: longer than both times above. */
#define STOP_PATIENCE_S 6u
/* A port that comes back finds its files written; a disk that takes longer is not waited for. */
#define REOPEN_PATIENCE (2 * MONO_S)
/* SIGHUPs closer to each other than this are one. */
#define HUP_INTERVAL	(500 * MONO_MS)
/* At least this often the jobs are checked, and the watchdog is fed unless it wants more. */
#define PULSE		(5 * MONO_S)
/*
 * A computation that has not ended by then never will: 3,645 switches and 39,366 hosts, nearly all
 * that there are LIDs for, are routed and checked in 6 s of CPU time. The watchdog is not fed any
 * more, and a restart helps.
 */
#define WORKER_HUNG	(10 * 60 * MONO_S)
/* A disk that does not answer is logged, and no reason to end: a restart heals no disk. */
#define DISK_HUNG	(30 * MONO_S)
/* Rounds of taking in MADs before other sources get their turn. */
#define ROUNDS_PER_WAKE 8
/* Sweeps after which --once gives up. */
#define ONCE_TRIES 3

enum { TOLD_WAITING, TOLD_COUNTS, TOLD_WORKER_HANGS, TOLD_DISK_HANGS };

struct daemon {
	const struct daemon_options *options;
	struct conf *conf, *file_conf;
	sd_event *event;
	sd_event_source *io, *pulse;
	struct lazy_timer timer;
	mono_t pulse_every;
	struct stop_guard *stop_guard;
	struct worker *worker; /* computes */
	struct route_child *route_child; /* in another process; for the worker alone */
	struct worker *disk;		 /* waits for files, so that the event loop does not */
	struct worker *viewer;		 /* renders pages and documents of listeners */
	struct perf *perf;
	struct cc *cc;
	struct daemon_api api;
	struct conf_report findings; /* findings of the last SIGHUP */
	struct listeners *listeners;
	struct transport *tr;
	struct sm *sm;
	struct sm_heritage heritage; /* heritage of the last manager, while there is none */
	struct notify notify;
	struct retry reopen;
	mono_t hup_at; /* no SIGHUP is served before */
	bool hup_wanted, sweep_wanted; /* sweep_wanted: a heavy sweep is due after the reload */
	bool watchdog, once_done, stopping; /* stopping: set when listeners get no more events */
	struct told told;
	char waiting_for[300]; /* text of the last "waiting" record */
	struct dump_turns *dumps;
	int exit_code;
};

static mono_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t)ts.tv_sec * MONO_S + ts.tv_nsec / 1000;
}

static uint64_t clock_ms(void)
{
	return (uint64_t)(clock_now() / MONO_MS);
}

struct log_config daemon_log_config(const struct conf *c)
{
	return (struct log_config){
		.path = c->log_file,
		.prefix = c->log_prefix,
		.flags = c->log_flags,
		.max_size_mb = c->log_max_size,
		.append = c->accum_log_file,
		.flush = c->force_log_flush,
		.quiet = c->daemon,
	};
}

/* ---- hooks of the SM ----------------------------------------------------------------------- */

static void on_submit_job(void *arg, struct sm_job *job)
{
	struct daemon *d = arg;

	worker_submit(job->disk ? d->disk : d->worker, job, clock_now());
}

static void show_status(struct daemon *d, const char *line)
{
	snprintf(d->api.status, sizeof(d->api.status), "%s", line);
	notify_status(&d->notify, line);
}

static void on_status(void *arg, const char *line)
{
	show_status(arg, line);
}

static void on_perf(void *arg, struct transport_event *ev, mono_t now)
{
	struct daemon *d = arg;
	const struct perf_place place = counters_place(d->sm, now, time(NULL));

	perf_receive(d->perf, ev, &place);
}

static void on_congestion(void *arg, struct transport_event *ev, mono_t now)
{
	struct daemon *d = arg;

	congestion_receive(d->cc, d->sm, ev, now);
}

static void on_event(void *arg, const struct sm_event *event)
{
	struct daemon *d = arg;

	daemon_api_note(&d->api, event);
	congestion_note(d->cc, event);
	if (!d->stopping)
		listen_event(d->listeners, event);
}

/* The noise-free measure of a sweep: MADs sent, by attribute. */
static void log_counts(const struct sm *sm)
{
	char text[1024];
	size_t len = 0;
	unsigned n;
	const struct mad_count *counts = mad_counts(sm_mad(sm), &n);

	for (unsigned i = 0; i < n && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s %s %" PRIu64, i ? ", " : "",
				mad_method_name(counts[i].method), ib_attr_name(counts[i].attr),
				counts[i].sent);
	log_verbose("SMPs sent: %" PRIu64 " (%s)", mad_sent(sm_mad(sm), 0), n ? text : "none");
}

static void on_dump_job(void *arg, struct sm_job *job)
{
	struct daemon *d = arg;

	worker_submit(d->disk, job, clock_now());
}

static void on_dump_failed(void *arg, const char *error)
{
	log_on(ABOUT(.id = LOG_ID_DISK_FAULT), LOGB_ERROR, "%s", error);
}

static void want_dump(struct daemon *d)
{
	const struct dump_config dump = {
		.dir = d->conf->dump_files_dir,
		/* as the console and opensmctl have set them, too */
		.routing = log_flags() & LOGB_ROUTING,
		.engine = true,
		.port_table = log_flags() & LOGB_VERBOSE && !d->conf->daemon,
	};

	dump_turns_want(d->dumps, d->sm, &dump, dump.routing ? NULL : sm_view_present(d->sm));
}

static void on_subnet_up(void *arg, const struct sm *sm)
{
	struct daemon *d = arg;

	if (told_first(&d->told, TOLD_COUNTS) || log_wants(LOGB_VERBOSE))
		log_counts(sm);
	if (sm_routes(sm)) /* on the thread that forks: it is never forked half done */
		worker_submit(d->worker, route_settle_job_new(sm_routes(sm)), clock_now());
	if (sm_stats(sm)->up)
		want_dump(d);
	d->once_done = sm_stats(sm)->up || sm_stats(sm)->heavy_sweeps >= ONCE_TRIES;
}

/* ---- opening and losing the port ----------------------------------------------------------- */

static int on_io(sd_event_source *s, int fd, uint32_t events, void *arg);

static void close_port(struct daemon *d)
{
	sd_event_source_disable_unref(d->io);
	d->io = NULL;
	dump_turns_sm_gone(d->dumps);
	worker_orphan(d->worker);
	worker_orphan(d->disk);
	if (d->sm) {
		listen_sm_gone(d->listeners);
		sm_bequeath(d->sm, &d->heritage);
	}
	d->sm = sm_free(d->sm);
	daemon_api_sm_gone(&d->api);
	d->tr = transport_close(d->tr);
}

static int64_t on_realtime(void *arg)
{
	return time(NULL);
}

static mono_t on_monotonic(void *arg)
{
	return clock_now();
}

static void start_sm(struct daemon *d)
{
	const struct sm_hooks hooks = {
		.submit_job = on_submit_job,
		.subnet_up = on_subnet_up,
		.status = on_status,
		.event = on_event,
		.engines = listen_engines(d->listeners),
		.runner = route_child_runner(d->route_child),
		.perf = on_perf,
		.congestion = on_congestion,
		.realtime = on_realtime,
		.clock = on_monotonic,
		.arg = d,
	};
	const struct sm_paths paths = {
		.cache_dir = d->options->cache_dir,
		.dump_dir = d->conf->dump_files_dir,
	};
	char line[256];

	log_sys("Using port %s, GUID 0x%" PRIx64, umad_transport_name(d->tr), d->tr->port_guid);
	told_change(&d->told, TOLD_WAITING, false);
	/* At the first start of all; a fault is logged for each file that cannot be written. */
	(void)file_mkdirs(d->options->cache_dir, 0755);
	d->sm = sm_new(d->conf, d->tr, &paths, &hooks);
	if (d->options->release && d->file_conf)
		sm_release_keys(d->sm, d->file_conf);
	d->api.sm = d->sm;
	snprintf(d->api.port_name, sizeof(d->api.port_name), "%s", umad_transport_name(d->tr));
	sm_inherit(d->sm, &d->heritage);
	sm_heritage_clear(&d->heritage);
	sd_event_add_io(d->event, &d->io, transport_fd(d->tr), EPOLLIN, on_io, d);
	snprintf(line, sizeof(line), "Port %s: reading the subnet", umad_transport_name(d->tr));
	show_status(d, line);
}

static void tell_waiting(struct daemon *d, const char *why)
{
	char line[sizeof(d->waiting_for)];

	snprintf(line, sizeof(line), "Waiting for a port: %s", why);
	if (!told_first(&d->told, TOLD_WAITING) && !strcmp(line, d->waiting_for))
		return;
	memcpy(d->waiting_for, line, sizeof(line));
	log_sys_on(ABOUT(.id = LOG_ID_PORT_WAIT), "%s", line);
	show_status(d, line);
}

/* The IsSM bit has one holder: the subnet manager of this port. We wait until it is free. */
static bool claim_port(struct daemon *d)
{
	int r = transport_set_issm(d->tr, true);

	if (r == -EBUSY) {
		tell_waiting(d, "another subnet manager runs on it (its IsSM bit is taken)");
		d->tr = transport_close(d->tr);
		return false;
	}
	if (r < 0 && !told_holds(&d->told, TOLD_WAITING))
		log_on(ABOUT(.id = LOG_ID_PORT_WAIT, .port_guid = d->tr->port_guid, .error = -r,
			     .local = true),
		       LOGB_ERROR, "port 0x%016" PRIx64 ": its IsSM bit cannot be set: %s",
		       d->tr->port_guid, strerror(-r));
	return true;
}

/* Files of the former manager are still being written, and are complete in a moment. */
static bool is_writing(struct daemon *d, mono_t now)
{
	mono_t since;

	return worker_running(d->disk, now, &since) && now - since < REOPEN_PATIENCE;
}

static void try_open(struct daemon *d, mono_t now)
{
	char why[256] = "";
	int r;

	if (now < d->reopen.at || is_writing(d, now))
		return;
	retry_began(&d->reopen, now, REOPEN_INTERVAL);
	r = umad_transport_open(d->conf->guid, &d->tr, why, sizeof(why));
	if (r < 0)
		tell_waiting(d, why[0] ? why : strerror(-r));
	else if (claim_port(d))
		start_sm(d);
}

/* ---- keys in memory ------------------------------------------------------------------------ */

/*
 * A core holds the keys of all ports, and they stand in too many places to be left out of it. Once
 * there were keys, taking them out of the configuration does not take them out of memory.
 */
static void guard_keys(const struct conf *c)
{
	bool is_open = prctl(PR_GET_DUMPABLE) == 1;

	if (c->core_dumps_with_keys) {
		prctl(PR_SET_DUMPABLE, 1);
	} else if (is_open && conf_has_secrets(c)) {
		prctl(PR_SET_DUMPABLE, 0);
		log_info("keys are configured: no core dumps are written (core_dumps_with_keys)");
	}
}

/* ---- SIGHUP -------------------------------------------------------------------------------- */

static void take_over(struct daemon *d, struct reload *r)
{
	struct log_config log;

	conf_unref(d->conf);
	d->conf = conf_ref(r->conf);
	d->api.conf = d->conf;
	if (r->file_conf) {
		conf_unref(d->file_conf);
		d->file_conf = conf_ref(r->file_conf);
	}
	log = daemon_log_config(d->conf);
	log_configure(&log);
	guard_keys(d->conf);
	if (d->sm) {
		sm_reload(d->sm, r->conf, r->files);
	} else {
		conf_files_unref(d->heritage.files);
		d->heritage.files = conf_files_ref(r->files);
		d->heritage.files_held = false;
	}
	listen_reconfigure(d->listeners);
}

static struct reload_from reload_from(const struct daemon *d)
{
	return (struct reload_from){
		.live = d->conf,
		.file_conf = d->file_conf,
		.path = d->options->conf_path,
		.files = d->sm ? sm_files(d->sm) : d->heritage.files,
	};
}

static void keep_findings(struct daemon *d, struct reload *r)
{
	conf_report_clear(&d->findings);
	d->findings = r->report;
	r->report = (struct conf_report){ 0 };
	d->api.findings = &d->findings;
	d->api.refused = r->refused;
}

static void serve_hup(struct daemon *d)
{
	const struct reload_from from = reload_from(d);
	struct reload r;

	notify_reloading(clock_now());
	reload_read(&from, &r);
	reload_tell(&r);
	if (!r.refused)
		take_over(d, &r);
	else if (d->sm)
		sm_reload_refused(d->sm);
	else
		d->heritage.files_held = true;
	if (d->sm && d->sweep_wanted)
		sm_request_heavy(d->sm, NULL);
	d->sweep_wanted = false;
	notify_reloaded(&d->notify, r.first);
	keep_findings(d, &r);
	reload_clear(&r);
	d->hup_wanted = false;
	d->hup_at = clock_now() + HUP_INTERVAL;
}

/* ---- the pump ------------------------------------------------------------------------------ */

/* The fabric may still have been coming up; then no engine will want it. */
static bool once_has_failed(const struct daemon *d)
{
	return !d->once_done && sm_stats(d->sm)->no_routes >= ONCE_TRIES;
}

static bool once_is_over(const struct daemon *d)
{
	return d->options->once && (d->once_done || once_has_failed(d)) &&
	       !dump_turns_pending(d->dumps) && !sm_sweeping(d->sm);
}

static void run_sm(struct daemon *d)
{
	bool release = d->options->release;
	int r = SM_MADS_PER_DISPATCH;

	/* What has come since is told by the descriptor. */
	for (unsigned i = 0; i < ROUNDS_PER_WAKE && r >= SM_MADS_PER_DISPATCH; i++)
		r = sm_dispatch(d->sm, clock_now());
	if (r == -ENODEV) {
		log_sys_on(ABOUT(.id = LOG_ID_PORT_GONE), "the port is gone: it is waited for");
		close_port(d);
		retry_failed(&d->reopen, clock_now());
	} else if (release && release_is_refused(d->sm, clock_now() - d->api.started)) {
		sd_event_exit(d->event, 1);
	} else if (once_is_over(d) && !(release && release_waits(d->sm, d->cc))) {
		sd_event_exit(d->event, once_has_failed(d) ||
						(release && !release_is_done(d->sm, d->cc)));
	}
}

/* Does all that can be done now, and sets the timer to the next work. */
static void run_once(struct daemon *d)
{
	struct perf_place place;
	mono_t next;

	if (!d->sm)
		try_open(d, clock_now());
	if (d->hup_wanted && clock_now() >= d->hup_at)
		serve_hup(d);
	if (d->sm)
		run_sm(d);
	place = counters_place(d->sm, clock_now(), time(NULL));
	perf_dispatch(d->perf, &place);
	congestion_dispatch(d->cc, d->sm, clock_now());
	next = d->sm ? sm_next(d->sm) : MAX(d->reopen.at, clock_now() + REOPEN_SOON);
	if (d->sm && dump_turns_go_on(d->dumps, d->sm))
		next = 0;
	if (d->hup_wanted)
		next = mono_min(next, d->hup_at);
	if (d->sm && sm_state(d->sm) == SM_MASTER)
		next = mono_min(next, mono_min(perf_next(d->perf), cc_next(d->cc)));
	lazy_timer_by(&d->timer, clock_now(), next);
}

static int on_io(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	run_once(arg);
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	lazy_timer_fired(&((struct daemon *)arg)->timer);
	run_once(arg);
	return 0;
}

static int on_worker(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	struct daemon *d = arg;

	worker_collect(d->worker, clock_now());
	worker_collect(d->disk, clock_now());
	worker_collect(d->viewer, clock_now());
	run_once(d);
	return 0;
}

/* ---- the pulse ----------------------------------------------------------------------------- */

/* The job that has run for longer than `limit`; NULL: none. */
static const char *hung_job(struct worker *w, mono_t limit, unsigned *ret_seconds)
{
	mono_t since, now = clock_now();
	const char *what = worker_running(w, now, &since);

	*ret_seconds = what ? (unsigned)((now - since) / MONO_S) : 0;
	return what && now - since >= limit ? what : NULL;
}

/* False: a restart would help. */
static bool worker_is_well(struct daemon *d)
{
	unsigned seconds;
	const char *what = hung_job(d->worker, WORKER_HUNG, &seconds);

	if (told_change(&d->told, TOLD_WORKER_HANGS, what) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_WORKER_HANGS), LOGB_ERROR,
		       "%s has not ended for %u s and never will: the watchdog is not fed any more",
		       what, seconds);
	return !what;
}

static void check_disk(struct daemon *d)
{
	unsigned seconds;
	const char *what = hung_job(d->disk, DISK_HUNG, &seconds);

	enum told_change change = told_change(&d->told, TOLD_DISK_HANGS, what);

	if (change == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_DISK_HANGS), LOGB_ERROR,
		       "%s has not ended for %u s: the disk hangs; the subnet is served without it",
		       what, seconds);
	if (change == TOLD_ENDS)
		log_on(ABOUT(.id = LOG_ID_DISK_HANGS), LOGB_INFO, "the disk answers again");
	if (what || change == TOLD_ENDS)
		notify_hung(&d->notify, what, seconds);
}

/* Runs from the loop: the watchdog is fed as long as that turns. */
static int on_pulse(sd_event_source *s, uint64_t usec, void *arg)
{
	struct daemon *d = arg;

	run_once(d);
	check_disk(d);
	log_tick();
	if (worker_is_well(d) && d->watchdog)
		notify_watchdog();
	timer_at(d->pulse, clock_now() + d->pulse_every);
	return 0;
}

static int add_pulse(struct daemon *d)
{
	uint64_t usec = 0;

	d->watchdog = sd_watchdog_enabled(0, &usec) > 0;
	d->pulse_every = d->watchdog ? mono_min(PULSE, (mono_t)(usec / 3)) : PULSE;
	return sd_event_add_time(d->event, &d->pulse, CLOCK_MONOTONIC, 0, 1, on_pulse, d);
}

/* ---- listeners ------------------------------------------------------------------------------- */

static void on_wake(void *arg)
{
	lazy_timer_by(&((struct daemon *)arg)->timer, 0, 0);
}

static void on_reload(void *arg)
{
	((struct daemon *)arg)->hup_wanted = true;
	on_wake(arg);
}

static void on_view_job(void *arg, struct sm_job *job)
{
	struct daemon *d = arg;

	worker_submit(job->disk ? d->disk : d->viewer, job, clock_now());
}

static void on_clock(void *arg, mono_t *ret_now, int64_t *ret_realtime)
{
	struct timespec ts;

	*ret_now = clock_now();
	clock_gettime(CLOCK_REALTIME, &ts);
	*ret_realtime = (int64_t)ts.tv_sec * MONO_S + ts.tv_nsec / 1000;
}

static void on_check(void *arg, struct conf_report *ret, char **ret_news)
{
	struct daemon *d = arg;
	struct reload_from from = reload_from(d);
	struct reload r;

	from.again = true;
	reload_read(&from, &r);
	conf_report_append(ret, &r.report);
	check_surroundings(r.conf ? r.conf : d->conf, d->options->cache_dir, ret);
	*ret_news = take(r.news);
	reload_clear(&r);
}

static void fill_api(struct daemon *d)
{
	d->api = (struct daemon_api){
		.perf = d->perf,
		.cc = d->cc,
		.conf = d->conf,
		.version = PACKAGE_VERSION,
		.instance = d->options->instance,
		.conf_path = d->options->conf_path,
		.once = d->options->once,
		.cache_dir = d->options->cache_dir,
		.run_dir = d->options->run_dir,
		.started = clock_now(),
		.started_realtime = time(NULL),
		.findings = d->options->findings,
		.wake = on_wake,
		.reload = on_reload,
		.clock = on_clock,
		.check = on_check,
		.submit = on_view_job,
		.arg = d,
	};
}

/* ---- signals ------------------------------------------------------------------------------- */

static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGCONT, SIGUSR1 };

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *arg)
{
	struct daemon *d = arg;

	switch (si->ssi_signo) {
	case SIGUSR1:
		if (log_reopen() < 0)
			log_on(ABOUT(.id = LOG_ID_DISK_FAULT), LOGB_ERROR,
			       "the log cannot be opened again; records go on to the old one");
		break;
	case SIGCONT: /* traps that came while it was stopped may be lost */
		d->hup_wanted = d->sweep_wanted = true;
		run_once(d);
		break;
	case SIGHUP:
		d->hup_wanted = true;
		run_once(d);
		break;
	default:
		if (d->conf->daemon)
			log_sys("OpenSM: Got signal %d - exiting...", (int)si->ssi_signo);
		else
			printf("OpenSM: Got signal %d - exiting...\n", (int)si->ssi_signo);
		fflush(stdout);
		sd_event_exit(d->event, 0);
		break;
	}
	return 0;
}

static int add_sources(struct daemon *d)
{
	struct worker *const workers[] = { d->worker, d->viewer, d->disk };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(signals) && r >= 0; i++)
		r = sd_event_add_signal(d->event, NULL, signals[i], on_signal, d);
	if (r >= 0)
		r = lazy_timer_new(d->event, &d->timer, on_timer, d);
	if (r >= 0)
		r = add_pulse(d);
	for (size_t i = 0; i < ARRAY_SIZE(workers) && r >= 0; i++)
		r = sd_event_add_io(d->event, NULL, worker_fd(workers[i]), EPOLLIN, on_worker, d);
	return r;
}

static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(&set, signals[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* A parent may have it ignored, and then the death of a child has no cause. */
	signal(SIGCHLD, SIG_DFL);
}

/* False: something does not end. */
static bool end_jobs(struct daemon *d)
{
	bool written;

	worker_orphan(d->worker);
	worker_orphan(d->viewer);
	written = worker_drain(d->disk, DISK_PATIENCE);
	return worker_drain(d->viewer, WORKER_PATIENCE) &&
	       worker_drain(d->worker, WORKER_PATIENCE) && written;
}

static void end_daemon(struct daemon *d, int status)
{
	const char *what;
	mono_t since;

	stop_guard_ending(d->stop_guard, status);
	notify_stopping();
	d->stopping = true;
	if (d->tr)
		transport_set_issm(d->tr, false);
	if (d->sm) {
		log_sys("Exiting SM");
		sm_shutdown(d->sm);
	}
	dump_turns_hurry(d->dumps);
	if (end_jobs(d)) {
		listen_stopping(d->listeners);
		return;
	}
	/* Neither a dead disk nor a long computation holds up the end: files change by rename. */
	what = worker_running(d->disk, clock_now(), &since);
	if (what)
		log_error("%s does not end; exiting without it", what);
	log_close();
	fflush(NULL);
	_exit(status);
}

int daemon_run(const struct daemon_options *options)
{
	struct daemon d = { .options = options, .conf = conf_ref(options->conf) };
	struct perf_hooks perf_hooks;
	int r;

	if (options->file_conf)
		d.file_conf = conf_ref(options->file_conf);
	d.notify.name = options->instance;
	d.notify.title = options->title;
	guard_keys(options->conf);
	block_signals();
	d.stop_guard = stop_guard_new(STOP_PATIENCE_S);
	d.worker = worker_new();
	d.route_child = route_child_new(clock_ms, options->title);
	d.disk = worker_new();
	d.viewer = worker_new();
	perf_hooks = listen_perf_hooks(&d.listeners);
	d.perf = perf_new(options->conf, &perf_hooks);
	d.cc = cc_new();
	fill_api(&d);
	d.dumps = dump_turns_new(&(struct dump_hooks){ on_dump_job, on_dump_failed, &d });
	r = sd_event_default(&d.event);
	if (r >= 0)
		r = add_sources(&d);
	if (r >= 0) {
		d.listeners = listen_new(d.event, &d.api);
		r = sd_event_loop(d.event);
	}
	if (r < 0)
		log_error("the event loop failed: %s", strerror(-r));
	end_daemon(&d, r < 0 ? 1 : r);
	close_port(&d);
	listen_free(d.listeners);
	perf_free(d.perf);
	cc_free(d.cc);
	sm_heritage_clear(&d.heritage);
	worker_free(d.worker);
	route_child_free(d.route_child);
	worker_free(d.disk);
	dump_turns_free(d.dumps);
	worker_free(d.viewer);
	stop_guard_free(d.stop_guard);
	sd_event_source_unref(d.timer.source);
	sd_event_source_unref(d.pulse);
	sd_event_unref(d.event);
	conf_unref(d.conf);
	conf_unref(d.file_conf);
	conf_report_clear(&d.findings);
	return r < 0 ? 1 : r;
}
