// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger of managers of one subnet, as a model for Spin: how they elect a master, exchange what
 * is entrusted to them, and when the master writes it to devices (opensm/sm/ledger/settle.h).
 *
 * There are N managers; a greater number is a greater priority. There is one row, and two devices
 * that hold what it decides, one in each half of the subnet when it is split. `access` says for each
 * device whether the right is there:
 *
 *   a member  the row gives the right or removes it; without a row a device has none
 *   a mark    (-DMARK) isolation removes the right and its end gives it; without a row it is there
 *
 * The state of a row is that of ledger.h: which changes it knows, and which of these are live, that
 * is, no later change knew them. Of several live ones, one that removes is in force.
 *
 * Every event is one step, and any event that is possible may be the next one:
 *
 *   faults     a manager dies, starts with its disk, with an empty one or with an old copy of it,
 *              freezes and wakes, loses its cable and gets it back; the subnet splits and merges; a
 *              device reboots. At most FAULTS of those that do harm; what mends is free.
 *   requests   at most CHANGES, asked of a manager that is WRITING
 *   messages   rows and digests arrive at any time after they could be sent. So they may be lost,
 *              and be sent again. LATE of them are kept on the way while other things happen, and
 *              arrive behind younger ones, more than once, or never.
 *   calm       at any time faults and requests end. When nothing can happen any more, managers that
 *              see each other have equal rows, each half has one master, devices follow the row in
 *              force, and no request is without an answer.
 *
 * What must hold is asserted where it could be broken:
 *
 *   safe       no device gets a right by a manager if another one, which it sees, has an
 *              acknowledged removal of it in force that the writer does not know
 *   kept       an acknowledged change is known to a manager or on the disk of one that is dead,
 *              unless all these disks were lost; what is live of a row is what no later change knew
 *   careful    what no row explains stays on devices while the writer's ledger is missing
 *   complete   a handover goes to a manager that has every acknowledged change that the former
 *              master has
 *   settled    all of calm, above; and calm comes to its end (-DENDS)
 *
 * Time is not modelled. What the model takes for granted of it, the code has to see to:
 *
 *   A1  Managers that run notice that they cannot reach each other before one of them takes over.
 *   A2  One that stood still for as long as a takeover takes knows it when it wakes, before it sends
 *       anything.
 *   A3  Managers that can reach each other are seen by each other; until then neither is "in sight".
 *       Here all of them are seen at the same moment.
 *   A4  Only a manager that stands still is silent.
 *
 * README.md says what is left out. Each of these puts a fault back in, and Spin has to find it:
 *
 *   NO_ASKING                a manager that is elected writes at once
 *   MASTER_WINS              rows of the master replace those of others
 *   HANDOVER_TO_DISCOVERING  the fabric goes to a greater manager that has nothing yet
 *   NO_WAKE_CHECK            a manager that wakes goes on where it was
 *   WIPE_CLEARS              a missing ledger counts as an empty one
 *   NEWCOMER_IGNORED         a master that writes goes on while one that came into sight is asked
 *   ONE_ROUND                a manager goes out of sight before it was settled with, and the others
 *                            are not asked again whether it told them something
 *   SETTLED_KEPT             a standby that is elected does not ask managers that it exchanged with
 *                            before
 *   STALE_DIGEST             messages of a former session, and digests that answer an earlier question,
 *                            count
 *   TWO_WRITERS              a master writes though it sees another one that it is settled with
 *   SLOW_NOTICE              managers notice that they cannot reach each other when they like (A1)
 *   NO_YIELD                 of two masters, the lesser one does not step down
 *   BLIND                    managers within reach need not see each other in the end (with ENDS)
 */

/* ---- how large ------------------------------------------------------------------------------ */

#ifndef N
#define N 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef CHANGES
#define CHANGES 2
#endif
#ifndef LATE
#define LATE 1
#endif

#if N == 3
#define OF_EACH(is, i) (is(i, 0) | is(i, 1) << 1 | is(i, 2) << 2)
#else
#define OF_EACH(is, i) (is(i, 0) | is(i, 1) << 1)
#endif
#define ALL    ((1 << N) - 1)
#define BIT(m) (1 << (m))
#define NONE   N

/* ---- state ---------------------------------------------------------------------------------- */

mtype:role = { DOWN, DISCOVERING, STANDBY, MASTER };
mtype:settle = { FOREIGN, ASKING, TAKING, WRITING, KEEPING };

mtype:role role[N] = DISCOVERING;
mtype:settle state[N] = FOREIGN;
byte known[N];	 /* the row: changes that it knows, and those of them that are live */
byte live[N];	 /* both are on the disk, and outlast the death of a manager */
bit missing[N];	 /* the disk was lost, and no manager with a ledger was met since */
byte seen[N];	 /* managers in sight, as this one believes */
byte settled[N]; /* those whose rows this master has */
byte pending[N]; /* 1 + the change that was asked of this one and not answered; 0: none */

byte asleep, unplugged; /* of managers: these stand still; have their cable out */
byte half;		/* these are in the other half */
bit split;
#ifdef MARK
#define DEFAULT 1
#else
#define DEFAULT 0
#endif
byte access = DEFAULT * 3; /* devices that have the right */

