// SPDX-License-Identifier: BSD-2-Clause
/*
 * The transport over libibumad: an open port, its agents, its receive thread.
 *
 *   main thread    send() --> ring --> umad_send()        sender thread (sender.c)   kernel, or
 *                                                         libumad2sim
 *                  receive() <-- ring, eventfd <-- umad_recv() <-- umad_poll()   receive thread
 *
 * The threads share nothing with the rest but the rings and the constant descriptor. A device whose
 * write() waits, as that of libumad2sim does while the simulator waits for us, holds up the sender
 * alone. Only libibumad and open(), close() of issm touch the devices: libumad2sim intercepts these
 * by name, so this file must not be built with 64-bit file offsets (open() would become open64()).
 *
 * Seen under libumad2sim: bytes 224..255 of every received MAD are garbage, a request that another
 * client got and never answered does not come back (mad/ has a watchdog), and one that no client
 * got comes back at once.
 */
#include "libvendor/umad.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <infiniband/umad.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "ib/mad.h"
#include "ib/records.h"
#include "libvendor/ring.h"
#include "libvendor/sender.h"
#include "util/mem.h"

#ifdef __USE_FILE_OFFSET64
#error "libumad2sim intercepts open(), not open64(): build without _FILE_OFFSET_BITS=64"
#endif

#define RING_SLOTS 1024
#define MAX_PORTS 64
/* umad_size() is this, or 56 without a P_Key index */
#define UMAD_HEADER_MAX SENDER_HEADER
/* longer than any request: such a message is read and dropped */
#define WHOLE_MAX (64u << 10)
#define RMPP_RETRIES 3              /* of unacknowledged segments; the kernel waits 2 s each */
#define CLOSE_PATIENCE_MS 50        /* how long close() waits for what is under way */
#define THREAD_PATIENCE_MS 1000     /* and for a thread to end */
#define STUCK_MS 500                /* a write() that lasts longer will not return */
#define LOOK_MS 200                 /* how often the receive thread looks whether it is to end */
#define BUSY_TRIES 100              /* of a send that the kernel has no memory for */
/* of long messages that wait for the device; then they come later */
#define BIG_BYTES_MAX (192u << 20)
#define BATCH 32                    /* MADs read before the main thread must hear of them */
/* questions to the SA in a row, and nothing else: they come thick */
#define THICK_AFTER 64
#define THICK_BATCH 2               /* and go on so while as many come in a pause */
#define PAUSE_US 100
#define EMPTY_READS_MAX 64          /* "readable" without anything to read: the port is dead */


#define METHOD(m) (1ul << (m))
#define SMP_METHODS                                                                                \
	(METHOD(MAD_GET) | METHOD(MAD_SET) | METHOD(MAD_TRAP) | METHOD(MAD_TRAP_REPRESS))
#define SA_METHODS                                                                                 \
	(METHOD(MAD_GET) | METHOD(MAD_SET) | METHOD(MAD_REPORT) | METHOD(MAD_SA_GET_TABLE) |       \
	 METHOD(MAD_SA_GET_MULTI) | METHOD(MAD_SA_DELETE))

/* Requests that each agent receives; responses find their agent by the TID. */
static const struct agent_row {
	uint8_t mgmt_class, version, rmpp;
	unsigned long methods; /* below 32 */
} agent_rows[] = {
	{ MAD_CLASS_SMI_DR, .version = 1, .rmpp = 0, .methods = SMP_METHODS },
	{ MAD_CLASS_SMI_LID, .version = 1, .rmpp = 0, .methods = SMP_METHODS },
	{ MAD_CLASS_SA, .version = 2, .rmpp = 1, .methods = SA_METHODS },
	{ MAD_CLASS_PERF, .version = 1, .rmpp = 0, .methods = 0 }, /* answers to us alone */
	{ MAD_CLASS_CC, .version = 2, .rmpp = 0, .methods = 0 },   /* the same */
};

