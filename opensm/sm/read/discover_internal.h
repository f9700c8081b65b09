// SPDX-License-Identifier: BSD-2-Clause
/*
 * Between the files of discovery: discover.c, node_desc.c (names), forget.c (gone), probe_key.c,
 * silent.c, capability.c.
 */
#pragma once

#include "sm/sm_internal.h"

/* Findings logged once about a port. */
enum {
	TOLD_QUARANTINE,
	TOLD_CAPABILITY,
	TOLD_SILENT, /* silent host, at its first port */
	TOLD_SILENT_BEHIND
};

struct discover {
	struct discover_questions ask;
	/* set if this sweep reads what has changed, and carries all else over */
	bool partial;
	lid_t former_master;	/* LID of the master that we watch, or watched; 0: none */
	unsigned pending;	/* number of questions that the sweep waits for */
	mono_t last_end;	/* time at which such a question last ended */
	unsigned descs_pending; /* NodeDescription requests among these */
	unsigned own_tries;	/* requests to our own port */
	/* requests to the switch next to our own port, one key after the other */
	unsigned near_tries;
	unsigned own_key;      /* index of the key tried on our own port until it has answered */
	uint64_t met_by_m_key; /* key to which the node answered that is being met; 0: none */
	/* set if nodes have keys from before and after a change: both are tried */
	bool keys_mixed;
	uint64_t keys_likely; /* keys_likely() when probes were last sent */
	bool cables_changed;  /* set if a cable has changed in this sweep */
	/* Set if a cable between switches was down in this sweep, and may lead elsewhere now. */
	bool cables_moved;
	uint32_t picture;	   /* number of the sweep whose reading was settled last */
	struct log_limit name_log; /* limits records about renamed nodes */
	struct log_limit fault_log;
	/* limits records about ports that say impossible things (capability.c) */
	struct log_limit claim_log;
};

#define DISCOVER_KEYS 8

/*
 * probe_key.c: makes Get(NodeInfo) for the node behind `p` over *path. False: too far, as a
 * directed route has at most 63 hops (14.2.1.2).
 */
bool discover_probe_is(struct sm *sm, struct port *p, struct dr_path *path,
		       struct mad_request *ret);
/* Cancels probes through `p` that wait or are under way. */
void discover_cancel_probes(struct sm *sm, struct port *p);
/*
 * Fills in further keys to try at once, besides `first`, on the node behind the port: where another
 * manager may have been master, one key after the other would take a timeout each. More are tried
 * on a switch, as all that is behind it, and another manager, is found then. Returns their number.
 */
unsigned discover_other_mkeys(const struct sm *sm, struct port *p, uint64_t first,
			      uint64_t ret[DISCOVER_KEYS]);
/*
 * A key besides `key` that the node behind the port may have; 0: none. The key of a node that this
 * process has met can only have been changed by another manager.
 */
uint64_t discover_rival_mkey(const struct sm *sm, const struct port *p, uint64_t key);
/* Called when the node behind the port answered to this key: the next question uses it again. */
void discover_key_found(const struct sm *sm, struct port *p, uint64_t m_key);
/*
 * Is the port asked at once, though it is silent? True for the switch next to our own port, as all
 * that a sweep can read is behind it, and for another switch with `n` further keys to try.
 */
bool discover_asks_at_once(const struct sm *sm, const struct port *p, unsigned n);
/* Is the question worth repeating, once per sweep and port, as all tries may have been lost? */
bool discover_worth_asking_again(const struct sm *sm, struct port *p, const struct mad_result *r);
/* After a probe that ended so: is the next key to be tried in this sweep? */
bool discover_worth_another_key(const struct sm *sm, const struct port *p,
				const struct mad_result *r);

/*
 * silent.c: if the node behind `p` was silent before and its link has not fallen, asks it without
 * having the sweep wait. False: it has to be asked like any other.
 */
bool discover_asks_silent(struct sm *sm, struct port *p);
/* Called when a silent node behind `p` answered a question that no sweep waits for. */
void discover_heard_behind(struct sm *sm, struct port *p);
/* Called when a probe through `p` has ended. True: the sweep did not wait for its answer. */
bool discover_ended_late(struct sm *sm, struct port *p, const struct mad_result *r);
/* Is a node behind `p` that was never met, and does the sweep wait for others like it at most? */
bool discover_is_late_stranger(const struct sm *sm, const struct port *p);
/* Ends late questions through `p`, as the node behind it is asked anew. */
void discover_drop_late(struct sm *sm, struct port *p);
/* Marks the node behind `p` as silent, and logs that once. */
void discover_found_silent(struct sm *sm, struct port *p);
void discover_say_silent(struct sm *sm, struct port *p, const struct mad_result *r);
/* Logs that a question to `p`, or through it, failed; `what` precedes the attribute. */
void discover_note_fault(struct sm *sm, const char *what, struct port *p,
			 const struct mad_result *r);

/* ext_port_info.c: asks whether the link at `p` is FDR10. */
void discover_ask_ext_port_info(struct sm *sm, struct port *p);
