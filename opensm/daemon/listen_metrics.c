// SPDX-License-Identifier: BSD-2-Clause
/*
 * Monitoring: counts events, has pages rendered on the thread that renders, serves them over HTTP
 * (listen_metrics_http.h) and writes them to a file.
 *
 * A page is made on request when the last one is not fresh any more; requests that come meanwhile
 * get the same page. The file is written after sweeps and at intervals, by the thread that waits
 * for disks; the more a page costs, the less often. Pages are held compressed, so that the 46 MB of
 * all groups on a large fabric are 3 MB here; the file is written as it is rendered.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/listen.h"
#include "daemon/listen_metrics_http.h"
#include "daemon/timer.h"
#include "metrics/metrics.h"
#include "util/file.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/str.h"
#include "util/told.h"

/* A page is fresh so long, or WORTH times as long as it took to make, up to FRESH_MOST. */
#define FRESH	   (1 * MONO_S)
#define WORTH	   20
#define FRESH_MOST (15 * MONO_S)
/* After a file could not be written. */
#define FILE_RETRY (30 * MONO_S)

/* A page in the making, or a file. */
struct metrics_job {
	struct sm_job base;
	struct listen_metrics *listener;
	struct metrics *metrics;
	bool openmetrics;
	struct gzip_text text; /* a page; empty for a file */
	char *path;	       /* path of the file; NULL: a page */
	int error;
	mono_t started;
};

struct kept_page {
	struct metrics_page *page;
	mono_t made, took;
	bool making;
};

enum { TOLD_FILE_FAULT };

struct listen_metrics {
	const struct daemon_api *api;
	sd_event *event;
	struct metrics_tally tally;
	struct metrics_http *http;
	struct kept_page pages[2]; /* pages as plain text and as OpenMetrics */
	char *address, *file;	   /* address and file in use; NULL: none */
	sd_event_source *file_timer;
	bool file_writing, file_again;
	struct told told;
	mono_t file_at, file_not_before; /* the next at the latest; and at the soonest */
};

static mono_t time_now(void *arg)
{
	return daemon_api_now(((struct listen_metrics *)arg)->api);
}

/* How long something is good enough that took so long to make. */
static mono_t rest_after(mono_t took)
{
	return mono_min(MAX(FRESH, WORTH * took), FRESH_MOST);
}

static void render_page(struct metrics_job *job)
{
	FILE *out = gzip_writer(&job->text);

	metrics_render(job->metrics, job->openmetrics, out);
	fclose(out);
}

static void write_file(struct metrics_job *job)
{
	struct file_replace *f = file_replace_open(job->path, false);

	if (!f) {
		job->error = -errno;
		return;
	}
	metrics_render(job->metrics, false, file_replace_stream(f));
	job->error = file_replace_commit(f, false);
}

static void run_job(struct sm_job *base)
{
	struct metrics_job *job = (struct metrics_job *)base;

	if (job->path)
		write_file(job);
	else
		render_page(job);
}

static void free_job(struct metrics_job *job)
{
	metrics_free(job->metrics);
	gzip_text_clear(&job->text);
	free(job->path);
	free(job);
}

static struct metrics_job *new_job(struct listen_metrics *w, const char *what,
				   void (*done)(struct sm_job *base))
{
	struct metrics_job *job = xcalloc(1, sizeof(*job));

	job->base = (struct sm_job){ .run = run_job, .done = done, .what = what };
	job->listener = w;
	job->metrics =
		metrics_take(w->api, &w->tally, conf_metrics_groups(w->api->conf->metrics_groups));
	job->started = time_now(w);
	return job;
}

/* ---- pages ---------------------------------------------------------------------------------- */

static void page_done(struct sm_job *base)
{
	struct metrics_job *job = (struct metrics_job *)base;
	struct listen_metrics *w = job->listener;
	struct kept_page *kept = &w->pages[job->openmetrics];

	if (!base->orphan) {
		metrics_page_unref(kept->page);
		kept->page = metrics_page_new(&job->text);
		kept->made = time_now(w);
		kept->took = kept->made - job->started;
		kept->making = false;
		if (w->http)
			metrics_http_ready(w->http);
	}
	free_job(job);
}

static void make_page(struct listen_metrics *w, bool openmetrics)
{
	struct metrics_job *job = new_job(w, "rendering metrics", page_done);

	job->openmetrics = openmetrics;
	w->pages[openmetrics].making = true;
	w->api->submit(w->api->arg, &job->base);
}

static struct metrics_page *get_page(void *arg, bool openmetrics, bool any)
{
	struct listen_metrics *w = arg;
	struct kept_page *kept = &w->pages[openmetrics];
	bool fresh = kept->page && time_now(w) - kept->made <= rest_after(kept->took);

	if (kept->page && (fresh || any))
		return metrics_page_ref(kept->page);
	if (!kept->making)
		make_page(w, openmetrics);
	return NULL;
}

