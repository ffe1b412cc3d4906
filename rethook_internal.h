/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the rethook_*.c files, the files above them and nobody else. */
#ifndef KRP_RETHOOK_INTERNAL_H
#define KRP_RETHOOK_INTERNAL_H

#include <linux/bitmap.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include "rethook_pool.h"
#include "compat_ftrace.h"
#include "krp_arch.h"

#define KRP_FUNC_NAME_LEN	128

struct krp_multi;

/* One CPU's share of a rethook's counts. */
struct krp_rethook_pcpu {
	unsigned long hits;
	unsigned long skipped;
	unsigned long missed[KRP_NR_MISSES];
};

/*
 * The handler of a struct krp_multi, the owner, with the function's address: it
 * is called without one of its rethook's own in between.
 */
typedef void (*krp_exit_t)(struct krp_multi *m, unsigned long ip, struct krp_instance *inst,
			   struct pt_regs *regs);

/* Does a rethook call handlers at return, and which? */
enum krp_live {
	KRP_LIVE_NOT,
	KRP_LIVE_HANDLER,
	KRP_LIVE_EXIT,
};

enum krp_rethook_state {
	KRP_ENABLED,
	KRP_DISABLED,
	KRP_GONE,		/* the function's module was unloaded */
	KRP_DRAINING,		/* unregistered, calls still in flight */
};

/* What catches a function's calls for a rethook. */
enum krp_way {
	KRP_BY_FTRACE_ARGS,
	KRP_BY_FTRACE_REGS,
	KRP_BY_KPROBE,
	KRP_NR_WAYS,
};

/**
 * struct krp_link - a rethook's hold on one of its functions
 * @slots: of the rethook's pool: all that the shortest way needs
 * @rh: the rethook
 * @next: the next link to the same function, in the same way
 * @func: the function
 * @addr: its address as people and handlers know it
 * @unwatched_base: calls that RCU did not watch, when it was armed last
 * @gone: the function's module was unloaded
 * @timed: KRP_RETHOOK_TIMED
 */
struct krp_link {
	struct krp_objpool_slot __percpu *slots;
	struct krp_rethook *rh;
	struct krp_link *next;
	struct krp_func *func;
	unsigned long addr;
	long unwatched_base;
	bool gone;
	bool timed;
};

/**
 * struct krp_rethook - the pool, handlers and counts of hooked functions
 * @live: enum krp_live; KRP_LIVE_NOT from unregistration on
 * @handler: never NULL
 * @exit: what is called instead, if it is KRP_LIVE_EXIT
 * @entry: or NULL
 * @pcpu: counts
 * @scratch: entry-only rethooks: an instance per CPU instead of a pool
 * @missed: see &krp_rethook_desc.missed
 * @owner: see &krp_rethook_desc.owner; cleared by unregistration
 * @pool: the instances; of the hot path's interest is its first member
 * @links: its functions
 * @nr_links: how many
 * @nr_gone: and how many of these went with their modules
 * @one: what @links is of a rethook that has one function, found by its kprobe
 * @flags: KRP_RETHOOK_*
 * @state: protected by krp_mutex
 * @id: for people
 * @data_size: of an instance
 * @way: what catches calls, while it is armed
 * @light: its thunks are those of KRP_RETHOOK_LIGHT
 * @grows: the pool may grow
 * @low: a look at the pool has been asked for
 * @grow_refused: and it was said that it cannot grow
 * @unwatched: calls that RCU did not watch, up to when it was armed last
 * @reentered: the same of krp_func_reentered()
 * @name: the function's name
 * @list: on krp_rethooks
 * @rcu: on its way out: until no task is in krp_common()
 * @reap: and then until it is freed
 */
struct krp_rethook {
	u8 live;
	krp_handler_t handler;
	krp_exit_t exit;
	krp_handler_t entry;
	struct krp_rethook_pcpu __percpu *pcpu;
	struct krp_instance __percpu *scratch;
	void (*missed)(void *owner, enum krp_miss cause);
	void *owner;

	struct krp_objpool pool;
	struct krp_link *links;
	unsigned int nr_links;
	unsigned int nr_gone;
	struct krp_link one;
	unsigned int flags;
	enum krp_rethook_state state;
	unsigned int id;
	size_t data_size;
	enum krp_way way;
	bool light;
	bool grows;
	bool low;
	bool grow_refused;
	long unwatched;
	long reentered;
	char name[KRP_FUNC_NAME_LEN];
	struct list_head list;
	struct rcu_head rcu;
	struct llist_node reap;
};

