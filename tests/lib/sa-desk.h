// SPDX-License-Identifier: BSD-2-Clause
/*
 * Subnet Administration alone: a small fabric written directly into memory, an SA that serves a
 * view of it, and a transport that keeps the messages sent.
 *
 * struct desk *d = desk_new("tree 2 2 1");        // h0..h3, leaf1, leaf2, spine1; LIDs in this
 * order
 *
 * 	ib_put(desk_blank(d), NR_LID, 3);
 * 	a = desk_get(d, SA_NODE_RECORD, SA_COMP(NR_LID));
 * 	assert_int_equal(ib_get(desk_record(a, 0), NR_LID), 3);
 *
 * No simulator, no discovery, no sweep: tests/lib/rig.h has those.
 */
#pragma once

#include "fabric/fabric.h"
#include "sim/netfile/netfile.h"
#include "ib/records.h"
#include "sa/sa.h"
#include "util/guidmap.h"

/* An answer or another message of the SA. Valid until the next request. */
struct desk_message {
	struct transport_addr to;
	uint8_t *mad; /* at least 256 bytes */
	size_t len;   /* length as sent */
	unsigned timeout_ms;
	uint8_t method;
	uint16_t status, attr;
	unsigned n;    /* number of records; 0 with an error status */
	size_t stride; /* bytes from one record to the next, by AttributeOffset */
};

#define DESK_MAIL  256 /* most messages kept */
#define DESK_CELLS 16  /* most tables of devices requested and not answered */

struct desk {
	struct transport paper;
	struct netfile *net;
	struct fabric *fabric;
	struct conf *conf;
	struct conf_files *files; /* files of desk_policy(); NULL: none */
	struct view *view; /* the published view */
	struct mad_engine *mad;
	struct sa *sa;
	mono_t now;

	/* Properties of the next requests. */
	const char *from;	   /* name of the node; "h0" at first */
	struct transport_addr way; /* QP 1 at first; a LID other than 0 replaces that of `from` */
	uint64_t sm_key;
	uint32_t mod;
	bool rmpp;
	uint8_t record[SA_DATA_SIZE];

	/* Messages of the SA: the answer to the last request, all others in order. */
	struct desk_message answer, mail[DESK_MAIL];
	unsigned n_mail, next_mail;
	uint64_t n_sent, bytes_sent;
	bool reads_nothing; /* set if too many tables are being read from devices */
	int refuse;	/* result of the transport's send() */
	bool deaf;	/* set if messages are only counted */
	/* set if messages beyond DESK_MAIL are dropped; otherwise they are a failure */
	bool forgetful;

	/*
	 * Hooks. `cell` gives the contents of a device's table (false: no answer); NULL: 64 times
	 * the low byte of mod.
	 */
	bool (*cell)(struct desk *d, const struct sa_cell_address *at,
		     uint8_t payload[SMP_DATA_SIZE]);
	bool mute; /* set if devices answer only at desk_answer_cells() */
	struct {
		struct sa_cell_address at;
		uint64_t cookie;
	} cells[DESK_CELLS];
	unsigned n_cells, cells_asked;
	unsigned mcast_changes, guid_changes;
	lid_t mcast_last;    /* MLID of the last change */
	unsigned key_guessers; /* number of ports found guessing keys */
	guid_t guesser_last;
	unsigned abuses; /* number of events about refused requests of one port */
	char abuse_last[16];
	unsigned members_lost;
	guid_t lost_last;    /* port of the last member that was lost */
	guid_t guid_last;    /* port of the last GUIDInfo change */
	unsigned block_last; /* block of the last GUIDInfo change */

	struct guidmap *keys; /* port GUID -> struct desk_keys; other ports have 0xFFFF */
	uint64_t tid;
	bool waits; /* set while the answer to `tid` is missing */
	uint8_t lmc;
};

/*
 * Builds and publishes a fabric of words (sim/gen/gen.h): all ports ACTIVE, each host with P_Key
 * 0xFFFF.
 */
struct desk *desk_new(const char *words);
struct desk *desk_new_lmc(const char *words, uint8_t lmc);
struct desk *desk_free(struct desk *d);
void desk_freep(struct desk **d);
#define _desk_ _cleanup_(desk_freep) struct desk *

/* Sets a configuration option, in force at once (in views from the next desk_publish() on). */
void desk_conf(struct desk *d, const char *key, const char *value);
/* Sets qos to TRUE, with this text as qos-policy.conf. Publishes. */
void desk_policy(struct desk *d, const char *text);
/* Sets the P_Keys of an end port ("h0": port 1, "leaf1": port 0). Publishes. */
void desk_keys(struct desk *d, const char *node, unsigned n, const uint16_t *keys);
/* Sets the P_Keys at run time, without another change (sa_publish_pkeys()). */
void desk_move(struct desk *d, const char *node, unsigned n, const uint16_t *keys);
/* Removes a node; publishes a view after changes of the fabric by hand. */
void desk_remove(struct desk *d, const char *node);
void desk_publish(struct desk *d);

/* The node of a name, and its end port: port 1 of a host, port 0 of a switch. */
struct node *desk_node(struct desk *d, const char *name);
struct port *desk_end(struct desk *d, const char *name);
uint32_t desk_port(struct desk *d, const char *name); /* index of the end port in the view */
lid_t desk_lid(struct desk *d, const char *name);
void desk_gid(struct desk *d, const char *name, uint8_t ret[16]);

/* The record of the next request, zeroed; d->record. */
uint8_t *desk_blank(struct desk *d);
/* Sends a request, runs the SA until it is done, and returns the answer; NULL: there was none. */
const struct desk_message *desk_ask(struct desk *d, uint8_t method, uint16_t attr, uint64_t mask);
#define desk_get(d, attr, mask)	   desk_ask((d), MAD_GET, (attr), (mask))
#define desk_table(d, attr, mask)  desk_ask((d), MAD_SA_GET_TABLE, (attr), (mask))
#define desk_set(d, attr, mask)	   desk_ask((d), MAD_SET, (attr), (mask))
#define desk_delete(d, attr, mask) desk_ask((d), MAD_SA_DELETE, (attr), (mask))
/* Only passes a request to the SA; desk_settle() runs the SA, desk_reply() then is the answer. */
void desk_post(struct desk *d, uint8_t method, uint16_t attr, uint64_t mask);
/* Passes bytes of any length to the SA, unchanged, from the LID of d->from. */
void desk_post_raw(struct desk *d, const uint8_t *message, size_t len);
void desk_settle(struct desk *d);
const struct desk_message *desk_reply(struct desk *d);
/* Record `i` < n of an answer. */
const uint8_t *desk_record(const struct desk_message *a, unsigned i);
/* The next message that is no answer (Reports ...), oldest first; NULL: no more. */
const struct desk_message *desk_mail(struct desk *d);
/* Answers the requests for tables of devices so far (d->mute). */
void desk_answer_cells(struct desk *d);
/* Lets time pass. */
void desk_wait(struct desk *d, mono_t t);
