/* A committed trip that is changed, cancelled, or both, by workers that die and freeze (docs/protocol.md rules 1, 3, 5, 6 and 8;
 * ADR-0004, ADR-0011).
 *
 * S is the trip: booking O, payment P. Its amendment A books N, pays Q (the pivot), then refunds P and cancels O. Its reversal R
 * refunds and cancels whatever S holds by then. Each saga has a journal and an epoch. Of the two workers of each, the first may die
 * anywhere; the second may take over at any time, dead or not, so that the first goes on as a zombie. A call stays under way for as
 * long as it likes, and lands, or vanishes. The provider remembers keys.
 *
 * A macro that is defined removes one repair: the model must then find a violation (test_formal_model.py has the list).
 */

/* The sagas whose first worker dies or freezes. All three at once are a thousand times as many states. */
#ifndef TRIP_FAILS
#define TRIP_FAILS false
#endif
#ifndef AMENDMENT_FAILS
#define AMENDMENT_FAILS false
#endif
#ifndef REVERSAL_FAILS
#define REVERSAL_FAILS false
#endif

#define OPERATIONS 8
#define N 0     /* the new booking */
#define Q 1     /* the new payment, the pivot */
#define U 2     /* refund of the old payment */
#define V 3     /* cancellation of the old booking */
#define XN 4    /* the new booking is undone, or voided */
#define XQ 5    /* the new payment is voided */
#define RU 6    /* the reversal's refund */
#define RB 7    /* the reversal's cancellation */

mtype = { nothing, intent, done, failed };
mtype = { none, running, turning, committed, compensated, amending, reversing };

/* The journals */
mtype s = committed, a = none, r = none;
byte version = 1, reversed = 0;
mtype j[OPERATIONS] = nothing;
byte epoch_s, epoch_a, epoch_r;
bool told;                      /* the worker that ended A has reported that; whoever resumes S looks for itself */

/* What people ask for */
bool wants_change, wants_cancel, wants_no_change;
bool is_cancelled;

/* The provider: calls under way, and its ledger */
byte out[OPERATIONS];
bool landed[OPERATIONS], tomb[OPERATIONS], refused[OPERATIONS];
bool live_o = true, live_p = true, live_n, live_q;

#define whole ((live_o && live_p) || (live_n && live_q))

#ifdef NO_FENCE
#define holds(epoch) true
#else
#define holds(epoch) (mine == epoch)
#endif

/* Append: the store checks the epoch in the same transaction. */
#define append(epoch, change) atomic { if :: holds(epoch) -> change :: else -> goto over fi }
/* To begin a saga that has begun changes nothing: its first row is unique. */
#define begin(saga) atomic { if :: saga == none -> saga = running :: else fi }
#define may_die if :: is_first -> goto over :: true fi

/* A call of a key that has landed changes nothing any more. Two calls under way are as bad as many. */
inline send(op) {
  if :: !landed[op] && !refused[op] && out[op] < 2 -> out[op]++ :: else fi
}

/* One operation of the saga, from its intent to its answer. An answer may be lost; the key is then used again. */
inline perform(epoch, op) {
#ifdef INTENT_AFTER
  send(op);
  may_die;
  append(epoch, j[op] = intent);
#else
  append(epoch, j[op] = intent);
  send(op);
#endif
  if
  :: landed[op] -> append(epoch, j[op] = done)
  :: refused[op] -> append(epoch, j[op] = failed)
  :: is_first -> goto over
  :: true         /* no answer in time */
  fi
}

#define is_due(op) (j[op] == nothing || j[op] == intent)

#ifdef UNDO_PAID
#define may_turn true
#else
#define may_turn (j[Q] == nothing)
#endif

#ifdef REFUND_FIRST
#define may_pay (j[U] == done)
#define may_refund (j[N] == done)
#else
#define may_pay true
#define may_refund (j[Q] == done)
#endif

#ifdef ABSENT_CLOSES
#define closes_pivot (j[XQ] == done || (j[Q] == intent && !landed[Q]))
#else
#define closes_pivot (j[XQ] == done)
#endif

#ifdef FORGETS_REPORT
#define is_reported told
#else
#define is_reported true
#endif

#ifdef CANCEL_WHILE_AMENDING
#define may_cancel (s == committed || s == amending)
#else
#define may_cancel (s == committed)
#endif

proctype Trip(bool is_first) {
  byte mine;
  atomic { epoch_s == !is_first -> epoch_s++; mine = epoch_s }
  do
  :: is_first -> goto over
  :: s == committed && wants_change && a == none -> append(epoch_s, s = amending; wants_change = false)
  :: s == committed && wants_change && a != none -> append(epoch_s, wants_change = false)
  :: s == amending && a == none -> begin(a)
  :: s == amending && a == committed && is_reported -> append(epoch_s, s = committed; version = 2)
  :: s == amending && a == compensated && is_reported -> append(epoch_s, s = committed)
  :: wants_cancel && may_cancel ->
#ifdef FIRST_VERSION
     append(epoch_s, s = reversing; reversed = 1; is_cancelled = true; wants_cancel = false)
#else
     append(epoch_s, s = reversing; reversed = version; is_cancelled = true; wants_cancel = false)
#endif
  :: wants_cancel && !may_cancel -> append(epoch_s, wants_cancel = false)        /* refused, with the reason */
  :: s == reversing && r == none -> begin(r)
  :: s == reversing && r == committed -> append(epoch_s, s = compensated)
  :: s == compensated -> break
  od;
over:
  skip
}

