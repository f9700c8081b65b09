// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subnet administration in the manager: passes MADs in, publishes views, and brings registrations
 * of hosts to the fabric. Answers are made by sa/, trees of groups by multicast.c.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "plan/pkey.h"
#include "sm/base/events.h"
#include "sm/base/about.h"
#include "sm/base/job.h"
#include "sm/base/news.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/told.h"
#include "view/view_copy.h"

#define SA_DB_MAX     (256u << 20)
/* Least time between two writes of the database, which happen if it changed. */
#define DB_INTERVAL   (1 * MONO_S)
/* Least time between two views that only names made necessary. */
#define VIEW_INTERVAL (1 * MONO_S)
#define DB_RETRY      (30 * MONO_S) /* pause after a failed write of the database */

const struct conf_files *sm_files(const struct sm *sm)
{
	return sm->next_files ? sm->next_files : sm->files;
}

/* ---- what the SA asks for ------------------------------------------------------------------ */

static void on_mcast_changed(void *owner, lid_t mlid)
{
	struct sm *sm = owner;

	tell_news(sm, NEWS_GROUP, .number = mlid);
}

static void on_manager_seen(void *owner, guid_t port_guid, const uint8_t *record)
{
	struct sm *sm = owner;

	tell_news(sm, NEWS_MANAGER_REGISTERED, .guid = port_guid, .bytes = record);
}

/* Asks the election as of now, as the view is as old as the last sweep. */
static bool on_is_manager(void *owner, guid_t port_guid)
{
	return elect_is_manager(owner, port_guid);
}

static bool on_knows_keys(void *owner, guid_t port_guid, const uint8_t *mad)
{
	return replica_knows_keys(owner, port_guid, mad);
}

static void on_abused(void *owner, const char *what, guid_t port_guid, lid_t lid, const char *text)
{
	event_security(owner, what, port_guid, lid, text);
}

