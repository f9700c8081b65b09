// SPDX-License-Identifier: BSD-2-Clause
/*
 * Discovery: breadth first by chaining of answers, nothing asked twice.
 *
 *   NodeInfo(self) -> its PortInfo -> NodeInfo through every port that is up -> ...
 *   a switch:  NodeDesc, SwitchInfo -> PortInfo(0) -> PortInfo(1..N) -> probes
 *   a host:    NodeDesc, PortInfo of the port we arrived at
 *
 * A cable is asked about from one end only: a probe that waits in the queue is dropped when its
 * cable has become known from the other end meanwhile. Silence is unknown, not gone: a node that
 * does not answer keeps its place for some sweeps (forget.c). Whoever claims a GUID that is already on
 * another cable is left out (quarantined), the rest goes on.
 *
 * Writes facts only. What is missing afterwards is settled in forget.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ib/words.h"
#include "sm/events.h"
#include "sm/say.h"
#include "util/mem.h"
#include "util/str.h"

#define MAX_MISSES	3
#define VENDOR_MELLANOX 0x0002c9
#define SPEED_QDR	0x4
#define SPEED_EXT_FDR	0x1

static void ask_switch_ports(struct sm *sm, struct node *n, unsigned first);

static void ask(struct sm *sm, const struct mad_request *rq, mad_done_fn fn, void *arg)
{
	sm->discover_pending++;
	mad_submit(sm->mad, rq, fn, sm, arg);
}

void discover_get(struct sm *sm, struct node *n, uint16_t attr, uint32_t mod, mad_done_fn fn)
{
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = attr,
		.mod = mod,
		.path = &n->path,
		.m_key = n->ports[0].m_key,
		.target = &n->target,
	};

	mad_submit(sm->mad, &rq, fn, sm, n);
}

/* The key a port's SMA is thought to hold, before it told us (sweep.md 9). */
static uint64_t expected_mkey(const struct sm *sm, guid_t port_guid)
{
	uint64_t key;

	if (sm->conf->m_key_lookup && port_guid && store_mkey(sm->store, port_guid, &key))
		return key;
	return sm->conf->m_key;
}

/* The key for whoever is behind `p`: known neighbours first. */
uint64_t discover_probe_mkey(const struct sm *sm, const struct port *p)
{
	guid_t guid = p->node->guid, peer = 0;
	uint8_t peer_port;

	if (p->peer)
		return port_of_sma(p->peer)->m_key;
	if (!node_is_switch(p->node))
		guid = p->guid;
	if (sm->conf->m_key_lookup)
		store_neighbor(sm->store, guid, p->num, &peer, &peer_port);
	return p->other_key ? sm->conf->m_key : expected_mkey(sm, peer);
}

/*
 * A question that went wrong. A node that takes part but leaves questions open spoils the sweep, a
 * few times; silence behind a port only asks for another sweep soon.
 */
static void note_fault(struct sm *sm, const char *what, const struct port *p,
		       const struct mad_result *r)
{
	struct log_about about = about_port(LOG_ID_SILENT, p);
	char where[PLACE_STRLEN], attr[IB_WORD_STRLEN], status[IB_WORD_STRLEN];
	unsigned suppressed;

	if (r->attr != IB_ATTR_NODE_INFO && p->node->target.failures < SILENT_AFTER)
		sm->errors++;
	sm->soft_faults += p->node->target.failures < SILENT_AFTER;
	if (!log_allow(&sm->fault_log, sm->now, &suppressed))
		return;
	if (suppressed)
		log_error("%u similar records were left out", suppressed);
	about.method = "Get";
	about.attr = ib_attr_words(r->attr, attr);
	about.status = mad_status_words(r->status, status);
	if (r->end == MAD_END_BAD_STATUS)
		log_on(about, LOGB_ERROR, "%s: %s %s is answered with status %s",
		       fabric_place_str(p, where), what, attr, status);
	else
		log_on(about, LOGB_ERROR, "%s: %s %s is not answered%s", fabric_place_str(p, where),
		       what, attr,
		       r->attr == IB_ATTR_PORT_INFO || r->attr == IB_ATTR_NODE_INFO
			       ? " (M_Key not known here?)"
			       : "");
}

