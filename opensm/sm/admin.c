// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subnet administration in the manager: MADs go in, views are published, what hosts register
 * reaches the fabric.
 *
 * Not here: what is answered (sa/), which tree a group gets (multicast.c).
 */
#include <errno.h>
#include <string.h>

#include "plan/pkey.h"
#include "sm/elect.h"
#include "sm/events.h"
#include "sm/say.h"
#include "util/file.h"
#include "util/mem.h"

#define SA_DB_MAX     (256u << 20)
/* The database is written this long after the last time, if something changed. */
#define DB_INTERVAL   (1 * MONO_S)
/* Views for the sake of names are this far from the last. */
#define VIEW_INTERVAL (1 * MONO_S)
#define DB_RETRY      (30 * MONO_S) /* after it could not be written */

/* ---- what the SA asks for ------------------------------------------------------------------ */

static void on_mcast_changed(void *owner, lid_t mlid)
{
	multicast_changed(owner, mlid);
}

/* As known now: the view is as old as the last sweep. */
static bool on_is_manager(void *owner, guid_t port_guid)
{
	const struct remote_sm *r = remote_find(owner, port_guid);

	return r && remote_counts(owner, r);
}

static void on_guids_changed(void *owner, guid_t port_guid, unsigned block)
{
	struct sm *sm = owner;
	guid_t guids[GUID_BLOCK] = { 0 };

	sa_guid_block(sm->sa, port_guid, block, guids);
	sync_want_guids(sm->sync, port_guid, block, guids);
}

struct cell_read {
	struct sm *sm;
	uint64_t cookie;
};

static void on_cell(void *arg, const uint8_t *payload)
{
	struct cell_read *read = arg;

	sa_cell(read->sm->sa, read->cookie, payload);
	free(read);
}

static bool on_read_cell(void *owner, const struct sa_cell_address *cell, uint64_t cookie)
{
	struct sm *sm = owner;
	struct node *n = fabric_find_node(sm->fabric, cell->node_guid);
	struct cell_read *read;

	if (!n || cell->port > n->n_ports)
		return false;
	read = xcalloc(1, sizeof(*read));
	read->sm = sm;
	read->cookie = cookie;
	if (discover_read_cell(sm, &n->ports[cell->port], cell->attr, cell->mod, on_cell, read))
		return true;
	free(read);
	return false;
}

/* ---- requests that come before the first view ----------------------------------------------- */

/*
 * A port asks the moment it becomes ACTIVE, which is before the sweep that made it so has ended. Left
 * without an answer the kernel waits seconds to ask again; so what came lately is kept until we can
 * answer.
 */
struct held {
	struct transport_event ev;
	mono_t at;
	struct held *next;
};

#define HELD_MAX 16384u
#define HELD_AGE (1 * MONO_S) /* the least any client waits (sa.md 11) */

/* Whoever asked too long ago asks again, and takes no place from those who wait. */
static void let_go_old(struct sm *sm)
{
	while (sm->held && sm->held->at + HELD_AGE < sm->now) {
		struct held *h = sm->held;

		sm->held = h->next;
		sm->n_held--;
		free(h);
	}
}

static void hold(struct sm *sm, struct transport_event *ev)
{
	struct held *h;

	let_go_old(sm);
	if (sm->state != SM_MASTER || ev->kind != TRANSPORT_MAD || ev->whole ||
	    sm->n_held >= HELD_MAX)
		return;
	h = xmalloc(sizeof(*h));
	*h = (struct held){ .ev = *ev, .at = sm->now };
	sm->n_held++;
	if (!sm->held)
		sm->held_end = &sm->held;
	*sm->held_end = h;
	sm->held_end = &h->next;
}

/* `serve` false: they are forgotten. */
static void let_go(struct sm *sm, bool serve)
{
	while (sm->held) {
		struct held *h = sm->held;

		sm->held = h->next;
		if (serve && h->at + HELD_AGE >= sm->now)
			sa_receive(sm->sa, &h->ev, sm->now);
		free(h);
	}
	sm->n_held = 0;
}

void admin_new(struct sm *sm, const struct sm_paths *paths)
{
	const struct sa_hooks hooks = {
		.mcast_changed = on_mcast_changed,
		.guids_changed = on_guids_changed,
		.read_cell = on_read_cell,
		.is_manager = on_is_manager,
		.manager_seen = replica_manager_seen,
		.arg = sm,
	};

	sm->sa = sa_new(sm->conf, sm->fabric, sm->mad, &hooks);
	if (paths && paths->dump_dir)
		sm->dump_path = xasprintf("%s/opensm-sa.dump", paths->dump_dir);
	if (paths && paths->cache_dir)
		sm->state_path = xasprintf("%s/opensm-sa.state", paths->cache_dir);
}

void admin_free(struct sm *sm)
{
	let_go(sm, false);
	sm->sa = sa_free(sm->sa);
	sm->view = view_unref(sm->view);
	free(sm->dump_path);
	free(sm->state_path);
}