/* A host that lost memberships joins again when asked to register again (ClientReregister). */
static void on_members_lost(void *owner, guid_t port_guid)
{
	struct sm *sm = owner;
	struct port *p = fabric_find_port(sm->fabric, port_guid);

	if (!p)
		return;
	sync_registered(p, 0);
	tell_port(sm, p, "a multicast group of it was made anew");
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

static int on_read_cell(void *owner, const struct sa_cell_address *cell, uint64_t cookie)
{
	struct sm *sm = owner;
	struct node *n = fabric_find_node(sm->fabric, cell->node_guid);
	struct cell_read *read;
	int r;

	if (!n || cell->port > n->n_ports)
		return -ENOENT;
	read = xcalloc(1, sizeof(*read));
	read->sm = sm;
	read->cookie = cookie;
	r = discover_read_cell(sm, &n->ports[cell->port], cell->attr, cell->mod, on_cell, read);
	if (r < 0)
		free(read);
	return r;
}

/* ---- requests that come before the first view ----------------------------------------------- */

/*
 * A port asks as soon as it becomes ACTIVE, before the end of the sweep that made it so. Without an
 * answer its kernel waits seconds before it asks again, so recent requests are kept until the first
 * view.
 */
struct held {
	struct transport_event ev;
	mono_t at;
	struct held *next;
};

enum { TOLD_DB_ERROR };

struct admin {
	struct view *view;	       /* view that was published last */
	struct held *held, **held_end; /* requests that wait for the first view */
	unsigned n_held;
	bool busy;	 /* set while a long answer is being made */
	bool view_stale; /* set by admin_publish_soon() */
	/* the next view for admin_publish_soon(), while it is made; NULL: none */
	struct view_copy *copy;
	const struct pkey_plan *copy_pkeys;
	struct view_sm copy_sms[MAX_REMOTE_SMS + 1];
	mono_t view_since;   /* time of the last view */
	uint64_t view_edits; /* edits of the fabric when the copy for that view ended */
	/* number of the SA's registry for hosts: a new one each time we become master */
	uint32_t registry;

	char *state_path; /* path of opensm-sa.state; NULL: no cache folder */
	char *dump_path;  /* path of opensm-sa.dump, with sa_db_dump; NULL: none */
	bool db_tried, db_pending;
	struct told told;
	uint64_t db_saved; /* version of the database that is on disk */
	mono_t db_at;
};
MACHINE_MEMORY(admin);

#define HELD_MAX 16384u
#define HELD_AGE (1 * MONO_S) /* shortest timeout of any client (sa.md 11) */

/* Drops requests that clients have repeated by now, to make room for younger ones. */
static void drop_old_requests(struct sm *sm)
{
	struct admin *a = sm->m.admin;

	while (a->held && a->held->at + HELD_AGE < sm->now) {
		struct held *h = a->held;

		a->held = h->next;
		a->n_held--;
		free(h);
	}
}

static void hold_request(struct sm *sm, struct transport_event *ev)
{
	struct admin *a = sm->m.admin;
	struct held *h;

	drop_old_requests(sm);
	if (sm->state != SM_MASTER || ev->kind != TRANSPORT_MAD || ev->whole ||
	    a->n_held >= HELD_MAX)
		return;
	h = xmalloc(sizeof(*h));
	*h = (struct held){ .ev = *ev, .at = sm->now };
	a->n_held++;
	if (!a->held)
		a->held_end = &a->held;
	*a->held_end = h;
	a->held_end = &h->next;
}

/* Ends the wait of all kept requests: they are answered, or if `serve` is false, dropped. */
static void serve_held(struct sm *sm, bool serve)
{
	struct admin *a = sm->m.admin;

	while (a->held) {
		struct held *h = a->held;

		a->held = h->next;
		if (serve && h->at + HELD_AGE >= sm->now)
			sa_receive(sm->sa, &h->ev, sm->now);
		free(h);
	}
	a->n_held = 0;
}

void admin_new(struct sm *sm, const struct sm_paths *paths)
{
	const struct sa_hooks hooks = {
		.mcast_changed = on_mcast_changed,
		.members_lost = on_members_lost,
		.guids_changed = on_guids_changed,
		.read_cell = on_read_cell,
		.is_manager = on_is_manager,
		.knows_keys = on_knows_keys,
		.manager_seen = on_manager_seen,
		.abused = on_abused,
		.arg = sm,
	};

	sm->sa = sa_new(sm->conf, sm->fabric, sm->mad, &hooks);
	if (paths && paths->dump_dir)
		sm->m.admin->dump_path = xasprintf("%s/opensm-sa.dump", paths->dump_dir);
	if (paths && paths->cache_dir)
		sm->m.admin->state_path = xasprintf("%s/opensm-sa.state", paths->cache_dir);
}

void admin_free(struct sm *sm)
{
	struct admin *a = sm->m.admin;

	serve_held(sm, false);
	sm->sa = sa_free(sm->sa);
	a->view = view_unref(a->view);
	a->copy = view_copy_free(a->copy);
	free(a->dump_path);
	free(a->state_path);
}

void admin_receive(struct sm *sm, struct transport_event *ev)
{
	if (sm->m.admin->view)
		sa_receive(sm->sa, ev, sm->now);
	else
		hold_request(sm, ev);
}

/* ---- views --------------------------------------------------------------------------------- */

/* Last line of the file of a process that ended in order: nothing was registered afterwards. */
#define FINAL_MARK "# complete\n"

/* Does the text end in that mark? Asked only of our own file, where a new process removes it. */
static bool is_final(const char *text, size_t len)
{
	const size_t mark = strlen(FINAL_MARK);

	return len >= mark && memcmp(text + len - mark, FINAL_MARK, mark) == 0;
}

/*
 * Called when all records of the former process are restored: hosts that have seen no other manager
 * since need not register again.
 */
static void note_all_registered(struct sm *sm)
{
	unsigned lid = ib_get(sm->fabric->own_port->info, PI_LID);

	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			struct port *p = &n->ports[i];

			if (p->known && lid && ib_get(p->info, PI_MASTER_SM_LID) == lid)
				sync_registered(p, sm->m.admin->registry);
		}
	}
}

/*
 * The file to start from: sa_db_file; or our own, or a dump of OpenSM if that is younger. NULL:
 * none, as another manager was master since this process started.
 */