byte n_changes; /* asked for so far */
byte removes;	/* changes that remove; the others give */
byte acked;	/* acknowledged changes */
byte knew[CHANGES]; /* what the row knew when it was changed */
byte lost;	/* changes whose last disk was lost */

byte faults = FAULTS, n_late = LATE; /* left */
bit calm, all_said;

byte copy_of = NONE; /* the manager whose disk was copied, and the copy */
byte copy_known, copy_live;

/* One message that is on its way for long: a digest or rows, as the sender had them. */
bit late_digest;
byte late_to = NONE, late_from;
byte late_known, late_live;

hidden byte k, l; /* of loops; these are 0 between events */

/* ---- what is so ----------------------------------------------------------------------------- */

#define AWAKE(i)	(role[i] != DOWN && !(asleep & BIT(i)))
#define ON_LINE(i)	(AWAKE(i) && !(unplugged & BIT(i)))
#define SAME_HALF(i, j) (!split || (half >> (i) & 1) == (half >> (j) & 1))
#define REACHES(i, j)	((i) != (j) && ON_LINE(i) && ON_LINE(j) && SAME_HALF(i, j))
#define SEES(i, j)	((seen[i] & BIT(j)) != 0)
#define SESSION(i, j)	(REACHES(i, j) && SEES(i, j) && SEES(j, i))
#define GREATER(i, j)	((i) > (j))

#define IS_MASTER(i, j) ((i) != (j) && role[j] == MASTER)
#ifdef REPLAY
#define REACHES_LONG(i, j) (REACHES(i, j) && !(fresh & BIT(j)))
#define IN_SIGHT(i)	   (seen[i] | OF_EACH(REACHES_LONG, i))
#else
#define IN_SIGHT(i) (seen[i] | OF_EACH(REACHES, i))
#endif
#define MASTERS(i)	(IN_SIGHT(i) & OF_EACH(IS_MASTER, i)) /* others in sight */
#define GREATER_ONES(i) (seen[i] & (ALL << ((i) + 1)))
#define UNSETTLED(i)	(IN_SIGHT(i) & ~settled[i])

/* The row in force. */
#define ABSENT(values)	(values == 0)
#define REMOVED(values) ((values & removes) != 0)
#define GIVEN(values)	(values != 0 && (values & removes) == 0)
#define WANTED(i)	(ABSENT(live[i]) -> DEFAULT : GIVEN(live[i]))

/* What manager `i` has after it merged what `j` sent. */
#ifdef MASTER_WINS
#define TAKES(i, j)		 (role[i] != MASTER)
#define MERGED_KNOWN(i, kn)	 (kn)
#define MERGED_LIVE(i, kn, li)	 (li)
#else
#define TAKES(i, j)		 true
#define MERGED_KNOWN(i, kn)	 (known[i] | kn)
#define MERGED_LIVE(i, kn, li)	 ((live[i] & li) | (live[i] & ~kn) | (li & ~known[i]))
#endif
#define LACKS_OF(i, kn, li) (MERGED_KNOWN(i, kn) != known[i] || MERGED_LIVE(i, kn, li) != live[i])
#define LACKS(i, j)	    (TAKES(i, j) && LACKS_OF(i, known[j], live[j]))

/* Devices. */
#ifdef BESIDE
#define HALF(h) 0 /* device 2 is beside device 1 */
#else
#define HALF(h) (h)
#endif
#define CONTROLS(i, h)	  (ON_LINE(i) && (!split || (half >> (i) & 1) == HALF(h)))
#define HAS(h)		  ((access >> (h)) & 1)
#define DIFFERS(i, h)	  (CONTROLS(i, h) && HAS(h) != WANTED(i))
#define FOLLOW(i)	  (!DIFFERS(i, 0) && !DIFFERS(i, 1))
#ifdef REPLAY /* devices that came within reach a moment ago are not known to be there */
#define FOLLOWS(i) (FOLLOW(i) || (fresh >> (i) & 1))
#else
#define FOLLOWS(i) FOLLOW(i)
#endif
#define IS_UNEXPLAINED(i) (ABSENT(live[i]) && !FOLLOW(i))
#ifdef WIPE_CLEARS
#define KEEPS(i) false
#else
#define KEEPS(i) (missing[i] && IS_UNEXPLAINED(i))
#endif

/* May this master become WRITING, or KEEPING? May it become TAKING? May it give rights? */
#ifdef TWO_WRITERS
#define ALL_SETTLED(i) (UNSETTLED(i) == 0)
#else
#define ALL_SETTLED(i) (UNSETTLED(i) == 0 && MASTERS(i) == 0)
#endif
#define ONE_SILENT(i)  (UNSETTLED(i) != 0 && (UNSETTLED(i) & ~asleep) == 0 && (MASTERS(i) & ~asleep) == 0)
#if defined(NEWCOMER_IGNORED) || defined(NO_ASKING)
#define MAY_GIVE(i) (state[i] == WRITING)
#else
#define MAY_GIVE(i) (state[i] == WRITING && (seen[i] & ~settled[i]) == 0)
#endif
#define MAY_TAKE(i) (MAY_GIVE(i) || (REMOVED(live[i]) && (state[i] == TAKING || state[i] == WRITING)))

