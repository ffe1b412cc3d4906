// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stack traces from inside hooked functions, compared frame by frame with those
 * of the same calls when nothing is hooked.
 */

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>

#include "test.h"
#include "../compat/compat_hrtimer.h"
#include "../compat/compat_unwind.h"

#define DEPTH	64

struct trace {
	unsigned long entry[DEPTH];
	unsigned int nr;
	/* The same by krp_stack_trace_save(). */
	unsigned long resolved[DEPTH];
	unsigned int nr_resolved;
};

noinline krp_noipa unsigned long krp_trace_leaf(struct trace *trace)
{
	/* From this function on: what lies above is the saving itself. */
	trace->nr = stack_trace_save(trace->entry, DEPTH, 0);
	trace->nr_resolved = krp_stack_trace_save(trace->resolved, DEPTH, 0);
	return trace->nr;
}

noinline krp_noipa unsigned long krp_trace_middle(struct trace *trace)
{
	unsigned long nr = krp_trace_leaf(trace);

	barrier();
	return nr + 1;
}

noinline krp_noipa unsigned long krp_trace_depth(struct trace *trace, int depth)
{
	unsigned long nr;

	if (!depth)
		return krp_trace_middle(trace);
	nr = krp_trace_depth(trace, depth - 1);
	barrier();
	return nr;
}

noinline krp_noipa unsigned long krp_trace_tail(struct trace *trace)
{
	return krp_trace_middle(trace);
}

/* A frame that realigns the stack and one whose size is known at run time. */
noinline krp_noipa unsigned long krp_trace_aligned(struct trace *trace, int n)
{
	char aligned[64] __aligned(64);
	char *sized = __builtin_alloca(n);
	unsigned long nr;

	memset(aligned, n, sizeof(aligned));
	memset(sized, n, n);
	OPTIMIZER_HIDE_VAR(sized);
	nr = krp_trace_middle(trace);
	barrier_data(aligned);
	return nr + sized[n - 1] - n;
}

enum trace_call { CALL_PLAIN, CALL_DEEP, CALL_TAIL, CALL_ALIGNED };

/* All calls come from one place, so that traces can be compared. */
static noinline void trace_call(enum trace_call call, struct trace *trace)
{
	switch (call) {
	case CALL_PLAIN:
		krp_trace_middle(trace);
		break;
	case CALL_DEEP:
		krp_trace_depth(trace, 10);
		break;
	case CALL_TAIL:
		krp_trace_tail(trace);
		break;
	case CALL_ALIGNED:
		krp_trace_aligned(trace, 40);
		break;
	}
	barrier();
}

static int nothing(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static int kernel_nothing(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static const char * const trace_functions[] = {
	"krp_trace_leaf", "krp_trace_middle", "krp_trace_depth", "krp_trace_tail",
	"krp_trace_aligned",
};

/* Frames of hooked functions: as many callers hide behind thunks. */
static unsigned int hooked_frames(const struct trace *plain)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int i, n = 0;

	for (i = 0; i < plain->nr; i++) {
		sprint_symbol_no_offset(name, plain->entry[i]);
		strreplace(name, ' ', '\0');
		n += match_string(trace_functions, ARRAY_SIZE(trace_functions), name) >= 0;
	}
	return n;
}

/* @probed is @plain with callers hidden behind thunks; resolved, it is @plain. */
static void expect_same(struct krp_test_run *run, const struct trace *plain,
			const struct trace *probed)
{
	unsigned int i, seen = 0;

	krp_expect_eq(run, probed->nr, plain->nr);
	krp_expect_eq(run, probed->nr_resolved, plain->nr_resolved);
	for (i = 0; i < min(plain->nr, probed->nr); i++) {
		if (krp_is_thunk(probed->entry[i]))
			seen++;
		else if (probed->entry[i] != plain->entry[i] &&
			 !krp_expect_eq(run, probed->entry[i], plain->entry[i]))
			seq_printf(run->m, "# frame %u: %pS, not %pS\n", i,
				   (void *)probed->entry[i], (void *)plain->entry[i]);
	}
	for (i = 0; i < min(plain->nr_resolved, probed->nr_resolved); i++)
		krp_expect_eq(run, probed->resolved[i], plain->resolved[i]);
	krp_expect(run, seen >= 2);
	krp_expect_eq(run, seen, hooked_frames(plain));
}

/**
 * struct trace_job - the same call, before and after it is hooked
 * @run: the test
 * @call: which call
 * @trace: before, after
 * @nr: traces taken
 * @rp: our probes
 * @theirs: the kernel's
 * @kernel_first: is the kernel's registered before ours?
 */
struct trace_job {
	struct krp_test_run *run;
	enum trace_call call;
	struct trace trace[2];
	unsigned int nr;
	struct krp_kretprobe rp[ARRAY_SIZE(trace_functions)];
	struct kretprobe theirs;
	bool kernel_first;
};

typedef void (*trace_step)(struct trace_job *job);

static void step_call(struct trace_job *job)
{
	trace_call(job->call, &job->trace[job->nr++]);
}

static void step_hook(struct trace_job *job)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(job->rp); i++) {
		job->rp[i].kp.symbol_name = trace_functions[i];
		job->rp[i].handler = nothing;
		krp_expect_eq(job->run, krp_register_kretprobe(&job->rp[i]), 0);
	}
}