proctype Amendment(bool is_first) {
  byte mine;
  bool ended;
  a != none;
  atomic { epoch_a == !is_first -> epoch_a++; mine = epoch_a }
  do
  :: is_first -> goto over
  :: a == running && wants_no_change && may_turn -> append(epoch_a, a = turning)
  :: a == running && j[N] == failed -> append(epoch_a, a = turning)
  :: a == running && is_due(N) -> perform(epoch_a, N)
  :: a == running && j[N] == done && may_pay && is_due(Q) && !wants_no_change -> perform(epoch_a, Q)
  /* A pivot in doubt that is given up is voided first: nothing else is undone before that is acknowledged. */
  :: a == running && wants_no_change && j[Q] == intent && is_due(XQ) -> perform(epoch_a, XQ)
  :: a == running && wants_no_change && j[Q] == intent && closes_pivot -> append(epoch_a, a = turning)
  :: a == running && may_refund && is_due(U) -> perform(epoch_a, U)
  :: a == running && j[U] == done && j[Q] == done && is_due(V) -> perform(epoch_a, V)
  :: a == running && j[V] == done -> append(epoch_a, a = committed; ended = true)
  :: a == turning && j[N] != nothing && j[N] != failed && is_due(XN) -> perform(epoch_a, XN)
  :: a == turning && (j[N] == nothing || j[N] == failed || j[XN] == done) -> append(epoch_a, a = compensated; ended = true)
  :: a == committed || a == compensated -> may_die; told = told || ended; break
  od;
over:
  skip
}

proctype Reversal(bool is_first) {
  byte mine;
  r != none;
  atomic { epoch_r == !is_first -> epoch_r++; mine = epoch_r }
  do
  :: is_first -> goto over
  :: r == running && is_due(RU) -> perform(epoch_r, RU)
  :: r == running && j[RU] == done && is_due(RB) -> perform(epoch_r, RB)
  :: r == running && j[RB] == done -> append(epoch_r, r = committed)
  :: r == committed -> break
  od;
over:
  skip
}

inline change_ledger(op) {
  if
  :: op == N -> live_n = true
  :: op == Q -> live_q = true
  :: op == U -> assert(live_q); live_p = false
  :: op == V -> assert(live_n && live_q && !live_p); live_o = false
  :: op == XN -> assert(!live_q); tomb[N] = true; live_n = false
  :: op == XQ -> tomb[Q] = true; live_q = false
  :: op == RU && reversed == 1 -> live_p = false
  :: op == RU && reversed == 2 -> live_q = false
  :: op == RB && reversed == 1 -> live_o = false
  :: op == RB && reversed == 2 -> live_n = false
  fi;
  assert(is_cancelled || whole)
}

/* A call arrives: the key is known, or refused for good, or it lands. */
inline arrive(op) {
  out[op]--;
  if
  :: landed[op] || refused[op]
  :: tomb[op] && !landed[op] -> refused[op] = true
  :: !landed[op] && !refused[op] && !tomb[op] && op == N -> refused[op] = true
  :: !landed[op] && !refused[op] && !tomb[op] -> landed[op] = true; change_ledger(op)
  fi
}

active proctype Provider() {
  byte op;
  do
  :: atomic { if
       :: out[0] > 0 -> op = 0 :: out[1] > 0 -> op = 1 :: out[2] > 0 -> op = 2 :: out[3] > 0 -> op = 3
       :: out[4] > 0 -> op = 4 :: out[5] > 0 -> op = 5 :: out[6] > 0 -> op = 6 :: out[7] > 0 -> op = 7
     fi;
     if :: arrive(op) :: out[op]-- fi;     /* or it vanishes */
     op = 0 }
  od
}

active proctype Changes() { wants_change = true }
active proctype Regrets() { if :: wants_no_change = true :: true fi }
active proctype Cancels() { if :: wants_cancel = true :: true fi }

/* When nothing can move any more, everything is as some serial order of what was asked for would have left it. */
active proctype Judge() {
  timeout ->
    assert(out[N] + out[Q] + out[U] + out[V] == 0);
    assert((s == committed && version == 1 && live_o && live_p && !live_n && !live_q)
        || (s == committed && version == 2 && !live_o && !live_p && live_n && live_q)
        || (s == compensated && !live_o && !live_p && !live_n && !live_q))
}

init {
  atomic {
    if :: TRIP_FAILS -> run Trip(true) :: else -> epoch_s = 1 fi;
    if :: AMENDMENT_FAILS -> run Amendment(true) :: else -> epoch_a = 1 fi;
    if :: REVERSAL_FAILS -> run Reversal(true) :: else -> epoch_r = 1 fi;
    run Trip(false); run Amendment(false); run Reversal(false)
  }
}
