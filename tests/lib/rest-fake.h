// SPDX-License-Identifier: BSD-2-Clause
/*
 * A subnet manager for the endpoints of opensm-rest: partitions in memory by the rules of the
 * control socket, and a small fabric, without any of the daemon.
 *
 * Hosts h0 to h3, each with GUID 946dae030059000N; h2 has two adapters, the second with GUID
 * 946dae0300590012. P_Key 0x6000 is of the file. What is sent to the manager is checked here, as
 * the daemon would: a bad call fails the test. Ports out of service are kept as they are named;
 * port 3 of leaf1 is the last way to something, and no port above 40 is known.
 */
#pragma once

#include "rest/rest.h"

#define FAKE_PARTITIONS 64
#define FAKE_MEMBERS	256

struct fake_member {
	uint64_t guid;
	bool full, index0;
};

struct fake_partition {
	unsigned pkey; /* 0: none */
	char name[64];
	bool ipoib, is_file, keep;
	int mtu, rate, sl;
	int64_t generation;
	struct fake_member members[FAKE_MEMBERS];
	size_t n;
};

/* A change that names this host alone has this error. */
struct fake_host_fail {
	const char *host, *name;
};

#define FAKE_MARKS 8

struct fake_mark {
	uint64_t guid;
	unsigned port; /* 0: a switch as a whole */
};

struct rest_fake {
	struct rest_backend backend;
	struct fake_partition all[FAKE_PARTITIONS]; /* all[0] is 0x7fff */
	int64_t generation;
	struct fake_mark marks[FAKE_MARKS];
	size_t n_marks;
	int64_t marks_generation;
	const char *fails;	   /* name of the error that every call has; NULL: none */
	const char *change_fails_once; /* name of the error of the next change */
	struct fake_host_fail host_fails[2];
	const char *topology;	   /* the document, if it is another one */
	char expected[200];	   /* topology, as text; "": none is in force */
	const char *closed;	   /* why nothing can be changed, as reads have it; NULL: it can */
	unsigned open, open_falls; /* ports not confirmed, and how many are so by the next call */
	unsigned asked;		   /* calls of TenantPartitions */
	struct json_object *last;  /* parameters of the last call */
	char last_method[40];
	bool keys_per_port;	   /* m_key_per_port is TRUE */
	bool secret_keys;	   /* Options has keys that are not the usual ones */
	bool drawn_key;		   /* randomize_sa_key is TRUE */
	bool replicated;	   /* a standby stores changes too */
};

void fake_start(struct rest_fake *f);
void fake_stop(struct rest_fake *f);

/* What is beside method, target and body in a request; zeros are fine. */
struct fake_manner {
	const char *if_match;
	bool known_only;
	const char *user; /* NULL: "admin" */
	mono_t patience; /* time for an answer */
};

/*
 * "POST", "/resources/pkeys/?a=b", a JSON text or NULL. The answer is to be cleared. An answer
 * without an endpoint has the status 404, or 405.
 */
void fake_request(struct rest_fake *f, const char *method, const char *target, const char *body,
		  const struct fake_manner *manner, struct rest_answer *ret);
