#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Functions that are awkward to probe: those that the handlers themselves go
# through (C11), those that run while RCU does not watch (C12), and one that
# everybody else hooks as well (C18).
# What is waited for is evaluated again and again, so it is quoted.
# shellcheck disable=SC2016
# shellcheck source=selftests/lib.sh
. "$(dirname "$0")/lib.sh"

many=/proc/kretpool_many
tracing=/sys/kernel/tracing
[ -e $tracing/trace ] || tracing=/sys/kernel/debug/tracing

load kretpool_many || skip_all "kretpool_many.ko is neither here nor installed"

# column FUNCTION N: of its probe
column() {
	awk -v name="$1" -v n="$2" '$2 == name { print $n }' /proc/kretpool/probes
}

# C11: locks, what the pool, the counting and the freeing of probes call, and
# what ftrace and kprobes call before us. The handlers take a lock and free.
probed=
for func in _raw_spin_lock_irqsave _raw_spin_unlock_irqrestore _raw_spin_lock _raw_spin_lock_irq \
	_raw_spin_unlock mutex_lock mutex_unlock irq_work_queue irq_work_run irq_work_sync call_rcu \
	call_rcu_tasks __call_rcu_common queue_work_on __queue_work delayed_work_timer_fn kfree \
	kmem_cache_free __kmalloc vfree kvfree free_percpu module_put try_module_get \
	__bitmap_weight bitmap_weight synchronize_rcu ftrace_set_filter_ip text_poke_bp \
	text_poke_bp_batch on_each_cpu_cond_mask smp_call_function_many_cond kernel_text_address \
	is_module_text_address ktime_get unwind_next_frame orc_find; do
	if echo "name $func 64" >$many 2>/dev/null; then
		probed="$probed $func"
	fi
done
echo "# probed:$probed"
# What the handlers call: a lock, or kfree() where locks are inlined.
case "$probed " in
*" _raw_spin_lock_irqsave "*) own=_raw_spin_lock_irqsave ;;
*) own=kfree ;;
esac
case "$probed " in
*" $own "*) ok 0 "$own is probed, which the handlers call" ;;
*) ok 1 "$own is probed, which the handlers call" ;;
esac
for _ in $(seq 10); do
	cat /proc/kretpool/* /proc/self/maps >/dev/null
	echo stop >$many
	echo start >$many
done
wait_for '[ "$(column $own 4)" -gt 1000 ]'
ok $? "it is hit, and nothing locks up ($(column $own 4))"
[ "$(column $own 7)" -gt 1000 ]
ok $? "what the handlers call is counted as recursion ($(column $own 7))"
echo clear >$many
! grep -q " $own enabled " /proc/kretpool/probes
ok $? "all are removed"

# C12: before 6.3 the idle loop calls arch_cpu_idle() after it has told RCU.
probed=
for func in arch_cpu_idle default_idle amd_e400_idle mwait_idle cpu_do_idle; do
	! echo "name $func 64" >$many 2>/dev/null || probed="$probed $func"
done
if [ -n "$probed" ]; then
	# The CPUs are idle meanwhile, that is what it is about.
	sleep 1
	echo "# probed:$probed"
	awk '/ (arch_cpu_idle|default_idle|mwait_idle|cpu_do_idle) / { print "# " $0 }' \
		/proc/kretpool/probes
fi
func=
for name in $probed; do
	[ "$(column "$name" 8)" = 0 ] || func=$name
done
if [ -n "$func" ]; then
	is "$(column "$func" 4) $(column "$func" 6)" "0 0" \
		"$func runs without RCU: never handled, $(column "$func" 8) calls counted as unwatched"
else
	ok 0 "idle functions # SKIP on this kernel none that can be probed runs without RCU"
fi
echo clear >$many
rmmod kretpool_many

# C18: us, the kernel's kretprobe, its fprobe and the function graph tracer.
# hooks: reports how often each of them has seen krp_target_sleep in 20 calls
others() {
	echo >$tracing/trace
	for _ in $(seq 20); do
		cat /proc/kretpool_test/sleep >/dev/null &
	done
	wait_for '[ "$(sed "s/.*asleep //" /proc/kretpool_test/probe)" = 20 ]'
	echo wake >/proc/kretpool_test/sleep
	wait
	cat $tracing/trace >"$trace"
}

if load kretpool_test && [ -e $tracing/kprobe_events ]; then
	trace=$(mktemp)
	want=
	if grep -q function_graph $tracing/available_tracers; then
		echo krp_target_sleep >$tracing/set_graph_function &&
			echo function_graph >$tracing/current_tracer && want="graph"
	fi
	for order in "ours first" "ours last"; do
		[ "$order" = "ours last" ] || echo "on 64" >/proc/kretpool_test/probe
		echo 'r64:krp_others/kretprobe krp_target_sleep' >>$tracing/kprobe_events
		echo 1 >$tracing/events/krp_others/kretprobe/enable
		fprobe=
		# Room for all sleepers, where a fprobe has to be told.
		if echo 'f64:krp_others/fprobe krp_target_sleep%return' \
			>>$tracing/dynamic_events 2>/dev/null ||
			echo 'f:krp_others/fprobe krp_target_sleep%return' \
			>>$tracing/dynamic_events 2>/dev/null; then
			echo 1 >$tracing/events/krp_others/fprobe/enable
			fprobe=fprobe
		fi
		[ "$order" = "ours first" ] || echo "on 64" >/proc/kretpool_test/probe
		others
		is "$(sed 's/.*hits \([0-9]*\).*/\1/' /proc/kretpool_test/probe)" 20 \
			"$order: 20 calls with kretprobe $fprobe $want: our handler ran for each"
		is "$(grep -c 'kretprobe: (' "$trace")" 20 "$order: the kernel's kretprobe, too"
		[ -z "$fprobe" ] || is "$(grep -c 'fprobe: (' "$trace")" 20 "$order: and its fprobe"
		[ -z "$want" ] || is "$(grep -c 'krp_target_sleep.*{' "$trace")" 20 \
			"$order: and the graph tracer"
		echo off >/proc/kretpool_test/probe
		for event in kretprobe $fprobe; do
			echo 0 >"$tracing/events/krp_others/$event/enable"
		done
		echo >$tracing/kprobe_events
		[ -z "$fprobe" ] || echo >$tracing/dynamic_events
	done
	echo nop >$tracing/current_tracer
	[ -z "$want" ] || echo >$tracing/set_graph_function
	rm -f "$trace"
else
	ok 0 "hooked by others as well # SKIP this kernel has no kprobe events"
fi

wait_for '[ "$(awk "/return thunks/ { print \$4 }" /proc/kretpool/pools)" = 0 ]'
ok $? "no return thunk is left in use"

done_testing