/* A settled standby has the change that is asked for, or there is no such standby. */
#define LACKS_CHANGE(i, j)                                                                         \
	((i) != (j) && role[j] == STANDBY && (seen[i] & settled[i] & BIT(j)) &&                    \
	 !(known[j] & BIT(pending[i] - 1)))
#define ALL_HAVE_IT(i) (OF_EACH(LACKS_CHANGE, i) == 0)
#define SAME_KIND(i) (REMOVED(live[i]) == ((removes >> (pending[i] - 1)) & 1))

/* ---- traces --------------------------------------------------------------------------------- */

/* Lines of a trace. With -DREPLAY an event happens only if it is the next line (replay). */
#define LINE_STARTS	    1
#define LINE_STARTS_EMPTY   2
#define LINE_STARTS_OLD	    3
#define LINE_COPIED	    4
#define LINE_DIES	    5
#define LINE_FREEZES	    6
#define LINE_WAKES	    7
#define LINE_CABLE_OUT	    8
#define LINE_CABLE_IN	    9
#define LINE_SPLITS	    10
#define LINE_MERGES	    11
#define LINE_REBOOTS	    12
#define LINE_SEES	    13
#define LINE_LOSES	    14
#define LINE_DISCOVERING    15
#define LINE_STANDBY	    16
#define LINE_MASTER	    17
#define LINE_FOREIGN	    18
#define LINE_ASKING	    19
#define LINE_TAKING	    20
#define LINE_WRITING	    21
#define LINE_KEEPING	    22
#define LINE_HANDS_OVER	    23
#define LINE_SETTLES	    24
#define LINE_KNOWS	    25
#define LINE_CHANGES_GIVE   26
#define LINE_CHANGES_REMOVE 27
#define LINE_ADOPTS	    28
#define LINE_FORGETS	    29
#define LINE_GIVES	    30
#define LINE_TAKES	    31
#define LINE_ACKNOWLEDGES   32
#define LINE_REFUSES	    33
#define LINE_TIME_PASSES    34
#define LINE_NOT_BY_ALL	    35
#define LINE_GIVES_UP	    36

#ifdef REPLAY
c_decl {
	\#include "trace.h"
	static int deepest;
};
short at;
byte line, line_of, line_with;
byte fresh; /* managers that came within reach, and others need not have noticed */
#define IS(what, i, with) (line == what && line_of == (i) && line_with == (with))
#define HARMS		  true
#define MAY_ASK_CHANGES	  (n_changes < CHANGES)
inline next_line()
{
	c_code {
		now.at++;
		if (now.at > deepest) {
			deepest = now.at;
			printf("lines: %d\n", deepest);
		}
		now.line = trace[now.at].line;
		now.line_of = trace[now.at].of;
		now.line_with = trace[now.at].with;
	}
}
inline harm()
{
	skip
}
inline appear(managers)
{
	fresh = fresh | managers
}
#else
#define IS(what, i, with) true
#define HARMS		  (faults > 0)
#define MAY_ASK_CHANGES	  (!calm && n_changes < CHANGES)
inline next_line()
{
	skip
}
inline harm()
{
	faults--
}
inline appear(managers)
{
	skip
}
#endif
#define RESULT(kn, li) (kn | (REMOVED(li) -> 128 : (GIVEN(li) -> 64 : 0)))

inline tell_row(m)
{
	printf("manager %d knows", m + 1);
	for (k : 0 .. CHANGES - 1) {
		if
		:: known[m] & BIT(k) -> printf(" %d", k + 1)
		:: else
		fi
	}
	k = 0;
	if
	:: ABSENT(live[m]) -> printf(": nothing\n")
	:: REMOVED(live[m]) -> printf(": removed\n")
	:: GIVEN(live[m]) -> printf(": given\n")
	fi
}

/* ---- what must hold ------------------------------------------------------------------------- */

#if CHANGES > 2
#define KNOWN_BY_LATER(m, c) (BY(m, c, 1) || BY(m, c, 2) || BY_MORE(m, c))
#else
#define KNOWN_BY_LATER(m, c) BY(m, c, 1)
#endif
#if CHANGES == 6
#define BY_MORE(m, c) (BY(m, c, 3) || BY(m, c, 4) || BY(m, c, 5))
#elif CHANGES == 4
#define BY_MORE(m, c) BY(m, c, 3)
#else
#define BY_MORE(m, c) false
#endif
#define BY(m, c, later) ((known[m] >> later & 1) && (knew[later] >> (c) & 1))

/* kept */
inline check_rows()
{
	l = 0;
	for (k : 0 .. N - 1) {
		l = l | known[k]
	}
	assert((acked & ~lost & ~l) == 0);
	for (k : 0 .. N - 1) {
		for (l : 0 .. CHANGES - 1) {
			if
			:: known[k] & BIT(l) ->
				assert(((live[k] >> l) & 1) == !KNOWN_BY_LATER(k, l))
			:: else
			fi
		}
	}
	k = 0;
	l = 0
}
/* safe */
inline check_given(m)
{
	for (k : 0 .. N - 1) {
		if
		:: REACHES(m, k) && SEES(m, k) -> assert((live[k] & removes & acked & ~known[m]) == 0)
		:: else
		fi
	}
	k = 0;
	assert(!(missing[m] && ABSENT(live[m])))
}

