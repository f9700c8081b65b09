// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which requests are answered at all (security.md 3 and 4). The table below is the enhanced trust
 * model: a row is what a host without the key may ask, a request without a row gets no answer.
 *
 * Knows how a request names ports and GIDs. Knows nothing about records otherwise: the rights by
 * partition are those of each record type, and hold for what passes here.
 */
#include "sa/base/trust.h"

#include "util/mem.h"

#define LINK_LOCAL_PREFIX UINT64_C(0xFE80000000000000)

bool trust_is_guess(const struct sa_request *rq)
{
	return rq->sm_key && !rq->trusted;
}

bool trust_has_key(const struct sa *sa, uint64_t sm_key)
{
	/* sa_key 0 makes all requests trusted ones, which the trust model cannot mean. */
	if (!sm_key && sa->conf->sa_enhanced_trust_model)
		return false;
	if (!conf_draws_sa_key(sa->conf))
		return sm_key == sa->conf->sa_key;
	return sa->drawn_key && sm_key == sa->drawn_key;
}

/* ---- conditions of rows --------------------------------------------------------------------- */

static bool names_source(const struct sa_request *rq)
{
	return SA_HAS(rq->mask, PR_SGID) || SA_HAS(rq->mask, PR_SLID);
}

static bool names_destination(const struct sa_request *rq)
{
	return SA_HAS(rq->mask, PR_DGID) || SA_HAS(rq->mask, PR_DLID);
}

static bool is_point_to_point(const struct sa *sa, const struct sa_request *rq)
{
	return names_source(rq) && names_destination(rq);
}

static bool names_service(const struct sa *sa, const struct sa_request *rq)
{
	return SA_HAS(rq->mask, SVR_ID) || SA_HAS(rq->mask, SVR_NAME);
}

static bool is_no_security_trap(const struct sa *sa, const struct sa_request *rq)
{
	unsigned trap = (unsigned)ib_get(rq->data, INF_TRAP);

	return !ib_get(rq->data, INF_IS_GENERIC) || trap < TRAP_BAD_MKEY ||
	       trap > TRAP_SWITCH_BAD_PKEY;
}

static bool may_have_aliases(const struct sa *sa, const struct sa_request *rq)
{
	return sa->conf->sa_etm_allow_untrusted_guidinfo_rec;
}

/* ---- the table ------------------------------------------------------------------------------ */

static const struct trust_row {
	uint16_t attr;
	uint8_t method;
	bool (*holds)(const struct sa *sa, const struct sa_request *rq); /* NULL: always */
} rows[] = {
	{ SA_CLASS_PORT_INFO, MAD_GET, NULL },
	{ SA_MC_MEMBER_RECORD, MAD_GET, NULL },
	{ SA_MC_MEMBER_RECORD, MAD_SET, NULL },
	{ SA_MC_MEMBER_RECORD, MAD_SA_DELETE, NULL },
	{ SA_PATH_RECORD, MAD_GET, NULL },
	{ SA_PATH_RECORD, MAD_SA_GET_TABLE, is_point_to_point },
	{ SA_SERVICE_RECORD, MAD_GET, NULL },
	{ SA_SERVICE_RECORD, MAD_SET, NULL },
	{ SA_SERVICE_RECORD, MAD_SA_DELETE, NULL },
	/* By this Linux resolves services (RDMA CM, by ServiceID or name); no host lists all. */
	{ SA_SERVICE_RECORD, MAD_SA_GET_TABLE, names_service },
	{ SA_INFORM_INFO, MAD_SET, is_no_security_trap },
	{ SA_GUID_INFO_RECORD, MAD_SET, may_have_aliases },
	{ SA_GUID_INFO_RECORD, MAD_SA_DELETE, may_have_aliases },
};

static bool is_in_table(const struct sa *sa, const struct sa_request *rq)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].attr == rq->attr && rows[i].method == rq->method)
			return !rows[i].holds || rows[i].holds(sa, rq);
	return false;
}

/* ---- claims --------------------------------------------------------------------------------- */

static bool registers(const struct sa_request *rq)
{
	return rq->method == MAD_SET || rq->method == MAD_SA_DELETE;
}

/* The GID under which a request registers; NULL: it names none. */
static const uint8_t *claimed_gid(const struct sa_request *rq)
{
	if (!registers(rq))
		return NULL;
	if (rq->attr == SA_MC_MEMBER_RECORD)
		return rq->data + MCM_PORT_GID / 8;
	return rq->attr == SA_SERVICE_RECORD ? rq->data + SVR_GID / 8 : NULL;
}

static bool is_of_subnet(const struct sa *sa, const uint8_t *gid)
{
	uint64_t prefix = ib_bits_get(gid, 0, 64);

	return prefix == sa->view->prefix || prefix == LINK_LOCAL_PREFIX;
}

/* Is it a GID of the port that sent the request, by its own GUID or an alias? */
static bool is_of_sender(const struct sa *sa, const struct sa_request *rq, const uint8_t *gid)
{
	return rq->port != VIEW_NONE && is_of_subnet(sa, gid) &&
	       sa_port_of_interface_id(sa, sa->view, ib_bits_get(gid, 64, 64)) == rq->port;
}

