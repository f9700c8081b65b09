// SPDX-License-Identifier: BSD-2-Clause
/*
 * Sessions of long messages; see rmpp.h.
 *
 *   sending     SENDING --last ACK--> gone; a request then waits for its answer like any other
 *               SENDING --no ACK, tries used up--> gone, the message comes back
 *               SENDING --STOP, ABORT, nonsense--> gone
 *   receiving   RECEIVING --all segments--> COMPLETE --10 s--> gone
 *               RECEIVING --40 s--> EXPIRED --10 s--> gone
 *
 * Not here: whether a program waits for the message (agent.c).
 */
#include "sim/rmpp.h"

#include <errno.h>

#include "ib/records.h"
#include "sim/agent_internal.h"

#define RMPP_HEAD      36u /* common and RMPP header: what payload lengths count from */
#define WINDOW	       64u /* segments: an eighth of the kernel's receive queue */
#define ACK_WAIT_MS    2000u
#define MESSAGE_WAIT   (40 * MONO_S)
#define DUPLICATE_WAIT (10 * MONO_S)
#define SESSIONS_MAX   65536u /* receiving, per agent */
#define NO_RESP_TIME   0x1F

enum rmpp_state { SENDING, RECEIVING, COMPLETE, EXPIRED };

struct rmpp {
	struct rmpp *next; /* bucket */
	struct agent *agent;
	struct event *timer;
	enum rmpp_state state;
	struct transport_addr peer; /* to send to; its lid tells sessions apart */
	unsigned head_length;	    /* before the data, repeated in each segment */
	uint8_t head[MAD_SIZE];	    /* the first segment */
	uint8_t *data;	   /* all data behind the header; the sender's is padded with zeros */
	size_t length;	   /* bytes of data; when receiving: bytes allocated */
	uint32_t segments; /* sending: all; receiving: the last one's number, 0 unknown */
	uint32_t at;	   /* sending: last sent; receiving: last without a gap */
	uint32_t acked;
	uint32_t window;       /* last segment the receiver takes */
	uint32_t reply_window; /* when receiving: segments that the sender accepts of our answer */
	uint32_t last_payload; /* receiving: payload length of the last segment */
	uint64_t early;	       /* receiving: segments after a gap, bit n: at + 1 + n */
	unsigned timeout_ms;
	unsigned retries, retries_left;
};

#define BUCKETS 256u

struct rmpp_table {
	struct rmpp *bucket[BUCKETS];
	unsigned receiving;
};

/* ---- headers ---- */

unsigned rmpp_header_length(unsigned mgmt_class)
{
	switch (mgmt_class) {
	case MAD_CLASS_SA:
		return SA_DATA;
	case 0x10: /* DevAdm */
	case 0x12: /* BIS */
		return 64;
	default:
		return mgmt_class >= 0x30 && mgmt_class <= 0x4F ? 40 : 0;
	}
}

bool rmpp_is_active(const uint8_t *mad)
{
	return rmpp_header_length((unsigned)ib_get(mad, SAH_CLASS)) &&
	       (ib_get(mad, SAH_RMPP_FLAGS) & RMPP_ACTIVE);
}

static unsigned data_size(const struct rmpp *s)
{
	return MAD_SIZE - s->head_length;
}

/* Bytes of a segment behind RMPP_HEAD: the rest of the header and its part of the data. */
static unsigned payload_size(void)
{
	return MAD_SIZE - RMPP_HEAD;
}

static bool is_sending(const struct rmpp *s)
{
	return s->state == SENDING;
}

/* ---- the table ---- */

static struct rmpp **bucket_of(struct agent *a, const uint8_t *mad)
{
	return &a->sessions->bucket[ib_get(mad, SAH_TID) % BUCKETS];
}

static bool same_conversation(const struct rmpp *s, const uint8_t *mad, unsigned method)
{
	return ib_get(s->head, SAH_TID) == ib_get(mad, SAH_TID) &&
	       ib_get(s->head, SAH_CLASS) == ib_get(mad, SAH_CLASS) &&
	       ib_get(s->head, SAH_METHOD) == method;
}

/* The session with this TID and class, whose own messages have `method`. */
static struct rmpp *find_session(struct agent *a, const uint8_t *mad, unsigned method, lid_t peer,
				 bool sending)
{
	struct rmpp *s = a->sessions ? *bucket_of(a, mad) : NULL;

	while (s && (is_sending(s) != sending || s->peer.lid != peer ||
		     !same_conversation(s, mad, method)))
		s = s->next;
	return s;
}

