// SPDX-License-Identifier: BSD-2-Clause
/*
 * Managers of ours on a simulated fabric, and what was written of them to a trace (README.md). The
 * trace is that of one member row, and of the two P_Key tables that it decides: device 1 is the
 * port of a host, device 2 the port of the switch beside it, in the half of manager 1.
 *
 *   trace-ledger.c  what befalls them: lives at random, from a seed
 *   trace-watch.c   what they make of it: looks at all of them after each step
 *
 * `said` is what the lines so far have told of a manager, with what the model concludes from them.
 */
#pragma once

#include "tests/lib/rig.h"
#include "tests/lib/scratch.h"
#include "sm/ledger/settle.h"

#define TRACE_MANAGERS 3
#define TRACE_CHANGES  6
#define TRACE_PKEY     0x8u
#define TRACE_ENTRY    0x8008u /* of a full member, in tables */

struct trace;

struct manager {
	struct trace *trace;
	unsigned n; /* 0 is manager 1 */
	const char *node;
	char dir[SCRATCH_PATH], copy[SCRATCH_PATH];
	struct conf *conf;
	guid_t guid;
	int at; /* its place in the rig; -1: it is dead */
	bool asleep, unplugged, in_other_half;
	struct {
		enum sm_state role;
		enum settle_state state;
		unsigned seen, settled; /* bits: managers */
		mono_t since[TRACE_MANAGERS];
		unsigned knows; /* bits: changes */
		unsigned force; /* enum force */
		unsigned pending; /* its change without an answer; 0: none */
	} said;
	bool is_given; /* a lesser one gave it the fabric, and it does not know it yet */
	unsigned books; /* bits: managers that it takes itself to be settled with */
	mono_t woke_at;
	bool asked, answered;
	struct sm_tenancy_result answer;
	mono_t sent[2][2]; /* when it last sent a table to a device, without and with the entry */
};

enum force { FORCE_NOTHING, FORCE_GIVEN, FORCE_REMOVED };

struct trace {
	struct rig *rig;
	struct manager managers[TRACE_MANAGERS];
	unsigned n;
	bool split;
	struct {
		struct manager *of; /* NULL: there is none */
		unsigned knows;
		unsigned force;
	} copy; /* of a disk */
	int host, leaf; /* devices 1 and 2 */
	unsigned leaf_port;
	guid_t member;
	bool has[2]; /* devices, as told */
	struct ledger_dot changes[TRACE_CHANGES];
	unsigned n_changes;
	const char *left_out; /* lines with this word are not written; NULL: all are */
	mono_t fault_at; /* the last line of the harness */
	uint64_t dice;
};

/* ---- trace-watch.c ---- */

/* Writes a line. */
void trace_say(struct trace *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct sm *trace_sm(const struct manager *m); /* NULL: it is dead */
/* Neither dead, nor frozen, nor is a cable out between both. */
bool trace_reaches(const struct manager *a, const struct manager *b);
/* Tells what is another thing than the lines say. */
void trace_watch(struct trace *t);
/* Nothing is seen of others, as after a start. */
void trace_blank(struct manager *m);
/* Watches what managers send to devices, and what these make of it. Before managers start. */
void trace_watch_devices(struct trace *t);