/* careful */
inline check_taken(m)
{
	assert(!(missing[m] && ABSENT(live[m])))
}

/* complete */
inline check_handed(m, other)
{
	assert((known[m] & acked & ~known[other]) == 0)
}

/* settled; the managers that stand still have no part in it */
inline check_end()
{
	for (k : 0 .. N - 1) {
		if
		:: ON_LINE(k) ->
			assert(role[k] != DISCOVERING);
			assert(pending[k] == 0);
			assert(role[k] == MASTER || MASTERS(k));
			assert(role[k] != MASTER || MASTERS(k) == 0);
			assert(role[k] != MASTER || state[k] == WRITING || KEEPS(k));
			assert(state[k] != WRITING || FOLLOW(k));
			for (l : 0 .. N - 1) {
				if
				:: SESSION(k, l) -> assert(known[k] == known[l] && live[k] == live[l])
				:: else -> assert(!REACHES(k, l))
				fi
			}
		:: else
		fi
	}
	k = 0;
	l = 0
}

/* ---- parts of events ------------------------------------------------------------------------ */

/* What the manager asked others before counts for nothing. */
inline unsettle(m)
{
	settled[m] = 0;
#ifndef STALE_DIGEST
	if
	:: late_to == m && late_digest -> drop_late()
	:: else
	fi
#endif
}

inline drop_late()
{
	late_to = NONE;
	late_digest = 0;
	late_from = 0;
	late_known = 0;
	late_live = 0
}

inline ask_again(m)
{
	if
	:: role[m] == MASTER ->
		unsettle(m);
#ifndef NO_ASKING
		state[m] = ASKING
#endif
	:: else
	fi
}

/* Manager `j` is out of sight of `i`. */
inline lose(m, other)
{
	if
	:: SEES(m, other) && !(asleep & BIT(m)) ->
		printf("manager %d loses %d\n", m + 1, other + 1);
		if
#ifndef ONE_ROUND
		:: role[m] == MASTER && !(settled[m] & BIT(other)) -> ask_again(m)
#endif
		:: else
		fi;
		seen[m] = seen[m] & ~BIT(other);
		settled[m] = settled[m] & ~BIT(other);
#ifndef STALE_DIGEST
		if
		:: late_to == m && late_from == other -> drop_late()
		:: else
		fi
#endif
	:: else
	fi
}

/* All that are awake lose sight of those that they cannot reach; of one that stands still, later. */
inline lose_all()
{
#if !defined(REPLAY) && !defined(SLOW_NOTICE)
	for (k : 0 .. N - 1) {
		for (l : 0 .. N - 1) {
			if
			:: !REACHES(k, l) && (!(asleep & BIT(l)) || !SAME_HALF(k, l) || role[l] == DOWN ||
					      ((unplugged & BIT(l)))) -> lose(k, l)
			:: else
			fi
		}
	}
	k = 0;
	l = 0
#else
	skip
#endif
}

/* Another session begins: messages of a former one are refused. */
inline see(m, other)
{
#ifndef STALE_DIGEST
	if
	:: late_to == m && late_from == other -> drop_late()
	:: else
	fi;
#endif
	seen[m] = seen[m] | BIT(other);
	settled[m] = settled[m] & ~BIT(other);
	if
	:: role[m] == MASTER && role[other] == MASTER -> ask_again(m)
	:: else
	fi
}

inline become(m, new_role)
{
	role[m] = new_role;
	if
	:: new_role == MASTER ->
#ifndef SETTLED_KEPT
		unsettle(m);
#endif
#ifdef NO_ASKING
		state[m] = WRITING
#else
		state[m] = ASKING
#endif
	:: else ->
#ifndef SETTLED_KEPT
		unsettle(m);
#endif
		state[m] = FOREIGN;
		pending[m] = 0
	fi
}

inline discover(m)
{
	become(m, DISCOVERING);
	unsettle(m);
	seen[m] = 0
}

inline merge(m, kn, li)
{
	k = MERGED_LIVE(m, kn, li);
	known[m] = MERGED_KNOWN(m, kn);
	live[m] = k;
	k = 0
}

/* The disk of a manager is lost, but for `kept`. */
inline lose_disk(m, kept)
{
	l = kept;
	for (k : 0 .. N - 1) {
		if
		:: k != m -> l = l | known[k]
		:: else
		fi
	}
	lost = lost | (known[m] & ~l);
	k = 0;
	l = 0
}

inline change(m, is_removal)
{
	knew[n_changes] = known[m];
	removes = removes | (is_removal << n_changes);
	known[m] = known[m] | BIT(n_changes);
	live[m] = BIT(n_changes);
	n_changes++;
	pending[m] = n_changes
}

/* ---- a manager ------------------------------------------------------------------------------ */

