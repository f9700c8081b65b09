// SPDX-License-Identifier: BSD-2-Clause
/*
 * Event loop: MADs, one timer, signals, the worker's results, the watchdog.
 *
 *   WAITING --port opened--> RUNNING --port vanished--> WAITING
 *
 * A port that is not there yet, or belongs to another SM, is waited for and never exited on.
 */
#include "daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <time.h>
#include <unistd.h>

#include "conf/lists.h"
#include "ctl/dump.h"
#include "libvendor/umad.h"
#include "sm/sm.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "worker.h"

#define REOPEN_INTERVAL (1 * MONO_S)
/* How long the end waits for a running job, in ms. */
#define EXIT_PATIENCE	2000
/* Rounds of taking in MADs before other sources get their turn. */
#define ROUNDS_PER_WAKE 8

struct daemon {
	const struct daemon_options *options;
	struct conf *conf, *file_conf;
	sd_event *event;
	sd_event_source *timer, *io;
	struct worker *worker;	  /* computes */
	struct worker *disk;	  /* waits for files, so that nobody else has to */
	struct conf_names *names; /* node-name map */
	struct transport *tr;
	struct sm *sm;
	mono_t reopen_at;
	bool waiting_told, ready_told, counts_told, once_done;
	unsigned dumps_pending;
	bool dump_again; /* the fabric changed while one was written */
	int exit_code;
};

static mono_t clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (mono_t)ts.tv_sec * MONO_S + ts.tv_nsec / 1000;
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

/* ---- what the SM asks for ------------------------------------------------------------------ */

static void on_submit_job(void *arg, struct sm_job *job)
{
	struct daemon *d = arg;

	worker_submit(job->disk ? d->disk : d->worker, job);
}

static void on_status(void *arg, const char *line)
{
	sd_notifyf(0, "STATUS=%s", line);
}

/* The noise-free measure of a sweep: what was sent, by attribute. */
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
	log_info("SMPs sent: %" PRIu64 " (%s)", mad_sent(sm_mad(sm), 0), n ? text : "none");
}

static void start_dump(struct daemon *d);

static void on_dumped(void *arg, const char *error)
{
	struct daemon *d = arg;

	d->dumps_pending--;
	if (error)
		log_error("%s", error);
	if (d->dump_again && d->sm)
		start_dump(d);
}

/* One set of dumps at a time; what came up meanwhile is written right after. */
static void start_dump(struct daemon *d)
{
	const struct dump_config dump = {
		.dir = d->conf->dump_files_dir,
		.routing = d->conf->log_flags & LOGB_ROUTING,
		.names = d->names,
		.port_table = d->conf->log_flags & LOGB_VERBOSE && !d->conf->daemon,
	};

	d->dump_again = d->dumps_pending > 0;
	if (d->dump_again)
		return;
	d->dumps_pending++;
	worker_submit(d->disk,
		      dump_job_new(sm_fabric(d->sm), sm_routes(d->sm), &dump, on_dumped, d));
}

static void on_subnet_up(void *arg, const struct sm *sm)
{
	struct daemon *d = arg;

	if (!d->counts_told || log_wants(LOGB_VERBOSE))
		log_counts(sm);
	d->counts_told = true;
	if (sm_stats(sm)->up)
		start_dump(d);
	d->once_done = sm_stats(sm)->up || sm_stats(sm)->heavy_sweeps >= 3;
}

/* ---- opening and losing the port ----------------------------------------------------------- */

static int on_io(sd_event_source *s, int fd, uint32_t events, void *arg);

static void close_port(struct daemon *d)
{
	sd_event_source_disable_unref(d->io);
	d->io = NULL;
	/* Jobs of the SM hold pointers into it: they end first. */
	d->dump_again = false;
	worker_drain(d->worker, -1);
	worker_drain(d->disk, -1);
	d->sm = sm_free(d->sm);
	d->tr = transport_close(d->tr);
}