/* A router forwards packets with GIDs of other subnets under its own LID. */
static bool is_forwarded(const struct sa *sa, const struct sa_request *rq, const uint8_t *gid)
{
	const struct view *v = sa->view;

	return rq->port != VIEW_NONE && !is_of_subnet(sa, gid) &&
	       v->nodes[v->ports[rq->port].node].type == IB_NODE_ROUTER;
}

/*
 * Is the port that a request registers something for the one that sent it? Subscriptions always
 * are: their address is that of the request.
 */
static bool is_for_itself(const struct sa *sa, const struct sa_request *rq)
{
	const uint8_t *gid = claimed_gid(rq);

	if (gid)
		return is_of_sender(sa, rq, gid);
	if (!registers(rq) || rq->attr != SA_GUID_INFO_RECORD)
		return true;
	return view_port_at(sa->view, (lid_t)ib_get(rq->data, GIR_LID)) == rq->port;
}

/* Alias GUIDs are written to the port that a request names by its LID. */
static bool has_aliases_of_another(const struct sa *sa, const struct sa_request *rq)
{
	return rq->attr == SA_GUID_INFO_RECORD && SA_HAS(rq->mask, GIR_LID) &&
	       !is_for_itself(sa, rq);
}

static const struct sa_why *spoofed(const struct sa *sa, const struct sa_request *rq)
{
	const uint8_t *gid = claimed_gid(rq);

	if (rq->from.global && !is_of_sender(sa, rq, rq->from.grh.gid) &&
	    !is_forwarded(sa, rq, rq->from.grh.gid))
		return SA_WHY("spoofed_gid",
			      "the GID in its GRH is not its port's (sa_check_sgid_spoofing)");
	if (gid && !is_of_sender(sa, rq, gid))
		return SA_WHY(
			"foreign_gid",
			"it registers under a GID that is not its port's (sa_check_sgid_spoofing)");
	if (has_aliases_of_another(sa, rq))
		return SA_WHY("foreign_alias_guids",
			      "it is about alias GUIDs of another port (sa_check_sgid_spoofing)");
	return NULL;
}

/* ---- alias GUIDs and virtual functions ------------------------------------------------------ */

/* Without a GRH it cannot be told from the port itself. */
static bool is_virtual(const struct sa *sa, const struct sa_request *rq)
{
	const uint8_t *gid = rq->from.grh.gid;

	return rq->from.global && rq->port != VIEW_NONE &&
	       (!is_of_subnet(sa, gid) ||
		ib_bits_get(gid, 64, 64) != sa->view->ports[rq->port].guid);
}

static bool is_forbidden_to_vf(const struct sa *sa, const struct sa_request *rq)
{
	return sa->conf->sa_enhanced_trust_model && !sa->conf->sa_etm_allow_guidinfo_rec_by_vf &&
	       rq->attr == SA_GUID_INFO_RECORD && registers(rq) && is_virtual(sa, rq);
}

/* ---- all together --------------------------------------------------------------------------- */

static bool asks_for_all_pairs(const struct sa_request *rq)
{
	return rq->attr == SA_PATH_RECORD && rq->method == MAD_SA_GET_TABLE && !names_source(rq) &&
	       !names_destination(rq);
}

/* What a port may not ask, whatever it asks about. */
static const struct sa_why *not_allowed(const struct sa *sa, const struct sa_request *rq)
{
	if (!sa->conf->sa_pr_full_world_queries_allowed && asks_for_all_pairs(rq))
		return SA_WHY("all_pairs",
			      "it asks for all pairs (sa_pr_full_world_queries_allowed)");
	if (sa->conf->sa_enhanced_trust_model && !is_in_table(sa, rq))
		return SA_WHY("needs_sa_key", "only with sa_key (sa_enhanced_trust_model)");
	return NULL;
}

/* What it may ask about itself only. */
static const struct sa_why *not_its_own(const struct sa *sa, const struct sa_request *rq)
{
	const struct conf *conf = sa->conf;

	if (conf->sa_enhanced_trust_model && !conf->sa_etm_allow_untrusted_proxy_requests &&
	    !is_for_itself(sa, rq))
		return SA_WHY("another_port",
			      "it is about another port (sa_etm_allow_untrusted_proxy_requests)");
	return NULL;
}

const struct sa_why *trust_refusal(struct sa *sa, const struct sa_request *rq,
				   enum sa_abuse *ret_kind)
{
	const struct sa_why *why;

	if (is_forbidden_to_vf(sa, rq)) {
		*ret_kind = SA_ABUSE_MODEL;
		return SA_WHY("virtual_function",
			      "it is of a virtual function (sa_etm_allow_guidinfo_rec_by_vf)");
	}
	if (rq->trusted)
		return NULL;
	if (!askers_may_ask(sa, rq)) {
		*ret_kind = SA_ABUSE_RATE;
		return SA_WHY("too_often", "its port has asked too often (sa_rate_threshold)");
	}
	why = sa->conf->sa_check_sgid_spoofing ? spoofed(sa, rq) : NULL;
	if (why) {
		*ret_kind = SA_ABUSE_CLAIM;
		return why;
	}
	why = not_allowed(sa, rq);
	*ret_kind = why ? SA_ABUSE_MODEL : SA_ABUSE_CLAIM;
	return why ? why : not_its_own(sa, rq);
}