void admin_receive(void *owner, struct transport_event *ev, mono_t now)
{
	struct sm *sm = owner;

	sm->now = now;
	if (ib_get(ev->mad, SMP_CLASS) == MAD_CLASS_PERF && sm->hooks.perf)
		sm->hooks.perf(sm->hooks.arg, ev, now);
	if (ib_get(ev->mad, SMP_CLASS) != MAD_CLASS_SA)
		return;
	if (replica_receive(sm, ev))
		return;
	if (sm->view)
		sa_receive(sm->sa, ev, now);
	else
		hold(sm, ev);
}

/* ---- views --------------------------------------------------------------------------------- */

static unsigned known_sms(const struct sm *sm, struct view_sm *ret)
{
	unsigned n = 0;

	ret[n++] = (struct view_sm){
		.guid = sm->tr->port_guid,
		.act_count = (uint32_t)mad_sent(sm->mad, 0), /* 14.2.5.13: grows with every SMP */
		.priority = elect_priority(sm),
		.state = sm->state,
	};
	for (unsigned i = 0; i < sm->n_remote; i++) {
		const struct remote_sm *r = &sm->remote[i];

		if (remote_counts(sm, r))
			ret[n++] = (struct view_sm){
				.guid = r->guid,
				.priority = r->priority,
				.state = r->state,
			};
	}
	return n;
}

/* Written behind the records by a process that ended in order: nothing was registered after it. */
#define FINAL_MARK "# complete\n"

/* Believed in the file that we keep: in any other nobody would have taken the mark away. */
static bool is_final(const char *text, size_t len)
{
	const size_t mark = strlen(FINAL_MARK);

	return len >= mark && memcmp(text + len - mark, FINAL_MARK, mark) == 0;
}

/*
 * What the former process knew is back, all of it: whoever has heard of no other manager since is
 * registered already.
 */
static void nobody_registers_again(struct sm *sm)
{
	unsigned lid = ib_get(sm->fabric->own_port->info, PI_LID);

	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (p->known && lid && ib_get(p->info, PI_MASTER_SM_LID) == lid)
				p->registered = sm->registry;
		}
	}
}

/*
 * What to begin with: sa_db_file; else what we kept, or the dump if that is younger (the peer's). NULL:
 * nothing, after another manager was master in our time.
 */
static const char *file_to_restore(const struct sm *sm)
{
	const char *dump = sm->conf->sa_db_dump ? sm->dump_path : NULL;

	if (sm->conf->sa_db_file)
		return sm->conf->sa_db_file;
	if (sm->others_ruled)
		return NULL;
	if (dump && (!sm->state_path || file_is_newer(dump, sm->state_path)))
		return dump;
	return sm->state_path;
}

/* sa_db_restore() has believed all of it, or says where not. */
static void take_file(struct sm *sm, const char *file, const char *text, size_t len)
{
	struct conf_report report = { 0 };
	int r = sa_db_restore(sm->sa, text, len, file, &report);

	for (size_t i = 0; i < report.n; i++)
		log_on(ABOUT(.id = LOG_ID_CONF_FINDING), LOGB_ERROR, "%s:%u:%u: %s", report.findings[i].file, report.findings[i].line,
			  report.findings[i].column, report.findings[i].text);
	if (r == 0)
		log_info("%s: %u groups, %u services, %u subscriptions are back", file,
			 sa_stats(sm->sa)->groups, sa_stats(sm->sa)->services,
			 sa_stats(sm->sa)->subscriptions);
	if (r == 0 && !report.errors && file == sm->state_path && is_final(text, len))
		nobody_registers_again(sm);
	conf_report_clear(&report);
}

static void restore_file(struct sm *sm, const char *file)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_read(file, SA_DB_MAX, &text, &len);

	if (r == 0)
		take_file(sm, file, text, len);
	else if (r != -ENOENT || sm->conf->sa_db_file)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = file, .error = -r), LOGB_ERROR,
		       "%s cannot be read: %s; clients are asked to register again", file, strerror(-r));
}

/*
 * Before the first Set. Whatever we begin with, a former process' last words are not the last any more: our
 * file is written at once, without the mark, or whoever comes after us would believe them once more.
 */
void admin_restore(struct sm *sm)
{
	const char *file = file_to_restore(sm);
	bool copied = replica_restore(sm);

	if (sm->db_tried && !copied)
		return;
	if (!sm->db_tried && !copied && file)
		restore_file(sm, file);
	sm->db_tried = true;
	sm->db_saved = UINT64_MAX;
	admin_save(sm, false);
}

void admin_publish(struct sm *sm)
{
	struct view_sm sms[MAX_REMOTE_SMS + 1];
	const struct view_source from = {
		.conf = sm->conf,
		.fabric = sm->fabric,
		.routes = sm->routes,
		.pkeys = sm->pkeys,
		.sms = sms,
		.n_sms = known_sms(sm, sms),
	};

	sm->view_stale = false;
	sm->view_since = sm->now;
	view_unref(sm->view);
	sm->view = view_new(&from);
	sa_publish(sm->sa, sm->view, sm->now);
	if (sm->partitions)
		sa_set_partitions(sm->sa, sm->partitions);
	let_go(sm, true);
}

