// SPDX-License-Identifier: BSD-2-Clause
/* What a hostile host sends, by the rows of the attack table. */
#include <string.h>

#include "ib/notices.h"
#include "tests/lib/attack.h"
#include "util/mem.h"
#include "util/random.h"

#define PREFIX 0xFE80000000000000ull

/* ---- parts --------------------------------------------------------------------------------- */

uint32_t attack_roll(struct attack *a, uint32_t below)
{
	return (uint32_t)((random_next(&a->dice) >> 32) * below >> 32);
}

static uint64_t any64(struct attack *a)
{
	return random_next(&a->dice);
}

static void noise(struct attack *a, uint8_t *to, size_t len)
{
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)any64(a);
}

static void put(struct attack *a, const struct transport_addr *to, const uint8_t *mad)
{
	/* Some are refused by the driver: they are no loss. */
	transport_send(a->tr, to, mad, MAD_SIZE, 0);
}

static uint64_t own_key(struct attack *a)
{
	uint8_t info[SMP_DATA_SIZE];

	a->read_own(a, IB_ATTR_PORT_INFO, 1, info);
	return ib_get(info, PI_M_KEY);
}

static uint64_t some_key(struct attack *a)
{
	switch (attack_roll(a, 4)) {
	case 0:
		return 0;
	case 1:
		return own_key(a);
	case 2:
		return a->old_key; /* row 16 */
	default:
		return any64(a);
	}
}

static lid_t some_lid(struct attack *a)
{
	return (lid_t)(1 + attack_roll(a, a->max_lid));
}

/* From its port up, and on at random. */
static struct dr_path some_path(struct attack *a)
{
	struct dr_path path = { .length = (uint8_t)(1 + attack_roll(a, 4)), .hop = { 0, 1 } };

	for (unsigned i = 2; i <= path.length; i++)
		path.hop[i] = (uint8_t)(1 + attack_roll(a, 48));
	return path;
}

/* Not what would take its own link down: then there would be no more of it. */
static void calm(unsigned attr, uint8_t *data)
{
	if (attr != IB_ATTR_PORT_INFO)
		return;
	ib_put(data, PI_PORT_STATE, IB_PORT_NO_CHANGE);
	ib_put(data, PI_PHYS_STATE, IB_PHYS_NO_CHANGE);
	ib_put(data, PI_SPEED_ENABLED, 0);
	ib_put(data, PI_WIDTH_ENABLED, 0);
}

static const uint16_t smp_attrs[] = {
	IB_ATTR_PORT_INFO, IB_ATTR_PORT_INFO,	IB_ATTR_LFT,
	IB_ATTR_MFT,	   IB_ATTR_PKEY_TABLE,	IB_ATTR_SL2VL,
	IB_ATTR_VLARB,	   IB_ATTR_SWITCH_INFO, IB_ATTR_GUID_INFO,
};

static void send_smp(struct attack *a, struct smp_head *head, const struct dr_path *path, lid_t lid,
		     const uint8_t *data)
{
	struct transport_addr to = { .lid = path ? LID_PERMISSIVE : lid };
	uint8_t mad[MAD_SIZE];

	head->tid = any64(a) & UINT32_MAX;
	if (path)
		smp_build_dr(mad, head, path, data);
	else
		smp_build_lid(mad, head, data);
	put(a, &to, mad);
}

/* ---- rows 1 to 3, 16: SMPs ----------------------------------------------------------------- */

/* By the driver of the host, which asks for no key. The manager is locked out. */
static void own_port(struct attack *a)
{
	static const uint16_t attrs[] = { IB_ATTR_PORT_INFO, IB_ATTR_PKEY_TABLE,
					  IB_ATTR_GUID_INFO };
	const struct dr_path here = { .length = 0 };
	struct smp_head head = { .method = MAD_SET,
				 .attr = attrs[attack_roll(a, ARRAY_SIZE(attrs))],
				 .m_key = own_key(a) };
	uint8_t data[SMP_DATA_SIZE];

	head.mod = head.attr == IB_ATTR_PORT_INFO ? 1 : 0;
	a->read_own(a, head.attr, head.mod, data);
	if (head.attr == IB_ATTR_PORT_INFO) {
		ib_put(data, PI_M_KEY, any64(a));
		ib_put(data, PI_M_KEY_PROTECT, 3);
		ib_put(data, PI_M_KEY_LEASE, 0);
	} else {
		/* Room for keys of others, and for their GUIDs, behind what the SM wrote. */
		for (unsigned i = 2; i < 8; i++)
			ib_bits_put(data, i * 64, 64,
				    head.attr == IB_ATTR_GUID_INFO ? a->victim
								   : 0x8001800280018002);
	}
	calm(head.attr, data);
	send_smp(a, &head, &here, 0, data);
}