proctype manager(byte i)
{
end:	do
	/* Election. */
	:: d_step { role[i] == DISCOVERING && ON_LINE(i) && (IN_SIGHT(i) & ~seen[i]) == 0 &&
		    (MASTERS(i) || GREATER_ONES(i)) && IS(LINE_STANDBY, i, 0) ->
			become(i, STANDBY);
			printf("manager %d becomes STANDBY\n", i + 1);
			next_line()
		}
	:: d_step { role[i] == DISCOVERING && ON_LINE(i) && (IN_SIGHT(i) & ~seen[i]) == 0 &&
		    !MASTERS(i) && !GREATER_ONES(i) && IS(LINE_MASTER, i, 0) ->
			become(i, MASTER);
			printf("manager %d becomes MASTER\n", i + 1);
			next_line()
		}
	:: d_step { role[i] == STANDBY && ON_LINE(i) && (IN_SIGHT(i) & ~seen[i]) == 0 &&
		    !MASTERS(i) && !GREATER_ONES(i) && IS(LINE_DISCOVERING, i, 0) ->
			become(i, DISCOVERING);
			printf("manager %d becomes DISCOVERING\n", i + 1);
			next_line()
		}
	/* May it write? */
	:: d_step { role[i] == MASTER && ON_LINE(i) && state[i] != WRITING && ALL_SETTLED(i) && !KEEPS(i) &&
		    IS(LINE_WRITING, i, 0) ->
			state[i] = WRITING;
			printf("manager %d enters WRITING\n", i + 1);
			next_line()
		}
	:: d_step { role[i] == MASTER && ON_LINE(i) && (state[i] == ASKING || state[i] == WRITING) &&
		    ALL_SETTLED(i) && KEEPS(i) && IS(LINE_KEEPING, i, 0) ->
			state[i] = KEEPING;
			printf("manager %d enters KEEPING\n", i + 1);
			next_line()
		}
	:: d_step { role[i] == MASTER && ON_LINE(i) && state[i] == ASKING && ONE_SILENT(i) &&
		    IS(LINE_TAKING, i, 0) ->
			state[i] = TAKING;
			printf("manager %d enters TAKING\n", i + 1);
			next_line()
		}
	/* Devices. */
	:: d_step { DIFFERS(i, 0) && WANTED(i) && MAY_GIVE(i) && !KEEPS(i) && IS(LINE_GIVES, i, 0) ->
			printf("manager %d gives on device 1\n", i + 1);
			check_given(i);
			access = access | 1;
			next_line()
		}
	:: d_step { DIFFERS(i, 1) && WANTED(i) && MAY_GIVE(i) && !KEEPS(i) && IS(LINE_GIVES, i, 1) ->
			printf("manager %d gives on device 2\n", i + 1);
			check_given(i);
			access = access | 2;
			next_line()
		}
	:: d_step { DIFFERS(i, 0) && !WANTED(i) && MAY_TAKE(i) && !KEEPS(i) && IS(LINE_TAKES, i, 0) ->
			printf("manager %d takes on device 1\n", i + 1);
			check_taken(i);
			access = access & ~1;
			next_line()
		}
	:: d_step { DIFFERS(i, 1) && !WANTED(i) && MAY_TAKE(i) && !KEEPS(i) && IS(LINE_TAKES, i, 1) ->
			printf("manager %d takes on device 2\n", i + 1);
			check_taken(i);
			access = access & ~2;
			next_line()
		}
	/* Requests. */
	:: d_step { MAY_ASK_CHANGES && state[i] == WRITING && ON_LINE(i) && pending[i] == 0 &&
		    !GIVEN(live[i]) && IS(LINE_CHANGES_GIVE, i, n_changes) ->
			printf("manager %d changes %d: give\n", i + 1, n_changes + 1);
			change(i, 0);
			check_rows();
			next_line()
		}
	:: d_step { MAY_ASK_CHANGES && state[i] == WRITING && ON_LINE(i) && pending[i] == 0 &&
		    !REMOVED(live[i]) && IS(LINE_CHANGES_REMOVE, i, n_changes) ->
			printf("manager %d changes %d: remove\n", i + 1, n_changes + 1);
			change(i, 1);
			check_rows();
			next_line()
		}
	:: d_step { MAY_ASK_CHANGES && state[i] == KEEPING && KEEPS(i) && IS(LINE_ADOPTS, i, n_changes) ->
			printf("manager %d adopts as %d\n", i + 1, n_changes + 1);
			change(i, DEFAULT);
			missing[i] = 0;
			check_rows();
			next_line()
		}
	:: d_step { HARMS && state[i] == KEEPING && KEEPS(i) && IS(LINE_FORGETS, i, 0) ->
			printf("manager %d forgets\n", i + 1);
			missing[i] = 0;
			harm();
			next_line()
		}
	:: d_step { pending[i] && ON_LINE(i) && state[i] == WRITING && FOLLOWS(i) && SAME_KIND(i) &&
		    ALL_HAVE_IT(i) && IS(LINE_ACKNOWLEDGES, i, pending[i] - 1) ->
			printf("manager %d acknowledges %d\n", i + 1, pending[i]);
			acked = acked | BIT(pending[i] - 1);
			pending[i] = 0;
			check_rows();
			next_line()
		}
	/* A removal was merged that did not know this change. */
	:: d_step { pending[i] && ON_LINE(i) && state[i] == WRITING && !SAME_KIND(i) &&
		    IS(LINE_REFUSES, i, pending[i] - 1) ->
			printf("manager %d refuses %d\n", i + 1, pending[i]);
			pending[i] = 0;
			next_line()
		}
#ifdef REPLAY
	/* A line may also say what is so already. */
	:: d_step { role[i] == STANDBY && IS(LINE_STANDBY, i, 0) -> next_line() }
	:: d_step { role[i] == MASTER && IS(LINE_MASTER, i, 0) -> next_line() }
	:: d_step { state[i] == FOREIGN && IS(LINE_FOREIGN, i, 0) -> next_line() }
	:: d_step { state[i] == ASKING && IS(LINE_ASKING, i, 0) -> next_line() }
	:: d_step { state[i] == WRITING && IS(LINE_WRITING, i, 0) -> next_line() }
	/* Election needs no judge: it is asking that makes it safe. */
	:: d_step { role[i] == DISCOVERING && IS(LINE_STANDBY, i, 0) -> become(i, STANDBY); next_line() }
	:: d_step { role[i] == DISCOVERING && ON_LINE(i) && IS(LINE_MASTER, i, 0) -> become(i, MASTER); next_line() }
	/* Careful at any time: it looks around again, asks again, or gives nothing. */
	:: d_step { AWAKE(i) && (state[i] == ASKING || state[i] == TAKING) && IS(LINE_TAKING, i, 0) ->
			state[i] = TAKING;
			next_line()
		}
	:: d_step { AWAKE(i) && IS(LINE_DISCOVERING, i, 0) -> become(i, DISCOVERING); next_line() }
	:: d_step { AWAKE(i) && role[i] == MASTER && state[i] != ASKING && IS(LINE_ASKING, i, 0) ->
			ask_again(i);
			next_line()
		}
	:: d_step { AWAKE(i) && role[i] == MASTER && state[i] == ASKING && IS(LINE_KEEPING, i, 0) ->
			state[i] = KEEPING;
			next_line()
		}
	/* The answer tells that a standby has not stored it; it counts as acknowledged all the same. */
	:: d_step { pending[i] && ON_LINE(i) && state[i] == WRITING && FOLLOWS(i) && SAME_KIND(i) &&
		    IS(LINE_NOT_BY_ALL, i, pending[i] - 1) ->
			acked = acked | BIT(pending[i] - 1);
			pending[i] = 0;
			check_rows();
			next_line()
		}
	:: d_step { pending[i] && IS(LINE_GIVES_UP, i, pending[i] - 1) -> pending[i] = 0; next_line() }
#endif
	od
}