struct slot {
	int error;      /* != 0: the port is gone, -errno; the rest is void */
	int length;     /* bytes of the message */
	uint8_t *whole; /* all of a message longer than one MAD, else NULL; the reader's */
	_Alignas(8) uint8_t umad[UMAD_HEADER_MAX + TRANSPORT_MAD_SIZE];
};

struct umad_transport {
	struct transport base;
	char device[UMAD_CA_NAME_LEN];
	int port;
	char name[64];
	int fd; /* what libibumad calls a port id; -1 none */
	int agents[ARRAY_SIZE(agent_rows)];
	int issm; /* descriptor, -1 none */
	struct sender *sender;
	struct ring *ring;
	int events; /* epoll: the descriptors of both */
	pthread_t thread;
	bool running;
	bool gone_reported; /* TRANSPORT_GONE was delivered */
	atomic_bool stop;
	unsigned under_way; /* requests that have not come back, of the main thread */
	atomic_bool gone; /* set once, by the thread */
	void *big; /* of the thread: for messages that do not fit a slot */
	size_t big_size;
	unsigned questions; /* of the thread: requests to the SA in a row */
};

/* ---- the receive thread ---- */

/*
 * What a failed libibumad call meant: it leaves the reason in errno, its value is often just EIO.
 */
static int umad_error(int result)
{
	return errno ? -errno : result < 0 ? result : -EIO;
}

static bool nothing_yet(int error)
{
	return error == -EAGAIN || error == -EWOULDBLOCK || error == -EINTR || error == -ETIMEDOUT;
}

#define DROPPED 1

/*
 * A message longer than a slot: `length` is its real size. Keeps all of it, or DROPPED: any host
 * may send one of any length, and it stands before all others until it is read. Else as read_mad().
 */
static int read_big_mad(struct umad_transport *t, struct slot *slot, int length)
{
	size_t need = umad_size() + (size_t)length;
	_cleanup_free_ void *huge = NULL;
	void *big;
	int r;

	if (length <= 0)
		return -EIO;
	if (length <= (int)WHOLE_MAX)
		GROW(t->big, need, t->big_size);
	else
		huge = try_calloc(1, need, (size_t)INT_MAX + UMAD_HEADER_MAX);
	big = length <= (int)WHOLE_MAX ? t->big : huge;
	if (!big)
		return -EIO;
	errno = 0;
	r = umad_recv(t->fd, big, &length, 0);
	if (r < 0)
		return umad_error(r);
	if (huge)
		return DROPPED;
	slot->length = length;
	memcpy(slot->umad, big, umad_size() + MIN(length, TRANSPORT_MAD_SIZE));
	slot->whole = length > TRANSPORT_MAD_SIZE ? xmemdup(umad_get_mad(big), (size_t)length)
						  : NULL;
	return 0;
}

/*
 * Reads one MAD without waiting. 0: `slot` holds it; -EAGAIN and the like: none there; -errno: the
 * port is gone.
 */
static int read_mad(struct umad_transport *t, struct slot *slot)
{
	int r;

	do {
		slot->error = 0;
		slot->whole = NULL;
		slot->length = TRANSPORT_MAD_SIZE;
		errno = 0;
		r = umad_recv(t->fd, slot->umad, &slot->length, 0);
		if (r >= 0)
			return 0;
		r = umad_error(r);
		if (r == -ENOSPC)
			r = read_big_mad(t, slot, slot->length);
	} while (r == DROPPED);
	return r;
}

/* Sleeps until there may be something to read. False: there is not. */
static bool wait_readable(struct umad_transport *t)
{
	return umad_poll(t->fd, LOOK_MS) != -ETIMEDOUT;
}

static struct slot *free_slot(struct umad_transport *t)
{
	struct slot *slot;

	while (!(slot = ring_reserve(t->ring)) && !atomic_load(&t->stop))
		ring_wait_room(t->ring);
	return slot;
}

