// SPDX-License-Identifier: BSD-2-Clause
/*
 * What programs find at the ports of a served fabric: umad files, issm, names and texts, commands.
 * The file system itself is tested end to end (tests/e2e/umad.bats).
 */
#include <errno.h>
#include <rdma/ib_user_mad.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "ib/records.h"
#include "sim/serve/control.h"
#include "sim/serve/tree.h"
#include "tests/unit/sim-probe.h"
#include "util/str.h"

#define HEADER sizeof(struct ib_user_mad_hdr)
#define METHOD(m) (1ull << (m))

struct fixture {
	struct netfile *net;
	struct control c;
	struct tree tree;
	struct seat *h1;
	struct ufile *a, *b; /* both at h1 */
	unsigned readable;
	struct probe sm;     /* h0: fabric is up */
};

static void on_readable(void *owner)
{
	((struct fixture *)owner)->readable++;
}

static bool present(void *owner, int node, unsigned device, unsigned port)
{
	return seats_present(owner, node, device, port);
}

static const struct host *host_at(void *owner, int node)
{
	return seats_host(owner, node);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->net = gen_speed(gen_single(3), 1000, 4);
	f->c.sim = sim_new(f->net, 1);
	f->c.seats = seats_new(f->c.sim);
	f->c.clock.scale = 1;
	f->tree = (struct tree){ .sim = f->c.sim, .present = present,
				  .host = host_at, .owner = f->c.seats };
	f->sm = probe_open(f->c.sim, "h0", 1);
	probe_bring_up(&f->sm);
	f->h1 = seats_at(f->c.seats, sim_find(f->c.sim, "h1"), 1);
	assert_int_equal(seat_open(f->h1, DEVICE_MAIN, on_readable, f, &f->a), 0);
	assert_int_equal(seat_open(f->h1, DEVICE_MAIN, on_readable, f, &f->b), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	seat_close(f->h1, f->a);
	seat_close(f->h1, f->b);
	ufile_free(f->a);
	ufile_free(f->b);
	seats_free(f->c.seats);
	probe_close(&f->sm);
	sim_free(f->c.sim);
	netfile_free(f->net);
	free(f);
	return 0;
}

static void run_for(struct fixture *f, mono_t t)
{
	sim_advance(f->c.sim, sim_now(f->c.sim) + t);
}

static void enable_pkeys(struct ufile *u)
{
	uint8_t none[UFILE_IOCTL_MAX] = { 0 };

	assert_int_equal(ufile_ioctl(u, IB_USER_MAD_ENABLE_PKEY, none, 0), 0);
}

/* The agent's id, or -errno. */
static int try_register(struct ufile *u, unsigned class, unsigned version, uint64_t methods,
			unsigned rmpp)
{
	struct ib_user_mad_reg_req q = {
		.qpn = class != 0x01 && class != 0x81, .mgmt_class = (uint8_t)class,
		.mgmt_class_version = (uint8_t)version, .rmpp_version = (uint8_t)rmpp,
	};
	uint8_t arg[UFILE_IOCTL_MAX] = { 0 };
	int r;

	q.method_mask[0] = methods;
	memcpy(arg, &q, sizeof(q));
	r = ufile_ioctl(u, IB_USER_MAD_REGISTER_AGENT, arg, sizeof(q));
	memcpy(&q, arg, sizeof(q));
	return r < 0 ? r : (int)q.id;
}

static void set_header(uint8_t *bytes, uint32_t agent, lid_t lid, uint32_t timeout,
		       uint32_t retries)
{
	struct ib_user_mad_hdr h = { .id = agent, .timeout_ms = timeout, .retries = retries };

	memcpy(bytes, &h, sizeof(h));
	ib_bits_put(bytes, offsetof(struct ib_user_mad_hdr, lid) * 8, 16, lid);
	ib_bits_put(bytes, offsetof(struct ib_user_mad_hdr, qpn) * 8, 32, lid != LID_PERMISSIVE);
	ib_bits_put(bytes, offsetof(struct ib_user_mad_hdr, qkey) * 8, 32,
		    lid != LID_PERMISSIVE ? MAD_QP1_QKEY : 0);
}

/* Sends a directed NodeInfo Get over `hops` hops through port 1. What ufile_write() says. */
static int send_get(struct ufile *u, uint32_t agent, uint64_t tid, unsigned hops)
{
	uint8_t bytes[HEADER + MAD_SIZE] = { 0 };
	struct smp_head head = { .method = MAD_GET, .attr = IB_ATTR_NODE_INFO, .tid = tid };
	struct dr_path path = { .length = (uint8_t)hops, .hop = { 0, 1, 7 } };

	set_header(bytes, agent, LID_PERMISSIVE, 100, 2);
	smp_build_dr(bytes + HEADER, &head, &path, NULL);
	return ufile_write(u, bytes, sizeof(bytes));
}

static struct ib_user_mad_hdr read_one(struct ufile *u, uint8_t mad[MAD_SIZE], size_t *ret_n)
{
	struct ib_user_mad_hdr h;
	uint8_t *bytes = NULL;

	assert_int_equal(ufile_read(u, HEADER + MAD_SIZE, &bytes, ret_n), 0);
	assert_true(*ret_n >= HEADER && *ret_n <= HEADER + MAD_SIZE);
	memcpy(&h, bytes, sizeof(h));
	memcpy(mad, bytes + HEADER, *ret_n - HEADER);
	free(bytes);
	return h;
}

static bool nothing_there(struct ufile *u)
{
	uint8_t *bytes = NULL;
	size_t n;

	return ufile_read(u, 4096, &bytes, &n) == -EAGAIN;
}

/* ---- umad files ---- */

static void answers_go_to_who_asked(void **state)
{
	struct fixture *f = *state;
	struct ib_user_mad_hdr h;
	uint8_t mad[MAD_SIZE];
	size_t n;
	int a, b;

	enable_pkeys(f->a);
	enable_pkeys(f->b);
	a = try_register(f->a, 0x81, 1, 0, 0);
	assert_int_equal(try_register(f->b, 0x01, 1, 0, 0), 0);
	b = try_register(f->b, 0x81, 1, 0, 0);
	assert_int_equal(a, 0);
	assert_int_equal(b, 1);
	assert_int_equal(send_get(f->a, 0, 0xAAAAAAAA00000007, 0), HEADER + MAD_SIZE);
	assert_int_equal(send_get(f->b, 1, 0xBBBBBBBB00000007, 0), HEADER + MAD_SIZE);
	run_for(f, MONO_MS);
	h = read_one(f->a, mad, &n);
	assert_int_equal(n, HEADER + MAD_SIZE);
	assert_int_equal(h.id, 0);
	assert_int_equal(h.status, 0);
	assert_int_equal(h.length, HEADER + MAD_SIZE);
	assert_int_equal(ib_get(mad, SMP_METHOD), MAD_GET_RESP);
	assert_int_equal(ib_get(mad, SMP_TID) & UINT32_MAX, 7);
	assert_int_not_equal(ib_get(mad, SMP_TID) >> 32, 0xAAAAAAAA); /* the kernel's, not ours */
	h = read_one(f->b, mad, &n);
	assert_int_equal(h.id, 1);
	assert_int_equal(ib_get(mad, SMP_TID) & UINT32_MAX, 7);
	assert_true(nothing_there(f->a) && nothing_there(f->b));
	assert_int_equal(f->readable, 2);
}

static void old_header_is_eight_bytes_shorter(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[HEADER + MAD_SIZE] = { 0 }, *got = NULL;
	struct smp_head head = { .method = MAD_GET, .attr = IB_ATTR_NODE_INFO, .tid = 1 };
	struct dr_path self = { 0 };
	size_t n;

	assert_int_equal(try_register(f->a, 0x81, 1, 0, 0), 0);
	set_header(bytes, 0, LID_PERMISSIVE, 100, 0);
	smp_build_dr(bytes + 56, &head, &self, NULL);
	assert_int_equal(ufile_write(f->a, bytes, 56 + MAD_SIZE), 56 + MAD_SIZE);
	run_for(f, MONO_MS);
	assert_int_equal(ufile_read(f->a, 56 + MAD_SIZE, &got, &n), 0);
	assert_int_equal(n, 56 + MAD_SIZE);
	assert_int_equal(ib_get(got + 56, SMP_METHOD), MAD_GET_RESP);
	free(got);
	got = NULL;
	/* too late */
	assert_int_equal(ufile_ioctl(f->a, IB_USER_MAD_ENABLE_PKEY, bytes, 0), -EINVAL);
}

static void silence_comes_back_after_all_tries(void **state)
{
	struct fixture *f = *state;
	struct ib_user_mad_hdr h;
	uint8_t mad[MAD_SIZE];
	uint64_t before;
	size_t n;

	enable_pkeys(f->a);
	try_register(f->a, 0x81, 1, 0, 0);
	before = sim_gets(f->c.sim);
	send_get(f->a, 0, 9, 2); /* port 7 of the switch: nothing */
	assert_int_equal(send_get(f->a, 0, 9, 2), -EINVAL); /* this TID is under way */
	run_for(f, 299 * MONO_MS);
	assert_true(nothing_there(f->a));
	run_for(f, 2 * MONO_MS);
	h = read_one(f->a, mad, &n);
	assert_int_equal(h.status, ETIMEDOUT);
	assert_int_equal(n, HEADER + 24);
	assert_int_equal(ib_get(mad, SMP_TID) & UINT32_MAX, 9);
	assert_int_equal(sim_gets(f->c.sim) - before, 3);
	assert_true(nothing_there(f->a));
}

static void a_request_method_has_one_taker_per_port(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(try_register(f->a, 0x03, 2, METHOD(MAD_GET) | METHOD(MAD_SET), 1), 0);
	assert_int_equal(try_register(f->b, 0x03, 2, METHOD(MAD_SET), 1), -EINVAL);
	assert_int_equal(try_register(f->b, 0x03, 2, 0, 1), 0); /* a client that only asks */
	assert_int_equal(try_register(f->b, 0x03, 2, METHOD(MAD_REPORT), 1), 1);
	assert_int_equal(try_register(f->b, 0x03, 1, METHOD(MAD_SET), 1), 2); /* another version */
	seat_close(f->h1, f->a);
	f->a = ufile_free(f->a);
	assert_int_equal(try_register(f->b, 0x03, 2, METHOD(MAD_SET), 1), 3);
}

static void agents_are_checked_and_counted(void **state)
{
	struct fixture *f = *state;
	uint8_t arg[UFILE_IOCTL_MAX] = { 1 };

	assert_int_equal(try_register(f->a, 0x81, 1, 0, 2), -EINVAL); /* RMPP version */
	for (int i = 0; i < UFILE_AGENTS; i++)
		assert_int_equal(try_register(f->a, 0x81, 1, 0, 0), i);
	assert_int_equal(try_register(f->a, 0x81, 1, 0, 0), -ENOMEM);
	assert_int_equal(ufile_ioctl(f->a, IB_USER_MAD_UNREGISTER_AGENT, arg, 4), 0);
	assert_int_equal(ufile_ioctl(f->a, IB_USER_MAD_UNREGISTER_AGENT, arg, 4), -EINVAL);
	assert_int_equal(try_register(f->a, 0x81, 1, 0, 0), 1);
	assert_int_equal(ufile_ioctl(f->a, 0x1234, arg, 4), -ENOTTY);
	assert_int_equal(ufile_ioctl(f->a, IB_USER_MAD_REGISTER_AGENT, arg, 4), -EFAULT);
}

static void new_register_knows_its_flags(void **state)
{
	struct fixture *f = *state;
	struct ib_user_mad_reg_req2 q = {
		.qpn = 1, .mgmt_class = 3, .mgmt_class_version = 2, .flags = 6
	};
	uint8_t arg[UFILE_IOCTL_MAX] = { 0 };

	memcpy(arg, &q, sizeof(q));
	assert_int_equal(ufile_ioctl(f->a, IB_USER_MAD_REGISTER_AGENT2, arg, sizeof(q)), -EINVAL);
	memcpy(&q, arg, sizeof(q));
	assert_int_equal(q.flags, IB_USER_MAD_USER_RMPP);
	assert_int_equal(ufile_ioctl(f->a, IB_USER_MAD_REGISTER_AGENT2, arg, sizeof(q)), 0);
}

static void what_nobody_takes_is_refused(void **state)
{
	struct fixture *f = *state;
	uint8_t mad[MAD_SIZE] = { 1, 0x32, 1, MAD_GET };
	struct transport_addr to = { .lid = probe_lid_of(sim_find(f->c.sim, "h1")),
				     .qp = 1,
				     .qkey = MAD_QP1_QKEY };
	struct transport_event ev;

	try_register(f->a, 0x03, 2, METHOD(MAD_GET), 1);
	assert_int_equal(transport_send(f->sm.tr, &to, mad, MAD_SIZE, 100), 0);
	run_for(f, MONO_MS);
	assert_int_equal(transport_receive(f->sm.tr, &ev), 1);
	assert_int_equal(ev.kind, TRANSPORT_MAD);
	assert_int_equal(ib_get(ev.mad, SMP_STATUS), MAD_STATUS_BAD_METHOD_ATTR);
	assert_true(nothing_there(f->a));
}

/* A GetTable of 1000 bytes from a (the client) to b (the SA) and back. */
static void ask_for_table(struct fixture *f, int client, int sa)
{
	static uint8_t bytes[HEADER + SA_DATA + 1000];
	uint8_t mad[MAD_SIZE];
	lid_t h1 = probe_lid_of(sim_find(f->c.sim, "h1"));
	size_t n;

	memset(bytes, 0, sizeof(bytes));
	set_header(bytes, (uint32_t)client, h1, 1000, 0);
	ib_put(bytes + HEADER, SAH_BASE_VERSION, 1);
	ib_put(bytes + HEADER, SAH_CLASS, MAD_CLASS_SA);
	ib_put(bytes + HEADER, SAH_CLASS_VERSION, 2);
	ib_put(bytes + HEADER, SAH_METHOD, MAD_SA_GET_TABLE);
	ib_put(bytes + HEADER, SAH_TID, 3);
	assert_int_equal(ufile_write(f->a, bytes, HEADER + MAD_SIZE), HEADER + MAD_SIZE);
	run_for(f, MONO_MS);
	read_one(f->b, mad, &n);
	memcpy(bytes + HEADER, mad, MAD_SIZE);
	set_header(bytes, (uint32_t)sa, h1, 0, 3);
	ib_put(bytes + HEADER, SAH_METHOD, MAD_SA_GET_TABLE | MAD_RESPONSE_BIT);
	ib_put(bytes + HEADER, SAH_RMPP_FLAGS, RMPP_ACTIVE);
	for (size_t i = 0; i < 1000; i++)
		bytes[HEADER + SA_DATA + i] = (uint8_t)i;
	assert_int_equal(ufile_write(f->b, bytes, sizeof(bytes)), (int)sizeof(bytes));
	run_for(f, MONO_MS);
}

static void long_message_waits_for_a_larger_buffer(void **state)
{
	struct fixture *f = *state;
	uint8_t *bytes = NULL;
	size_t n;
	int client, sa;

	enable_pkeys(f->a);
	enable_pkeys(f->b);
	client = try_register(f->a, 0x03, 2, 0, 1);
	sa = try_register(f->b, 0x03, 2, METHOD(MAD_SA_GET_TABLE), 1);
	ask_for_table(f, client, sa);
	assert_int_equal(ufile_read(f->a, HEADER + 255, &bytes, &n), -EINVAL);
	assert_int_equal(ufile_read(f->a, HEADER + SA_DATA + 999, &bytes, &n), -ENOSPC);
	assert_int_equal(n, HEADER + MAD_SIZE);
	assert_int_equal(((struct ib_user_mad_hdr *)bytes)->length, HEADER + SA_DATA + 1000);
	assert_int_equal(bytes[HEADER + SA_DATA + 9], 9);
	free(bytes);
	assert_int_equal(ufile_read(f->a, HEADER + SA_DATA + 1000, &bytes, &n), 0);
	assert_int_equal(n, HEADER + SA_DATA + 1000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(bytes[HEADER + SA_DATA + i], (uint8_t)i);
	free(bytes);
	assert_true(nothing_there(f->a));
}

/* A program that plays a port: its trap reaches the manager, the TrapRepress comes back to it. */
static void trap_of_a_program_is_repressed(void **state)
{
	struct fixture *f = *state;
	struct smp_head head = { .method = MAD_TRAP, .attr = IB_ATTR_NOTICE, .tid = 5 };
	uint8_t bytes[HEADER + MAD_SIZE] = { 0 }, notice[SMP_DATA_SIZE] = { 0x81, 0, 0, 1, 0, 128 };
	struct transport_event ev;
	struct ib_user_mad_hdr h;
	size_t n;

	enable_pkeys(f->a);
	try_register(f->a, 0x01, 1, 0, 0);
	set_header(bytes, 0, 1, 100, 2);
	smp_build_lid(bytes + HEADER, &head, notice);
	assert_int_equal(ufile_write(f->a, bytes, sizeof(bytes)), (int)sizeof(bytes));
	run_for(f, MONO_MS);
	assert_int_equal(transport_receive(f->sm.tr, &ev), 1);
	assert_int_equal(ib_get(ev.mad, SMP_METHOD), MAD_TRAP);
	smp_make_response(ev.mad, 0, NULL);
	assert_int_equal(transport_send(f->sm.tr, &ev.from, ev.mad, MAD_SIZE, 0), 0);
	run_for(f, MONO_MS);
	h = read_one(f->a, bytes, &n);
	assert_int_equal(h.status, 0);
	assert_int_equal(ib_get(bytes, SMP_METHOD), MAD_TRAP_REPRESS);
	assert_int_equal(ib_get(bytes, SMP_TID) & UINT32_MAX, 5);
	run_for(f, MONO_S);
	assert_true(nothing_there(f->a));
}

static void malformed_writes_are_refused(void **state)
{
	struct fixture *f = *state;
	uint8_t bytes[HEADER + 2 * MAD_SIZE] = { 0 };

	enable_pkeys(f->a);
	try_register(f->a, 0x03, 2, 0, 1);
	set_header(bytes, 0, 1, 100, 0);
	bytes[HEADER + 1] = MAD_CLASS_SA;
	assert_int_equal(ufile_write(f->a, bytes, HEADER + 35), -EINVAL);
	/* long, and not Active */
	assert_int_equal(ufile_write(f->a, bytes, sizeof(bytes)), -EINVAL);
	set_header(bytes, 1, 1, 100, 0);
	assert_int_equal(ufile_write(f->a, bytes, HEADER + MAD_SIZE), -EIO); /* no such agent */
	set_header(bytes, 32, 1, 100, 0);
	assert_int_equal(ufile_write(f->a, bytes, HEADER + MAD_SIZE), -EINVAL);
}

/* ---- the device ---- */

static void removed_device_fails_its_files(void **state)
{
	struct fixture *f = *state;
	struct ufile *again;
	uint8_t *bytes = NULL;
	size_t n;

	enable_pkeys(f->a);
	try_register(f->a, 0x81, 1, 0, 0);
	assert_int_equal(control_line(&f->c, "port h1 1 gone"), 0);
	assert_true(ufile_is_readable(f->a));
	assert_int_equal(ufile_read(f->a, 4096, &bytes, &n), -EIO);
	assert_int_equal(send_get(f->a, 0, 1, 0), -EIO);
	assert_int_equal(try_register(f->a, 0x81, 1, 0, 0), -EPIPE);
	assert_int_equal(seat_open(f->h1, DEVICE_MAIN, on_readable, f, &again), -ENXIO);
	assert_int_equal(sim_port_state(f->c.sim, sim_find(f->c.sim, "h1"), 1), IB_PORT_DOWN);
	assert_int_equal(control_line(&f->c, "port h1 1 back"), 0);
	assert_int_equal(ufile_read(f->a, 4096, &bytes, &n), -EIO); /* this one stays dead */
	assert_int_equal(seat_open(f->h1, DEVICE_MAIN, on_readable, f, &again), 0);
	assert_int_equal(try_register(again, 0x81, 1, 0, 0), 0);
	seat_close(f->h1, again);
	ufile_free(again);
}

static void on_issm(void *owner, int error)
{
	*(int *)owner = error;
}

static bool is_sm(struct fixture *f)
{
	uint8_t pi[SMP_DATA_SIZE];

	sim_read(f->c.sim, sim_find(f->c.sim, "h1"), IB_ATTR_PORT_INFO, 1, pi);
	return ib_get(pi, PI_CAP_MASK) & IB_CAP(IB_CAP_IS_SM);
}

static void issm_is_held_by_one_and_handed_on(void **state)
{
	struct fixture *f = *state;
	int got[3] = { 99, 99, 99 };
	struct issm_wish w[3];

	for (int i = 0; i < 3; i++)
		w[i] = (struct issm_wish){ .ended = on_issm, .owner = &got[i] };
	assert_int_equal(issm_take(f->h1, &w[0], true), 0);
	assert_true(is_sm(f));
	assert_int_equal(issm_take(f->h1, &w[1], false), -EAGAIN);
	assert_int_equal(issm_take(f->h1, &w[1], true), -EINPROGRESS);
	assert_int_equal(issm_take(f->h1, &w[2], true), -EINPROGRESS);
	issm_give(&w[0]);
	assert_int_equal(got[1], 0);
	assert_int_equal(got[2], 99);
	assert_true(is_sm(f));
	issm_forget(&w[2]);
	issm_give(&w[1]);
	assert_int_equal(got[2], 99);
	assert_false(is_sm(f));
}

static void issm_ends_with_its_device(void **state)
{
	struct fixture *f = *state;
	int got[2] = { 99, 99 };
	struct issm_wish w[2];

	for (int i = 0; i < 2; i++)
		w[i] = (struct issm_wish){ .ended = on_issm, .owner = &got[i] };
	issm_take(f->h1, &w[0], true);
	issm_take(f->h1, &w[1], true);
	seat_unplug(f->h1);
	assert_int_equal(got[1], -ENXIO);
	assert_false(is_sm(f));
	seat_plug(f->h1);
	assert_int_equal(issm_take(f->h1, &w[1], false), 0);
	issm_give(&w[0]); /* of the device that was */
	assert_true(is_sm(f));
	issm_give(&w[1]);
}

/* ---- names and texts ---- */

static bool find(struct fixture *f, const char *path, struct place *ret)
{
	_cleanup_free_ char *copy = xstrdup(path);
	char *save = NULL;

	assert_true(tree_place(&f->tree, TREE_ROOT, ret));
	for (char *name = strtok_r(copy, "/", &save); name; name = strtok_r(NULL, "/", &save)) {
		struct place folder = *ret, again;

		if (!tree_is_folder(folder.kind) || !tree_lookup(&f->tree, &folder, name, ret))
			return false;
		assert_true(tree_place(&f->tree, tree_number(ret), &again));
		assert_memory_equal(ret, &again, sizeof(again));
	}
	return true;
}

static void assert_text(struct fixture *f, const char *path, const char *want)
{
	char text[TREE_TEXT_MAX] = "";
	struct place p;

	assert_true(find(f, path, &p));
	text[tree_text(&f->tree, &p, text)] = 0;
	assert_string_equal(text, want);
}

static void texts_are_those_of_sysfs(void **state)
{
	struct fixture *f = *state;

	assert_text(f, "node/1/sys/infiniband_mad/abi_version", "5\n");
	assert_text(f, "node/1/sys/infiniband_mad/umad0/ibdev", "sim0\n");
	assert_text(f, "node/1/sys/infiniband_mad/issm0/port", "1\n");
	assert_text(f, "node/1/sys/infiniband/sim0/node_type", "1: CA\n");
	assert_text(f, "node/1/sys/infiniband/sim0/node_guid", "0000:0000:0010:0002\n");
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/state", "4: ACTIVE\n");
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/phys_state", "5: LinkUp\n");
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/lid", "0x2\n");
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/sm_lid", "0x1\n");
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/gids/0",
		    "fe80:0000:0000:0000:0000:0000:0010:0003\n");
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/pkeys/0", "0xffff\n");
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/pkeys/63", "0x0000\n");
	assert_text(f, "node/3/sys/infiniband/sim0/node_type", "2: SWITCH\n");
	assert_text(f, "node/3/sys/infiniband/sim0/ports/0/state", "4: ACTIVE\n");
}

/* Two devices of one GUID: names, capabilities, what each takes, and each alone taken away. */
static void split_node_has_two_devices(void **state)
{
	struct fixture *f = *state;
	struct ufile *smi, *gsi;
	struct place p;

	assert_int_equal(control_line(&f->c, "device h1 smi gone"), -EINVAL);
	assert_int_equal(control_line(&f->c, "split h1 on"), 0);
	assert_text(f, "node/1/sys/infiniband_mad/umad0/ibdev", "sim0\n");
	assert_text(f, "node/1/sys/infiniband_mad/umad1/ibdev", "smi0\n");
	assert_false(find(f, "node/1/dev/issm0", &p));
	assert_true(find(f, "node/1/dev/issm1", &p));
	assert_int_equal(p.device, DEVICE_SMI);
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/cap_mask", "0x02414448\n");
	assert_text(f, "node/1/sys/infiniband/smi0/ports/1/cap_mask", "0x02414048\n");
	assert_text(f, "node/1/sys/infiniband/smi0/ports/1/gids/0",
		    "fe80:0000:0000:0000:0000:0000:0010:0003\n");
	assert_int_equal(control_line(&f->c, "gmp-lid h1 77"), 0);
	assert_text(f, "node/1/sys/infiniband/sim0/ports/1/lid", "0x4d\n");
	assert_text(f, "node/1/sys/infiniband/smi0/ports/1/lid", "0x2\n");
	assert_int_equal(seat_open(f->h1, DEVICE_SMI, on_readable, f, &smi), 0);
	assert_int_equal(seat_open(f->h1, DEVICE_MAIN, on_readable, f, &gsi), 0);
	assert_int_equal(try_register(smi, 0x03, 2, 0, 1), -EPROTONOSUPPORT);
	assert_int_equal(try_register(gsi, 0x81, 1, 0, 0), -EPROTONOSUPPORT);
	assert_int_equal(try_register(smi, 0x81, 1, 0, 0), 0);
	assert_int_equal(try_register(gsi, 0x03, 2, 0, 1), 0);
	assert_int_equal(control_line(&f->c, "device h1 gsi gone"), 0);
	assert_false(find(f, "node/1/dev/umad0", &p));
	assert_false(find(f, "node/1/sys/infiniband/sim0", &p));
	assert_true(find(f, "node/1/dev/umad1", &p));
	assert_true(ufile_is_unplugged(gsi));
	assert_false(ufile_is_unplugged(smi));
	assert_int_equal(control_line(&f->c, "device h1 gsi back"), 0);
	assert_int_equal(control_line(&f->c, "device h1 smi gone"), 0);
	assert_true(ufile_is_unplugged(smi));
	assert_true(find(f, "node/1/dev/umad0", &p));
	assert_false(find(f, "node/1/dev/issm1", &p));
	seat_close(f->h1, smi);
	seat_close(f->h1, gsi);
	ufile_free(smi);
	ufile_free(gsi);
}

static void ethernet_devices_come_first(void **state)
{
	struct fixture *f = *state;
	struct place p;

	assert_int_equal(control_line(&f->c, "ethernet h1 201"), -EINVAL);
	assert_int_equal(control_line(&f->c, "ethernet h1 130"), 0);
	assert_text(f, "node/1/sys/infiniband_mad/umad129/ibdev", "eth129\n");
	assert_text(f, "node/1/sys/infiniband_mad/umad130/ibdev", "sim0\n");
	assert_text(f, "node/1/sys/infiniband/eth129/ports/1/link_layer", "Ethernet\n");
	assert_text(f, "node/1/sys/infiniband/eth129/ports/1/state", "4: ACTIVE\n");
	assert_false(find(f, "node/1/sys/infiniband/eth130", &p));
	assert_false(find(f, "node/1/dev/issm0", &p));
	assert_true(find(f, "node/1/dev/issm130", &p));
}

static void removed_port_has_no_names(void **state)
{
	struct fixture *f = *state;
	struct place p;

	assert_true(find(f, "node/1/dev/umad0", &p));
	assert_false(find(f, "node/1/dev/umad1", &p));
	assert_false(find(f, "node/4/dev", &p));
	seat_unplug(f->h1);
	assert_false(find(f, "node/1/dev/umad0", &p));
	assert_false(find(f, "node/1/dev/issm0", &p));
	assert_false(find(f, "node/1/sys/infiniband/sim0", &p));
	assert_true(find(f, "node/2/dev/umad0", &p));
}

/* ---- commands ---- */

static void commands_are_checked(void **state)
{
	struct fixture *f = *state;
	struct control *c = &f->c;

	assert_int_equal(control_lines(c, "# quiet\n\nloss 2.5\nloss 0\n", 24), 0);
	assert_string_equal(c->said, "ok");
	assert_int_equal(control_line(c, "los 5"), -EINVAL);
	assert_string_equal(c->said, "no command 'los'");
	assert_int_equal(control_line(c, "loss 101"), -EINVAL);
	assert_int_equal(control_line(c, "loss nan"), -EINVAL);
	assert_int_equal(control_line(c, "loss"), -EINVAL);
	assert_int_equal(control_line(c, "link nobody 1 down"), -EINVAL);
	assert_string_equal(c->said, "no node 'nobody'");
	assert_int_equal(control_line(c, "link h1 2 down"), -EINVAL);
	assert_int_equal(control_line(c, "link h1 1 sideways"), -EINVAL);
	assert_int_equal(control_line(c, "a b c d e f g h i"), -EINVAL);
	assert_int_equal(control_line(c, "port s0 1 gone"), -EINVAL);
	assert_int_equal(control_line(c, "time 0"), -EINVAL);
	assert_false(c->quit);
	assert_int_equal(control_line(c, "quit"), 0);
	assert_true(c->quit);
}

static void commands_reach_the_fabric(void **state)
{
	struct fixture *f = *state;
	int h2 = sim_find(f->c.sim, "h2");

	assert_int_equal(control_line(&f->c, "link h2 1 down"), 0);
	assert_int_equal(sim_port_state(f->c.sim, h2, 1), IB_PORT_DOWN);
	assert_int_equal(control_line(&f->c, "link h2 1 up"), 0);
	run_for(f, 100 * MONO_MS);
	assert_int_equal(sim_port_state(f->c.sim, h2, 1), IB_PORT_INIT);
	assert_int_equal(control_line(&f->c, "desc h2 \"node seven\""), 0);
	assert_int_equal(sim_find(f->c.sim, "node seven"), h2);
	assert_int_equal(control_line(&f->c, "pkeys h1 33"), 0);
	assert_int_equal(sim_port_pkey(f->c.sim, sim_find(f->c.sim, "h1"), 1, 0), 0xFFFF);
	assert_true(control_line(&f->c, "pkeys h1 0") < 0);
}

static char *pkeys_said(const struct control *c)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	control_pkeys(c, out);
	fclose(out);
	return text;
}

