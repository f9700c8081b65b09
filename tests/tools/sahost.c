// SPDX-License-Identifier: BSD-2-Clause
/*
 * A host as subnet administration sees it: asks over libibumad what the Linux kernel's ib_sa, ipoib
 * and the RDMA CM ask, word by word, and prints one line per answer.
 *
 *   sahost ipoib 0xffff path 0x100003 0xffff leave ff12:401b:ffff::ffff:ffff
 *
 * Words are taken in turn:
 *   cpi                     ClassPortInfo, as ib_sa asks first
 *   ipoib PKEY              joins the broadcast group, then all-hosts with the broadcast's
 *                           parameters
 *   join MGID PKEY STATE    joins, with all components that creation needs
 *   leave MGID STATE        leaves
 *   path GUID PKEY          PathRecord as ipoib asks
 *   cma GUID PKEY           PathRecord as rdma_resolve_route asks
 *   subscribe | unsubscribe everything there is to hear
 *   listen SECONDS          prints Reports and answers them
 *   die                     ends without leaving anything
 */
#include <arpa/inet.h>
#include <endian.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ib/records.h"
#include "util/mem.h"

#define TIMEOUT_MS 3000

static struct host {
	int port;
	int agent;
	uint16_t sm_lid;
	uint64_t prefix, guid;
	uint32_t tid;
	void *buffer;
	uint8_t broadcast[MCM_BYTES]; /* what the last broadcast join was answered */
} host;

static void fail(const char *what)
{
	fprintf(stderr, "sahost: %s\n", what);
	exit(2);
}

static void open_port(void)
{
	long reports[16 / sizeof(long)] = { 1L << MAD_REPORT };
	umad_port_t port;

	if (umad_init() < 0 || umad_get_port(NULL, 0, &port) < 0)
		fail("no port");
	host.sm_lid = (uint16_t)port.sm_lid;
	host.guid = be64toh(port.port_guid);
	host.prefix = be64toh(port.gid_prefix);
	umad_release_port(&port);
	host.port = umad_open_port(NULL, 0);
	if (host.port < 0)
		fail("the port does not open");
	/* libumad2sim crashes at MADs of a class that is not registered. */
	umad_register(host.port, MAD_CLASS_SMI_LID, 1, 0, NULL);
	umad_register(host.port, MAD_CLASS_SMI_DR, 1, 0, NULL);
	host.agent = umad_register(host.port, MAD_CLASS_SA, 2, 1, reports);
	if (host.agent < 0)
		fail("class SA cannot be registered");
	host.buffer = xcalloc(1, umad_size() + 65536);
}

static uint8_t *mad(void)
{
	return umad_get_mad(host.buffer);
}

static void put_gid(uint8_t *p, uint64_t guid)
{
	ib_bits_put(p, 0, 64, host.prefix);
	ib_bits_put(p, 64, 64, guid);
}

static void answer_report(void)
{
	const uint8_t *notice = mad() + SA_DATA;
	char gid[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, notice + NOTICE_GID, gid, sizeof(gid));
	printf("report %u %s\n", (unsigned)ib_get(notice, NT_TRAP), gid);
	fflush(stdout);
	ib_put(mad(), SAH_METHOD, MAD_REPORT_RESP);
	umad_send(host.port, host.agent, host.buffer, MAD_SIZE, 0, 0);
}

/* The next answer. False: none within `ms`; Reports are answered on the way. */
static bool receive(int ms)
{
	int length = 65536;

	if (umad_recv(host.port, host.buffer, &length, ms) < 0 || umad_status(host.buffer))
		return false;
	if (ib_get(mad(), SAH_METHOD) != MAD_REPORT)
		return true;
	answer_report();
	return receive(ms);
}

/* Asks; the SA status, or -1 without an answer. */
static int ask(unsigned method, unsigned attr, uint64_t mask, const void *data, size_t len)
{
	memset(host.buffer, 0, umad_size() + MAD_SIZE);
	umad_set_addr(host.buffer, host.sm_lid, 1, 0, (int)MAD_QP1_QKEY);
	ib_put(mad(), SAH_BASE_VERSION, 1);
	ib_put(mad(), SAH_CLASS, MAD_CLASS_SA);
	ib_put(mad(), SAH_CLASS_VERSION, 2);
	ib_put(mad(), SAH_METHOD, method);
	ib_put(mad(), SAH_TID, ++host.tid);
	ib_put(mad(), SAH_ATTR_ID, attr);
	ib_put(mad(), SAH_COMP_MASK, mask);
	memcpy(mad() + SA_DATA, data, len);
	if (umad_send(host.port, host.agent, host.buffer, MAD_SIZE, TIMEOUT_MS, 0) < 0)
		fail("a request cannot be sent");
	return receive(TIMEOUT_MS + 1000) ? (int)ib_get(mad(), SAH_STATUS) : -1;
}