static bool is_question(const struct slot *slot)
{
	const uint8_t *mad = umad_get_mad((void *)slot->umad);

	return ib_get(mad, SMP_CLASS) == MAD_CLASS_SA &&
	       !(ib_get(mad, SMP_METHOD) & MAD_RESPONSE_BIT);
}

/* Reads what is there, BATCH MADs at most. Number read; -errno: the port is gone. */
static int read_batch(struct umad_transport *t)
{
	struct slot *slot;
	int n, r;

	for (n = 0; n < BATCH; n++) {
		slot = free_slot(t);
		if (!slot)
			break;
		r = read_mad(t, slot);
		if (nothing_yet(r))
			break;
		if (r < 0)
			return r;
		t->questions = is_question(slot) ? t->questions + 1 : 0;
		ring_publish(t->ring);
	}
	ring_notify(t->ring);
	return n;
}

/*
 * Waking up for each of many questions costs more than their answers. While they come thick, and
 * nothing else comes that could be late, the thread sleeps a little instead of waiting for the
 * next. Returns true if it did.
 */
static bool coalesce_wakeups(const struct umad_transport *t)
{
	const struct timespec pause = { .tv_nsec = PAUSE_US * 1000 };

	if (t->questions < THICK_AFTER)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

static void *receive_loop(void *arg)
{
	struct umad_transport *t = arg;
	struct slot *slot;
	unsigned empty = 0;
	bool gathered;
	int n = 0;

	prctl(PR_SET_NAME, "umad-receive");
	while (n >= 0 && empty < EMPTY_READS_MAX && !atomic_load(&t->stop)) {
		gathered = coalesce_wakeups(t);
		if (!gathered && n < BATCH && !wait_readable(t))
			continue;
		n = read_batch(t);
		if (gathered && n < THICK_BATCH)
			t->questions = 0;
		empty = n == 0 ? empty + 1 : 0;
	}
	atomic_store(&t->gone, true);
	slot = atomic_load(&t->stop) ? NULL : free_slot(t);
	if (!slot)
		return NULL;
	slot->error = n < 0 ? n : -EIO;
	slot->whole = NULL;
	ring_publish(t->ring);
	ring_notify(t->ring);
	return NULL;
}

static int start_thread(struct umad_transport *t)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = -pthread_create(&t->thread, NULL, receive_loop, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r < 0)
		return r;
	t->running = true;
	return 0;
}

/* ---- transport operations ---- */

static struct umad_transport *umad_of(struct transport *base)
{
	return (struct umad_transport *)base; /* first member */
}

static int op_fd(struct transport *base)
{
	return umad_of(base)->events;
}

static int agent_of_class(const struct umad_transport *t, uint8_t mgmt_class)
{
	for (size_t i = 0; i < ARRAY_SIZE(agent_rows); i++)
		if (agent_rows[i].mgmt_class == mgmt_class)
			return t->agents[i];
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

/* On the sender's thread. */
static int write_out(void *arg, struct out *out)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	struct umad_transport *t = arg;
	int r = -EAGAIN;

	for (unsigned i = 0; i < BUSY_TRIES && r == -EAGAIN && !atomic_load(&t->stop); i++) {
		if (i > 0)
			nanosleep(&pause, NULL);
		errno = 0;
		r = umad_send(t->fd, out->agent, out->big ? out->big : out->umad, (int)out->length,
			      (int)out->timeout_ms, out->retries);
		r = r < 0 ? send_error(r) : 0;
	}
	return r;
}

