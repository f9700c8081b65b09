// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport over libibumad: an open port, its agents, its threads.
 *
 *   main thread    send() --> ring --> umad_send()        sender thread (sender.c)   kernel, or
 *                                                         libumad2sim
 *                  queue() --> window --> umad_send()     sender, or receive thread (window.c)
 *                  receive() <-- ring <-- umad_recv()     receive thread (umad_receive.c)
 *
 * A port is one device for everything, or two with one GUID: the SMI device for SMPs and issm, the
 * GSI device for GMPs (umad_ports.c tells which). Each has its descriptor and its receive thread;
 * both are needed, and losing either is losing the port.
 *
 * The threads share nothing with the rest but the rings, the queue of window.c and the constant
 * descriptor. A device whose write() waits, as that of libumad2sim does while the simulator waits
 * for us, holds up the sender and receive threads alone. Only libibumad and open(), close() of issm
 * touch the devices: libumad2sim intercepts these by name, so this file must not be built with
 * 64-bit file offsets (open() would become open64()).
 *
 * Seen under libumad2sim: bytes 224..255 of every received MAD are garbage, a request that another
 * client got and never answered does not come back (mad/ has a watchdog), and one that no client
 * got comes back at once.
 */
#include "libvendor/umad.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ib/mad.h"
#include "ib/records.h"
#include "libvendor/ring.h"
#include "libvendor/sender.h"
#include "libvendor/umad_files.h"
#include "libvendor/umad_receive.h"
#include "libvendor/window.h"
#include "util/mem.h"

#ifdef __USE_FILE_OFFSET64
#error "libumad2sim intercepts open(), not open64(): build without _FILE_OFFSET_BITS=64"
#endif

/* tries to send segments again; the kernel waits 2 s for each */
#define RMPP_RETRIES 3
#define CLOSE_PATIENCE_MS  50		  /* longest wait of close() for requests under way */
#define THREAD_PATIENCE_MS 1000     /* longest wait for the end of a thread */
#define STUCK_MS 500                /* a write() that lasts longer will not return */
#define SET_MS 500                  /* a Set that waits longer for the device is not sent */
#define BUSY_TRIES 100              /* tries to send when the kernel has no memory */
/* most bytes of long messages that wait for the device; more are sent later */
#define BIG_BYTES_MAX (192u << 20)

#define METHOD(m) (1ul << (m))
#define SMP_METHODS                                                                                \
	(METHOD(MAD_GET) | METHOD(MAD_SET) | METHOD(MAD_TRAP) | METHOD(MAD_TRAP_REPRESS))
#define SA_METHODS                                                                                 \
	(METHOD(MAD_GET) | METHOD(MAD_SET) | METHOD(MAD_REPORT) | METHOD(MAD_SA_GET_TABLE) |       \
	 METHOD(MAD_SA_GET_MULTI) | METHOD(MAD_SA_DELETE))

enum side { SMI, GSI, SIDES };

/* Requests that each agent receives; responses find their agent by the TID. */
static const struct agent_row {
	enum side side;
	uint8_t mgmt_class, version, rmpp;
	unsigned long methods; /* bits of methods below 32 */
} agent_rows[] = {
	{ SMI, MAD_CLASS_SMI_DR, .version = 1, .rmpp = 0, .methods = SMP_METHODS },
	{ SMI, MAD_CLASS_SMI_LID, .version = 1, .rmpp = 0, .methods = SMP_METHODS },
	{ GSI, MAD_CLASS_SA, .version = 2, .rmpp = 1, .methods = SA_METHODS },
	{ GSI, MAD_CLASS_PERF, .version = 1, .rmpp = 0, .methods = 0 }, /* answers to us alone */
	{ GSI, MAD_CLASS_CC, .version = 2, .rmpp = 0, .methods = METHOD(MAD_TRAP) },
};

struct device {
	char ca[UMAD_CA_NAME_LEN];
	int port;
	int fd; /* port id of libibumad; -1: none */
	struct receiver *receiver;
};

struct umad_transport {
	struct transport base;
	struct device devices[SIDES]; /* n_devices of them */
	unsigned n_devices;           /* 1: SMI is GSI, too */
	char name[192];
	int agents[ARRAY_SIZE(agent_rows)];
	int issm; /* descriptor, -1 none */
	struct sender *sender;
	struct window *window; /* window of the SMI device */
	bool has_room; /* set if the next flush must wake the sender to write from `window` */
	struct bell *bell; /* wakes the main thread: MADs have arrived, or could not be sent */
	unsigned turn; /* device whose MADs are taken first */
	bool gone;     /* TRANSPORT_GONE was delivered */
	atomic_bool stop;
	unsigned under_way; /* requests that have not come back, of the main thread */
};