static void start_sm(struct daemon *d)
{
	const struct sm_hooks hooks = {
		.submit_job = on_submit_job,
		.subnet_up = on_subnet_up,
		.status = on_status,
		.arg = d,
	};
	const struct sm_paths paths = {
		.cache_dir = d->options->cache_dir,
		.dump_dir = d->conf->dump_files_dir,
	};

	log_sys("Using port %s, GUID 0x%" PRIx64, umad_transport_name(d->tr), d->tr->port_guid);
	d->waiting_told = false;
	d->sm = sm_new(d->conf, d->tr, &paths, &hooks);
	sd_event_add_io(d->event, &d->io, transport_fd(d->tr), 1 /* EPOLLIN */, on_io, d);
	if (!d->ready_told)
		sd_notify(0, "READY=1");
	d->ready_told = true;
}

static void tell_waiting(struct daemon *d, const char *why)
{
	if (!d->waiting_told) {
		log_sys("Waiting for a port: %s", why);
		sd_notifyf(0, "READY=1\nSTATUS=Waiting for a port: %s", why);
		d->ready_told = true;
	}
	d->waiting_told = true;
}

/* The IsSM bit has one holder: whoever has it is the subnet manager of this port, and we wait. */
static bool claim_port(struct daemon *d)
{
	int r = transport_set_issm(d->tr, true);

	if (r == -EBUSY) {
		tell_waiting(d, "another subnet manager runs on it (its IsSM bit is taken)");
		d->tr = transport_close(d->tr);
		return false;
	}
	if (r < 0 && !d->waiting_told)
		log_error("the IsSM bit of port 0x%016" PRIx64 " cannot be set: %s",
			  d->tr->port_guid, strerror(-r));
	return true;
}

static void try_open(struct daemon *d, mono_t now)
{
	char why[256] = "";
	int r;

	if (now < d->reopen_at)
		return;
	d->reopen_at = now + REOPEN_INTERVAL;
	r = umad_transport_open(d->conf->guid, &d->tr, why, sizeof(why));
	if (r < 0)
		tell_waiting(d, why[0] ? why : strerror(-r));
	else if (claim_port(d))
		start_sm(d);
}

/* ---- the pump ------------------------------------------------------------------------------ */

static bool once_is_over(const struct daemon *d)
{
	return d->options->once && d->once_done && !d->dumps_pending && !sm_sweeping(d->sm);
}

static void run_sm(struct daemon *d)
{
	int r = 1;

	for (unsigned i = 0; i < ROUNDS_PER_WAKE && r > 0; i++)
		r = sm_dispatch(d->sm, clock_now());
	if (r == -ENODEV) {
		log_sys("the port is gone");
		close_port(d);
		d->reopen_at = 0;
	} else if (once_is_over(d)) {
		sd_event_exit(d->event, 0);
	}
}