/* On a lossy fabric all tries of a question may be lost: it is put once more per sweep and port. */
static bool worth_asking_again(const struct sm *sm, struct port *p, const struct mad_result *r)
{
	if (r->end != MAD_END_TIMEOUT || p->asked_twice == sm->sweep_no || p->silent)
		return false;
	p->asked_twice = sm->sweep_no;
	return true;
}

/* ---- NodeDesc ----------------------------------------------------------------------------- */

static void take_desc(struct sm *sm, struct node *n, const uint8_t *payload)
{
	char before[NODE_DESC_STRLEN];
	bool known = n->desc_known;

	memcpy(before, n->desc, sizeof(before));
	str_printable(payload, SMP_DATA_SIZE, n->desc, sizeof(n->desc));
	n->desc_known = true;
	if (!known || !strcmp(before, n->desc))
		return;
	if (log_allow(&sm->name_log, sm->now, &(unsigned){ 0 }))
		log_on(about_node(LOG_ID_NONE, n), LOGB_INFO,
		       "'%s' (0x%016" PRIx64 ") is now called '%s'", before, n->guid, n->desc);
	admin_publish_soon(sm);
}

void discover_ask_desc_again(struct sm *sm, struct node *n)
{
	struct dr_path path;

	n->desc_again = false;
	for (unsigned i = node_is_switch(n) ? 0 : 1; i <= n->n_ports; i++) {
		if (fabric_port_path(sm->fabric, &n->ports[i], &path) == 0) {
			discover_ask_desc(sm, &n->ports[i], &path);
			return;
		}
	}
}

static void on_node_desc(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;

	sm->descs_pending--;
	n->desc_asked = false;
	if (r->end == MAD_END_ANSWERED)
		take_desc(sm, n, r->payload);
	if (n->desc_again && r->end != MAD_END_CANCELLED)
		discover_ask_desc_again(sm, n);
}

/* At most one question per node is out; no sweep waits for it but the one that met the node. */
void discover_ask_desc(struct sm *sm, struct port *p, const struct dr_path *path)
{
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_DESC,
		.path = path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (p->node->desc_asked)
		return;
	p->node->desc_asked = true;
	sm->descs_pending++;
	mad_submit(sm->mad, &rq, on_node_desc, sm, p->node);
}

void discover_desc_changed(struct sm *sm, struct port *p)
{
	struct dr_path path;

	p->node->desc_again |= p->node->desc_asked;
	if (fabric_port_path(sm->fabric, p, &path) == 0)
		discover_ask_desc(sm, p, &path);
}

/* ---- probes: who is behind a port? --------------------------------------------------------- */

static void on_probe(void *owner, const struct mad_result *r);

static bool probe_is_wanted(void *owner, void *arg)
{
	const struct sm *sm = owner;
	const struct port *p = arg;

	return !p->peer || p->peer_seen != sm->sweep_no;
}

static void probe(struct sm *sm, struct port *p)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = &path,
		.m_key = discover_probe_mkey(sm, p),
		.target = &p->behind,
		.wanted = probe_is_wanted,
	};

	if (!probe_is_wanted(sm, p))
		return;
	if (dr_path_extend(&p->node->path, p->num, &path) < 0) {
		p->odd = PORT_ODD_TOO_FAR;
		if (log_allow(&sm->fault_log, sm->now, &(unsigned){ 0 }))
			log_port(p, LOG_ID_LEFT_OUT, LOGB_VERBOSE,
				 "more than %u hops away, what is behind is left out", IB_MAX_HOPS);
		return;
	}
	ask(sm, &rq, on_probe, p);
}

/* The same node as before, or another with its GUID? */
static bool same_identity(const struct node *n, const uint8_t *ni)
{
	return n->type == ib_get(ni, NI_NODE_TYPE) && n->n_ports == ib_get(ni, NI_NUM_PORTS) &&
	       n->sysimg_guid == ib_get(ni, NI_SYSTEM_IMAGE_GUID) &&
	       n->vendor_id == ib_get(ni, NI_VENDOR_ID);
}