/* Protects everything but the hit path; taken before any lock of the kernel's. */
extern struct mutex krp_mutex;
extern struct list_head krp_rethooks;

/* &krp_instance.frame of one that will not be used again. */
#define KRP_FRAME_RETIRED	1

static inline bool krp_instance_inflight(const struct krp_instance *inst)
{
	return READ_ONCE(inst->frame) > KRP_FRAME_RETIRED;
}

/* A handler is running on this CPU. */
DECLARE_PER_CPU(bool, krp_busy);

/* Is the caller a handler? */
static inline bool krp_in_handler(void)
{
	return raw_cpu_read(krp_busy);
}

/* rethook_func.c: functions, by address */

struct krp_hook;

/**
 * struct krp_kprobe - a kprobe
 * @kp: the kernel's part of it
 * @func: its function
 */
struct krp_kprobe {
	struct kprobe kp;
	struct krp_func *func;
};

/**
 * struct krp_func - a function that is, or was, hooked
 * @ip: where ftrace or the kprobe reports it
 * @vetted: the address of one that was found to be fit for krp_multi and stays
 *          so, being the kernel's own; or 0
 * @only: by way: the one link, if there is one and its rethook has neither an
 *        entry handler nor KRP_RETHOOK_TIMED
 * @links: by way: who wants to know
 * @unwatched: by way: calls while RCU was not watching
 * @hook: by way: what catches calls, or NULL
 * @probe: resolves and keeps the name, and catches calls that ftrace cannot; NULL
 *         as long as no rethook has been registered on it alone
 * @users: rethooks registered on it by @probe, hooked or not
 * @together: allocated with others
 *
 * A rethook is told of calls in one way as long as it is armed, and other
 * rethooks of the function do not change that: so that each call is seen once.
 *
 * Never freed before the module goes: a CPU that RCU does not watch may look
 * at it any time. There are at most as many as functions in the kernel.
 */
struct krp_func {
	unsigned long ip;
	struct krp_link *only[KRP_NR_WAYS];
	struct krp_link *links[KRP_NR_WAYS];
	atomic_long_t unwatched[KRP_NR_WAYS];
	struct krp_hook *hook[KRP_NR_WAYS];
	struct krp_kprobe *probe;
	unsigned long vetted;
	unsigned int users;
	bool together;
};

/**
 * struct krp_func_table - functions by address
 * @mask: of a hash, what is the slot
 * @nr: functions in it, at most an eighth of the slots
 * @older: the table before this one
 * @slots: open addressing; krp_func_none where there is none. Entries are
 *         added, never removed
 */
struct krp_func_table {
	u32 mask;
	unsigned long nr;
	struct krp_func_table *older;
	struct krp_func *slots[];
};

extern struct krp_func_table *krp_funcs;
extern struct krp_func krp_func_none;

/*
 * Functions come to lie at multiples of 16, most of them far apart: as good as any
 * hash, and on every hit.
 */
static __always_inline unsigned long krp_func_hash(const struct krp_func_table *table,
						   unsigned long ip)
{
	return (u32)ip >> 4 & table->mask;
}

/* The function at @ip, or krp_func_none, which nobody hooks. */
static __always_inline struct krp_func *krp_func_find(unsigned long ip)
{
	/* Both reads are followed through what they return: no barrier needed. */
	const struct krp_func_table *table = READ_ONCE(krp_funcs);
	unsigned long slot = krp_func_hash(table, ip);
	struct krp_func *func;

	func = READ_ONCE(table->slots[slot]);
	/* The last slots are followed by empty ones: no wrap. */
	while (unlikely(func->ip != ip)) {
		if (func == &krp_func_none)
			break;
		func = READ_ONCE(table->slots[++slot]);
	}
	return func;
}

#define KRP_NAME_HASHES	4096

/**
 * struct krp_name_list - names that many others are compared with
 * @names: the names
 * @nr: how many
 * @hashed: is the next filled in?
 * @hashes: their hashes
 */
struct krp_name_list {
	const char * const *names;
	unsigned int nr;
	bool hashed;
	DECLARE_BITMAP(hashes, KRP_NAME_HASHES);
};