/* The last entry of a block, all others empty. */
static void set_last(struct fixture *f, const char *id, unsigned port, unsigned block, uint16_t key)
{
	memset(f->sm.answer, 0, sizeof(f->sm.answer));
	ib_bits_put(f->sm.answer, 31 * 16, 16, key);
	assert_int_equal(probe_set(&f->sm, sim_find(f->c.sim, id), IB_ATTR_PKEY_TABLE,
				   port << 16 | block),
			 0);
}

static void p_keys_of_all_ports_are_shown(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *before = pkeys_said(&f->c), *behind = NULL;

	assert_true(str_starts(before, "h0 1 0xffff\n"));
	assert_non_null(strstr(before, "\nleaf1 0 0xffff\nleaf1 1 0xffff\n"));
	assert_int_equal(control_line(&f->c, "pkeys leaf1 64"), 0);
	set_last(f, "h1", 0, 1, 0x8005);
	set_last(f, "leaf1", 2, 0, 0x0006);
	set_last(f, "leaf1", 2, 1, 0x8007);
	behind = pkeys_said(&f->c);
	assert_non_null(strstr(behind, "\nh1 1 0xffff 0x8005\n"));
	assert_non_null(strstr(behind, "\nleaf1 1 0xffff\nleaf1 2 0x0006 0x8007\nleaf1 3 0xffff\n"));
}