void admin_last_words(struct sm *sm)
{
	if (!sm->view || !sm->fabric->own_port)
		return;
	admin_publish(sm);
	sa_dispatch(sm->sa, sm->now);
}

void admin_publish_soon(struct sm *sm)
{
	sm->view_stale = sm->view != NULL;
}

/* A sweep that runs publishes by itself, or leaves things for the next time. */
static bool view_is_due(const struct sm *sm)
{
	return sm->view_stale && sm->view && sm->sweep == SWEEP_NONE;
}

void admin_withdraw(struct sm *sm)
{
	let_go(sm, false);
	sa_publish(sm->sa, NULL, sm->now);
	sm->view = view_unref(sm->view);
}

/*
 * ---- the database on disk --------------------------------------------------------------------
 *
 * opensm-sa.state in the cache folder is what the next process begins with; with sa_db_dump the same is
 * in opensm-sa.dump, for people.
 */
struct db_job {
	struct sm_job base;
	struct sm *sm;
	char *state, *dump, *text; /* either path may be NULL */
	const char *failed;
	size_t len;
	uint64_t version;
	bool durable, final;
	int error;
};

static void write_db(struct db_job *job, const char *path, const char *mark)
{
	struct file_replace *f = path ? file_replace_open(path, true) : NULL;
	int r = path && !f ? -errno : 0;

	if (f) {
		fwrite(job->text, 1, job->len, file_replace_stream(f));
		fputs(mark, file_replace_stream(f));
		r = file_replace_commit(f, job->durable);
	}
	if (r < 0) {
		job->error = r;
		job->failed = path;
	}
}

static void db_run(struct sm_job *base)
{
	struct db_job *job = (struct db_job *)base;

	write_db(job, job->dump, "");
	write_db(job, job->state, job->final ? FINAL_MARK : "");
}

static void db_written(const struct db_job *job)
{
	struct sm *sm = job->sm;

	sm->db_pending = false;
	if (job->error == 0)
		sm->db_saved = job->version;
	else if (!sm->db_error_told)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = job->failed, .error = -job->error), LOGB_ERROR,
		       "%s cannot be written: %s; tried again every %d s", job->failed,
		       strerror(-job->error), (int)(DB_RETRY / MONO_S));
	sm->db_error_told = job->error != 0;
	if (job->error)
		sm->db_at = sm->now + DB_RETRY;
	else
		event_plain(sm, SM_EVENT_SA_DUMPED);
}

static void db_done(struct sm_job *base)
{
	struct db_job *job = (struct db_job *)base;

	if (!base->orphan)
		db_written(job);
	free(job->state);
	free(job->dump);
	free(job->text);
	free(job);
}

static bool is_kept(const struct sm *sm)
{
	return sm->state_path || (sm->conf->sa_db_dump && sm->dump_path);
}

void admin_save(struct sm *sm, bool final)
{
	struct db_job *job;

	/* The last one goes behind one that is being written: jobs for the disk end in order. */
	if (!is_kept(sm) || (sm->db_pending && !final) || sm->state != SM_MASTER)
		return;
	if (sa_db_version(sm->sa) == sm->db_saved && !final)
		return;
	sm->db_pending = true;
	sm->db_at = sm->now + DB_INTERVAL;
	job = xcalloc(1, sizeof(*job));
	job->base = (struct sm_job){
		.run = db_run, .done = db_done, .what = "saving the SA database", .disk = true
	};
	job->sm = sm;
	job->state = sm->state_path ? xstrdup(sm->state_path) : NULL;
	job->dump = sm->conf->sa_db_dump && sm->dump_path ? xstrdup(sm->dump_path) : NULL;
	job->text = sa_db_text(sm->sa, &job->len);
	job->version = sa_db_version(sm->sa);
	job->durable = sm->conf->fsync_high_avail_files;
	job->final = final && !sm->handed_over;
	sm->hooks.submit_job(sm->hooks.arg, &job->base);
}

static bool save_is_due(const struct sm *sm)
{
	return is_kept(sm) && !sm->db_pending && sm->first_sweep_done && sm->state == SM_MASTER &&
	       sa_db_version(sm->sa) != sm->db_saved;
}

bool admin_tick(struct sm *sm)
{
	if (view_is_due(sm) && sm->now >= sm->view_since + VIEW_INTERVAL)
		admin_publish(sm);
	if (save_is_due(sm) && sm->now >= sm->db_at)
		admin_save(sm, false);
	return sa_dispatch(sm->sa, sm->now);
}

mono_t admin_next(const struct sm *sm)
{
	mono_t next = mono_min(sa_next(sm->sa), save_is_due(sm) ? sm->db_at : MONO_NEVER);

	return view_is_due(sm) ? mono_min(next, sm->view_since + VIEW_INTERVAL) : next;
}
