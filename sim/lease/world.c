// SPDX-License-Identifier: GPL-2.0-only
/* What tasks, timers and a remover do, as uretprobe.c and its like have them do it. */

#include <string.h>

#include "compat_srcu.h"
#include "world.h"

int __srcu_read_lock(struct srcu_struct *srcu)
{
	(void)srcu;
	sim_point(SIM_RMW);
	world.sections |= 1U << world.nr_sections;
	return world.nr_sections++;
}

void __srcu_read_unlock(struct srcu_struct *srcu, int section)
{
	(void)srcu;
	sim_point(SIM_RMW);
	if (section < 0 || !(world.sections >> section & 1))
		fail("a section is ended that is not open");
	world.sections &= ~(1U << section);
}

void synchronize_srcu_expedited(struct srcu_struct *srcu)
{
	(void)srcu;
	wait_for(WAIT_SRCU);
}

void synchronize_rcu_expedited(void)
{
	wait_for(WAIT_RCU);
}

static void let_go(struct krp_leased *what)
{
	if (world.let_go)
		fail("the last reference is put twice");
	world.let_go = what == &world.what;
}

void world_init(void)
{
	memset(&world, 0, sizeof(world));
	world.live = world.registered = true;
	current = MAX_THREADS;
	krp_leased_init(&world.what, let_go);
}

void world_finish(void)
{
	unsigned int i;

	if (world.sections)
		fail("a section is left open");
	if (world.what.refs.counter != !world.removes)
		fail("references are left, or lack");
	for (i = 0; i < MAX_CALLS; i++) {
		const struct call *call = &world.call[i];

		if (call->taken + call->revoked != call->begins)
			fail("a call has ended twice, or not at all");
		if (krp_lease_state(world.lease[i].word.counter) == KRP_LEASE_LEASED ||
		    krp_lease_state(world.lease[i].word.counter) == KRP_LEASE_COUNTED)
			fail("a lease is left");
	}
}

static void rcu(bool in)
{
	sim_point(SIM_STORE);
	world.thread[current].in_rcu = in;
}

/* The kernel does not call handlers of what it does not know any more. */
static bool handler_begin(void)
{
	sim_point(SIM_STORE);
	world.thread[current].in_handler = world.registered;
	return world.registered;
}

static void handler_end(void)
{
	sim_point(SIM_STORE);
	world.thread[current].in_handler = false;
}

static void begin(unsigned int i, unsigned int lease)
{
	struct call *call = &world.call[i];

	call->lease = &world.lease[lease];
	call->begun = krp_lease_begin(call->lease, &world.what);
	call->begins++;
	/* As in krp_uret_call_begin(). */
	smp_store_release(&call->task, 1);
}

static void end(unsigned int i)
{
	struct call *call = &world.call[i];
	enum krp_lease_state was = krp_lease_consume(call->lease);

	if (was == KRP_LEASE_CONSUMED)
		fail("a lease is consumed twice");
	if (was == KRP_LEASE_GONE)
		return;
	call->taken++;
	/* Here the handler would run. */
	sim_point(SIM_LOAD);
	if (world.freed)
		fail("a probe is used that has been freed");
	WRITE_ONCE(call->task, 0);
	krp_lease_finalize(call->lease, was);
}

static bool enter(unsigned int i, unsigned int lease)
{
	bool live;

	if (!handler_begin())
		return false;
	live = READ_ONCE(world.live);
	if (live)
		begin(i, lease);
	handler_end();
	return live;
}

/* Without the kernel telling, if it does not any more: as the task's next entry. */
static void leave(unsigned int i)
{
	bool told = handler_begin();

	end(i);
	if (told)
		handler_end();
}

static void task_returns(void)
{
	if (enter(0, 0))
		leave(0);
}

/* Its notes go with it. */
static void task_exits(void)
{
	if (!enter(0, 0))
		return;
	end(0);
	/* A timer that has been deleted does not start any more. */
	sim_point(SIM_STORE);
	world.timer_deleted[0] = true;
	wait_for(WAIT_RCU);
	world.lease_freed[0] = true;
}

/* One lease, two calls. */
static void task_twice(void)
{
	if (enter(0, 0))
		leave(0);
	if (enter(1, 0))
		leave(1);
}

/* A child gets a call that it has not made, and exits. */
static void child(void)
{
	bool live;

	rcu(true);
	live = READ_ONCE(world.live);
	if (live)
		begin(2, 2);
	rcu(false);
	if (live)
		end(2);
}

static void expire(unsigned int lease)
{
	rcu(true);
	if (!world.timer_deleted[lease])
		krp_lease_expire(&world.lease[lease]);
	rcu(false);
}

static void timer(void)
{
	expire(0);
}

static void timer_twice(void)
{
	expire(0);
	expire(0);
}

static void child_timer(void)
{
	expire(2);
}

static void remover(void)
{
	unsigned int i;

	world.removes = true;
	WRITE_ONCE(world.live, false);
	sim_point(SIM_STORE);
	world.registered = false;
	wait_for(WAIT_HANDLERS);
	wait_for(WAIT_RCU);
	rcu(true);
	for (i = 0; i < MAX_CALLS; i++) {
		struct call *call = &world.call[i];

		/* As in krp_uret_revoke(). */
		if (!call->begins || !smp_load_acquire(&call->task) ||
		    !krp_lease_revoke(call->lease, call->begun))
			continue;
		call->revoked++;
		WRITE_ONCE(call->task, 0);
	}
	rcu(false);
	krp_leased_put(&world.what);
	wait_for(WAIT_LET_GO);
	krp_lease_synchronize();
	world.freed = true;
}

const struct scenario scenarios[] = {
	{ "a call that returns, a timer", { task_returns, timer_twice } },
	{ "a call that returns, removal", { task_returns, remover } },
	{ "a call that returns, a timer, removal", { task_returns, timer, remover } },
	{ "a call that returns, two timers, removal", { task_returns, timer, timer, remover } },
	{ "a task that exits, a timer, removal", { task_exits, timer, remover } },
	{ "two calls with one lease, a timer twice", { task_twice, timer_twice } },
	{ "two calls with one lease, a timer, removal", { task_twice, timer, remover } },
	{ "two calls with one lease, a timer twice, removal", { task_twice, timer_twice, remover } },
	{ "a child that inherits a call, a timer, removal", { child, child_timer, remover } },
	{ "a call that returns, a child, a timer, removal",
	  { task_returns, child, timer, remover } },
	{ }
};