static void quarantine(struct sm *sm, struct port *p, const struct node *n, const char *why)
{
	if (p->peer)
		fabric_disconnect(p);
	if (!p->quarantine_told)
		log_port(p, LOG_ID_DUPLICATE_GUID, LOGB_ERROR,
			 "behind it is a second node with GUID 0x%016" PRIx64 " ('%s'): %s; it is left out",
			 n->guid, node_name(n), why);
	/* The first one may have moved here since it was met in this sweep: looked at once more. */
	if (!p->quarantine_told) {
		sweep_want(sm, SWEEP_HEAVY, "a GUID was met twice");
		dirty_contradicted(sm);
	}
	p->quarantined = p->quarantine_told = true;
	sm->duplicates++;
}

static void ask_port_info(struct sm *sm, struct port *p);
static void ask_switch_info(struct sm *sm, struct node *n);

/* First answer of a node in this sweep: everything else about it is asked now. */
static void meet(struct sm *sm, struct node *n, struct port *at, const struct dr_path *path)
{
	bool first = n->seen != sm->sweep_no || n->misses;

	n->seen = sm->sweep_no;
	if (n->misses)
		n->lft_failures = 0; /* it was silent altogether */
	n->misses = 0;
	if (first)
		mad_target_revive(&n->target);
	if (first && (node_is_switch(n) || path->length == 0)) {
		n->path_changed = path->length != n->path.length ||
				  memcmp(path->hop, n->path.hop, path->length + 1u);
		n->path = *path;
	}
	if (!port_of_sma(at)->m_key) {
		uint64_t key = expected_mkey(sm, port_of_sma(at)->guid);

		port_of_sma(at)->m_key = sm->met_by_m_key ? sm->conf->m_key : key;
		if (!port_of_sma(at)->m_key_other)
			port_of_sma(at)->m_key_other = sm->met_by_m_key ? key : sm->conf->m_key;
	}
	if (first && !n->desc_known)
		discover_ask_desc(sm, at, path);
	if (!node_is_switch(n))
		ask_port_info(sm, at);
	else if (first)
		ask_switch_info(sm, n);
}

/* The node of a NodeInfo: known, replaced, or new. NULL if it makes no sense. */
static struct node *node_of(struct sm *sm, const uint8_t *ni)
{
	struct node *n = fabric_find_node(sm->fabric, ib_get(ni, NI_NODE_GUID));

	if (n && n->seen != sm->sweep_no && n != sm->fabric->own && !same_identity(n, ni)) {
		log_on(about_node(LOG_ID_NODE_GONE, n), LOGB_INFO,
		       "node 0x%016" PRIx64 " ('%s') was replaced by another with its GUID", n->guid,
		       node_name(n));
		forget_node(sm, n);
		n = NULL;
	}
	if (!n)
		n = fabric_add_node(sm->fabric, ni);
	if (n && !n->desc_known)
		snprintf(n->desc, sizeof(n->desc), "%s 0x%016" PRIx64, ib_node_type_name(n->type),
			 n->guid);
	if (n && !n->desc_known)
		say_name_node(sm, n);
	return n;
}

/*
 * A cable end that was already found on another cable in this sweep. Of the two, the one that was
 * left out in the last sweep loses again; else the newcomer. Returns true if `a` may have it.
 */
static bool settle_conflict(struct sm *sm, struct port *a, struct port *b)
{
	struct port *other = b->peer;

	if (!other || other == a || b->peer_seen != sm->sweep_no)
		return true;
	if (other->suspect && !a->suspect) {
		quarantine(sm, other, b->node, "left out before");
		return true;
	}
	quarantine(sm, a, b->node, "the first one is on another cable");
	return false;
}

/*
 * Takes note of who is behind. True for a cable between switches that was out since it was last seen,
 * even if it leads to where it led: who knows where it did meanwhile.
 */
static bool was_out(struct port *a, struct port *b)
{
	bool met = a->had_cable || b->had_cable;

	a->had_cable = b->had_cable = true;
	return met && (a->peer != b || port_state(a) == IB_PORT_INIT) && node_is_switch(a->node) &&
	       node_is_switch(b->node);
}

