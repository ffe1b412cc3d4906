// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module as people have them, written for the kernel's kretprobes and objpool,
 * old and new: it knows nothing of kretpool but what -include brings
 * (selftests/Kbuild). Parameters say what it has seen.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/objpool.h>
#include <linux/sched.h>

static char *func = "kernel_clone";
module_param(func, charp, 0444);

static int hits;
module_param(hits, int, 0444);

static int wrong;
module_param(wrong, int, 0444);

/* What every probe of such a module has beside it. */
struct ported_probe {
	struct kretprobe rp;
	atomic_t entries;
};

struct ported_data {
	struct task_struct *task;
	struct objpool_head *pool;
	unsigned long *object;
};

static int ported_entry(struct kretprobe_instance *ri, struct pt_regs *regs);
static int ported_return(struct kretprobe_instance *ri, struct pt_regs *regs);

static struct ported_probe ported = {
	.rp = {
		.handler	= ported_return,
		.entry_handler	= ported_entry,
		.data_size	= sizeof(struct ported_data),
		.maxactive	= 32,
	},
};
static struct kretprobe *ported_probes[] = { &ported.rp };

static struct objpool_head ported_pool;

static void ported_expect(bool right)
{
	if (!right)
		wrong++;
}

static int ported_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ported_data *data = (struct ported_data *)ri->data;
	struct ported_probe *probe = container_of(ri->rp, struct ported_probe, rp);

	atomic_inc(&probe->entries);
	data->task = current;
	data->object = objpool_pop(&ported_pool);
	ported_expect(ri->task == current);
	return 0;
}
NOKPROBE_SYMBOL(ported_entry);

static int ported_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct ported_data *data = (struct ported_data *)ri->data;
	struct kretprobe *rp = get_kretprobe(ri);
	kprobe_opcode_t *ret_addr = ri->ret_addr;

	ported_expect(rp == &ported.rp && ri->rp == rp);
	ported_expect(data->task == current && ri->task == current);
	ported_expect((unsigned long)ret_addr == get_kretprobe_retaddr(ri));
	ported_expect((unsigned long)ret_addr == instruction_pointer(regs));
	if (data->object)
		ported_expect(*data->object == (unsigned long)&ported_pool &&
			      !objpool_push(data->object, &ported_pool));
	hits++;
	return 0;
}
NOKPROBE_SYMBOL(ported_return);

static int ported_init_object(void *obj, void *context)
{
	*(unsigned long *)obj = (unsigned long)context;
	return 0;
}

static int __init ported_init(void)
{
	int ret;

	ret = objpool_init(&ported_pool, 32, sizeof(unsigned long), GFP_KERNEL, &ported_pool,
			   ported_init_object, NULL);
	if (ret)
		return ret;
	ported.rp.kp.symbol_name = func;
	ret = register_kretprobes(ported_probes, ARRAY_SIZE(ported_probes));
	if (ret) {
		objpool_fini(&ported_pool);
		return ret;
	}
	/* As those do that switch themselves off for a while. */
	ported_expect(!disable_kretprobe(&ported.rp));
	ported_expect(!enable_kretprobe(&ported.rp));
	return 0;
}

static void __exit ported_exit(void)
{
	unregister_kretprobes(ported_probes, ARRAY_SIZE(ported_probes));
	pr_info("%d hits of %d entries, %d wrong, %d missed, %lu reentered\n", hits,
		atomic_read(&ported.entries), wrong, ported.rp.nmissed, ported.rp.kp.nmissed);
	objpool_fini(&ported_pool);
}

module_init(ported_init);
module_exit(ported_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test: a module written for the kernel's kretprobes and objpool");
MODULE_AUTHOR("The kretpool developers");