static struct device *device_of(struct umad_transport *t, enum side side)
{
	return &t->devices[t->n_devices > 1 ? side : SMI];
}

/* ---- transport operations ---- */

static struct umad_transport *umad_of(struct transport *base)
{
	return (struct umad_transport *)base; /* first member */
}

static int op_fd(struct transport *base)
{
	return bell_fd(umad_of(base)->bell);
}

/* The row of the agent that sends this class; -EPROTONOSUPPORT. */
static int row_of_class(uint8_t mgmt_class)
{
	for (size_t i = 0; i < ARRAY_SIZE(agent_rows); i++)
		if (agent_rows[i].mgmt_class == mgmt_class)
			return (int)i;
	return -EPROTONOSUPPORT;
}

static int send_error(int result)
{
	int error = umad_error(result);

	switch (-error) {
	case EIO: /* the kernel has taken the agent away */
	case ENODEV:
	case ENXIO:
	case EPIPE:
	case ECONNREFUSED: /* the simulator has ended */
	case ECONNRESET:
	case ENOTCONN:
		return -ENODEV;
	case ENOMEM:
	case ENOBUFS:
	case EINTR:
		return -EAGAIN;
	default:
		return error;
	}
}

static void set_addr(void *umad, const struct transport_addr *to)
{
	ib_mad_addr_t *addr = umad_get_mad_addr(umad);

	umad_set_addr(umad, to->lid, (int)to->qp, to->sl, (int)to->qkey);
	addr->path_bits = to->path_bits;
	umad_set_pkey(umad, to->pkey_index);
	addr->grh_present = to->global;
	if (!to->global)
		return;
	addr->gid_index = to->grh.gid_index;
	addr->hop_limit = to->grh.hop_limit;
	addr->traffic_class = to->grh.traffic_class;
	addr->flow_label = htobe32(to->grh.flow_label);
	memcpy(addr->gid, to->grh.gid, sizeof(addr->gid));
}

/* An answer by RMPP, of one segment or many: the kernel repeats unacknowledged segments. */
static bool is_table(const uint8_t *mad, size_t length, unsigned timeout_ms)
{
	return !timeout_ms && length >= SA_DATA && ib_get(mad, SMP_CLASS) == MAD_CLASS_SA &&
	       (ib_get(mad, SAH_RMPP_FLAGS) & RMPP_ACTIVE);
}

/* On a thread that writes: the sender, or a receive thread. */
static int write_out(void *arg, struct out *out)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	struct umad_transport *t = arg;
	int r = -EAGAIN;

	for (unsigned i = 0; i < BUSY_TRIES && r == -EAGAIN && !atomic_load(&t->stop); i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		if (i > 0 && out_is_late(out))
			return -ETIMEDOUT;
		errno = 0;
		r = umad_send(out->fd, out->agent, out->big ? out->big : out->umad,
			      (int)out->length, (int)out->timeout_ms, out->retries);
		r = r < 0 ? send_error(r) : 0;
	}
	return r;
}

/* On a thread that writes. */
static void write_failed(void *arg, const struct out *out, int error)
{
	struct umad_transport *t = arg;

	sender_give_back(t->sender, out, error);
}

/*
 * If this process was stopped for a while, another manager may have taken over: an old Set would
 * undo its settings.
 */
static uint64_t not_after(int row, const uint8_t *mad)
{
	bool is_smp_set = agent_rows[row].side == SMI && ib_get(mad, SMP_METHOD) == MAD_SET;

	return is_smp_set ? out_in_ms(SET_MS) : 0;
}

static bool is_gone(const struct umad_transport *t)
{
	bool gone = t->gone;

	for (unsigned i = 0; i < t->n_devices; i++)
		gone = gone || receiver_is_gone(t->devices[i].receiver);
	return gone;
}