static const uint8_t *record(void)
{
	return mad() + SA_DATA;
}

static void tell(const char *what, const char *arg, int status)
{
	if (status < 0)
		printf("%s %s: no answer", what, arg);
	else
		printf("%s %s: status 0x%04x", what, arg, (unsigned)status);
}

static void tell_group(const char *what, const char *arg, int status)
{
	tell(what, arg, status);
	if (status == 0)
		printf(" mlid 0x%04x mtu %u rate %u qkey 0x%x state %u",
		       (unsigned)ib_get(record(), MCM_MLID), (unsigned)ib_get(record(), MCM_MTU),
		       (unsigned)ib_get(record(), MCM_RATE), (unsigned)ib_get(record(), MCM_QKEY),
		       (unsigned)ib_get(record(), MCM_JOIN_STATE));
	printf("\n");
}

static int change(unsigned method, const char *mgid, unsigned state, uint64_t more, uint8_t *r)
{
	if (inet_pton(AF_INET6, mgid, ib_at(r, MCM_MGID)) != 1)
		fail("MGID expected");
	put_gid(ib_at(r, MCM_PORT_GID), host.guid);
	ib_put(r, MCM_JOIN_STATE, state);
	return ask(method, SA_MC_MEMBER_RECORD,
		   SA_COMP(MCM_MGID) | SA_COMP(MCM_PORT_GID) | SA_COMP(MCM_JOIN_STATE) | more, r,
		   MCM_BYTES);
}

/*
 * As ipoib: the broadcast group with next to nothing, every other one with the broadcast's
 * parameters.
 */
static void ipoib(const char *pkey_text)
{
	unsigned pkey = (unsigned)strtoul(pkey_text, NULL, 0) | 0x8000;
	uint8_t r[MCM_BYTES] = { 0 };
	char mgid[64];
	int status;

	snprintf(mgid, sizeof(mgid), "ff12:401b:%x::ffff:ffff", pkey);
	ib_put(r, MCM_PKEY, pkey);
	status = change(MAD_SET, mgid, MC_FULL, SA_COMP(MCM_PKEY), r);
	tell_group("broadcast", pkey_text, status);
	if (status)
		return;
	memcpy(host.broadcast, record(), sizeof(host.broadcast));
	memcpy(r, host.broadcast, sizeof(r));
	ib_put(r, MCM_MLID, 0);
	snprintf(mgid, sizeof(mgid), "ff12:401b:%x::1", pkey);
	status = change(MAD_SET, mgid, MC_FULL,
			SA_COMP(MCM_PKEY) | SA_COMP(MCM_QKEY) | SA_COMP(MCM_MTU_SEL) |
				SA_COMP(MCM_MTU) | SA_COMP(MCM_TCLASS) | SA_COMP(MCM_RATE_SEL) |
				SA_COMP(MCM_RATE) | SA_COMP(MCM_SL) | SA_COMP(MCM_FLOW) |
				SA_COMP(MCM_HOP),
			r);
	tell_group("all-hosts", pkey_text, status);
}

static void join(const char *mgid, const char *pkey, const char *state)
{
	uint8_t r[MCM_BYTES] = { 0 };

	ib_put(r, MCM_PKEY, strtoul(pkey, NULL, 0));
	ib_put(r, MCM_QKEY, 0x0B1B);
	tell_group("join", mgid,
		   change(MAD_SET, mgid, (unsigned)strtoul(state, NULL, 0),
			  SA_COMP(MCM_PKEY) | SA_COMP(MCM_QKEY) | SA_COMP(MCM_TCLASS) |
				  SA_COMP(MCM_SL) | SA_COMP(MCM_FLOW),
			  r));
}

static void leave(const char *mgid, const char *state)
{
	uint8_t r[MCM_BYTES] = { 0 };
	int status = change(MAD_SA_DELETE, mgid, (unsigned)strtoul(state, NULL, 0), 0, r);

	tell("leave", mgid, status);
	printf("\n");
}