static void open_http(struct listen_metrics *w)
{
	const struct metrics_http_source source = { .page = get_page, .now = time_now, .arg = w };
	const char *address = w->api->conf->metrics_listen;
	char why[300] = "";

	if (!address)
		return;
	w->address = xstrdup(address);
	w->http = metrics_http_open(w->event, address, &source, why, sizeof(why));
	if (w->http)
		log_info("metrics are served at %s%s", address,
			 address[0] == '/' ? "" : "/metrics");
	else
		log_error("metrics_listen: %s: %s; there are no metrics over HTTP", address, why);
}

static void close_http(struct listen_metrics *w)
{
	w->http = metrics_http_close(w->http);
	free(w->address);
	w->address = NULL;
}

/* ---- the file ------------------------------------------------------------------------------- */

static void set_file_timer(struct listen_metrics *w)
{
	if (w->file && !w->file_writing)
		timer_in(w->file_timer, MAX(w->file_at, w->file_not_before) - time_now(w));
	else
		timer_at(w->file_timer, MONO_NEVER);
}

static void tell_file(struct listen_metrics *w, const struct metrics_job *job)
{
	switch (told_change(&w->told, TOLD_FILE_FAULT, job->error)) {
	case TOLD_BEGINS:
		log_error("metrics_file: %s cannot be written: %s; tried again every %d s",
			  job->path, strerror(-job->error), (int)(FILE_RETRY / MONO_S));
		break;
	case TOLD_ENDS:
		log_info("metrics_file: %s is written again", job->path);
		break;
	case TOLD_SAME:
		break;
	}
}

/* Removes the file: an old one would be mistaken for a current one. */
static void remove_file(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}

/* Also of an orphan: the manager has gone, and not this listener. */
static void file_done(struct sm_job *base)
{
	struct metrics_job *job = (struct metrics_job *)base;
	struct listen_metrics *w = job->listener;
	mono_t now = time_now(w);

	if (str_equal(job->path, w->file))
		tell_file(w, job);
	else
		remove_file(job->path); /* another one is wanted meanwhile */
	w->file_writing = false;
	w->file_not_before = now + (job->error ? FILE_RETRY : rest_after(now - job->started));
	w->file_at = w->file_again ? now : now + (mono_t)w->api->conf->metrics_interval * MONO_S;
	w->file_again = false;
	set_file_timer(w);
	free_job(job);
}

static int on_file_timer(sd_event_source *s, uint64_t usec, void *arg)
{
	struct listen_metrics *w = arg;
	struct metrics_job *job = new_job(w, "writing metrics", file_done);

	job->base.disk = true;
	job->path = xstrdup(w->file);
	w->file_writing = true;
	w->api->submit(w->api->arg, &job->base);
	return 0;
}

static void want_file(struct listen_metrics *w)
{
	if (!w->file)
		return;
	if (w->file_writing) {
		w->file_again = true;
		return;
	}
	w->file_at = time_now(w);
	set_file_timer(w);
}

static void open_file(struct listen_metrics *w)
{
	w->file = w->api->conf->metrics_file ? xstrdup(w->api->conf->metrics_file) : NULL;
	w->file_not_before = 0;
	want_file(w);
}

static void close_file(struct listen_metrics *w)
{
	if (w->file)
		remove_file(w->file);
	free(w->file);
	w->file = NULL;
}

/* ---- the listener --------------------------------------------------------------------------- */

struct listen_metrics *listen_metrics_open(sd_event *event, const struct daemon_api *api)
{
	struct listen_metrics *w = xcalloc(1, sizeof(*w));

	w->api = api;
	w->event = event;
	if (timer_new(event, &w->file_timer, on_file_timer, w) < 0) {
		free(w);
		return NULL;
	}
	open_http(w);
	open_file(w);
	return w;
}

void listen_metrics_event(struct listen_metrics *w, const struct sm_event *event)
{
	if (!w)
		return;
	metrics_tally_event(&w->tally, event, daemon_api_realtime(w->api, time_now(w)));
	if (event->kind != SM_EVENT_SWEEP_DONE && event->kind != SM_EVENT_STATE)
		return;
	if (w->api->sm)
		metrics_tally_whole(&w->tally, w->api->sm, time_now(w));
	want_file(w);
}

void listen_metrics_reconfigure(struct listen_metrics *w)
{
	if (!w)
		return;
	/* An address that could not be had is tried again. */
	if (!w->http || !str_equal(w->address, w->api->conf->metrics_listen)) {
		close_http(w);
		open_http(w);
	}
	if (!str_equal(w->file, w->api->conf->metrics_file)) {
		close_file(w);
		open_file(w);
	} else {
		want_file(w); /* metrics_interval may be another */
	}
}

struct listen_metrics *listen_metrics_close(struct listen_metrics *w)
{
	if (!w)
		return NULL;
	close_http(w);
	close_file(w);
	sd_event_source_disable_unref(w->file_timer);
	metrics_page_unref(w->pages[0].page);
	metrics_page_unref(w->pages[1].page);
	free(w);
	return NULL;
}