/* Fills `out`; its `big` is set if the message needs it. */
static void fill(struct umad_transport *t, struct out *out, int row,
		 const struct transport_addr *to, const uint8_t *mad, size_t length,
		 unsigned timeout_ms)
{
	*out = (struct out){
		.fd = device_of(t, agent_rows[row].side)->fd,
		.agent = t->agents[row],
		.length = length,
		.timeout_ms = timeout_ms,
		.not_after = not_after(row, mad),
		.retries = is_table(mad, length, timeout_ms) ? RMPP_RETRIES : 0,
		.big = length > TRANSPORT_MAD_SIZE ? xcalloc(1, umad_size() + length) : NULL,
	};
	set_addr(out->big ? out->big : out->umad, to);
	memcpy(umad_get_mad(out->big ? out->big : out->umad), mad, length);
	if (timeout_ms)
		t->under_way++;
}

static int op_send(struct transport *base, const struct transport_addr *to, const uint8_t *mad,
		   size_t length, unsigned timeout_ms)
{
	struct umad_transport *t = umad_of(base);
	struct out *out;
	int row;

	if (is_gone(t))
		return -ENODEV;
	if (length < SMP_BYTES || length > TRANSPORT_MESSAGE_MAX)
		return -EMSGSIZE;
	row = row_of_class((uint8_t)ib_get(mad, SMP_CLASS));
	if (row < 0)
		return row;
	out = sender_reserve(t->sender);
	if (!out || (length > TRANSPORT_MAD_SIZE && sender_big_bytes(t->sender) >= BIG_BYTES_MAX))
		return -EAGAIN;
	fill(t, out, row, to, mad, length, timeout_ms);
	sender_commit(t->sender);
	return 0;
}

static bool op_set_window(struct transport *base, unsigned window)
{
	struct umad_transport *t = umad_of(base);

	assert(window > 0);
	if (window > WINDOW_MAX)
		return false;
	if (window_set_size(t->window, window))
		sender_wake(t->sender);
	return true;
}

static int op_queue(struct transport *base, const struct transport_addr *to, const uint8_t *mad,
		    uint32_t tid, unsigned timeout_ms)
{
	struct umad_transport *t = umad_of(base);
	int row = row_of_class((uint8_t)ib_get(mad, SMP_CLASS));
	struct out *out;

	assert(timeout_ms > 0);
	if (is_gone(t))
		return -ENODEV;
	if (row < 0)
		return row;
	out = window_reserve(t->window);
	if (!out)
		return -EAGAIN;
	fill(t, out, row, to, mad, TRANSPORT_MAD_SIZE, timeout_ms);
	t->has_room |= window_commit(t->window, tid);
	return 0;
}

static enum transport_fate op_forget(struct transport *base, uint32_t tid)
{
	struct umad_transport *t = umad_of(base);
	bool room;
	enum transport_fate fate = window_forget(t->window, tid, &room);

	if (room)
		sender_wake(t->sender);
	if (fate == TRANSPORT_WAITS)
		t->under_way -= t->under_way > 0;
	return fate;
}

static enum transport_fate op_fate(struct transport *base, uint32_t tid, int64_t *ret_us)
{
	return window_fate(umad_of(base)->window, tid, ret_us);
}

static void op_flush(struct transport *base)
{
	struct umad_transport *t = umad_of(base);

	sender_flush(t->sender);
	if (t->has_room)
		sender_wake(t->sender);
	t->has_room = false;
}

/* Reports a MAD that could not be sent: a request comes back, others are lost. False: no report. */
static bool report_unsent(struct umad_transport *t, const struct out *out,
			  struct transport_event *ret)
{
	ret->whole = NULL;
	ret->error = out->error;
	ret->length = 0;
	ret->took_us = 0;
	if (out->error == -ENODEV) {
		ret->kind = TRANSPORT_GONE;
		return true;
	}
	if (!out->timeout_ms)
		return false;
	t->under_way -= t->under_way > 0;
	ret->kind = TRANSPORT_RETURNED;
	ret->from = (struct transport_addr){ 0 };
	ret->length = TRANSPORT_MAD_SIZE;
	memcpy(ret->mad, umad_get_mad((void *)out->umad), TRANSPORT_MAD_SIZE);
	return true;
}

static int receive_failed(struct umad_transport *t, struct transport_event *ret)
{
	const struct out *out;
	bool any = false;

	while (!any && (out = sender_front(t->sender))) {
		any = report_unsent(t, out, ret);
		sender_pop(t->sender);
	}
	return any;
}