static int op_send(struct transport *base, const struct transport_addr *to, const uint8_t *mad,
		   size_t length, unsigned timeout_ms)
{
	struct umad_transport *t = umad_of(base);
	struct out *out;
	int agent;

	if (atomic_load_explicit(&t->gone, memory_order_relaxed))
		return -ENODEV;
	if (length < SMP_BYTES || length > TRANSPORT_MESSAGE_MAX)
		return -EMSGSIZE;
	agent = agent_of_class(t, (uint8_t)ib_get(mad, SMP_CLASS));
	if (agent < 0)
		return agent;
	out = sender_reserve(t->sender);
	if (!out || (length > TRANSPORT_MAD_SIZE && sender_big_bytes(t->sender) >= BIG_BYTES_MAX))
		return -EAGAIN;
	*out = (struct out){
		.agent = agent,
		.length = length,
		.timeout_ms = timeout_ms,
		.retries = is_table(mad, length, timeout_ms) ? RMPP_RETRIES : 0,
		.big = length > TRANSPORT_MAD_SIZE ? xcalloc(1, umad_size() + length) : NULL,
	};
	set_addr(out->big ? out->big : out->umad, to);
	memcpy(umad_get_mad(out->big ? out->big : out->umad), mad, length);
	sender_commit(t->sender);
	if (timeout_ms)
		t->under_way++;
	return 0;
}

static void read_grh(const ib_mad_addr_t *from, struct transport_addr *ret)
{
	ret->global = true;
	ret->grh = (struct transport_grh){
		.gid_index = from->gid_index,
		.hop_limit = from->hop_limit,
		.traffic_class = from->traffic_class,
		.flow_label = be32toh(from->flow_label) & 0xFFFFF,
	};
	memcpy(ret->grh.gid, from->gid, sizeof(ret->grh.gid));
}

static void read_slot(struct slot *slot, struct transport_event *ret)
{
	size_t first;
	const ib_mad_addr_t *from = umad_get_mad_addr(slot->umad);
	int status = umad_status(slot->umad);

	ret->kind = status ? TRANSPORT_RETURNED : TRANSPORT_MAD;
	ret->error = -status;
	ret->from = (struct transport_addr) {
		.lid = be16toh(from->lid),
		.sl = from->sl,
		.path_bits = from->path_bits,
		.qp = be32toh(from->qpn),
		.qkey = be32toh(from->qkey),
		.pkey_index = (uint16_t)umad_get_pkey(slot->umad),
	};
	if (from->grh_present)
		read_grh(from, &ret->from);
	ret->length = (size_t)slot->length;
	ret->whole = take(slot->whole);
	first = MIN(ret->length, (size_t)TRANSPORT_MAD_SIZE);
	memcpy(ret->mad, umad_get_mad(slot->umad), first);
	memset(ret->mad + first, 0, TRANSPORT_MAD_SIZE - first);
}

