// SPDX-License-Identifier: GPL-2.0-only
/* One probe on many functions. */

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "test.h"
#include "../krp_multi.h"

#define MULTI_MODULE	"kretpool_test:"
#define MULTI_TARGETS	MULTI_MODULE "krp_target_*"

/* And one for each of the reasons there are, but that of krp_target_notrace(). */
#define MULTI_MIXED	(MULTI_TARGETS ",get_kprobe,kretpool:krp_return,do_task_dead," \
			 "kretpool_test:multi_exit")

/* As many names as the project wants to see in one list. */
#define MULTI_NAMES	20000

/* There is another one of this name in test_targets.c. */
static noinline krp_noipa __used unsigned long krp_twin(unsigned long a)
{
	return a + 1;
}

/* What &krp_instance.data holds. */
struct multi_data {
	unsigned long ip;
	unsigned long mark;
};

/**
 * struct multi - a probe, and what its handlers have seen
 * @m: the probe
 * @entries: runs of the entry handler
 * @exits: of the return handler
 * @wrong: data or addresses that did not fit
 * @skip: what the entry handler returns
 * @last_ip: the last function to return
 * @last_index: and its number
 */
struct multi {
	struct krp_multi m;
	unsigned long entries, exits, wrong;
	int skip;
	unsigned long last_ip;
	unsigned int last_index;
};

static int multi_entry(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
		       struct pt_regs *regs)
{
	struct multi *multi = container_of(m, struct multi, m);
	struct multi_data *data = (struct multi_data *)inst->data;

	multi->entries++;
	if (m->data_size) {
		data->ip = ip;
		data->mark = ~ip;
	}
	return multi->skip;
}

static void multi_exit(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
		       struct pt_regs *regs)
{
	struct multi *multi = container_of(m, struct multi, m);
	struct multi_data *data = (struct multi_data *)inst->data;

	multi->exits++;
	multi->last_ip = ip;
	multi->last_index = krp_multi_index(inst);
	multi->wrong += krp_multi_address(m, multi->last_index) != ip;
	if (m->data_size)
		multi->wrong += data->ip != ip || data->mark != ~ip;
}

/* Calls itself, so to speak: the call within is not hooked. */
static void multi_exit_nested(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
			      struct pt_regs *regs)
{
	multi_exit(m, ip, inst, regs);
	krp_target_add(1, 1);
}

static unsigned long sum_missed(const struct krp_rethook_counts *counts)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < KRP_NR_MISSES; i++)
		sum += counts->missed[i];
	return sum;
}

/* Has the address of a function the form in which handlers see it? */
static bool same_function(unsigned long ip, void *fn)
{
	return ip == (unsigned long)fn;
}

static void test_glob(struct krp_test_run *run)
{
	struct multi multi = { .m = { .entry = multi_entry, .exit = multi_exit,
				      .data_size = sizeof(struct multi_data) } };
	struct krp_rethook_counts counts;
	int i;

	if (!krp_expect_eq(run, krp_multi_register(&multi.m, MULTI_TARGETS, NULL), 0))
		return;
	/* All of test_targets.c but the one out of ftrace's reach, and krp_target_sleep(). */
	krp_expect_eq(run, multi.m.functions, 7);
	krp_expect_eq(run, multi.m.left_out, 1);
	for (i = 0; i < 100; i++) {
		krp_expect_eq(run, krp_target_add(i, 1), i + 1);
		krp_expect(run, same_function(multi.last_ip, krp_target_add));
		krp_expect_eq(run, krp_target_nine(1, 1, 1, 1, 1, 1, 1, 1, i), 36 + 9 * i);
		krp_expect(run, same_function(multi.last_ip, krp_target_nine));
		krp_expect_eq(run, krp_target_pair(i, 2).a, 2);
		krp_expect(run, same_function(multi.last_ip, krp_target_pair));
		/* A tail call: two entries, two returns, the outer one last. */
		krp_expect_eq(run, krp_target_tail(i), i + 1000);
		krp_expect(run, same_function(multi.last_ip, krp_target_tail));
		krp_target_notrace(i);
	}
	krp_multi_counts(&multi.m, &counts);
	krp_expect_eq(run, multi.entries, 500);
	krp_expect_eq(run, multi.exits, 500);
	krp_expect_eq(run, multi.wrong, 0);
	krp_expect_eq(run, counts.hits, 500);
	krp_expect_eq(run, counts.skipped + counts.inflight + sum_missed(&counts), 0);
	krp_expect_eq(run, krp_multi_unregister(&multi.m), 0);
	krp_target_add(1, 2);
	krp_expect_eq(run, multi.exits, 500);
	krp_expect_eq(run, krp_multi_unregister(&multi.m), -EINVAL);
}