/* Each device in its turn: thousands of answers of one do not keep the other waiting. */
static bool receive_next(struct umad_transport *t, struct transport_event *ret)
{
	for (unsigned i = 0; i < t->n_devices; i++) {
		t->turn = (t->turn + 1) % t->n_devices;
		if (receiver_next(t->devices[t->turn].receiver, ret))
			return true;
	}
	return false;
}

static bool is_end_of_request(const struct transport_event *ev)
{
	return ev->kind == TRANSPORT_RETURNED ||
	       (ev->kind == TRANSPORT_MAD && ib_get(ev->mad, SMP_METHOD) & MAD_RESPONSE_BIT);
}

static int op_receive(struct transport *base, struct transport_event *ret)
{
	struct umad_transport *t = umad_of(base);
	bool received = false, failed = false;

	if (t->gone)
		return 0;
	do {
		received = receive_next(t, ret);
		failed = !received && receive_failed(t, ret);
	} while (!received && !failed && !bell_is_quiet(t->bell));
	if (!received && !failed)
		return 0;
	if (received && t->under_way && is_end_of_request(ret))
		t->under_way--;
	t->gone = ret->kind == TRANSPORT_GONE;
	return 1;
}

/* Does the device hold a thread that writes? Then it would hold any other that touches it. */
static bool is_stuck(const struct umad_transport *t)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	unsigned sent = t->sender ? sender_written(t->sender) : 0;
	unsigned refilled = window_written(t->window);
	bool sends = t->sender, refills = true;

	for (unsigned i = 0; i < STUCK_MS; i++) {
		sends = sends && sender_is_writing(t->sender) && sender_written(t->sender) == sent;
		refills = refills && window_is_writing(t->window) &&
			  window_written(t->window) == refilled;
		if (!sends && !refills)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

static int issm_path(const struct device *d, char *path, size_t len)
{
	int r = umad_get_issm_path(d->ca, d->port, path, (int)len);

	if (r >= 0)
		return 0;
	r = umad_file_number(d->ca, d->port);
	snprintf(path, len, "/dev/infiniband/issm%d", r);
	return r < 0 ? r : 0;
}

static int op_set_issm(struct transport *base, bool on)
{
	struct umad_transport *t = umad_of(base);
	char path[256];
	int r;

	if (!on && t->issm >= 0 && is_stuck(t))
		return -EBUSY; /* the end of the process closes it */
	if (!on && t->issm >= 0) {
		close(t->issm);
		t->issm = -1;
	}
	if (!on || t->issm >= 0)
		return 0;
	r = issm_path(&t->devices[SMI], path, sizeof(path));
	if (r < 0)
		return r;
	/* Without O_NONBLOCK it would wait for the other holder. */
	t->issm = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->issm < 0)
		return errno == EAGAIN ? -EBUSY : -errno;
	return 0;
}

/* A file of the port in sysfs: decimal, or with 0x. False: there is none. */
static bool read_number(const struct device *d, const char *file, unsigned max, unsigned *ret)
{
	char path[128 + UMAD_CA_NAME_LEN], text[32] = "";
	unsigned long value;
	ssize_t n;
	char *end;
	int fd;

	snprintf(path, sizeof(path), SYS_INFINIBAND "/%s/ports/%d/%s", d->ca, d->port, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	value = strtoul(text, &end, 0);
	*ret = (unsigned)value;
	return n > 0 && end != text && value <= max;
}

static bool read_lids(const struct device *d, uint16_t *lid, uint16_t *sm_lid)
{
	unsigned own, master;

	if (!read_number(d, SYS_PORT_LID, UINT16_MAX, &own) ||
	    !read_number(d, SYS_PORT_SMLID, UINT16_MAX, &master))
		return false;
	*lid = (uint16_t)own;
	*sm_lid = (uint16_t)master;
	return true;
}

static int op_look(struct transport *base, struct transport_port *ret)
{
	struct umad_transport *t = umad_of(base);
	const struct device *smi = &t->devices[SMI];
	struct transport_port port = { 0 };
	unsigned sm_sl, lmc;

	if (!read_lids(smi, &port.lid, &port.sm_lid) ||
	    !read_lids(device_of(t, GSI), &port.gmp_lid, &port.gmp_sm_lid) ||
	    !read_number(smi, SYS_PORT_SMSL, 15, &sm_sl) ||
	    !read_number(smi, SYS_PORT_LMC, 7, &lmc))
		return -EIO;
	port.sm_sl = (uint8_t)sm_sl;
	port.lmc = (uint8_t)lmc;
	*ret = port;
	return 0;
}

/*
 * Queued MADs are sent first: the last may be the handover to another manager. Then requests under
 * way are awaited for a while: libumad2sim delivers into closed ports, and crashes.
 */
static void await_answers(struct umad_transport *t)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	struct transport_event ev;

	sender_flush(t->sender);
	for (unsigned i = 0; i < CLOSE_PATIENCE_MS && (t->under_way || !sender_is_idle(t->sender));
	     i++) {
		while (op_receive(&t->base, &ev) > 0) {
			if (ev.kind == TRANSPORT_GONE)
				return;
			free(ev.whole);
		}
		if (t->under_way || !sender_is_idle(t->sender))
			nanosleep(&pause, NULL);
	}
}