static void foreign_set(struct attack *a)
{
	struct smp_head head = { .method = MAD_SET,
				 .attr = smp_attrs[attack_roll(a, ARRAY_SIZE(smp_attrs))],
				 .mod = attack_roll(a, 40),
				 .m_key = some_key(a) };
	struct dr_path path = some_path(a);
	uint8_t data[SMP_DATA_SIZE];

	noise(a, data, sizeof(data));
	calm(head.attr, data);
	send_smp(a, &head, attack_roll(a, 2) ? &path : NULL, some_lid(a), data);
}

static void foreign_get(struct attack *a)
{
	struct smp_head head = { .method = attack_roll(a, 8) ? MAD_GET : MAD_TRAP_REPRESS,
				 .attr = smp_attrs[attack_roll(a, ARRAY_SIZE(smp_attrs))],
				 .mod = attack_roll(a, 40),
				 .m_key = some_key(a) };
	struct dr_path path = some_path(a);

	send_smp(a, &head, attack_roll(a, 2) ? &path : NULL, some_lid(a), NULL);
}

/* ---- row 4: traps -------------------------------------------------------------------------- */

static void trap_of_others(struct attack *a)
{
	static const uint16_t traps[] = { 128, 129, 130, 131, 144, 145, 257, 258, 259 };
	struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE };
	unsigned trap = traps[attack_roll(a, ARRAY_SIZE(traps))];
	lid_t other = some_lid(a) % a->max_lid + 1;
	uint8_t notice[SMP_DATA_SIZE];

	noise(a, notice, sizeof(notice));
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, trap);
	ib_put(notice, NT_ISSUER_LID, attack_roll(a, 2) ? a->lid : other);
	switch (trap) {
	case TRAP_LINK_STATE:
		ib_put(notice, N128_LID, other);
		break;
	case TRAP_LINK_INTEGRITY:
	case TRAP_BUFFER_OVERRUN:
	case TRAP_FLOW_CONTROL:
		ib_put(notice, N129_LID, other);
		ib_put(notice, N129_PORT, attack_roll(a, 40));
		break;
	case TRAP_LOCAL_CHANGE:
	case TRAP_SYSIMG_GUID:
		ib_put(notice, N144_LID, other);
		break;
	default:
		ib_put(notice, N257_LID1, some_lid(a));
		ib_put(notice, N257_LID2, other);
		break;
	}
	send_smp(a, &head, NULL, a->sm_lid, notice);
}

/* Wrong keys that others are said to have used on it; and itself, as if it had changed. */
static void trap_of_its_own(struct attack *a)
{
	static const uint16_t traps[] = { 144, 145, 256, 257, 258, 999 };
	struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE };
	unsigned trap = traps[attack_roll(a, ARRAY_SIZE(traps))];
	uint8_t notice[SMP_DATA_SIZE];

	noise(a, notice, sizeof(notice));
	ib_put(notice, NT_IS_GENERIC, 1);
	ib_put(notice, NT_TRAP, trap);
	ib_put(notice, NT_ISSUER_LID, a->lid);
	ib_put(notice, N144_LID, trap < 256 ? a->lid : some_lid(a));
	ib_put(notice, N257_LID2, trap < 256 ? 0 : a->lid);
	send_smp(a, &head, NULL, a->sm_lid, notice);
}

/* ---- row 5: answers ------------------------------------------------------------------------ */

static void forged_answer(struct attack *a)
{
	static const uint8_t classes[] = { MAD_CLASS_SMI_DR, MAD_CLASS_SMI_LID, MAD_CLASS_SA,
					   MAD_CLASS_PERF };
	struct smp_head head = { .method = MAD_GET,
				 .attr = smp_attrs[attack_roll(a, ARRAY_SIZE(smp_attrs))],
				 .mod = attack_roll(a, 40),
				 .tid = any64(a) & UINT32_MAX };
	struct dr_path path = some_path(a);
	unsigned mad_class = classes[attack_roll(a, ARRAY_SIZE(classes))];
	bool directed = mad_class == MAD_CLASS_SMI_DR;
	uint8_t mad[MAD_SIZE], data[SMP_DATA_SIZE];

	noise(a, data, sizeof(data));
	if (directed)
		smp_build_dr(mad, &head, &path, data);
	else
		smp_build_lid(mad, &head, data);
	smp_make_response(mad, 0, data);
	ib_put(mad, SMP_CLASS, mad_class);
	a->inject(a, mad, directed ? LID_PERMISSIVE : a->lid);
}