static void test_exclusion(struct krp_test_run *run)
{
	struct multi multi = { .m.exit = multi_exit };
	struct multi list = { .m.exit = multi_exit };

	if (!krp_expect_eq(run, krp_multi_register(&multi.m, MULTI_TARGETS,
						   "*_nine, " MULTI_MODULE "*_pair other:*_add"),
			   0))
		return;
	krp_expect_eq(run, multi.m.functions, 5);
	krp_target_nine(1, 2, 3, 4, 5, 6, 7, 8, 9);
	krp_target_pair(1, 2);
	krp_expect_eq(run, multi.exits, 0);
	krp_target_add(1, 2);
	krp_expect_eq(run, multi.exits, 1);
	krp_multi_unregister(&multi.m);

	if (!krp_expect_eq(run, krp_multi_register(&list.m, "krp_target_add krp_target_p*,krp_target_nine",
						   "krp_target_nine"), 0))
		return;
	krp_expect_eq(run, list.m.functions, 2);
	krp_multi_unregister(&list.m);
}

static void test_lists(struct krp_test_run *run)
{
	static const char * const syms[] = {
		"krp_target_pair", MULTI_MODULE "krp_target_add", "krp_target_pair",
	};
	unsigned long addrs[] = { (unsigned long)krp_target_nine, (unsigned long)krp_target_add };
	struct multi multi = { .m.exit = multi_exit };
	int ret;

	ret = krp_multi_register_syms(&multi.m, (const char **)syms, ARRAY_SIZE(syms));
	if (krp_expect_eq(run, ret, 0)) {
		krp_expect_eq(run, multi.m.functions, 2);
		krp_target_add(1, 2);
		krp_target_pair(1, 2);
		krp_target_nine(1, 2, 3, 4, 5, 6, 7, 8, 9);
		krp_expect_eq(run, multi.exits, 2);
		krp_expect_eq(run, krp_multi_register_syms(&multi.m, (const char **)syms, 1), -EINVAL);
		krp_multi_unregister(&multi.m);
	}
	multi.exits = 0;
	if (krp_expect_eq(run, krp_multi_register_ips(&multi.m, addrs, ARRAY_SIZE(addrs)), 0)) {
		krp_expect_eq(run, multi.m.functions, 2);
		krp_target_add(1, 2);
		krp_target_nine(1, 2, 3, 4, 5, 6, 7, 8, 9);
		krp_expect_eq(run, multi.exits, 2);
		krp_multi_unregister(&multi.m);
	}
}

static void test_refusals(struct krp_test_run *run)
{
	static const char * const bad[] = {
		"krp_target_add krp_no_such_function", "krp_no_such_*", "krp_no_such:krp_target_add",
	};
	unsigned long addrs[] = { (unsigned long)krp_target_add, (unsigned long)krp_target_add + 2 };
	struct multi multi = { .m.exit = multi_exit };
	static const char * const syms[] = { "krp_twin" };
	int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		krp_expect_eq(run, krp_multi_register(&multi.m, bad[i], NULL), -ENOENT);
	krp_expect_eq(run, krp_multi_register_ips(&multi.m, addrs, 2), -EINVAL);
	krp_expect_eq(run, krp_multi_register_syms(&multi.m, (const char **)syms, 1), -EADDRNOTAVAIL);
	krp_expect_eq(run, krp_multi_register(&multi.m, " , ", NULL), -EINVAL);
	krp_expect_eq(run, krp_multi_register(&multi.m, NULL, NULL), -EINVAL);
	krp_expect_eq(run, krp_multi_register_syms(&multi.m, (const char **)syms, 0), -EINVAL);
	/* All of these are left out. */
	krp_expect_eq(run, krp_multi_register(&multi.m, "kretpool:*", NULL), -EINVAL);
	krp_expect_eq(run, krp_multi_register(&multi.m, "krp_target_notrace", NULL), -EINVAL);
	multi.m.data_size = KRP_DATA_SIZE_MAX + 1;
	krp_expect_eq(run, krp_multi_register(&multi.m, MULTI_TARGETS, NULL), -E2BIG);
	multi.m.data_size = 0;
	multi.m.nr_instances = 1 << 20;
	krp_expect_eq(run, krp_multi_register(&multi.m, MULTI_TARGETS, NULL), -ENOSPC);
	multi.m.nr_instances = 0;

	/* A glob takes both of those that have one name. */
	krp_expect_eq(run, krp_multi_register(&multi.m, "krp_twi?", NULL), 0);
	krp_expect_eq(run, multi.m.functions, 2);
	krp_multi_unregister(&multi.m);
	krp_target_add(1, 2);
	krp_expect_eq(run, multi.exits, 0);
}