/* ---- two managers --------------------------------------------------------------------------- */

#ifdef SETTLED_KEPT
#define SETTLES(i) (AWAKE(i))
#else
#define SETTLES(i) (role[i] == MASTER)
#endif

proctype with(byte i, j)
{
end:	do
	/* Rows. */
	:: d_step { SESSION(i, j) && LACKS(i, j) &&
		    IS(LINE_KNOWS, i,
		       RESULT(MERGED_KNOWN(i, known[j]), MERGED_LIVE(i, known[j], live[j]))) ->
			merge(i, known[j], live[j]);
			missing[i] = missing[i] && missing[j];
			tell_row(i);
			check_rows();
			next_line()
		}
	/* Digests are equal, or all that differs is ours. */
	:: d_step { SESSION(i, j) && SETTLES(i) && !(settled[i] & BIT(j)) && !LACKS(i, j) &&
		    IS(LINE_SETTLES, i, j) ->
			settled[i] = settled[i] | BIT(j);
			missing[i] = missing[i] && missing[j];
			printf("manager %d settles with %d\n", i + 1, j + 1);
			next_line()
		}
	/* The same two, on their way for long. */
	:: d_step { n_late > 0 && late_to == NONE && SESSION(i, j) && LACKS(i, j) ->
			n_late--;
			late_to = i;
			late_from = j;
			late_known = known[j];
			late_live = live[j];
			printf("(rows of %d are late for %d)\n", j + 1, i + 1)
		}
	:: d_step { n_late > 0 && late_to == NONE && SESSION(i, j) && SETTLES(i) && !(settled[i] & BIT(j)) ->
			n_late--;
			late_digest = 1;
			late_to = i;
			late_from = j;
			late_known = known[j];
			late_live = live[j];
			printf("(a digest of %d is late for %d)\n", j + 1, i + 1)
		}
	:: d_step { late_to == i && late_from == j && !late_digest && SESSION(i, j) && TAKES(i, j) &&
		    LACKS_OF(i, late_known, late_live) &&
		    IS(LINE_KNOWS, i,
		       RESULT(MERGED_KNOWN(i, late_known), MERGED_LIVE(i, late_known, late_live))) ->
			merge(i, late_known, late_live);
			tell_row(i);
			check_rows();
			next_line()
		}
	:: d_step { late_to == i && late_from == j && late_digest && SESSION(i, j) && SETTLES(i) &&
		    !LACKS_OF(i, late_known, late_live) && IS(LINE_SETTLES, i, j) ->
			drop_late();
			settled[i] = settled[i] | BIT(j);
			missing[i] = missing[i] && missing[j];
			printf("manager %d settles with %d\n", i + 1, j + 1);
			next_line()
		}
	:: d_step { late_to == i && late_from == j -> drop_late() }
	/* The greater one becomes master. */
	:: d_step { role[i] == MASTER && GREATER(j, i) && SESSION(i, j) && !pending[i] &&
#ifdef HANDOVER_TO_DISCOVERING
		    (role[j] == STANDBY || role[j] == DISCOVERING) &&
#else
		    role[j] == STANDBY && (settled[i] & BIT(j)) && !LACKS(j, i) &&
		    (state[i] == WRITING || state[i] == KEEPING) &&
#endif
		    IS(LINE_HANDS_OVER, i, j) ->
			printf("manager %d hands over to %d\n", i + 1, j + 1);
			check_handed(i, j);
			become(i, STANDBY);
			become(j, MASTER);
			next_line()
		}
#ifndef NO_YIELD
	:: d_step { role[i] == MASTER && role[j] == MASTER && GREATER(j, i) && SESSION(i, j) &&
		    (settled[i] & BIT(j)) && !LACKS(j, i) && IS(LINE_STANDBY, i, 0) ->
			become(i, STANDBY);
			printf("manager %d becomes STANDBY\n", i + 1);
			next_line()
		}
#endif
#ifdef SLOW_NOTICE
	:: d_step { SEES(i, j) && AWAKE(i) && !REACHES(i, j) -> lose(i, j) }
#endif
#ifdef REPLAY
	/* Of two masters one may step down before the other one has all of it: that one asks. */
	:: d_step { role[i] == MASTER && role[j] == MASTER && GREATER(j, i) && REACHES(i, j) &&
		    IS(LINE_STANDBY, i, 0) ->
			become(i, STANDBY);
			next_line()
		}
	/* It need be settled with nobody: the greater one asks as every new master does. */
	:: d_step { role[i] == MASTER && GREATER(j, i) && SESSION(i, j) && !pending[i] && role[j] == STANDBY &&
		    !LACKS(j, i) && IS(LINE_HANDS_OVER, i, j) ->
			check_handed(i, j);
			become(i, STANDBY);
			become(j, MASTER);
			next_line()
		}
	:: d_step { REACHES(i, j) && IS(LINE_SEES, i, j) -> see(i, j); next_line() }
	:: d_step { IS(LINE_LOSES, i, j) -> lose(i, j); next_line() }
	/* So it has anew. */
	:: d_step { SESSION(i, j) && (settled[i] & BIT(j)) && !LACKS(i, j) && IS(LINE_SETTLES, i, j) -> next_line() }
	/* Standbys settle too; nothing depends on it. */
	:: d_step { role[i] != MASTER && SESSION(i, j) && !LACKS(i, j) && IS(LINE_SETTLES, i, j) -> next_line() }
#endif
	od
}