/* Of a name, or of what is before its first dot; tells most from each other. */
static inline unsigned int krp_name_hash(const char *name)
{
	unsigned int i, hash = 0;

	for (i = 0; i < 6 && name[i] && name[i] != '.'; i++)
		hash = hash * 31 + name[i];
	return hash % KRP_NAME_HASHES;
}

int krp_funcs_init(void);
void krp_funcs_exit(void);
int krp_funcs_reserve(unsigned long more);
struct krp_func *krp_func_vetted(unsigned long addr);
struct krp_func *krp_func_at(unsigned long ip);
bool krp_name_listed(struct krp_name_list *list, const char *name, unsigned int hash);
bool krp_func_refused(const char *name, unsigned int hash);
struct krp_func *krp_func_get(const struct krp_rethook_desc *desc, char *name);
void krp_func_put_batch(struct krp_rethook **rhs, int num);

/* rethook_hook.c: how calls are caught */

int krp_hook_init(void);
void krp_hook_exit(void);
bool krp_hook_many_possible(bool full);
bool krp_hook_is_ftrace(const struct krp_rethook *rh);
int krp_hook_arm_batch(struct krp_rethook **rhs, int num);
void krp_hook_disarm_batch(struct krp_rethook **rhs, int num);
const char *krp_way_name(enum krp_way way);

/* rethook_thunk.c: which instance owns which thunk */

extern struct krp_instance *krp_thunk_owner[KRP_NR_THUNKS];

void krp_thunk_alloc(struct krp_instance *inst);
void krp_thunk_free(struct krp_instance *inst);
unsigned int krp_thunks_used(void);
unsigned int krp_thunks_left(bool light);

/* Where a call that returns to @addr returns to in the end; its task is current. */
static inline unsigned long krp_resolve_thunk(unsigned long addr)
{
	while (krp_arch_is_thunk(addr)) {
		struct krp_instance *inst = READ_ONCE(krp_thunk_owner[krp_arch_thunk_nr(addr)]);

		if (!inst)
			break;
		addr = READ_ONCE(inst->ret_addr);
	}
	return addr;
}

/* rethook_grow.c: pools that run low */

void krp_grow_request(struct krp_rethook *rh);
unsigned int krp_max_instances(void);
unsigned int krp_rethook_limit(const struct krp_rethook *rh);
void krp_grow_init(void);
void krp_grow_exit(void);

/* rethook_exit.c: calls that never return */

int krp_exit_init(void);
void krp_exit_exit(void);

/* rethook_call.c: a hooked call's way */

void krp_ftrace_entry_args(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs);
void krp_ftrace_entry_regs(unsigned long ip, unsigned long parent_ip,
			   struct ftrace_ops *ops, struct ftrace_regs *fregs);
int krp_kprobe_entry(struct kprobe *kp, struct pt_regs *regs);
void krp_instance_exited(struct krp_instance *inst);

/* rethook_pool.c, for the files above */

/**
 * struct krp_target - a function to be hooked
 * @ip: where ftrace patches it
 * @addr: its address
 */
struct krp_target {
	unsigned long ip;
	unsigned long addr;
};

int krp_rethook_register_targets(const struct krp_rethook_desc *desc, krp_exit_t exit,
				 const char *name, const struct krp_target *targets,
				 unsigned int num, struct krp_rethook **rhp);
void krp_rethook_drain(void);
int krp_instance_init_thunk(void *obj, void *context);
bool krp_refuse_in_handler(const char *what);
unsigned int krp_new_id(void);

/* rethook_counts.c: what became of calls */

long krp_rethook_unwatched(const struct krp_rethook *rh);
long krp_rethook_reentered(const struct krp_rethook *rh);
void krp_rethook_counts_locked(struct krp_rethook *rh, struct krp_rethook_counts *counts);
void krp_rethook_visit_instances(struct krp_rethook *rh, krp_objpool_visit_cb fn, void *data);

/* uretprobe.c, uret_list.c: user-space functions */

struct seq_file;

int krp_uret_init(void);
void krp_uret_exit(void);
void krp_uret_list_probes(struct seq_file *m);
void krp_uret_list_pools(struct seq_file *m);
void krp_uret_list_inflight(struct seq_file *m);

/* procfs.c */

int krp_proc_init(void);
void krp_proc_exit(void);

#endif /* KRP_RETHOOK_INTERNAL_H */