static int count_state(unsigned long ip, const char *name, enum krp_multi_state state, void *data)
{
	unsigned int *counts = data;

	if (state == KRP_MULTI_BLACKLISTED && strcmp(name, "get_kprobe"))
		return -ENODATA;
	counts[state]++;
	return 0;
}

static void test_left_out(struct krp_test_run *run)
{
	unsigned int counts[KRP_NR_MULTI_STATES] = {};
	struct multi multi = { .m.exit = multi_exit };

	if (!krp_expect_eq(run, krp_multi_register(&multi.m, MULTI_MIXED, NULL), 0))
		return;
	krp_expect_eq(run, krp_multi_visit(&multi.m, count_state, counts), 0);
	krp_expect_eq(run, counts[KRP_MULTI_ATTACHED], 7);
	krp_expect_eq(run, counts[KRP_MULTI_BLACKLISTED], 1);
	krp_expect_eq(run, counts[KRP_MULTI_OWN], 1);
	krp_expect_eq(run, counts[KRP_MULTI_REFUSED], 1);
	krp_expect_eq(run, counts[KRP_MULTI_UNTRACEABLE], 1);
	krp_expect_eq(run, counts[KRP_MULTI_NEEDED], 1);
	krp_expect_eq(run, multi.m.left_out, 5);
	krp_multi_unregister(&multi.m);
}

static void test_entries(struct krp_test_run *run)
{
	struct multi skips = { .m = { .entry = multi_entry, .exit = multi_exit }, .skip = 1 };
	struct multi only = { .m = { .entry = multi_entry } };
	struct krp_rethook_counts counts;

	if (krp_expect_eq(run, krp_multi_register(&skips.m, MULTI_TARGETS, NULL), 0)) {
		krp_target_tail(1);
		krp_multi_counts(&skips.m, &counts);
		krp_expect_eq(run, skips.entries, 2);
		krp_expect_eq(run, skips.exits, 0);
		krp_expect_eq(run, counts.skipped, 2);
		krp_multi_unregister(&skips.m);
	}
	if (krp_expect_eq(run, krp_multi_register(&only.m, MULTI_TARGETS, NULL), 0)) {
		krp_target_tail(1);
		krp_multi_counts(&only.m, &counts);
		krp_expect_eq(run, only.entries, 2);
		krp_expect_eq(run, counts.hits, 2);
		krp_multi_unregister(&only.m);
	}
}

static void multi_exit_value(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
			     struct pt_regs *regs)
{
	multi_exit(m, ip, inst, regs);
	if (ip == (unsigned long)krp_target_add)
		regs_set_return_value(regs, regs_return_value(regs) + 100);
}

static void test_light(struct krp_test_run *run)
{
	struct multi multi = { .m = { .entry = multi_entry, .exit = multi_exit_value,
				      .data_size = sizeof(struct multi_data),
				      .flags = KRP_RETHOOK_LIGHT } };
	int i;

	if (!krp_expect_eq(run, krp_multi_register(&multi.m, MULTI_TARGETS, NULL), 0))
		return;
	for (i = 0; i < 100; i++) {
		struct krp_large large = krp_target_large(i);
		struct krp_pair pair = krp_target_pair(i, 7);

		krp_expect_eq(run, krp_target_add(i, 1), i + 101);
		krp_expect_eq(run, pair.a, 7);
		krp_expect_eq(run, pair.b, i);
		krp_expect_eq(run, large.word[7], i + 7);
		krp_expect_eq(run, krp_target_depth(3), 4);
		krp_expect_eq(run, krp_caller_of_add(i, 1), i + 102);
	}
	krp_expect_eq(run, multi.exits, 800);
	krp_expect_eq(run, multi.wrong, 0);
	krp_multi_unregister(&multi.m);
}