static void time_runs_as_told(void **state)
{
	struct vclock c = { .real = 1000, .virtual = 5000, .scale = 1 };

	assert_int_equal(vclock_at(&c, 1500), 5500);
	vclock_scale(&c, 2000, 10);
	assert_int_equal(vclock_at(&c, 2000), 6000);
	assert_int_equal(vclock_at(&c, 2100), 7000);
	assert_int_equal(vclock_wait(&c, 2000, 7000), 101);
	assert_int_equal(vclock_wait(&c, 2100, 7000), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(answers_go_to_who_asked),
		TEST(old_header_is_eight_bytes_shorter),
		TEST(silence_comes_back_after_all_tries),
		TEST(a_request_method_has_one_taker_per_port),
		TEST(agents_are_checked_and_counted),
		TEST(new_register_knows_its_flags),
		TEST(what_nobody_takes_is_refused),
		TEST(long_message_waits_for_a_larger_buffer),
		TEST(trap_of_a_program_is_repressed),
		TEST(malformed_writes_are_refused),
		TEST(removed_device_fails_its_files),
		TEST(issm_is_held_by_one_and_handed_on),
		TEST(issm_ends_with_its_device),
		TEST(texts_are_those_of_sysfs),
		TEST(split_node_has_two_devices),
		TEST(ethernet_devices_come_first),
		TEST(removed_port_has_no_names),
		TEST(commands_are_checked),
		TEST(commands_reach_the_fabric),
		TEST(p_keys_of_all_ports_are_shown),
		cmocka_unit_test(time_runs_as_told),
	};

	return cmocka_run_group_tests_name("serve", tests, NULL, NULL);
}