static void step_unhook(struct trace_job *job)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(job->rp); i++)
		krp_unregister_kretprobe(&job->rp[i]);
}

static void step_hook_both(struct trace_job *job)
{
	job->rp[0].kp.symbol_name = "krp_trace_middle";
	job->rp[0].handler = nothing;
	job->theirs.kp.symbol_name = "krp_trace_middle";
	job->theirs.handler = kernel_nothing;
	if (job->kernel_first)
		krp_expect_eq(job->run, register_kretprobe(&job->theirs), 0);
	krp_expect_eq(job->run, krp_register_kretprobe(&job->rp[0]), 0);
	if (!job->kernel_first)
		krp_expect_eq(job->run, register_kretprobe(&job->theirs), 0);
}

static void step_unhook_both(struct trace_job *job)
{
	unregister_kretprobe(&job->theirs);
	krp_unregister_kretprobe(&job->rp[0]);
}

/*
 * One call instruction for all steps, whatever the compiler does: both traces
 * come from the same place.
 */
static noinline krp_noipa void take_steps(struct trace_job *job, const trace_step *step)
{
	for (; *step; step++) {
		(*step)(job);
		barrier();
	}
}

static struct trace_job *trace_job(struct krp_test_run *run, enum trace_call call,
				   const trace_step *steps, bool kernel_first)
{
	struct trace_job *job = kzalloc(sizeof(*job), GFP_KERNEL);

	if (!krp_expect(run, job))
		return NULL;
	job->run = run;
	job->call = call;
	job->kernel_first = kernel_first;
	take_steps(job, steps);
	return job;
}

static void compare(struct krp_test_run *run, enum trace_call call)
{
	static const trace_step steps[] = {
		step_call, step_hook, step_call, step_unhook, NULL
	};
	struct trace_job *job;

	if (!krp_stack_traces_whole()) {
		run->skipped = "stack traces stop at hooked calls here";
		return;
	}
	job = trace_job(run, call, steps, false);
	if (job)
		expect_same(run, &job->trace[0], &job->trace[1]);
	kfree(job);
}

static void test_plain(struct krp_test_run *run)
{
	compare(run, CALL_PLAIN);
}

static void test_recursion(struct krp_test_run *run)
{
	compare(run, CALL_DEEP);
}

/* Where that is a jump the function has no frame of its own, but a hook. */
static void test_tail(struct krp_test_run *run)
{
	compare(run, CALL_TAIL);
}

static void test_aligned(struct krp_test_run *run)
{
	compare(run, CALL_ALIGNED);
}

static void test_with_kernel(struct krp_test_run *run, bool kernel_first)
{
	static const trace_step steps[] = {
		step_call, step_hook_both, step_call, step_unhook_both, NULL
	};
	struct trace *plain, *probed;
	struct trace_job *job;
	unsigned int i;

	if (!krp_stack_traces_whole() || !KRP_KRETPROBE_RESOLVABLE) {
		run->skipped = "the kernel has no way to ask its kretprobe";
		return;
	}
	job = trace_job(run, CALL_PLAIN, steps, kernel_first);
	if (!job)
		return;
	plain = &job->trace[0];
	probed = &job->trace[1];
	krp_expect_eq(run, probed->nr, plain->nr);
	/* The frames above and below; the one between has one of two names. */
	for (i = 0; i < min(plain->nr, probed->nr); i++)
		if (!krp_is_thunk(probed->entry[i]))
			krp_expect_eq(run, probed->entry[i], plain->entry[i]);
	kfree(job);
}