/* A packet back to the sender of this one. */
static struct transport_addr back_to(const struct transport_addr *from)
{
	struct transport_addr to = *from;

	to.qkey = MAD_QP1_QKEY;
	return to;
}

static struct rmpp *session_new(struct agent *a, const uint8_t *head, enum rmpp_state state)
{
	struct rmpp *s = xcalloc(1, sizeof(*s));
	struct rmpp **at;

	if (!a->sessions)
		a->sessions = xcalloc(1, sizeof(*a->sessions));
	at = bucket_of(a, head);
	s->agent = a;
	s->state = state;
	s->head_length = rmpp_header_length((unsigned)ib_get(head, SAH_CLASS));
	memcpy(s->head, head, MAD_SIZE);
	s->window = 1;
	s->reply_window = 1;
	if (state != SENDING)
		a->sessions->receiving++;
	s->next = *at;
	*at = s;
	return s;
}

static void stop_timer(struct rmpp *s)
{
	if (s->timer) {
		queue_remove(s->agent->sim, s->timer);
		event_free(s->agent->sim, s->timer);
	}
	s->timer = NULL;
}

static void start_timer(struct rmpp *s, mono_t in)
{
	struct sim *sim = s->agent->sim;

	stop_timer(s);
	s->timer = event_new(sim, EV_RMPP);
	s->timer->owner = s;
	queue_add(sim, s->timer, sim->now + in);
}

static void session_free(struct rmpp *s)
{
	struct rmpp_table *table = s->agent->sessions;
	struct rmpp **at = bucket_of(s->agent, s->head);

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	table->receiving -= !is_sending(s);
	stop_timer(s);
	free(s->data);
	free(s);
}

void rmpp_close(struct agent *a)
{
	for (unsigned i = 0; a->sessions && i < BUCKETS; i++)
		while (a->sessions->bucket[i])
			session_free(a->sessions->bucket[i]);
	free(a->sessions);
	a->sessions = NULL;
}

/* ---- ACK and ABORT ---- */

struct control {
	enum rmpp_type type;
	enum rmpp_status status;
	uint32_t number;
	uint32_t window;
};

/* An answer to a segment: its header, the method turned round. */
static void send_control(struct agent *a, const struct transport_addr *to, const uint8_t *segment,
			 const struct control *c)
{
	unsigned length = rmpp_header_length((unsigned)ib_get(segment, SAH_CLASS));
	uint8_t mad[MAD_SIZE] = { 0 };

	memcpy(mad, segment, length);
	ib_put(mad, SAH_METHOD, ib_get(segment, SAH_METHOD) ^ MAD_RESPONSE_BIT);
	ib_put(mad, SAH_RMPP_VERSION, 1);
	ib_put(mad, SAH_RMPP_TYPE, c->type);
	ib_put(mad, SAH_RMPP_RESP_TIME, NO_RESP_TIME);
	ib_put(mad, SAH_RMPP_FLAGS, RMPP_ACTIVE);
	ib_put(mad, SAH_RMPP_STATUS, c->status);
	ib_put(mad, SAH_RMPP_SEGMENT, c->number);
	ib_put(mad, SAH_RMPP_LENGTH, c->window);
	agent_emit(a, to, mad, MAD_SIZE);
}

static void send_ack(struct agent *a, const struct transport_addr *to, const uint8_t *segment,
		     uint32_t number, uint32_t window)
{
	send_control(a, to, segment, &(struct control){ RMPP_ACK, RMPP_OK, number, window });
}

static void send_abort(struct agent *a, const struct event *ev, enum rmpp_status status)
{
	struct transport_addr to = back_to(&ev->from);

	send_control(a, &to, ev->mad, &(struct control){ .type = RMPP_ABORT, .status = status });
}

/* ---- sending ---- */