/* Everything that can be done now; then the timer is set to what comes next. */
static void pump(struct daemon *d)
{
	mono_t next;

	if (!d->sm)
		try_open(d, clock_now());
	if (d->sm)
		run_sm(d);
	next = d->sm ? sm_next(d->sm) : d->reopen_at;
	if (next == MONO_NEVER) {
		sd_event_source_set_enabled(d->timer, SD_EVENT_OFF);
		return;
	}
	sd_event_source_set_time(d->timer, MAX(next, (mono_t)0));
	sd_event_source_set_enabled(d->timer, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	pump(arg);
	return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	pump(arg);
	return 0;
}

static int on_worker(sd_event_source *s, int fd, uint32_t events, void *arg)
{
	struct daemon *d = arg;

	worker_collect(d->worker);
	worker_collect(d->disk);
	pump(d);
	return 0;
}

/* ---- signals ------------------------------------------------------------------------------- */

static void print_findings(const struct conf_report *report)
{
	for (size_t i = 0; i < report->n; i++) {
		const struct conf_finding *f = &report->findings[i];

		if (f->severity == CONF_NOTE)
			continue;
		if (f->file)
			log_error("%s:%u:%u: %s", f->file, f->line, f->column, f->text);
		else
			log_error("%s", f->text);
	}
}

/* Takes over what changed in the file, all of it or, if it cannot be read, nothing. */
static void reload(struct daemon *d)
{
	_cleanup_(conf_unrefp) struct conf *now = NULL;
	struct conf_report report = { 0 };
	struct conf_changes changes;
	struct log_config log;
	struct conf *next;
	int r;

	if (!d->options->conf_path || !d->file_conf)
		return;
	now = conf_copy(d->file_conf);
	r = conf_read(now, d->options->conf_path, &report);
	if (r == 0) {
		next = conf_reload(d->conf, d->file_conf, now, &changes, &report);
		conf_unref(d->conf);
		d->conf = next;
		conf_unref(d->file_conf);
		d->file_conf = take(now);
		log = daemon_log_config(d->conf);
		log_configure(&log);
		log_info("configuration read again: %zu options changed", changes.n);
	} else if (r != -ENOENT) {
		log_error("%s cannot be read: %s; the configuration stays as it is",
			  d->options->conf_path, strerror(-r));
	}
	print_findings(&report);
	conf_report_clear(&report);
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *arg)
{
	struct daemon *d = arg;

	switch (si->ssi_signo) {
	case SIGUSR1:
		if (log_reopen() < 0)
			log_error("the log cannot be opened again; records go on to the old one");
		break;
	case SIGHUP:
	case SIGCONT:
		reload(d);
		if (d->sm)
			sm_request_heavy(d->sm, d->conf);
		pump(d);
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
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGCONT, SIGUSR1 };
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		r = sd_event_add_signal(d->event, NULL, signals[i], on_signal, d);
		if (r < 0)
			return r;
	}
	r = sd_event_add_time(d->event, &d->timer, CLOCK_MONOTONIC, 0, 1, on_timer, d);
	if (r < 0)
		return r;
	r = sd_event_add_io(d->event, NULL, worker_fd(d->worker), 1 /* EPOLLIN */, on_worker, d);
	if (r < 0)
		return r;
	return sd_event_add_io(d->event, NULL, worker_fd(d->disk), 1 /* EPOLLIN */, on_worker, d);
}

static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* Read once, as the peer does. */
static void load_names(struct daemon *d)
{
	struct conf_report report = { 0 };

	conf_names_load(d->conf, &d->names, &report);
	print_findings(&report);
	conf_report_clear(&report);
}

int daemon_run(const struct daemon_options *options)
{
	struct daemon d = { .options = options, .conf = conf_ref(options->conf) };
	int r;

	if (options->file_conf)
		d.file_conf = conf_ref(options->file_conf);
	block_signals();
	load_names(&d);
	d.worker = worker_new();
	d.disk = worker_new();
	r = sd_event_default(&d.event);
	if (r >= 0)
		r = add_sources(&d);
	if (r >= 0) {
		sd_event_set_watchdog(d.event, true);
		r = sd_event_loop(d.event);
	}
	if (r < 0)
		log_error("the event loop failed: %s", strerror(-r));
	sd_notify(0, "STOPPING=1");
	if (d.tr)
		transport_set_issm(d.tr, false);
	if (d.sm) {
		log_sys("Exiting SM");
		sm_shutdown(d.sm);
	}
	/* A job that hangs (a dead disk) must not keep us from ending; files change by rename only. */
	if (!worker_drain(d.worker, EXIT_PATIENCE) || !worker_drain(d.disk, EXIT_PATIENCE)) {
		log_error("a job does not end; leaving without it");
		log_close();
		fflush(NULL);
		_exit(r < 0 ? 1 : r);
	}
	close_port(&d);
	worker_free(d.worker);
	worker_free(d.disk);
	conf_names_free(d.names);
	sd_event_source_unref(d.timer);
	sd_event_unref(d.event);
	conf_unref(d.conf);
	conf_unref(d.file_conf);
	return r < 0 ? 1 : r;
}