/* Ends the receive threads; false: one does not come back from its device. */
static bool stop_receiving(struct umad_transport *t)
{
	bool ended = true;

	for (unsigned i = 0; i < t->n_devices; i++)
		receiver_stop(t->devices[i].receiver);
	for (unsigned i = 0; i < t->n_devices; i++)
		if (receiver_free(t->devices[i].receiver, THREAD_PATIENCE_MS))
			t->devices[i].receiver = NULL;
		else
			ended = false;
	return ended;
}

/* Have all devices a receive thread? */
static bool is_running(const struct umad_transport *t)
{
	return t->sender && t->devices[t->n_devices - 1].receiver;
}

/*
 * A device that blocks one of our threads for ever delays neither the process nor its end: the
 * thread, and all that it may use, stays until the process ends.
 */
static struct transport *op_close(struct transport *base)
{
	struct umad_transport *t = umad_of(base);

	op_set_issm(base, false);
	if (is_running(t))
		await_answers(t);
	atomic_store(&t->stop, true);
	/* A receive thread returns MADs that it cannot write to the sender. */
	if (!stop_receiving(t) || !sender_free(t->sender, THREAD_PATIENCE_MS))
		return NULL;
	window_free(t->window);
	for (size_t i = ARRAY_SIZE(agent_rows); i-- > 0;)
		if (t->agents[i] >= 0)
			umad_unregister(device_of(t, agent_rows[i].side)->fd, t->agents[i]);
	for (unsigned i = 0; i < t->n_devices; i++)
		if (t->devices[i].fd >= 0)
			umad_close_port(t->devices[i].fd);
	bell_free(t->bell);
	free(t);
	return NULL;
}

static const struct transport_ops umad_ops = {
	.fd = op_fd,
	.send = op_send,
	.flush = op_flush,
	.set_window = op_set_window,
	.queue = op_queue,
	.forget = op_forget,
	.fate = op_fate,
	.receive = op_receive,
	.set_issm = op_set_issm,
	.close = op_close,
	.look = op_look,
};

const char *umad_transport_name(const struct transport *t)
{
	return ((const struct umad_transport *)t)->name;
}

/* ---- opening ---- */

static int open_device(struct umad_transport *t, struct device *d, char *why, size_t why_len)
{
	int error;

	errno = 0;
	d->fd = umad_open_port(d->ca, d->port);
	if (d->fd >= 0)
		return 0;
	error = umad_error(d->fd);
	if (error == -EINVAL) { /* libibumad has not found its file */
		d->fd = umad_file_open(d->ca, d->port);
		error = d->fd;
	}
	if (d->fd >= 0)
		return 0;
	d->fd = -1;
	snprintf(why, why_len, "cannot open %s/%d: %s", d->ca, d->port, strerror(-error));
	switch (-error) {
	case EPERM:
	case EACCES:
		return -EACCES;
	case EINVAL:
	case EIO:
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return -ENODEV;
	default:
		return error;
	}
}

/* Writes the reason why a class was refused. */
static int agent_refused(const struct umad_transport *t, const struct agent_row *row,
			 const struct device *d, int error, char *why, size_t why_len)
{
	if (error == -EPROTONOSUPPORT && row->side == SMI) {
		snprintf(why, why_len, "%s/%d takes no SMPs; needs an SMI device", d->ca, d->port);
		return -ENODEV;
	}
	if (error == -EPROTONOSUPPORT) {
		snprintf(why, why_len,
			 "%s/%d is an SMI device; needs the other device of port 0x%016llx, which "
			 "takes GMPs",
			 d->ca, d->port, (unsigned long long)t->base.port_guid);
		return -ENODEV;
	}
	snprintf(why, why_len,
		 "%s/%d: management class 0x%02x refused (%s): another subnet manager?", d->ca,
		 d->port, row->mgmt_class, strerror(-error));
	/*
	 * The kernel says EINVAL, libibumad EPERM, when another program receives these methods.
	 */
	return error == -EINVAL || error == -EPERM || error == -EBUSY ? -EBUSY : error;
}