static void test_misses(struct krp_test_run *run)
{
	struct multi multi = { .m = { .exit = multi_exit_nested, .nr_instances = 1 } };
	struct krp_rethook_counts counts;

	if (!krp_expect_eq(run, krp_multi_register(&multi.m, MULTI_TARGETS, NULL), 0))
		return;
	krp_expect_eq(run, krp_target_depth(99), 100);
	krp_multi_counts(&multi.m, &counts);
	/* At least as many as were asked for, and one per CPU more at most. */
	krp_expect(run, counts.hits >= 1 && counts.hits <= 1 + num_possible_cpus());
	krp_expect_eq(run, counts.hits, multi.exits);
	krp_expect_eq(run, counts.missed[KRP_MISS_EMPTY], 100 - counts.hits);
	krp_expect_eq(run, counts.missed[KRP_MISS_RECURSION], counts.hits);
	krp_expect_eq(run, sum_missed(&counts), 100);
	krp_multi_unregister(&multi.m);
}

static unsigned long single_hits;

static int single_hit(struct krp_kretprobe_instance *ri, struct pt_regs *regs)
{
	single_hits++;
	return 0;
}

static void test_overlap(struct krp_test_run *run)
{
	struct krp_kretprobe rp = { .kp.symbol_name = "krp_target_add", .handler = single_hit };
	struct multi a = { .m.exit = multi_exit };
	struct multi b = { .m = { .entry = multi_entry, .exit = multi_exit,
				  .flags = KRP_RETHOOK_FULL_REGS } };
	struct multi c = { .m.exit = multi_exit };

	single_hits = 0;
	if (!krp_expect_eq(run, krp_multi_register(&a.m, MULTI_TARGETS, NULL), 0))
		return;
	if (!krp_expect_eq(run, krp_register_kretprobe(&rp), 0)) {
		krp_multi_unregister(&a.m);
		return;
	}
	krp_target_tail(1);
	krp_expect_eq(run, a.exits, 2);
	krp_expect_eq(run, single_hits, 1);
	krp_expect_eq(run, krp_multi_register(&c.m, "krp_target_add,krp_target_pair", NULL), 0);
	krp_target_tail(1);
	krp_expect_eq(run, a.exits, 4);
	krp_expect_eq(run, c.exits, 1);
	krp_expect_eq(run, single_hits, 2);
	krp_multi_unregister(&a.m);
	krp_target_tail(1);
	krp_expect_eq(run, a.exits, 4);
	krp_expect_eq(run, c.exits, 2);
	krp_expect_eq(run, single_hits, 3);
	/* Not every kernel's ftrace can do this. */
	if (!krp_multi_register(&b.m, MULTI_TARGETS, NULL)) {
		krp_target_tail(1);
		krp_expect_eq(run, b.exits, 2);
		krp_expect_eq(run, c.exits, 3);
		krp_expect_eq(run, single_hits, 4);
		krp_multi_unregister(&b.m);
	}
	single_hits = 0;
	krp_multi_unregister(&c.m);
	krp_target_tail(1);
	krp_expect_eq(run, single_hits, 1);
	krp_unregister_kretprobe(&rp);
	krp_target_tail(1);
	krp_expect_eq(run, single_hits, 1);
}

static void test_kretprobe_batch(struct krp_test_run *run)
{
	struct krp_kretprobe rp[] = {
		{ .kp.symbol_name = "krp_target_add", .handler = single_hit },
		{ .kp.symbol_name = "krp_target_notrace", .handler = single_hit },
		{ .kp.symbol_name = "krp_target_nine", .handler = single_hit,
		  .kp.flags = KPROBE_FLAG_DISABLED },
		{ .kp.symbol_name = "krp_target_pair", .handler = single_hit,
		  .krp_flags = KRP_KRETPROBE_FULL_REGS },
		{ .kp.symbol_name = "krp_target_add", .handler = single_hit },
	};
	struct krp_kretprobe *rps[ARRAY_SIZE(rp)];
	int i;

	for (i = 0; i < ARRAY_SIZE(rp); i++)
		rps[i] = &rp[i];
	single_hits = 0;
	if (!krp_expect_eq(run, krp_register_kretprobes(rps, ARRAY_SIZE(rp)), 0))
		return;
	krp_target_add(1, 2);
	krp_expect_eq(run, single_hits, 2);
	krp_target_notrace(1);
	krp_expect_eq(run, single_hits, 3);
	krp_target_nine(1, 2, 3, 4, 5, 6, 7, 8, 9);
	krp_expect_eq(run, single_hits, 3);
	krp_target_pair(1, 2);
	krp_expect_eq(run, single_hits, 4);
	krp_unregister_kretprobes(rps, ARRAY_SIZE(rp));

	/* All or none. */
	rp[3].kp.symbol_name = "krp_no_such_function";
	krp_expect_eq(run, krp_register_kretprobes(rps, ARRAY_SIZE(rp)), -ENOENT);
	rps[3] = rps[0];
	krp_expect_eq(run, krp_register_kretprobes(rps, ARRAY_SIZE(rp)), -EINVAL);
	krp_target_add(1, 2);
	krp_target_notrace(1);
	krp_target_pair(1, 2);
	krp_expect_eq(run, single_hits, 4);
}