static void path(const char *what, const char *guid, const char *pkey)
{
	uint64_t mask = SA_COMP(PR_SGID) | SA_COMP(PR_DGID) | SA_COMP(PR_PKEY) |
			SA_COMP(PR_NUMB_PATH) | SA_COMP(PR_TCLASS);
	uint8_t r[PR_BYTES] = { 0 };
	int status;

	put_gid(ib_at(r, PR_SGID), host.guid);
	put_gid(ib_at(r, PR_DGID), strtoull(guid, NULL, 0));
	ib_put(r, PR_PKEY, strtoul(pkey, NULL, 0));
	ib_put(r, PR_NUMB_PATH, 1);
	if (strcmp(what, "cma") == 0) {
		mask = (mask & ~SA_COMP(PR_TCLASS)) | SA_COMP(PR_REVERSIBLE) |
		       SA_COMP(PR_QOS_CLASS) | SA_COMP(PR_SERVICE_ID_MSB) |
		       SA_COMP(PR_SERVICE_ID_LSB);
		ib_put(r, PR_REVERSIBLE, 1);
		ib_bits_put(r, 0, 64, 0x0000000001064853ull);
	}
	status = ask(MAD_GET, SA_PATH_RECORD, mask, r, sizeof(r));
	tell(what, guid, status);
	if (status == 0)
		printf(" dlid %u pkey 0x%04x mtu %u rate %u life %u",
		       (unsigned)ib_get(record(), PR_DLID), (unsigned)ib_get(record(), PR_PKEY),
		       (unsigned)ib_get(record(), PR_MTU), (unsigned)ib_get(record(), PR_RATE),
		       (unsigned)ib_get(record(), PR_LIFE));
	printf("\n");
}

static void subscribe(bool on)
{
	uint8_t r[INF_BYTES] = { 0 };
	int status;

	ib_put(r, INF_LID_BEGIN, 0xFFFF);
	ib_put(r, INF_IS_GENERIC, 1);
	ib_put(r, INF_SUBSCRIBE, on);
	ib_put(r, INF_TYPE, 0xFFFF);
	ib_put(r, INF_TRAP, 0xFFFF);
	ib_put(r, INF_QPN, 1);
	ib_put(r, INF_PRODUCER, 0xFFFFFF);
	status = ask(MAD_SET, SA_INFORM_INFO, 0, r, sizeof(r));
	tell(on ? "subscribe" : "unsubscribe", "all", status);
	printf("\n");
}

static void class_port_info(void)
{
	int status = ask(MAD_GET, SA_CLASS_PORT_INFO, 0, "", 1);

	tell("cpi", "", status);
	if (status == 0)
		printf(" send-only-full-member %u",
		       (unsigned)ib_get(record(), CPI_CAP_MASK2) >> 12 & 1);
	printf("\n");
}

static void listen_for(const char *seconds)
{
	time_t until = time(NULL) + atoi(seconds);

	printf("listening\n");
	fflush(stdout);
	while (time(NULL) < until)
		receive(100);
}

static char **words;

static const char *word(void)
{
	if (!*words)
		fail("a word is missing at the end");
	return *words++;
}

static void obey(const char *w)
{
	const char *a, *b;

	if (strcmp(w, "cpi") == 0) {
		class_port_info();
	} else if (strcmp(w, "ipoib") == 0) {
		ipoib(word());
	} else if (strcmp(w, "join") == 0) {
		a = word();
		b = word();
		join(a, b, word());
	} else if (strcmp(w, "leave") == 0) {
		a = word();
		leave(a, word());
	} else if (strcmp(w, "path") == 0 || strcmp(w, "cma") == 0) {
		a = word();
		path(w, a, word());
	} else if (strcmp(w, "subscribe") == 0 || strcmp(w, "unsubscribe") == 0) {
		subscribe(w[0] == 's');
	} else if (strcmp(w, "listen") == 0) {
		listen_for(word());
	} else if (strcmp(w, "die") == 0) {
		_Exit(0);
	} else {
		fail("unknown word");
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	words = argv + 1;
	if (!*words) {
		fprintf(stderr, "usage: sahost WORD...: see the head of tests/tools/sahost.c\n");
		return 2;
	}
	open_port();
	while (*words)
		obey(*words++);
	umad_unregister(host.port, host.agent);
	umad_close_port(host.port);
	free(host.buffer);
	return 0;
}