/* Something answered through port `a`. */
static void arrive(struct sm *sm, struct port *a, const uint8_t *ni)
{
	struct node *n = node_of(sm, ni);
	unsigned local = ib_get(ni, NI_LOCAL_PORT);
	struct dr_path path;
	struct port *b;

	if (!n || local > n->n_ports || !local) {
		a->odd = PORT_ODD_NONSENSE;
		if (!log_allow(&sm->fault_log, sm->now, &(unsigned){ 0 }))
			return;
		log_port(a, LOG_ID_LEFT_OUT, LOGB_ERROR,
			 "behind it answers a node with an impossible NodeInfo (GUID 0x%016" PRIx64
			 ", %u ports, arrived at port %u); it is left out",
			 (guid_t)ib_get(ni, NI_NODE_GUID), (unsigned)ib_get(ni, NI_NUM_PORTS), local);
		return;
	}
	b = &n->ports[local];
	if (b == a) {
		a->odd = PORT_ODD_LOOPBACK;
		dirty_cable_gone(sm, a);
		log_port(a, LOG_ID_LEFT_OUT, LOGB_VERBOSE, "a loopback plug");
		return;
	}
	if (n->seen == sm->sweep_no && !same_identity(n, ni)) {
		quarantine(sm, a, n, "it is of another kind");
		return;
	}
	if (dirty_question_hearsay(sm, a, b) || !settle_conflict(sm, a, b))
		return;
	if (!node_is_switch(n) &&
	    fabric_set_port_guid(sm->fabric, b, ib_get(ni, NI_PORT_GUID)) < 0) {
		sm->soft_faults++; /* its owner may be about to be forgotten */
		quarantine(sm, a, n, "its port GUID belongs to another port");
		return;
	}
	a->quarantined = false;
	a->odd = PORT_ODD_NOT;
	mad_target_revive(&a->behind);
	sm->cables_changed |= a->peer != b;
	sm->dirty_changed |= a->peer != b || a->silent || n->seen != sm->sweep_no;
	a->hearsay = b->hearsay = false;
	sm->cables_moved |= was_out(a, b);
	fabric_connect(a, b, sm->sweep_no);
	dirty_met(b);
	dr_path_extend(&a->node->path, a->num, &path);
	meet(sm, n, b, &path);
}

static void on_probe(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	sm->discover_pending--;
	if (r->end == MAD_END_TIMEOUT && p->peer)
		fabric_doubt_mkey(p->peer);
	p->other_key ^= r->end == MAD_END_TIMEOUT && !p->peer; /* guid2mkey may be out of date */
	if (worth_asking_again(sm, p, r)) {
		probe(sm, p);
		return;
	}
	switch (r->end) {
	case MAD_END_ANSWERED:
		sm->met_by_m_key = p->other_key;
		arrive(sm, p, r->payload);
		sm->met_by_m_key = p->silent = false;
		break;
	case MAD_END_BAD_STATUS:
	case MAD_END_TIMEOUT:
		if (!p->silent)
			note_fault(sm, "what is behind: Get", p, r);
		p->silent = true;
		break;
	case MAD_END_CANCELLED:
		break;
	}
}

/* ---- PortInfo ------------------------------------------------------------------------------ */

static void learn_mkey(struct sm *sm, struct port *p)
{
	fabric_learn_mkey(p);
	if (port_is_end(p) && port_state(p) > IB_PORT_DOWN)
		store_set_mkey(sm->store, p->guid, p->m_key);
}

/* A link that trained anew starts with a clean slate. */
static void note_transition(struct port *p, unsigned before)
{
	unsigned now = port_state(p);

	if (now > IB_PORT_INIT || now == before)
		return;
	p->unstored = 0;
	p->ext_known = false;
	p->is_new = true;
	if (now == IB_PORT_DOWN) {
		fabric_disconnect(p);
		p->silent = p->quarantined = p->quarantine_told = false;
		p->odd = PORT_ODD_NOT;
		mad_target_revive(&p->behind);
	}
}