/* What could not be sent: a request comes back, anything else is lost. False: nothing to tell. */
static bool report_unsent(struct umad_transport *t, const struct out *out,
			  struct transport_event *ret)
{
	ret->whole = NULL;
	ret->error = out->error;
	ret->length = 0;
	if (out->error == -ENODEV) {
		ret->kind = TRANSPORT_GONE;
		return !t->gone_reported;
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

static int op_receive(struct transport *base, struct transport_event *ret)
{
	struct umad_transport *t = umad_of(base);
	struct ring *ring = t->ring;
	struct slot *slot;

	if (t->gone_reported)
		return 0;
	slot = ring_front(ring);
	if (!slot) {
		int any = receive_failed(t, ret);

		t->gone_reported = any && ret->kind == TRANSPORT_GONE;
		if (t->gone_reported)
			atomic_store(&t->gone, true);
		return any;
	}
	if (slot->error) {
		ret->kind = TRANSPORT_GONE;
		ret->error = slot->error;
		ret->length = 0;
		t->gone_reported = true;
	} else {
		read_slot(slot, ret);
		if (t->under_way && (ret->kind == TRANSPORT_RETURNED ||
				     ib_get(ret->mad, SMP_METHOD) & MAD_RESPONSE_BIT))
			t->under_way--;
	}
	ring_pop(ring);
	return 1;
}

/* Does the device hold the sender? Then it would hold every other thread that touches it. */
static bool is_stuck(const struct umad_transport *t)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	unsigned before = t->sender ? sender_written(t->sender) : 0;

	for (unsigned i = 0; i < STUCK_MS; i++) {
		if (!t->sender || !sender_is_writing(t->sender) ||
		    sender_written(t->sender) != before)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
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
	r = umad_get_issm_path(t->device, t->port, path, sizeof(path));
	if (r < 0)
		return r;
	/* Without O_NONBLOCK it would wait for the other holder. */
	t->issm = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (t->issm < 0)
		return errno == EAGAIN ? -EBUSY : -errno;
	return 0;
}

/* A file of the port in sysfs: decimal, or with 0x. False: there is none. */
static bool read_number(const struct umad_transport *t, const char *file, unsigned max,
			unsigned *ret)
{
	char path[128 + UMAD_CA_NAME_LEN], text[32] = "";
	unsigned long value;
	ssize_t n;
	char *end;
	int fd;

	snprintf(path, sizeof(path), SYS_INFINIBAND "/%s/ports/%d/%s", t->device, t->port, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	value = strtoul(text, &end, 0);
	*ret = (unsigned)value;
	return n > 0 && end != text && value <= max;
}

static int op_look(struct transport *base, struct transport_port *ret)
{
	const struct umad_transport *t = umad_of(base);
	unsigned lid, sm_lid, sm_sl, lmc;

	if (!read_number(t, SYS_PORT_LID, UINT16_MAX, &lid) ||
	    !read_number(t, SYS_PORT_SMLID, UINT16_MAX, &sm_lid) ||
	    !read_number(t, SYS_PORT_SMSL, 15, &sm_sl) ||
	    !read_number(t, SYS_PORT_LMC, 7, &lmc))
		return -EIO;
	*ret = (struct transport_port){ .lid = (uint16_t)lid,
					.sm_lid = (uint16_t)sm_lid,
					.sm_sl = (uint8_t)sm_sl,
					.lmc = (uint8_t)lmc };
	return 0;
}

static void drop_unread(struct ring *ring)
{
	struct slot *slot;

	while (ring && (slot = ring_front(ring))) {
		free(slot->whole);
		ring_pop(ring);
	}
}

/*
 * What was handed over for sending goes out first: the last of it may be the handover to another
 * manager. What is under way comes back, if it comes soon: libumad2sim delivers into a port that
 * has been closed, and dies of it.
 */
static void await_answers(struct umad_transport *t)
{
	const struct timespec pause = { .tv_nsec = 1000 * 1000 };
	struct transport_event ev;

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

/* Ends the receive thread; false: it does not come back from the device. */
static bool stop_receiving(struct umad_transport *t)
{
	if (!t->running)
		return true;
	drop_unread(t->ring);
	return thread_ends(t->thread, THREAD_PATIENCE_MS);
}

/*
 * A device that holds one of our threads for ever holds neither the process nor its end: the
 * thread, and what it may touch, stays as it is until the process ends.
 */
static struct transport *op_close(struct transport *base)
{
	struct umad_transport *t = umad_of(base);

	op_set_issm(base, false);
	if (t->running)
		await_answers(t);
	atomic_store(&t->stop, true);
	if (!sender_free(t->sender, THREAD_PATIENCE_MS) || !stop_receiving(t))
		return NULL;
	for (size_t i = ARRAY_SIZE(agent_rows); t->fd >= 0 && i-- > 0;)
		if (t->agents[i] >= 0)
			umad_unregister(t->fd, t->agents[i]);
	if (t->fd >= 0)
		umad_close_port(t->fd);
	if (t->events >= 0)
		close(t->events);
	drop_unread(t->ring);
	ring_free(t->ring);
	free(t->big);
	free(t);
	return NULL;
}

static const struct transport_ops umad_ops = {
	.fd = op_fd,
	.send = op_send,
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

static int open_port(struct umad_transport *t, char *why, size_t why_len)
{
	int error;

	errno = 0;
	t->fd = umad_open_port(t->device, t->port);
	if (t->fd >= 0)
		return 0;
	error = umad_error(t->fd);
	t->fd = -1;
	snprintf(why, why_len, "cannot open %s: %s", t->name, strerror(-error));
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

static int register_agents(struct umad_transport *t, char *why, size_t why_len)
{
	int error;

	for (size_t i = 0; i < ARRAY_SIZE(agent_rows); i++) {
		const struct agent_row *row = &agent_rows[i];
		long mask[16 / sizeof(long)] = { (long)row->methods };

		errno = 0;
		t->agents[i] = umad_register(t->fd, row->mgmt_class, row->version, row->rmpp, mask);
		if (t->agents[i] >= 0)
			continue;
		error = umad_error(t->agents[i]);
		snprintf(why, why_len,
			 "%s: management class 0x%02x refused (%s): another subnet manager?",
			 t->name, row->mgmt_class, strerror(-error));
		/*
		 * The kernel says EINVAL, libibumad EPERM, when another program receives these
		 * methods.
		 */
		return error == -EINVAL || error == -EPERM || error == -EBUSY ? -EBUSY : error;
	}
	return 0;
}

static int watch_fd(struct umad_transport *t, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };

	return epoll_ctl(t->events, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static int start_transport(struct umad_transport *t, char *why, size_t why_len)
{
	int r = open_port(t, why, why_len);

	if (r == 0)
		r = register_agents(t, why, why_len);
	if (r < 0)
		return r;
	t->ring = ring_new(RING_SLOTS, sizeof(struct slot));
	t->sender = sender_new(write_out, t);
	t->events = epoll_create1(EPOLL_CLOEXEC);
	if (!t->ring || !t->sender || t->events < 0)
		r = -ENOMEM;
	if (r == 0)
		r = watch_fd(t, ring_fd(t->ring));
	if (r == 0)
		r = watch_fd(t, sender_fd(t->sender));
	if (r == 0)
		r = start_thread(t);
	if (r < 0)
		snprintf(why, why_len, "%s: %s", t->name, strerror(-r));
	return r;
}

static struct umad_transport *umad_transport_new(const struct umad_port_choice *choice)
{
	struct umad_transport *t = xcalloc(1, sizeof(*t));

	t->base.ops = &umad_ops;
	t->base.port_guid = choice->guid;
	t->fd = -1;
	t->issm = -1;
	t->events = -1;
	for (size_t i = 0; i < ARRAY_SIZE(agent_rows); i++)
		t->agents[i] = -1;
	t->port = choice->port;
	snprintf(t->device, sizeof(t->device), "%.*s", UMAD_CA_NAME_LEN - 1, choice->device);
	snprintf(t->name, sizeof(t->name), "%s/%d", t->device, t->port);
	return t;
}

int umad_transport_open(uint64_t guid, struct transport **ret, char *why, size_t why_len)
{
	struct umad_port_choice ports[MAX_PORTS];
	struct umad_transport *t;
	int n, i, r;

	assert(ret && why && why_len > 0);
	n = umad_list_ports(ports, MAX_PORTS);
	i = umad_choose_port(ports, n < 0 ? 0 : (size_t)n, guid);
	if (i < 0) {
		if (n <= 0)
			snprintf(why, why_len, "this host has no InfiniBand port");
		else
			snprintf(why, why_len,
				 "none of this host's %d InfiniBand ports has GUID 0x%016llx", n,
				 (unsigned long long)guid);
		return -ENODEV;
	}
	t = umad_transport_new(&ports[i]);
	r = start_transport(t, why, why_len);
	if (r < 0) {
		op_close(&t->base);
		return r;
	}
	snprintf(why, why_len, "%s", t->name);
	*ret = &t->base;
	return 0;
}