/**
 * struct known - a name of one of the kernel's functions
 * @name: the name
 * @good: it can be hooked
 */
struct known {
	char *name;
	bool good;
};

/* All names, twice those that occur twice; and a list of those that are clear. */
struct names {
	struct known *known;
	unsigned int nr_known;
	const char **list;
	unsigned int nr;
};

#define MULTI_KNOWN_MAX	(10 * MULTI_NAMES)

static int collect_name(unsigned long ip, const char *name, enum krp_multi_state state, void *data)
{
	struct names *names = data;
	struct known *known = &names->known[names->nr_known];

	known->name = kstrdup(name, GFP_KERNEL);
	if (!known->name)
		return -ENOMEM;
	known->good = state == KRP_MULTI_ATTACHED;
	return ++names->nr_known == MULTI_KNOWN_MAX;
}

static int known_cmp(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->name, ((const struct known *)b)->name);
}

static void names_list(struct names *names)
{
	struct known *known = names->known;
	unsigned int i;

	sort(known, names->nr_known, sizeof(*known), known_cmp, NULL);
	for (i = 0; i < names->nr_known && names->nr < MULTI_NAMES; i++) {
		bool twin = (i && !known_cmp(&known[i], &known[i - 1])) ||
			    (i + 1 < names->nr_known && !known_cmp(&known[i], &known[i + 1]));

		if (known[i].good && !twin)
			names->list[names->nr++] = known[i].name;
	}
}

static int names_get(struct names *names)
{
	struct multi all = { .m = { .exit = multi_exit, .flags = KRP_RETHOOK_DISABLED } };
	int ret;

	names->known = kvcalloc(MULTI_KNOWN_MAX, sizeof(*names->known), GFP_KERNEL);
	names->list = kvcalloc(MULTI_NAMES, sizeof(*names->list), GFP_KERNEL);
	if (!names->known || !names->list)
		return -ENOMEM;
	ret = krp_multi_register(&all.m, "vmlinux:*", NULL);
	if (ret)
		return ret;
	ret = krp_multi_visit(&all.m, collect_name, names);
	krp_multi_unregister(&all.m);
	names_list(names);
	return ret;
}

static void names_free(struct names *names)
{
	while (names->nr_known)
		kfree(names->known[--names->nr_known].name);
	kvfree(names->known);
	kvfree(names->list);
}

static void test_many_names(struct krp_test_run *run)
{
	static const int places[] = { 0, 1, MULTI_NAMES / 2, MULTI_NAMES - 1 };
	struct multi multi = { .m = { .exit = multi_exit, .nr_instances = 2000 } };
	struct names names = {};
	int i;

	if (!krp_expect_eq(run, names_get(&names), 0))
		goto free;
	if (names.nr < MULTI_NAMES) {
		run->skipped = "this kernel has not so many";
		goto free;
	}
	if (krp_expect_eq(run, krp_multi_register_syms(&multi.m, names.list, MULTI_NAMES), 0)) {
		krp_expect_eq(run, multi.m.functions, MULTI_NAMES);
		krp_multi_unregister(&multi.m);
	}
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		const char *good = names.list[places[i]];

		names.list[places[i]] = "krp_no_such_function";
		krp_expect_eq(run, krp_multi_register_syms(&multi.m, names.list, MULTI_NAMES),
			      -ENOENT);
		names.list[places[i]] = good;
	}
free:
	names_free(&names);
}

const struct krp_test krp_tests_multi[] = {
	{ "a glob, entry data carried to the return, the address tells which", test_glob },
	{ "exclusion", test_exclusion },
	{ "lists of names and of addresses", test_lists },
	{ "what is not there, or not clear, attaches nothing", test_refusals },
	{ "functions left out are counted, and told by name", test_left_out },
	{ "an entry handler that skips, and one alone", test_entries },
	{ "a light return", test_light },
	{ "misses are counted by cause", test_misses },
	{ "several on the same functions, and single ones", test_overlap },
	{ "an array of return probes, all or none", test_kretprobe_batch },
	{ "20000 names, and one of them wrong", test_many_names },
	{}
};