/* An end port that rebooted, or is somebody else's: it has not the addresses that we gave. */
static bool is_not_ours(const struct sm *sm, const struct port *p)
{
	const struct port *own = sm->fabric->own_port;
	lid_t master = ib_get(p->info, PI_MASTER_SM_LID);

	return port_is_end(p) && (ib_get(p->info, PI_LID) != p->lid || !own ||
				  (master != own->lid && (!master || master != sm->former_sm_lid)));
}

static void observe(struct sm *sm, struct port *p, const uint8_t *payload)
{
	unsigned before = port_state(p), now = ib_get(payload, PI_PORT_STATE);

	dirty_observed(sm, p, payload);
	if (now == IB_PORT_INIT || (now < IB_PORT_INIT && before > now))
		dirty_link_out(sm, p);
	if (now <= IB_PORT_INIT && before > now)
		event_link_out(sm, p);
	memcpy(p->info, payload, SMP_DATA_SIZE);
	p->known = true;
	p->doubt = false;
	p->seen = sm->sweep_no;
	health_link_seen(sm, p, before); /* while the other end is still known */
	note_transition(p, before);
	learn_mkey(sm, p);
	if (!port_is_live(p) || is_not_ours(sm, p))
		fabric_forget_cells(sm->fabric, p);
	if (node_is_switch(p->node) && p->num == 0 && is_not_ours(sm, p))
		node_forget_tables(p->node);
}

static void on_ext_port_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;

	sm->discover_pending--;
	if (r->end != MAD_END_ANSWERED)
		return;
	p->ext_supported = ib_get(r->payload, EPI_SPEED_SUPPORTED);
	p->ext_enabled = ib_get(r->payload, EPI_SPEED_ENABLED);
	p->ext_active = ib_get(r->payload, EPI_SPEED_ACTIVE);
	p->ext_known = true;
}

/* FDR10 belongs to a generation of Mellanox devices: QDR, at most FDR, nothing faster. */
static bool may_have_fdr10(const struct port *p)
{
	return p->node->vendor_id == VENDOR_MELLANOX &&
	       (ib_get(p->info, PI_SPEED_SUPPORTED) & SPEED_QDR) &&
	       ib_get(p->info, PI_SPEED_EXT_SUPPORTED) <= SPEED_EXT_FDR;
}

/* FDR10 is told by an attribute of theirs; asked once per link. */
static void ask_ext_port_info(struct sm *sm, struct port *p)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_MLNX_EXT_PORT_INFO,
		.mod = p->num,
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (!sm->conf->fdr10 || !may_have_fdr10(p) || p->ext_known ||
	    port_state(p) == IB_PORT_DOWN || fabric_port_path(sm->fabric, p, &path) < 0)
		return;
	ask(sm, &rq, on_ext_port_info, p);
}