static const char *file_to_restore(const struct sm *sm)
{
	const struct admin *a = sm->m.admin;
	const char *dump = sm->conf->sa_db_dump ? a->dump_path : NULL;

	if (sm->conf->sa_db_file)
		return sm->conf->sa_db_file;
	if (elect_others_ruled(sm))
		return NULL;
	if (dump && (!a->state_path || file_is_newer(dump, a->state_path)))
		return dump;
	return a->state_path;
}

/* Restores the text, and logs what sa_db_restore() refused. */
static void take_file(struct sm *sm, const char *file, const char *text, size_t len)
{
	struct conf_report report = { 0 };
	int r = sa_db_restore(sm->sa, text, len, file, &report);

	for (size_t i = 0; i < report.n; i++)
		log_on(ABOUT(.id = LOG_ID_CONF_FINDING), LOGB_ERROR, "%s:%u:%u: %s",
		       report.findings[i].file, report.findings[i].line, report.findings[i].column,
		       report.findings[i].text);
	if (r == 0)
		log_info("%s: %u groups, %u services, %u subscriptions are back", file,
			 sa_stats(sm->sa)->groups, sa_stats(sm->sa)->services,
			 sa_stats(sm->sa)->subscriptions);
	if (r == 0 && !report.errors && file == sm->m.admin->state_path && is_final(text, len))
		note_all_registered(sm);
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
		       "%s cannot be read: %s; clients are asked to register again", file,
		       strerror(-r));
}

/*
 * Restores before the first Set. Afterwards our own file is written at once, without the mark of an
 * orderly end: the next process must not believe an older state.
 */
void admin_restore(struct sm *sm, bool copied)
{
	struct admin *a = sm->m.admin;
	const char *file = file_to_restore(sm);

	if (a->db_tried && !copied)
		return;
	if (!a->db_tried && !copied && file)
		restore_file(sm, file);
	a->db_tried = true;
	a->db_saved = UINT64_MAX;
	admin_save(sm, false);
}

/* The sources of a view of the present moment, for hosts; fills in `sms`. */
static struct view_source view_source(const struct sm *sm, struct view_sm *sms)
{
	return (struct view_source){
		.conf = sm->conf,
		.files = sm_files(sm),
		.fabric = sm->fabric,
		.routes = sm_routes(sm),
		.pkeys = sm_pkeys(sm),
		.partitions = sm_partitions(sm),
		.sms = sms,
		.n_sms = elect_managers(sm, sms),
		.parts = VIEW_PATHS,
	};
}

static void publish_view(struct sm *sm, struct view *v)
{
	struct admin *a = sm->m.admin;

	a->view_since = sm->now;
	a->view_edits = sm->fabric->edits;
	view_unref(a->view);
	a->view = v;
	sa_publish(sm->sa, a->view, sm->now);
	if (sm_partitions(sm))
		sa_set_partitions(sm->sa, sm_partitions(sm));
}

/* Drops the unfinished copy; its changes are still to be published. */
static void drop_copy(struct admin *a)
{
	a->view_stale |= a->copy && a->view;
	a->copy = view_copy_free(a->copy);
}

void admin_publish(struct sm *sm)
{
	struct admin *a = sm->m.admin;
	struct view_sm sms[MAX_REMOTE_SMS + 1];
	const struct view_source from = view_source(sm, sms);

	assert(sm->state == SM_MASTER);
	drop_copy(a);
	a->view_stale = false;
	publish_view(sm, view_new(&from));
	serve_held(sm, true);
}

/* Changes for a view, of ports in the plan; to be freed. */
static struct view_pkey_change *pkey_changes(const struct sm *sm, const guid_t *guids, size_t n,
					     size_t *ret_n)
{
	const struct pkey_plan *plan = sm_pkeys(sm);
	struct view_pkey_change *changes = xcalloc(n + 1, sizeof(*changes));
	size_t kept = 0;

	for (size_t i = 0; plan && i < n; i++) {
		size_t at = pkey_plan_find(plan, guids[i]);

		if (at != SIZE_MAX)
			changes[kept++] = (struct view_pkey_change){
				guids[i], pkey_plan_set(plan, plan->ports[at].set)
			};
	}
	*ret_n = kept;
	return changes;
}