/* ---- rows 6, 7: SMInfo --------------------------------------------------------------------- */

static void fill_sm_info(struct attack *a, uint8_t info[SMP_DATA_SIZE])
{
	memset(info, 0, SMP_DATA_SIZE);
	ib_put(info, SMI_GUID, a->guid);
	ib_put(info, SMI_SM_KEY, attack_roll(a, 2) ? attack_roll(a, 2) : any64(a));
	ib_put(info, SMI_ACT_COUNT, any64(a) & UINT32_MAX);
	ib_put(info, SMI_PRIORITY, 15);
	ib_put(info, SMI_STATE, SM_MASTER);
	for (unsigned i = SMX_NONCE / 8; i < SMX_BYTES; i++)
		info[i] = (uint8_t)any64(a);
}

/* The manager asks what is there: now and then it gets its own nonce and proof back. */
static void answer_sm_info(struct attack *a, struct transport_event *ev)
{
	uint8_t info[SMP_DATA_SIZE];

	fill_sm_info(a, info);
	if (attack_roll(a, 2))
		memcpy(ib_at(info, SMX_NONCE), ib_at(smp_data(ev->mad), SMX_NONCE),
		       (SMX_BITS - SMX_NONCE) / 8);
	smp_make_response(ev->mad, 0, info);
	transport_send(a->tr, &ev->from, ev->mad, MAD_SIZE, 0);
}

static void attack_serve(struct attack *a)
{
	struct transport_event ev;

	while (transport_receive(a->tr, &ev) > 0) {
		if (ev.kind == TRANSPORT_MAD && ib_get(ev.mad, SMP_METHOD) == MAD_GET &&
		    ib_get(ev.mad, SMP_ATTR_ID) == IB_ATTR_SM_INFO)
			answer_sm_info(a, &ev);
		free(ev.whole);
	}
}

/* With M_Keys that are not that of the manager's port. */
static void sm_info(struct attack *a)
{
	struct smp_head head = { .method = attack_roll(a, 4) ? MAD_SET : MAD_GET,
				 .attr = IB_ATTR_SM_INFO,
				 .mod = attack_roll(a, 6),
				 .m_key = some_key(a) };
	uint8_t info[SMP_DATA_SIZE];

	fill_sm_info(a, info);
	send_smp(a, &head, attack_roll(a, 2) ? &a->to_sm : NULL, a->sm_lid, info);
}

/* It is there, it is asked, it answers; it comes and goes, too. */
static void rogue_manager(struct attack *a)
{
	transport_set_issm(a->tr, attack_roll(a, 16) != 0);
	sm_info(a);
}

/* ---- rows 8 to 12: subnet administration --------------------------------------------------- */

struct post {
	uint8_t method;
	uint16_t attr;
	uint64_t mask, key;
	uint8_t data[SA_DATA_SIZE];
};

static void send_post(struct attack *a, const struct post *p)
{
	struct transport_addr to = { .lid = a->sm_lid, .qp = 1, .qkey = MAD_QP1_QKEY };
	uint8_t mad[MAD_SIZE] = { 0 };

	ib_put(mad, SAH_BASE_VERSION, 1);
	ib_put(mad, SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad, SAH_CLASS_VERSION, 2);
	ib_put(mad, SAH_METHOD, p->method);
	ib_put(mad, SAH_TID, any64(a) & UINT32_MAX);
	ib_put(mad, SAH_ATTR_ID, p->attr);
	ib_put(mad, SAH_SM_KEY, p->key);
	ib_put(mad, SAH_COMP_MASK, p->mask);
	memcpy(mad + SA_DATA, p->data, SA_DATA_SIZE);
	put(a, &to, mad);
}

static void put_gid(uint8_t *record, unsigned field, guid_t guid)
{
	ib_bits_put(record, field, 64, PREFIX);
	ib_bits_put(record, field + 64, 64, guid);
}

static void whole_table(struct attack *a)
{
	static const uint16_t tables[] = {
		SA_NODE_RECORD,	       SA_PORT_INFO_RECORD, SA_LINK_RECORD,
		SA_PATH_RECORD,	       SA_LFT_RECORD,	    SA_MFT_RECORD,
		SA_SL2VL_RECORD,       SA_VLARB_RECORD,	    SA_MC_MEMBER_RECORD,
		SA_INFORM_INFO_RECORD, SA_GUID_INFO_RECORD, SA_PKEY_TABLE_RECORD,
		SA_SERVICE_RECORD,
	};
	struct post p = { .method = MAD_SA_GET_TABLE,
			  .attr = tables[attack_roll(a, ARRAY_SIZE(tables))] };

	send_post(a, &p);
}