static void send_segment(struct rmpp *s, uint32_t number)
{
	uint8_t mad[MAD_SIZE];
	unsigned size = data_size(s), pad = (unsigned)(s->segments * size - s->length),
		 flags = RMPP_ACTIVE;
	uint32_t payload = 0;

	memcpy(mad, s->head, s->head_length);
	memcpy(mad + s->head_length, s->data + (size_t)(number - 1) * size, size);
	if (number == 1) {
		flags |= RMPP_FIRST;
		payload = s->segments * payload_size() - pad;
	}
	if (number == s->segments) {
		flags |= RMPP_LAST;
		payload = payload_size() - pad;
	}
	ib_put(mad, SAH_RMPP_VERSION, 1);
	ib_put(mad, SAH_RMPP_TYPE, RMPP_DATA);
	ib_put(mad, SAH_RMPP_FLAGS, flags);
	ib_put(mad, SAH_RMPP_STATUS, 0);
	ib_put(mad, SAH_RMPP_SEGMENT, number);
	ib_put(mad, SAH_RMPP_LENGTH, payload);
	agent_emit(s->agent, &s->peer, mad, MAD_SIZE);
}

/* Everything the window allows, then a while for the acknowledgement. */
static void send_window(struct rmpp *s)
{
	while (s->at < s->segments && s->at < s->window)
		send_segment(s, ++s->at);
	start_timer(s, (s->timeout_ms ? MIN(s->timeout_ms, ACK_WAIT_MS) : ACK_WAIT_MS) * MONO_MS);
}

/* The window that the requester has named for the answer (13.6.6.3); 1 without any. */
static uint32_t window_of_answer(struct agent *a, const uint8_t *head, lid_t peer)
{
	unsigned method = (unsigned)ib_get(head, SAH_METHOD);
	const struct rmpp *asked;

	if (!(method & MAD_RESPONSE_BIT))
		return 1;
	asked = find_session(a, head, method & ~MAD_RESPONSE_BIT, peer, false);
	return asked ? asked->reply_window : 1;
}

int rmpp_send(struct agent *a, const struct transport_addr *to, const struct rmpp_message *m,
	      unsigned timeout_ms, unsigned retries)
{
	unsigned header = rmpp_header_length((unsigned)ib_get(m->head, SAH_CLASS));
	bool response = mad_is_response(m->head);
	uint8_t *data;
	struct rmpp *s;
	size_t n;

	if (m->length < header)
		return -EINVAL;
	if (find_session(a, m->head, (unsigned)ib_get(m->head, SAH_METHOD), to->lid, true))
		return -EINVAL;
	n = (m->length - header + MAD_SIZE - header - 1) / (MAD_SIZE - header);
	n = MAX(n, (size_t)1);
	data = try_calloc(n, MAD_SIZE - header, TRANSPORT_MESSAGE_MAX + MAD_SIZE);
	if (!data)
		return -ENOMEM;
	if (!response && timeout_ms && agent_expect(a, to, m->head, 0, 0) < 0) {
		free(data);
		return -EINVAL;
	}
	memcpy(data, m->bytes + header, m->length - header);
	s = session_new(a, m->head, SENDING);
	s->data = data;
	s->length = m->length - header;
	s->segments = (uint32_t)n;
	s->peer = *to;
	s->timeout_ms = timeout_ms;
	s->retries = s->retries_left = retries;
	s->window = window_of_answer(a, m->head, to->lid);
	send_window(s);
	return 0;
}

/* The message will not arrive. */
static void send_failed(struct rmpp *s, int error)
{
	struct agent *a = s->agent;
	struct transport_event back = {
		.kind = TRANSPORT_RETURNED, .error = error, .from = s->peer, .length = MAD_SIZE
	};

	memcpy(back.mad, s->head, MAD_SIZE);
	session_free(s);
	agent_forget(a, back.mad);
	a->spec.deliver(a->spec.owner, &back);
}

static void all_acked(struct rmpp *s)
{
	struct agent *a = s->agent;
	unsigned timeout_ms = s->timeout_ms;
	uint8_t head[MAD_SIZE];

	memcpy(head, s->head, MAD_SIZE);
	session_free(s);
	agent_wait(a, head, timeout_ms);
}

static void no_ack_came(struct rmpp *s)
{
	if (s->retries_left == 0) {
		send_failed(s, -ETIMEDOUT);
		return;
	}
	s->retries_left--;
	s->at = s->acked;
	send_window(s);
}

/* The session of ours that this MAD is about. */
static struct rmpp *sending_of(struct agent *a, const struct event *ev)
{
	return find_session(a, ev->mad, (unsigned)ib_get(ev->mad, SAH_METHOD) ^ MAD_RESPONSE_BIT,
			    ev->from.lid, true);
}

static void abort_sending(struct agent *a, const struct event *ev)
{
	struct rmpp *s = sending_of(a, ev);

	if (s)
		send_failed(s, -ECONNABORTED);
}