void admin_publish_pkeys(struct sm *sm, const guid_t *guids, size_t n, bool partitions)
{
	struct admin *a = sm->m.admin;
	_cleanup_free_ struct view_pkey_change *changes = NULL;
	struct view *before = a->view;
	size_t n_changes;

	drop_copy(a);
	if (!before)
		return;
	changes = pkey_changes(sm, guids, n, &n_changes);
	a->view = partitions ? view_with_partitions(before, changes, n_changes, sm_partitions(sm))
			     : view_with_pkeys(before, changes, n_changes);
	sa_publish_pkeys(sm->sa, a->view, sm->now);
	view_unref(before);
	if (partitions)
		sa_set_partitions(sm->sa, sm_partitions(sm));
}

struct view_copy *sm_view_copy(const struct sm *sm, const struct routes *routes, unsigned parts,
			       const struct view_beside *beside)
{
	const struct view_source from = {
		.conf = sm->conf,
		.files = sm_files(sm),
		.fabric = sm->fabric,
		.partitions = sm_partitions(sm),
		.routes = routes,
		.parts = parts,
	};

	assert(!(parts & ~(unsigned)(VIEW_PATHS | VIEW_TREES)));
	return view_copy_new(&from, beside);
}

struct view *sm_view_now(const struct sm *sm, const struct routes *routes, unsigned parts)
{
	_cleanup_(view_copy_freep) struct view_copy *c = sm_view_copy(sm, routes, parts, NULL);

	view_copy_some(c, VIEW_COPY_ALL);
	return view_copy_take(c);
}

void admin_last_words(struct sm *sm)
{
	if (!sm->m.admin->view || !sm->fabric->own_port)
		return;
	admin_publish(sm);
	sa_dispatch(sm->sa, sm->now);
}

void admin_publish_soon(struct sm *sm)
{
	sm->m.admin->view_stale = sm->m.admin->view != NULL;
}

/* Is a view due? A running sweep publishes by itself. */
static bool view_is_due(const struct sm *sm)
{
	return sm->m.admin->view_stale && sm->m.admin->view && sm->sweep == SWEEP_NONE;
}

static void begin_copy(struct sm *sm)
{
	struct admin *a = sm->m.admin;
	const struct view_source from = view_source(sm, a->copy_sms);

	a->view_stale = false;
	a->copy_pkeys = from.pkeys;
	a->copy = view_copy_new(&from, NULL);
}

/*
 * Makes views for changes of names and of IsSM, which a host can cause at will: one per
 * VIEW_INTERVAL at most, and made in turns, so that no other host waits.
 */
static void renew_view(struct sm *sm)
{
	struct admin *a = sm->m.admin;
	struct view *v;

	if (sm->sweep != SWEEP_NONE || a->copy_pkeys != sm_pkeys(sm))
		drop_copy(a);
	if (!a->copy && view_is_due(sm) && sm->now >= a->view_since + VIEW_INTERVAL)
		begin_copy(sm);
	if (a->copy && view_copy_turn(&a->copy, &v))
		publish_view(sm, v);
}

const struct view *admin_view(const struct sm *sm)
{
	return sm->m.admin->view;
}

const struct view *sm_view_present(const struct sm *sm)
{
	const struct view *v = sm->state == SM_MASTER ? admin_view(sm) : NULL;

	if (!v || sm->m.admin->view_edits != sm->fabric->edits)
		return NULL;
	if (v->conf != sm->conf || v->files != sm_files(sm) || v->routes != sm_routes(sm))
		return NULL;
	return v;
}

uint8_t sm_path_sl(const struct sm *sm, lid_t lid)
{
	uint8_t wish = sm->conf->sm_sl;
	const struct view *v = admin_view(sm);

	return v ? view_path_sl(v, v->sm_port, view_port_at(v, lid), lid, wish) : wish;
}

uint32_t admin_registry(const struct sm *sm)
{
	return sm->m.admin->registry;
}

void admin_state_changed(struct sm *sm)
{
	if (sm->state == SM_MASTER) {
		sm->m.admin->registry++;
		return;
	}
	serve_held(sm, false);
	sa_publish(sm->sa, NULL, sm->now);
	sm->m.admin->view = view_unref(sm->m.admin->view);
	drop_copy(sm->m.admin);
}

/*
 * ---- the database on disk --------------------------------------------------------------------
 *
 * The next process starts from opensm-sa.state in the cache folder; with sa_db_dump, opensm-sa.dump
 * has the same for people.
 */
