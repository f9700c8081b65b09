// SPDX-License-Identifier: BSD-2-Clause
/*
 * A subnet manager for the endpoints of opensm-rest: partitions in memory by the rules of the
 * control socket, and a small fabric, without any of the daemon.
 *
 * Hosts h0 to h3, each with GUID 946dae030059000N; h2 has two adapters, the second with GUID
 * 946dae0300590012. P_Key 0x6000 is from the file. Calls are checked as the daemon would: a bad
 * call fails the test. Ports out of service are kept as they are named; port 3 of leaf1 is the only
 * path to some host, and no port above 40 is known.
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
	unsigned pkey; /* 0: empty row */
	char name[64];
	bool ipoib, is_file, keep;
	int mtu, rate, sl;
	int64_t generation;
	struct fake_member members[FAKE_MEMBERS];
	size_t n;
};

/* Error of changes that name this host alone. */
struct fake_host_fail {
	const char *host, *name;
};

#define FAKE_MARKS 8

#define FAKE_FIRST_JOB 1796000000

struct fake_mark {
	uint64_t guid;
	unsigned port; /* 0: the whole switch */
};

struct rest_fake {
	struct rest_backend backend;
	struct fake_partition all[FAKE_PARTITIONS]; /* all[0] is P_Key 0x7fff */
	int64_t generation;
	struct fake_mark marks[FAKE_MARKS];
	size_t n_marks;
	int64_t marks_generation;
	size_t n_jobs;
	bool job_runs; /* set if the latest job goes on */
	const char *fails;	   /* error of all calls; NULL: none */
	const char *change_fails_once; /* error of the next change */
	struct fake_host_fail host_fails[2];
	const char *topology;	   /* another Topology document; NULL: the usual one */
	char expected[200];	   /* text of the expected topology; "": none is in force */
	/* reason in answers why changes are refused; NULL: they are not */
	const char *closed;
	/* ports not confirmed, and number of them that each call confirms */
	unsigned open, open_falls;
	unsigned asked;		   /* number of calls of TenantPartitions */
	struct json_object *last;  /* parameters of the last call */
	char last_method[40];
	bool keys_per_port;	   /* value of m_key_per_port */
	bool secret_keys;	   /* set if Options has keys other than the defaults */
	bool drawn_key;		   /* value of randomize_sa_key */
	bool replicated;	   /* set if a standby stores changes, too */
};

void fake_start(struct rest_fake *f);
void fake_stop(struct rest_fake *f);

/* Further properties of a request; zeros are defaults. */
struct fake_manner {
	const char *if_match;
	bool known_only;
	const char *user; /* NULL: "admin" */
	mono_t patience; /* time for an answer */
};

/*
 * Sends "POST", "/resources/pkeys/?a=b", a JSON text or NULL. The answer is to be cleared. Without
 * an endpoint its status is 404 or 405.
 */
void fake_request(struct rest_fake *f, const char *method, const char *target, const char *body,
		  const struct fake_manner *manner, struct rest_answer *ret);