static int register_agents(struct umad_transport *t, char *why, size_t why_len)
{
	for (size_t i = 0; i < ARRAY_SIZE(agent_rows); i++) {
		const struct agent_row *row = &agent_rows[i];
		const struct device *d = device_of(t, row->side);
		long mask[16 / sizeof(long)] = { (long)row->methods };

		errno = 0;
		t->agents[i] = umad_register(d->fd, row->mgmt_class, row->version, row->rmpp, mask);
		if (t->agents[i] < 0)
			return agent_refused(t, row, d, umad_error(t->agents[i]), why, why_len);
	}
	return 0;
}

static int start_receiving(struct umad_transport *t, struct device *d)
{
	d->receiver = receiver_new(d->fd, d == &t->devices[SMI] ? t->window : NULL, t->bell);
	return d->receiver ? 0 : -errno;
}

static int start_threads(struct umad_transport *t)
{
	int r = 0;

	t->bell = bell_new(BELL_POLLED);
	t->sender = t->bell ? sender_new(write_out, t, t->window, t->bell) : NULL;
	if (!t->sender)
		return -ENOMEM;
	for (unsigned i = 0; i < t->n_devices && r == 0; i++)
		r = start_receiving(t, &t->devices[i]);
	return r;
}

static int start_transport(struct umad_transport *t, char *why, size_t why_len)
{
	int r = 0;

	for (unsigned i = 0; i < t->n_devices && r == 0; i++)
		r = open_device(t, &t->devices[i], why, why_len);
	if (r == 0)
		r = register_agents(t, why, why_len);
	if (r < 0)
		return r;
	r = start_threads(t);
	if (r < 0)
		snprintf(why, why_len, "%s: %s", t->name, strerror(-r));
	return r;
}

static void add_device(struct umad_transport *t, const struct umad_port_choice *choice)
{
	struct device *d = &t->devices[t->n_devices++];

	d->fd = -1;
	d->port = choice->port;
	snprintf(d->ca, sizeof(d->ca), "%.*s", UMAD_CA_NAME_LEN - 1, choice->device);
}

/* `gsi` is `smi` where one device is both. */
static struct umad_transport *umad_transport_new(const struct umad_port_choice *smi,
						 const struct umad_port_choice *gsi)
{
	struct umad_transport *t = xcalloc(1, sizeof(*t));

	t->base.ops = &umad_ops;
	t->window = window_new(write_out, write_failed, t);
	t->base.port_guid = smi->guid;
	t->issm = -1;
	for (size_t i = 0; i < ARRAY_SIZE(agent_rows); i++)
		t->agents[i] = -1;
	add_device(t, smi);
	snprintf(t->name, sizeof(t->name), "%s/%d", smi->device, smi->port);
	if (gsi == smi)
		return t;
	add_device(t, gsi);
	snprintf(t->name, sizeof(t->name), "%s/%d (GMPs by %s/%d)", smi->device, smi->port,
		 gsi->device, gsi->port);
	return t;
}

int umad_transport_open(uint64_t guid, struct transport **ret, char *why, size_t why_len)
{
	_cleanup_free_ struct umad_port_choice *ports = NULL;
	struct umad_transport *t;
	int n, i, r;

	assert(ret && why && why_len > 0);
	n = umad_list_ports(&ports);
	n = n < 0 ? 0 : n;
	i = umad_choose_port(ports, (size_t)n, guid);
	if (i < 0) {
		umad_say_none(ports, (size_t)n, guid, why, why_len);
		return -ENODEV;
	}
	t = umad_transport_new(&ports[i], &ports[umad_gsi_of(ports, (size_t)n, (size_t)i)]);
	r = start_transport(t, why, why_len);
	if (r < 0) {
		op_close(&t->base);
		return r;
	}
	snprintf(why, why_len, "%s", t->name);
	*ret = &t->base;
	return 0;
}