/* ---- what befalls a manager ----------------------------------------------------------------- */

#define SEES_IT(i, j) ((i) != (j) && AWAKE(j) && SEES(j, i))
inline lose_silent(silent)
{
	for (k : 0 .. N - 1) {
		lose(k, silent)
	}
	k = 0
}

proctype fate(byte i)
{
end:	do
	:: d_step { HARMS && role[i] != DOWN && IS(LINE_DIES, i, 0) ->
			printf("manager %d dies\n", i + 1);
			discover(i);
			role[i] = DOWN;
			asleep = asleep & ~BIT(i);
			lose_all();
			harm();
			next_line()
		}
	:: d_step { !calm && role[i] == DOWN && IS(LINE_STARTS, i, 0) ->
			printf("manager %d starts\n", i + 1);
			appear(BIT(i));
			role[i] = DISCOVERING;
			next_line()
		}
	:: d_step { HARMS && role[i] == DOWN && known[i] && IS(LINE_STARTS_EMPTY, i, 0) ->
			printf("manager %d starts empty\n", i + 1);
			appear(BIT(i));
			role[i] = DISCOVERING;
			lose_disk(i, 0);
			known[i] = 0;
			live[i] = 0;
			missing[i] = 1;
			check_rows();
			harm();
			next_line()
		}
	:: d_step { HARMS && role[i] == DOWN && copy_of == i && copy_known != known[i] &&
		    IS(LINE_STARTS_OLD, i, 0) ->
			printf("manager %d starts with the copy\n", i + 1);
			appear(BIT(i));
			role[i] = DISCOVERING;
			lose_disk(i, copy_known);
			known[i] = copy_known;
			live[i] = copy_live;
			missing[i] = 0;
			lost = lost & ~copy_known;
			copy_of = NONE;
			copy_known = 0;
			copy_live = 0;
			check_rows();
			harm();
			next_line()
		}
#ifdef COPY
	:: d_step { faults > 1 && copy_of == NONE && known[i] && !missing[i] && IS(LINE_COPIED, i, 0) ->
			printf("disk of %d is copied\n", i + 1);
			copy_of = i;
			copy_known = known[i];
			copy_live = live[i];
			next_line()
		}
#endif
	:: d_step { HARMS && AWAKE(i) && IS(LINE_FREEZES, i, 0) ->
			printf("manager %d freezes\n", i + 1);
			asleep = asleep | BIT(i);
			harm();
			next_line()
		}
#ifndef REPLAY
	/* It stands still for longer than a takeover takes. */
	:: d_step { (asleep & BIT(i)) && OF_EACH(SEES_IT, i) ->
			lose_silent(i)
		}
#endif
	:: d_step { !calm && (asleep & BIT(i)) && IS(LINE_WAKES, i, 0) ->
			printf("manager %d wakes\n", i + 1);
			appear(BIT(i));
			asleep = asleep & ~BIT(i);
#ifndef NO_WAKE_CHECK
			unsettle(i);
			seen[i] = 0;
			ask_again(i);
#endif
			if
			:: unplugged & BIT(i) -> discover(i)
			:: else
			fi;
			lose_all();
			next_line()
		}
	:: d_step { HARMS && role[i] != DOWN && !(unplugged & BIT(i)) && IS(LINE_CABLE_OUT, i, 0) ->
			printf("cable of %d out\n", i + 1);
			unplugged = unplugged | BIT(i);
			if
			:: AWAKE(i) -> discover(i)
			:: else
			fi;
			lose_all();
			harm();
			next_line()
		}
	:: d_step { !calm && (unplugged & BIT(i)) && IS(LINE_CABLE_IN, i, 0) ->
			printf("cable of %d in\n", i + 1);
			appear(BIT(i));
			unplugged = unplugged & ~BIT(i);
			next_line()
		}
	od
}