static void join_group(struct attack *a, guid_t port, uint16_t pkey)
{
	struct post p = { .method = attack_roll(a, 4) ? MAD_SET : MAD_SA_DELETE,
			  .attr = SA_MC_MEMBER_RECORD,
			  .mask = SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_QKEY) |
				  SA_COMP(MCM_TCLASS) | SA_COMP(MCM_PKEY) | SA_COMP(MCM_SL) |
				  SA_COMP(MCM_FLOW) | SA_COMP(MCM_JOIN_STATE) };

	if (p.method == MAD_SA_DELETE)
		p.mask = SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_JOIN_STATE);
	ib_bits_put(p.data, MCM_MGID, 64, 0xFF12A0B000000000);
	ib_bits_put(p.data, MCM_MGID + 64, 64, 1 + attack_roll(a, 5000));
	put_gid(p.data, MCM_PORT_GID, port);
	ib_put(p.data, MCM_QKEY, 0x0B1B);
	ib_put(p.data, MCM_PKEY, pkey);
	ib_put(p.data, MCM_JOIN_STATE, MC_FULL);
	send_post(a, &p);
}

static void add_service(struct attack *a, guid_t port)
{
	struct post p = { .method = attack_roll(a, 4) ? MAD_SET : MAD_SA_DELETE,
			  .attr = SA_SERVICE_RECORD,
			  .mask = SA_COMP(SVR_ID) | SA_COMP(SVR_GID) | SA_COMP(SVR_NAME) };

	ib_put(p.data, SVR_ID, 1 + attack_roll(a, 5000));
	put_gid(p.data, SVR_GID, port);
	memset(ib_at(p.data, SVR_NAME), 'x', 20);
	send_post(a, &p);
}

static void subscribe(struct attack *a)
{
	struct post p = { .method = MAD_SET, .attr = SA_INFORM_INFO };

	ib_put(p.data, INF_LID_BEGIN, 0xFFFF);
	ib_put(p.data, INF_IS_GENERIC, 1);
	ib_put(p.data, INF_SUBSCRIBE, attack_roll(a, 4) != 0);
	ib_put(p.data, INF_TYPE, 0xFFFF);
	ib_put(p.data, INF_TRAP, attack_roll(a, 2) ? 64 + attack_roll(a, 4) : attack_roll(a, 4096));
	ib_put(p.data, INF_QPN, 1 + attack_roll(a, 4096));
	ib_put(p.data, INF_PRODUCER, 0xFFFFFF);
	send_post(a, &p);
}

/* Row 9. */
static void in_a_loop(struct attack *a)
{
	switch (attack_roll(a, 3)) {
	case 0:
		join_group(a, a->guid, 0x8002);
		break;
	case 1:
		add_service(a, a->guid);
		break;
	default:
		subscribe(a);
	}
}

/* A GUID that no port has, one of the manager's choice, or none, at a port that all may reach. */
static void alias_at(struct attack *a, lid_t lid)
{
	unsigned at = 1 + attack_roll(a, 7);
	struct post p = { .method = attack_roll(a, 3) ? MAD_SET : MAD_SA_DELETE,
			  .attr = SA_GUID_INFO_RECORD,
			  .mask = SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) |
				  SA_COMP(GIR_GUID0) << at };

	ib_put(p.data, GIR_LID, lid);
	if (p.method == MAD_SET && attack_roll(a, 2))
		ib_bits_put(p.data, GIR_GUID0 + 64 * at, 64, any64(a) | 1);
	send_post(a, &p);
}

/* Row 10; groups of another tenant, too. */
static void as_another(struct attack *a)
{
	struct post p = { .method = MAD_GET,
			  .attr = SA_PATH_RECORD,
			  .mask = SA_COMP(PR_SGID) | SA_COMP(PR_DGID) };

	switch (attack_roll(a, 5)) {
	case 0:
		join_group(a, a->victim, 0x8001);
		break;
	case 1:
		add_service(a, a->victim);
		break;
	case 2:
		join_group(a, a->guid, 0x8001);
		break;
	case 3:
		alias_at(a, a->sm_lid);
		break;
	default:
		put_gid(p.data, PR_SGID, a->victim);
		put_gid(p.data, PR_DGID, a->partner);
		send_post(a, &p);
	}
}