static void on_port_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct port *p = r->arg;
	struct node *n = p->node;

	sm->discover_pending--;
	if (r->end == MAD_END_BAD_STATUS && (r->mod & PI_MOD_EXTENDED_SPEEDS) &&
	    r->status != MAD_STATUS_BUSY) {
		n->no_ext_modifier = true;
		ask_port_info(sm, p);
		return;
	}
	if (r->end == MAD_END_TIMEOUT)
		fabric_doubt_mkey(p);
	if (worth_asking_again(sm, p, r)) {
		ask_port_info(sm, p);
		return;
	}
	if (r->end == MAD_END_ANSWERED)
		observe(sm, p, r->payload);
	else if (r->end != MAD_END_CANCELLED)
		note_fault(sm, "Get", p, r);
	if (r->end == MAD_END_TIMEOUT || r->end == MAD_END_CANCELLED)
		return;
	if (node_is_switch(n) && p->num == 0) {
		ask_switch_ports(sm, n, 1);
		return;
	}
	ask_ext_port_info(sm, p);
	if (!node_is_switch(n) && p != sm->fabric->own_port) {
		if (p->known && (ib_get(p->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
			elect_ask(sm, p);
		return;
	}
	if (port_state(p) > IB_PORT_DOWN)
		probe(sm, p);
}

static void ask_port_info(struct sm *sm, struct port *p)
{
	struct dr_path path;
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_PORT_INFO,
		.mod = p->num | (p->node->no_ext_modifier ? 0 : PI_MOD_EXTENDED_SPEEDS),
		.path = &path,
		.m_key = port_of_sma(p)->m_key,
		.target = &p->node->target,
	};

	if (fabric_port_path(sm->fabric, p, &path) == 0)
		ask(sm, &rq, on_port_info, p);
}

static void ask_switch_ports(struct sm *sm, struct node *n, unsigned first)
{
	const struct port *p0 = &n->ports[0];

	if (p0->known && n != sm->fabric->own &&
	    (ib_get(p0->info, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM)))
		elect_ask(sm, &n->ports[0]);
	for (unsigned i = first; i <= n->n_ports; i++)
		ask_port_info(sm, &n->ports[i]);
}

/* ---- SwitchInfo ---------------------------------------------------------------------------- */

static void on_cleared(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;

	sm->discover_pending--;
	if (r->end == MAD_END_ANSWERED)
		memcpy(n->switch_info, r->payload, SI_BYTES);
	else
		n->change_uncleared = true;
	if (r->end != MAD_END_CANCELLED)
		ask_port_info(sm, &n->ports[0]);
}

/* PortStateChange is cleared before the ports are read: a later change shows again. */
static bool clear_state_change(struct sm *sm, struct node *n)
{
	uint8_t want[SMP_DATA_SIZE] = { 0 };
	const struct mad_request rq = { .attr = IB_ATTR_SWITCH_INFO,
					.path = &n->path,
					.payload = want };

	if (!ib_get(n->switch_info, SI_PORT_STATE_CHANGE))
		return false;
	memcpy(want, n->switch_info, SI_BYTES);
	if (!sync_command(sm->sync, &n->ports[0], &rq, on_cleared, sm, n))
		return false;
	sm->discover_pending++;
	return true;
}

static void on_verified(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;
	const uint8_t *have = lft_have_block(&n->lft, r->mod);

	sm->discover_pending--;
	if (r->end == MAD_END_ANSWERED && have && !memcmp(have, r->payload, LFT_BLOCK_LIDS))
		return;
	sm->dirty_changed = true;
	node_forget_tables(n);
}

static void verify_block(struct sm *sm, struct node *n, uint32_t block)
{
	if (!lft_have_block(&n->lft, block))
		return;
	sm->discover_pending++;
	discover_get(sm, n, IB_ATTR_LFT, block, on_verified);
}

/* A block that stood there for long, and says something: where it is, no power was lost. */
static bool is_telling(const struct lft_have *lft, uint32_t block)
{
	const uint8_t *have = lft_have_block(lft, block);

	for (unsigned i = 0; have && lft->known[block] == LFT_PROVEN && i < LFT_BLOCK_LIDS; i++) {
		if (have[i] != LFT_NO_PORT)
			return true;
	}
	return false;
}

/*
 * A switch whose ports changed may have been off and on again. A table that stood before is then
 * lost as a whole, and one block of it tells. What was being written at the time may be lost in part:
 * that is read.
 */
static void verify_tables(struct sm *sm, struct node *n)
{
	bool told = false;

	if (!ib_get(n->switch_info, SI_PORT_STATE_CHANGE))
		return;
	for (uint32_t block = 0; block < n->lft.n_blocks; block++) {
		bool tells = !told && is_telling(&n->lft, block);

		told |= tells;
		if (tells || n->lft.known[block] == LFT_UNPROVEN)
			verify_block(sm, n, block);
	}
}

static void on_switch_info(void *owner, const struct mad_result *r)
{
	struct sm *sm = owner;
	struct node *n = r->arg;

	sm->discover_pending--;
	if (worth_asking_again(sm, &n->ports[0], r)) {
		ask_switch_info(sm, n);
		return;
	}
	if (r->end != MAD_END_ANSWERED) {
		if (r->end != MAD_END_CANCELLED)
			note_fault(sm, "Get", &n->ports[0], r);
		if (r->end == MAD_END_TIMEOUT && sm->partial) {
			sweep_want(sm, SWEEP_HEAVY, "a switch that changed does not answer");
			dirty_lost(sm, n);
		}
		return;
	}
	if (dirty_is_unchanged(sm, n, r->payload))
		return;
	/* It was silent: what was due to it meanwhile is due still, even if all is as it was. */
	sm->dirty_changed |= n->misses || n->ports[0].seen != sm->sweep_no;
	n->seen = sm->sweep_no;
	n->misses = 0;
	if (n->lft_top_written && ib_get(r->payload, SI_LINEAR_FDB_TOP) != n->lft_top_written) {
		node_forget_tables(n);
		n->lft_top_written = ib_get(r->payload, SI_LINEAR_FDB_TOP);
		sm->dirty_changed = true;
	}
	memcpy(n->switch_info, r->payload, SI_BYTES);
	n->switch_known = true;
	verify_tables(sm, n);
	n->change_uncleared = n->changed = ib_get(n->switch_info, SI_PORT_STATE_CHANGE);
	n->cleared_late = false;
	if (clear_state_change(sm, n))
		n->change_uncleared = false;
	else
		ask_port_info(sm, &n->ports[0]);
}

static void ask_switch_info(struct sm *sm, struct node *n)
{
	sm->discover_pending++;
	discover_get(sm, n, IB_ATTR_SWITCH_INFO, 0, on_switch_info);
}

void discover_read_switch(struct sm *sm, struct node *n)
{
	ask_switch_info(sm, n);
}

void discover_read_port(struct sm *sm, struct port *p)
{
	ask_port_info(sm, p);
}

/* ---- start --------------------------------------------------------------------------------- */

static void ask_own_node_info(struct sm *sm);

static uint64_t own_mkey(const struct sm *sm)
{
	if (sm->fabric->own_port)
		return sm->fabric->own_port->m_key;
	return sm->own_tries % 2 ? sm->conf->m_key : expected_mkey(sm, sm->tr->port_guid);
}

static void on_own_node_info(void *owner, const struct mad_result *r)
{
	static const struct dr_path here = { 0 };
	struct sm *sm = owner;
	struct fabric *f = sm->fabric;
	struct node *n = NULL;
	unsigned local;
	uint64_t key;

	sm->discover_pending--;
	if (r->end == MAD_END_TIMEOUT && sm->own_tries++ < SILENT_AFTER) {
		if (sm->fabric->own_port)
			fabric_doubt_mkey(sm->fabric->own_port);
		ask_own_node_info(sm);
		return;
	}
	if (r->end == MAD_END_ANSWERED)
		n = node_of(sm, r->payload);
	sm->own_silent = !n;
	if (!n) {
		log_on(ABOUT(.id = LOG_ID_SILENT, .port_guid = sm->tr->port_guid), LOGB_ERROR,
		       "our own port does not answer NodeInfo: no sweep is possible (M_Key not known here?)");
		return;
	}
	local = ib_get(r->payload, NI_LOCAL_PORT);
	key = own_mkey(sm);
	f->own = n;
	f->own_port = &n->ports[node_is_switch(n) ? 0 : MIN(local, n->n_ports)];
	if (!node_is_switch(n))
		fabric_set_port_guid(f, f->own_port, ib_get(r->payload, NI_PORT_GUID));
	port_of_sma(f->own_port)->m_key = key;
	meet(sm, n, f->own_port, &here);
}

static void ask_own_node_info(struct sm *sm)
{
	static const struct dr_path here = { 0 };
	const struct mad_request rq = {
		.method = MAD_GET,
		.attr = IB_ATTR_NODE_INFO,
		.path = &here,
		.m_key = own_mkey(sm),
	};

	ask(sm, &rq, on_own_node_info, NULL);
}

void discover_start(struct sm *sm)
{
	sm->duplicates = 0;
	sm->own_tries = 0;
	sm->cables_changed = sm->cables_moved = false;
	dirty_clear(sm);
	FABRIC_EACH_NODE(sm->fabric, n) {
		for (unsigned i = 0; i <= n->n_ports; i++) {
			n->ports[i].suspect = n->ports[i].quarantined;
			n->ports[i].quarantine_told &= n->ports[i].quarantined;
			n->ports[i].quarantined = false;
		}
	}
	ask_own_node_info(sm);
}