/* ---- the subnet ----------------------------------------------------------------------------- */

#if N == 3
#define UNSEEN(i, j) (REACHES(i, j) && !(SEES(i, j) && SEES(j, i)))
#define ANY_UNSEEN   (UNSEEN(0, 1) || UNSEEN(0, 2) || UNSEEN(1, 2))
#else
#define UNSEEN(i, j) (REACHES(i, j) && !(SEES(i, j) && SEES(j, i)))
#define ANY_UNSEEN   (UNSEEN(0, 1))
#endif

inline split_off(others)
{
	split = 1;
	half = others;
	lose_all();
	harm();
	next_line()
}

inline see_all()
{
	for (k : 0 .. N - 1) {
		for (l : k + 1 .. N - 1) {
			if
			:: UNSEEN(k, l) ->
				printf("manager %d sees %d\nmanager %d sees %d\n", k + 1, l + 1, l + 1, k + 1);
				see(k, l);
				see(l, k)
			:: else
			fi
		}
	}
	k = 0;
	l = 0
}

proctype subnet()
{
end:	do
	:: d_step { HARMS && !split && IS(LINE_SPLITS, 0, 2) ->
			printf("subnet splits: 2\n");
			split_off(2)
		}
#if N == 3
	:: d_step { HARMS && !split && IS(LINE_SPLITS, 0, 4) ->
			printf("subnet splits: 3\n");
			split_off(4)
		}
	:: d_step { HARMS && !split && IS(LINE_SPLITS, 0, 6) ->
			printf("subnet splits: 2 3\n");
			split_off(6)
		}
#endif
	:: d_step { !calm && split && IS(LINE_MERGES, 0, 0) ->
			printf("subnet merges\n");
			appear(ALL);
			split = 0;
			half = 0;
			next_line()
		}
	:: d_step { HARMS && HAS(0) != DEFAULT && IS(LINE_REBOOTS, 0, 0) ->
			printf("device 1 reboots\n");
			access = access & ~1 | DEFAULT;
			harm();
			next_line()
		}
	:: d_step { HARMS && HAS(1) != DEFAULT && IS(LINE_REBOOTS, 1, 0) ->
			printf("device 2 reboots\n");
			access = access & ~2 | (DEFAULT << 1);
			harm();
			next_line()
		}
#ifdef REPLAY
	:: d_step { IS(LINE_TIME_PASSES, 0, 0) -> fresh = 0; next_line() }
	:: line == 0 -> assert(line != 0) /* the end of the trace: a walk */
#else
	:: d_step { ANY_UNSEEN -> see_all() }
#ifdef BLIND
	:: d_step { !calm ->
#else
	:: d_step { !calm && !ANY_UNSEEN ->
#endif
			printf("(calm)\n");
			calm = 1;
			faults = 0;
			n_late = 0;
			copy_of = NONE;
			copy_known = 0;
			copy_live = 0;
			drop_late()
		}
	:: timeout -> d_step { check_end(); all_said = 1 }; break
#endif
	od
}

init {
	byte i;

	atomic {
#ifdef REPLAY
		c_code { now.at = -1; };
		d_step { next_line() };
#endif
		for (i : 0 .. N - 1) {
			run manager(i);
			run fate(i);
			run with(i, (i + 1) % N);
#if N == 3
			run with(i, (i + 2) % N);
#endif
		}
		i = 0;
		run subnet()
	}
}

#ifdef ENDS
/* Calm does not last for ever: there is no cycle in it. */
never {
	do
	:: true
	:: calm -> break
	od;
accept:
	do
	:: calm && !all_said
	od
}
#endif