struct db_job {
	char *state, *dump, *text; /* paths, each of which may be NULL, and the content */
	const char *failed;
	size_t len;
	uint64_t version;
	bool durable, final;
};

static int write_db(struct db_job *job, const char *path, const char *mark)
{
	struct file_replace *f = path ? file_replace_open(path, true) : NULL;
	int r = path && !f ? -errno : 0;

	if (f) {
		fwrite(job->text, 1, job->len, file_replace_stream(f));
		fputs(mark, file_replace_stream(f));
		r = file_replace_commit(f, job->durable);
	}
	if (r < 0)
		job->failed = path;
	return r;
}

static int db_run(void *data)
{
	struct db_job *job = data;
	int dump = write_db(job, job->dump, "");
	int state = write_db(job, job->state, job->final ? FINAL_MARK : "");

	return state < 0 ? state : dump;
}

static void db_written(struct sm *sm, void *data, int error)
{
	const struct db_job *job = data;
	struct admin *a = sm->m.admin;

	a->db_pending = false;
	if (error == 0)
		a->db_saved = job->version;
	if (told_change(&a->told, TOLD_DB_ERROR, error != 0) == TOLD_BEGINS)
		log_on(ABOUT(.id = LOG_ID_DISK_FAULT, .file = job->failed, .error = -error),
		       LOGB_ERROR, "%s cannot be written: %s; tried again every %d s", job->failed,
		       strerror(-error), (int)(DB_RETRY / MONO_S));
	if (error)
		a->db_at = sm->now + DB_RETRY;
	else
		event_plain(sm, SM_EVENT_SA_DUMPED);
}

static void db_free(void *data)
{
	struct db_job *job = data;

	free(job->state);
	free(job->dump);
	free(job->text);
	free(job);
}

static bool is_kept(const struct sm *sm)
{
	return sm->m.admin->state_path || (sm->conf->sa_db_dump && sm->m.admin->dump_path);
}

void admin_save(struct sm *sm, bool final)
{
	struct admin *a = sm->m.admin;
	struct db_job *job;

	/* The final write is queued behind one under way: jobs for the disk end in order. */
	if (!is_kept(sm) || (a->db_pending && !final) || sm->state != SM_MASTER)
		return;
	if (sa_db_version(sm->sa) == a->db_saved && !final)
		return;
	a->db_pending = true;
	a->db_at = sm->now + DB_INTERVAL;
	job = xcalloc(1, sizeof(*job));
	job->state = a->state_path ? xstrdup(a->state_path) : NULL;
	job->dump = sm->conf->sa_db_dump && a->dump_path ? xstrdup(a->dump_path) : NULL;
	job->text = sa_db_text(sm->sa, &job->len);
	job->version = sa_db_version(sm->sa);
	job->durable = sm->conf->fsync_high_avail_files;
	job->final = final && !elect_handed_over(sm);
	job_start(sm, DISK_JOB("saving the SA database", db_run, db_written, db_free), job);
}

static bool save_is_due(const struct sm *sm)
{
	return is_kept(sm) && !sm->m.admin->db_pending && sm->first_sweep_done &&
	       sm->state == SM_MASTER && sa_db_version(sm->sa) != sm->m.admin->db_saved;
}

unsigned admin_waiting(const struct sm *sm)
{
	return sm->m.admin->n_held;
}

bool admin_saves(const struct sm *sm)
{
	return sm->m.admin->db_pending;
}

bool admin_save_failed(const struct sm *sm)
{
	return told_holds(&sm->m.admin->told, TOLD_DB_ERROR);
}

void admin_tick(struct sm *sm)
{
	renew_view(sm);
	if (save_is_due(sm) && sm->now >= sm->m.admin->db_at)
		admin_save(sm, false);
	sm->m.admin->busy = sa_dispatch(sm->sa, sm->now);
}

mono_t admin_next(const struct sm *sm)
{
	mono_t next = mono_min(sa_next(sm->sa), save_is_due(sm) ? sm->m.admin->db_at : MONO_NEVER);

	if (sm->m.admin->busy || sm->m.admin->copy)
		return 0;
	return view_is_due(sm) ? mono_min(next, sm->m.admin->view_since + VIEW_INTERVAL) : next;
}