static void both_abort(struct agent *a, const struct event *ev, enum rmpp_status status)
{
	abort_sending(a, ev);
	send_abort(a, ev, status);
}

/* ACK of segment 0: how much of the answer the other side takes at once. */
static void reply_window_named(struct agent *a, const struct event *ev, uint32_t window)
{
	struct rmpp *s = find_session(a, ev->mad, (unsigned)ib_get(ev->mad, SAH_METHOD),
				      ev->from.lid, false);

	if (s && s->state == COMPLETE)
		s->reply_window = window;
}

static void ack_arrived(struct agent *a, const struct event *ev)
{
	uint32_t number = (uint32_t)ib_get(ev->mad, SAH_RMPP_SEGMENT),
		 window = (uint32_t)ib_get(ev->mad, SAH_RMPP_LENGTH);
	struct transport_addr to = back_to(&ev->from);
	struct rmpp *s = sending_of(a, ev);

	if (ib_get(ev->mad, SAH_RMPP_STATUS))
		both_abort(a, ev, RMPP_BAD_STATUS);
	else if (window < number)
		both_abort(a, ev, RMPP_WINDOW_TOO_SMALL);
	else if (!s && number == 0)
		reply_window_named(a, ev, window);
	else if (s && (number > s->segments || number > s->window))
		both_abort(a, ev, RMPP_SEGMENT_TOO_BIG);
	else if (s && window >= s->window && number >= s->acked) {
		if (number > s->acked)
			s->retries_left = s->retries;
		s->acked = number;
		s->at = MAX(s->at, number);
		s->window = window;
		if (number < s->segments) {
			send_window(s);
			return;
		}
		if (s->timeout_ms && !mad_is_response(s->head))
			send_ack(a, &to, ev->mad, 0, 1);
		all_acked(s);
	}
}

/* ---- receiving ---- */

static void acknowledge(struct rmpp *s, const uint8_t *segment)
{
	s->acked = s->at;
	send_ack(s->agent, &s->peer, segment, s->at, s->window);
}

/* Keeps the data of segment `number`; false: no memory for so much. */
static bool store(struct rmpp *s, const uint8_t *mad, uint32_t number)
{
	size_t size = data_size(s), need = number * size;

	if (need > TRANSPORT_MESSAGE_MAX)
		return false;
	if (need > s->length) {
		s->length = MAX(need, s->length * 2);
		s->data = xrealloc(s->data, s->length, 1);
	}
	memcpy(s->data + need - size, mad + s->head_length, size);
	if (ib_get(mad, SAH_RMPP_FLAGS) & RMPP_LAST) {
		s->segments = number;
		s->last_payload = (uint32_t)ib_get(mad, SAH_RMPP_LENGTH);
	}
	return true;
}

/* Length of the message: a last payload length that cannot be means all of the segment. */
static size_t message_length(const struct rmpp *s)
{
	uint32_t pad = s->last_payload <= payload_size() ? payload_size() - s->last_payload : 0;

	return s->head_length + (size_t)s->segments * data_size(s) - MIN(pad, data_size(s));
}

static void complete(struct rmpp *s, struct event *ev)
{
	struct agent *a = s->agent;
	size_t length = message_length(s);
	uint8_t *whole = NULL;

	s->state = COMPLETE;
	acknowledge(s, ev->mad);
	start_timer(s, DUPLICATE_WAIT);
	memcpy(ev->mad, s->head, MAD_SIZE);
	ev->length = MIN(length, (size_t)MAD_SIZE);
	if (length > MAD_SIZE) {
		whole = xmalloc(length);
		memcpy(whole, s->head, s->head_length);
		memcpy(whole + s->head_length, s->data, length - s->head_length);
	} else {
		memset(ev->mad + length, 0, MAD_SIZE - length);
	}
	free(s->data);
	s->data = NULL;
	s->length = 0;
	agent_accept(a, ev, whole, length);
}

static struct rmpp *receiving_of(struct agent *a, const struct event *ev)
{
	return find_session(a, ev->mad, (unsigned)ib_get(ev->mad, SAH_METHOD), ev->from.lid, false);
}

/* Moves the end of the part that has arrived without gaps. */
static void advance(struct rmpp *s)
{
	while (s->early & 1) {
		s->early >>= 1;
		s->at++;
	}
}