static void test_kernel_first(struct krp_test_run *run)
{
	test_with_kernel(run, true);
}

static void test_kernel_last(struct krp_test_run *run)
{
	test_with_kernel(run, false);
}

/*
 * A timer interrupt on every CPU looks at what it has interrupted: threads that
 * call hooked functions from many places. However deep it lands, the trace must
 * lead to the thread's function and to what lies below that.
 */

#define SAMPLES		20000
#define SAMPLE_NS	100000

struct sampler {
	struct hrtimer timer;
	struct task_struct *task;
	unsigned long below[4];
	unsigned int nr_below;
	unsigned long samples, thunks, broken;
	unsigned long broken_at[DEPTH];
	unsigned int nr_broken_at;
};

static bool sample_stop;

static noinline krp_noipa int sample_thread(void *data);

/* The kernel's retpolines have no ORC data: traces that begin there end there. */
static bool sample_in_retpoline(unsigned long addr)
{
	char name[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(name, addr);
	return strstr(name, "__x86_indirect_") || strstr(name, "__x86_return_") ||
	       strstr(name, "srso_") || strstr(name, "retbleed_");
}

/* Below the thread's function the trace is always the same. */
static bool sample_right(struct sampler *s, const unsigned long *entry, unsigned int nr)
{
	return nr > s->nr_below && !memcmp(&entry[nr - s->nr_below], s->below,
					   s->nr_below * sizeof(*entry));
}

static enum hrtimer_restart sample_interrupt(struct hrtimer *timer)
{
	struct sampler *s = container_of(timer, struct sampler, timer);
	unsigned long entry[DEPTH];
	unsigned int nr, i;

	if (current == s->task) {
		/* From here through the interrupt to what it has interrupted. */
		nr = stack_trace_save(entry, DEPTH, 0);
		s->samples++;
		for (i = 0; i < nr; i++)
			s->thunks += krp_is_thunk(entry[i]);
		if (!sample_right(s, entry, nr) && !sample_in_retpoline(entry[nr - 1])) {
			if (!s->broken++) {
				memcpy(s->broken_at, entry, sizeof(entry));
				s->nr_broken_at = nr;
			}
		}
	}
	if (READ_ONCE(sample_stop))
		return HRTIMER_NORESTART;
	/* Odd distances: all instructions get their turn. */
	hrtimer_forward_now(timer, ns_to_ktime(SAMPLE_NS + s->samples * 131 % 8192));
	return HRTIMER_RESTART;
}

static noinline krp_noipa int sample_thread(void *data)
{
	struct sampler *s = data;
	unsigned long entry[DEPTH];
	unsigned int nr, i;

	/* Entry 0 is here; the rest is what every trace must end with. */
	nr = stack_trace_save(entry, DEPTH, 0);
	for (i = 1; i < nr && s->nr_below < ARRAY_SIZE(s->below); i++)
		s->below[s->nr_below++] = entry[i];

	hrtimer_setup(&s->timer, sample_interrupt, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&s->timer, ns_to_ktime(SAMPLE_NS), HRTIMER_MODE_REL_PINNED_HARD);
	while (!READ_ONCE(sample_stop)) {
		for (i = 0; i < 50; i++) {
			krp_target_depth(i % 8);
			krp_caller_of_add(i, 1);
			krp_target_tail(i);
			krp_target_nine(1, 2, 3, 4, 5, 6, 7, 8, i);
			krp_target_large(i);
		}
		cond_resched_tasks_rcu_qs();
	}
	hrtimer_cancel(&s->timer);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static unsigned long samples_of(struct sampler *s)
{
	unsigned long samples = 0;
	unsigned int cpu;

	for_each_online_cpu(cpu)
		samples += READ_ONCE(s[cpu].samples);
	return samples;
}

static void test_interrupts(struct krp_test_run *run)
{
	static const char * const names[] = {
		"krp_target_depth", "krp_target_add", "krp_target_tail", "krp_target_nine",
		"krp_target_large", "krp_caller_of_add",
	};
	struct krp_kretprobe rp[ARRAY_SIZE(names)] = {};
	unsigned long thunks = 0, broken = 0;
	struct sampler *s;
	unsigned int cpu, i, patience = 1200;

	if (!krp_stack_traces_whole()) {
		run->skipped = "stack traces stop at hooked calls here";
		return;
	}
	s = kcalloc(nr_cpu_ids, sizeof(*s), GFP_KERNEL);
	if (!krp_expect(run, s))
		return;
	for (i = 0; i < ARRAY_SIZE(rp); i++) {
		rp[i].kp.symbol_name = names[i];
		rp[i].handler = nothing;
		krp_expect_eq(run, krp_register_kretprobe(&rp[i]), 0);
	}
	WRITE_ONCE(sample_stop, false);
	for_each_online_cpu(cpu) {
		struct task_struct *task;

		task = kthread_create(sample_thread, &s[cpu], "krp_sample/%u", cpu);
		if (!krp_expect(run, !IS_ERR(task)))
			continue;
		s[cpu].task = task;
		kthread_bind(task, cpu);
		wake_up_process(task);
	}
	while (samples_of(s) < SAMPLES && --patience)
		msleep(100);
	WRITE_ONCE(sample_stop, true);
	for_each_online_cpu(cpu) {
		if (s[cpu].task)
			kthread_stop(s[cpu].task);
		thunks += s[cpu].thunks;
		broken += s[cpu].broken;
		for (i = 0; i < s[cpu].nr_broken_at; i++)
			seq_printf(run->m, "# broken: %pS\n", (void *)s[cpu].broken_at[i]);
	}
	for (i = 0; i < ARRAY_SIZE(rp); i++)
		krp_unregister_kretprobe(&rp[i]);
	seq_printf(run->m, "# %lu samples, %lu thunk frames, %lu broken\n", samples_of(s),
		   thunks, broken);
	krp_expect(run, samples_of(s) >= SAMPLES);
	krp_expect(run, thunks > SAMPLES / 10);
	krp_expect_eq(run, broken, 0);
	kfree(s);
}

const struct krp_test krp_tests_trace[] = {
	{ "a trace through hooked calls is whole", test_plain },
	{ "through recursion", test_recursion },
	{ "through a tail call", test_tail },
	{ "through realigned frames", test_aligned },
	{ "with the kernel's kretprobe first", test_kernel_first },
	{ "with the kernel's kretprobe last", test_kernel_last },
	{ "from interrupts landing anywhere", test_interrupts },
	{ }
};

/*
 * For callers in another module: the same call, not hooked and hooked, and then
 * how many frames differ beside those that are thunks; -1 if nothing was hooked.
 */

static struct trace caller_traces[2];
static struct krp_kretprobe caller_probe;

void krp_trace_caller_hook(bool on)
{
	if (on) {
		caller_probe = (struct krp_kretprobe){
			.kp.symbol_name = "krp_trace_caller_leaf",
			.handler = nothing,
		};
		krp_register_kretprobe(&caller_probe);
	} else {
		krp_unregister_kretprobe(&caller_probe);
	}
}
EXPORT_SYMBOL_GPL(krp_trace_caller_hook);

noinline krp_noipa void krp_trace_caller_leaf(int n)
{
	krp_trace_leaf(&caller_traces[n]);
	barrier();
}
EXPORT_SYMBOL_GPL(krp_trace_caller_leaf);

int krp_trace_caller_compare(void)
{
	struct trace *plain = &caller_traces[0], *probed = &caller_traces[1];
	int differ = abs((int)plain->nr - (int)probed->nr), thunks = 0;
	unsigned int i;

	for (i = 0; i < min(plain->nr, probed->nr); i++) {
		if (krp_is_thunk(probed->entry[i]))
			thunks++;
		else
			differ += plain->entry[i] != probed->entry[i];
	}
	differ += plain->nr_resolved != probed->nr_resolved ||
		  memcmp(plain->resolved, probed->resolved,
			 plain->nr_resolved * sizeof(plain->resolved[0]));
	return thunks == 1 ? differ : -1;
}
EXPORT_SYMBOL_GPL(krp_trace_caller_compare);