/* Row 11. */
static void guess_key(struct attack *a)
{
	struct post p = { .method = MAD_SA_GET_TABLE,
			  .attr = SA_PKEY_TABLE_RECORD,
			  .key = attack_roll(a, 8) ? any64(a) : 1 };

	send_post(a, &p);
}

/* Row 12. */
static void alias_of_victim(struct attack *a)
{
	unsigned at = 1 + attack_roll(a, 7);
	struct post p = { .method = attack_roll(a, 4) ? MAD_SET : MAD_SA_DELETE,
			  .attr = SA_GUID_INFO_RECORD,
			  .mask = SA_COMP(GIR_LID) | SA_COMP(GIR_BLOCK) |
				  SA_COMP(GIR_GUID0) << at };

	ib_put(p.data, GIR_LID, attack_roll(a, 2) ? a->lid : some_lid(a));
	ib_bits_put(p.data, GIR_GUID0 + 64 * at, 64, a->victim);
	send_post(a, &p);
}

/* ---- garbage ------------------------------------------------------------------------------- */

static void garbage(struct attack *a)
{
	static const uint8_t classes[] = { MAD_CLASS_SMI_DR, MAD_CLASS_SMI_LID, MAD_CLASS_SA, 0x0A,
					   0x21 };
	struct transport_addr to = { .lid = a->sm_lid, .qp = 1, .qkey = MAD_QP1_QKEY };
	uint8_t mad[MAD_SIZE];
	unsigned mad_class = classes[attack_roll(a, ARRAY_SIZE(classes))];

	noise(a, mad, sizeof(mad));
	ib_put(mad, SMP_BASE_VERSION, 1);
	ib_put(mad, SMP_CLASS, mad_class);
	ib_put(mad, SMP_CLASS_VERSION, mad_class == MAD_CLASS_SA ? 2 : 1);
	if (attack_roll(a, 2))
		ib_put(mad, SMP_METHOD, 1 + attack_roll(a, 0x15));
	if (mad_class == MAD_CLASS_SA)
		ib_put(mad, SAH_RMPP_FLAGS, 0);
	else
		to = (struct transport_addr){ .lid = a->sm_lid };
	if (mad_class == MAD_CLASS_SMI_DR || mad_class == MAD_CLASS_SMI_LID)
		calm(IB_ATTR_PORT_INFO, mad + SMP_DATA);
	put(a, &to, mad);
}

/* ---- all of them --------------------------------------------------------------------------- */

const struct attack_class attack_classes[] = {
	{ "1: its own port", own_port, "does not answer any more", "" },
	{ "2, 16: Sets with wrong keys", foreign_set, "(trap 256)", "from " },
	{ "3: Gets and TrapRepresses with wrong keys", foreign_get, "(trap 256)", "from " },
	{ "4: traps about others", trap_of_others, "is about another port", "" },
	{ "4: traps about itself, accusations", trap_of_its_own, "accuses more than", "" },
	{ "5: answers", forged_answer, "answers in", "" },
	{ "6: a manager", rogue_manager, "a subnet manager of priority", "" },
	{ "7: SMInfo with a wrong M_Key", sm_info, "(trap 256)", "from " },
	{ "8: whole tables", whole_table, "that only hosts with sa_key may send", "" },
	{ "9: registrations in a loop", in_a_loop, "for more than one port may register", "" },
	{ "10: as another port", as_another, "for other ports, or in their names", "" },
	{ "11: keys of subnet administration", guess_key, "keys are tried out", "" },
	{ "12: alias GUIDs", alias_of_victim, "for alias GUIDs", "" },
	{ "garbage", garbage, NULL, NULL },
};
const unsigned attack_n_classes = ARRAY_SIZE(attack_classes);

bool attack_is_dropped(const struct attack_class *c)
{
	return c->send == forged_answer;
}

void attack_send(struct attack *a, const struct attack_class *c)
{
	a->n_sent++;
	c->send(a);
	attack_serve(a);
}

void attack_any(struct attack *a, enum attack_mix mix)
{
	unsigned from = mix == ATTACK_ALL ? 0 : 1;

	attack_send(a, &attack_classes[from + attack_roll(a, attack_n_classes - from)]);
}

bool attack_is_event(const struct attack *a, const struct attack_class *c, const char *line)
{
	const char *at = strstr(line, a->place);
	size_t before = c->event ? strlen(c->before) : 0;

	return at && c->event && strstr(line, c->event) && (size_t)(at - line) >= before &&
	       !memcmp(at - before, c->before, before);
}