/* A segment of a message under way. Takes ev. */
static void next_segment(struct rmpp *s, struct event *ev)
{
	struct sim *sim = s->agent->sim;
	uint32_t number = (uint32_t)ib_get(ev->mad, SAH_RMPP_SEGMENT);
	uint64_t bit;

	if (s->state == EXPIRED || number > s->window) {
		event_free(sim, ev);
		return;
	}
	if (s->state == COMPLETE || number <= s->acked) {
		acknowledge(s, ev->mad);
		event_free(sim, ev);
		return;
	}
	/* A window ends at most WINDOW behind the last acknowledged, so the bit is there. */
	bit = number > s->at ? 1ull << (number - s->at - 1) : 0;
	if (!bit || (s->early & bit) || !store(s, ev->mad, number)) {
		event_free(sim, ev);
		return;
	}
	s->early |= bit;
	advance(s);
	if (s->at == s->segments) {
		complete(s, ev);
		return;
	}
	if (s->at == s->window) {
		s->window += WINDOW;
		acknowledge(s, ev->mad);
	}
	event_free(sim, ev);
}

/* The first segment of a message. Takes ev. */
static void first_segment(struct agent *a, struct event *ev)
{
	struct rmpp *s = receiving_of(a, ev);

	if (s) {
		next_segment(s, ev);
		return;
	}
	if (a->sessions && a->sessions->receiving >= SESSIONS_MAX) {
		event_free(a->sim, ev);
		return;
	}
	s = session_new(a, ev->mad, RECEIVING);
	s->peer = back_to(&ev->from);
	store(s, ev->mad, 1);
	s->at = 1;
	if (s->segments == 1) {
		complete(s, ev);
		return;
	}
	start_timer(s, MESSAGE_WAIT);
	s->window += WINDOW;
	acknowledge(s, ev->mad);
	event_free(a->sim, ev);
}

static void data_arrived(struct agent *a, struct event *ev)
{
	bool first = ib_get(ev->mad, SAH_RMPP_FLAGS) & RMPP_FIRST;
	struct rmpp *s;

	if (ib_get(ev->mad, SAH_RMPP_STATUS))
		send_abort(a, ev, RMPP_BAD_STATUS);
	else if (first != (ib_get(ev->mad, SAH_RMPP_SEGMENT) == 1))
		send_abort(a, ev, RMPP_BAD_SEGMENT);
	else if (first) {
		first_segment(a, ev);
		return;
	} else if ((s = receiving_of(a, ev))) {
		next_segment(s, ev);
		return;
	}
	event_free(a->sim, ev);
}

void rmpp_arrive(struct agent *a, struct event *ev)
{
	if (ib_get(ev->mad, SAH_RMPP_VERSION) != 1) {
		both_abort(a, ev, RMPP_BAD_VERSION);
		event_free(a->sim, ev);
		return;
	}
	switch (ib_get(ev->mad, SAH_RMPP_TYPE)) {
	case RMPP_DATA:
		data_arrived(a, ev);
		return;
	case RMPP_ACK:
		ack_arrived(a, ev);
		break;
	case RMPP_STOP:
	case RMPP_ABORT:
		abort_sending(a, ev);
		break;
	default:
		both_abort(a, ev, RMPP_BAD_TYPE);
	}
	event_free(a->sim, ev);
}

/* ---- time ---- */

/* Aborts an incomplete message: the sender is informed, late segments are ignored for a while. */
static void expire(struct rmpp *s)
{
	send_control(s->agent, &s->peer, s->head,
		     &(struct control){ .type = RMPP_ABORT, .status = RMPP_TIME_TOO_LONG });
	s->state = EXPIRED;
	start_timer(s, DUPLICATE_WAIT);
}

void rmpp_clock(struct sim *sim, struct event *ev)
{
	struct rmpp *s = ev->owner;

	s->timer = NULL;
	event_free(sim, ev);
	switch (s->state) {
	case SENDING:
		no_ack_came(s);
		break;
	case RECEIVING:
		expire(s);
		break;
	case COMPLETE:
	case EXPIRED:
		session_free(s);
		break;
	}
}

void rmpp_answered(struct agent *a, const uint8_t *mad)
{
	struct rmpp *s = a->sessions ? *bucket_of(a, mad) : NULL, *next;

	for (; s; s = next) {
		next = s->next;
		if (is_sending(s) &&
		    same_conversation(s, mad,
				      (unsigned)ib_get(mad, SAH_METHOD) & ~MAD_RESPONSE_BIT))
			session_free(s);
	}
}
