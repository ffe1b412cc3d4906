// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of programs and libraries, attached from a shell by what control.c
 * calls a command:
 *
 *   uattach PATH OFFSET[:NAME]... [PATH OFFSET[:NAME]...]...
 *
 * Each OFFSET is that of a function's first instruction in the file before it,
 * and NAME is what people call it. Blanks and the like in a path are written as
 * in /proc/mounts: \040. All functions of a command are one attachment, which is
 * shown as PATH:NAME,NAME... They are probes of their own, see uretprobe.h.
 */

#include <linux/ctype.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/timekeeping.h>

#include "attach.h"
#include "uretprobe.h"

/**
 * struct krp_ufunc - an attached function
 * @latency: histograms of the attachment
 * @index: of its own among them
 * @path: of the file; only while the command is being done
 * @offset: in the file
 * @shown: the path and what follows it, in the attachment's patterns
 * @path_len: of the path there
 * @name: its name there
 * @name_len: of that
 */
struct krp_ufunc {
	struct krp_latency *latency;
	unsigned int index;
	const char *path;
	loff_t offset;
	const char *shown;
	int path_len;
	const char *name;
	int name_len;
};

/**
 * struct krp_uattach - the functions of an attachment
 * @nr: how many
 * @nr_ups: how many of them are hooked, the first ones
 * @ups: their probes
 * @funcs: the functions
 */
struct krp_uattach {
	unsigned int nr;
	unsigned int nr_ups;
	struct krp_uretprobe **ups;
	struct krp_ufunc funcs[];
};

static int krp_uattach_entry(struct krp_uret_call *call, struct pt_regs *regs)
{
	*(u64 *)call->data = ktime_get_mono_fast_ns();
	return 0;
}

static int krp_uattach_return(struct krp_uret_call *call, struct pt_regs *regs)
{
	struct krp_ufunc *func = krp_uretprobe_owner(call);

	krp_latency_returned(func->latency, func->index, *(u64 *)call->data);
	return 0;
}

/* As much of a path as an answer has room for: its end says most. */
static int krp_upath_len(const struct krp_ufunc *func)
{
	return min(func->path_len, 100);
}

static const char *krp_upath(const struct krp_ufunc *func)
{
	return func->shown + func->path_len - krp_upath_len(func);
}

/* Why a probe could not be set, as far as its file tells. */
static int krp_uattach_failed(const struct krp_ufunc *func, int ret, struct krp_answer *answer)
{
	int len = krp_upath_len(func), err;
	const char *shown = krp_upath(func);
	const struct inode *inode;
	struct path path;
	bool regular;
	loff_t size;

	if (ret == -ENOMEM)
		return krp_answer(answer, ret, "there is no memory");
	if (!IS_ENABLED(CONFIG_UPROBES))
		return krp_answer(answer, ret, "this kernel has no uprobes (CONFIG_UPROBES)");
	err = kern_path(func->path, LOOKUP_FOLLOW, &path);
	if (err == -ENOENT)
		return krp_answer(answer, ret, "there is no file '%.*s'", len, shown);
	if (err)
		return krp_answer(answer, ret, "'%.*s' cannot be looked up (%d)", len, shown, err);
	inode = d_real_inode(path.dentry);
	regular = S_ISREG(inode->i_mode);
	size = i_size_read(inode);
	path_put(&path);
	if (!regular)
		return krp_answer(answer, ret, "'%.*s' is no regular file", len, shown);
	if (func->offset >= size)
		return krp_answer(answer, ret, "'%.*s' has %lld bytes, and none at 0x%llx", len,
				  shown, size, func->offset);
	if (ret == -EIO)
		return krp_answer(answer, ret, "'%.*s' is on a file system that cannot be probed",
				  len, shown);
	if (ret == -EINVAL || ret == -ENOEXEC || ret == -EOPNOTSUPP)
		return krp_answer(answer, ret, "'%.*s': what is at 0x%llx is no instruction that can be probed",
				  len, shown, func->offset);
	return krp_answer(answer, ret, "'%.*s' cannot be hooked at 0x%llx (%d)", len, shown,
			  func->offset, ret);
}

static int krp_uattach_register(struct krp_uattach *user, struct krp_ufunc *func,
				struct krp_answer *answer)
{
	const struct krp_uretprobe_desc desc = {
		.path = func->path,
		.offset = func->offset,
		.entry = krp_uattach_entry,
		.handler = krp_uattach_return,
		.owner = func,
		.data_size = sizeof(u64),
	};
	struct krp_uretprobe *up = krp_uretprobe_register(&desc);
	int ret = PTR_ERR_OR_ZERO(up);

	if (!ret)
		user->ups[user->nr_ups++] = up;
	/* Not one that programs know. */
	if (ret == -ENOTSUPP)
		ret = -EOPNOTSUPP;
	return ret ? krp_uattach_failed(func, ret, answer) : 0;
}

static int krp_uattach_hook(struct krp_attach *att, struct krp_answer *answer)
{
	struct krp_uattach *user = att->user;
	struct krp_ufunc *func;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < user->nr && !ret; i++) {
		func = &user->funcs[i];
		func->latency = att->latency;
		func->index = i;
		ret = krp_uattach_register(user, func, answer);
		/* It is in the command's text, which goes. */
		func->path = NULL;
	}
	return ret;
}

/**
 * struct krp_uparse - where reading a command has got to
 * @att: takes what is read
 * @end: of @att's patterns
 * @like: the path's part of the next function
 * @wanted: no function of that path has been read
 */
struct krp_uparse {
	struct krp_attach *att;
	char *end;
	struct krp_ufunc like;
	bool wanted;
};

/* There is room: all that is added, blanks too, was in the command. */
static const char *krp_uparse_add(struct krp_uparse *p, char separator, const char *word)
{
	size_t len = strlen(word);
	char *at = p->end;

	if (at != p->att->patterns)
		*at++ = separator;
	memcpy(at, word, len + 1);
	p->end = at + len;
	return at;
}

static int krp_uparse_wanted(const struct krp_uparse *p, struct krp_answer *answer)
{
	if (!p->wanted)
		return 0;
	return krp_answer(answer, -EINVAL, "which function of '%.*s'? Write: uattach PATH OFFSET[:NAME]...",
			  krp_upath_len(&p->like), krp_upath(&p->like));
}

static int krp_uparse_path(struct krp_uparse *p, char *word, struct krp_answer *answer)
{
	int ret = krp_uparse_wanted(p, answer);
	int len;

	if (ret)
		return ret;
	p->like.shown = krp_uparse_add(p, ' ', word);
	p->like.path_len = strlen(word);
	p->like.path = word;
	p->wanted = true;
	len = string_unescape_inplace(word, UNESCAPE_OCTAL);
	if (len != strlen(word))
		return krp_answer(answer, -EINVAL, "'%.*s' is no path: there is a 0 in it",
				  krp_upath_len(&p->like), krp_upath(&p->like));
	return 0;
}

static int krp_uparse_function(struct krp_uparse *p, char *word, struct krp_answer *answer)
{
	struct krp_uattach *user = p->att->user;
	struct krp_ufunc *func = &user->funcs[user->nr];
	char *name = strchr(word, ':');
	u64 offset;

	if (!p->like.path)
		return krp_answer(answer, -EINVAL, "attach what? Write: uattach PATH OFFSET[:NAME]...");
	if (name)
		*name++ = '\0';
	if (kstrtoull(word, 0, &offset) || offset > LLONG_MAX)
		return krp_answer(answer, -EINVAL, "'%.64s' is no offset", word);
	if (name && (!*name || strchr(name, '\\')))
		return krp_answer(answer, -EINVAL, "'%.64s' is no name of a function", name);
	*func = p->like;
	func->offset = offset;
	func->name = krp_uparse_add(p, p->wanted ? ':' : ',', name ?: word);
	func->name_len = p->end - func->name;
	user->nr++;
	p->wanted = false;
	return 0;
}

static int krp_uattach_parse(struct krp_attach *att, char *text, struct krp_answer *answer)
{
	struct krp_uparse p = { .att = att, .end = att->patterns };
	int ret = 0;
	char *word;

	while (!ret && (word = strsep(&text, " "))) {
		if (*word == '/')
			ret = krp_uparse_path(&p, word, answer);
		else if (isdigit(*word))
			ret = krp_uparse_function(&p, word, answer);
		else if (*word)
			ret = krp_answer(answer, -EINVAL, "'%.64s' is neither a path, which begins with /, nor an offset",
					 word);
	}
	if (!ret)
		ret = krp_uparse_wanted(&p, answer);
	if (!ret && !att->user->nr)
		ret = krp_answer(answer, -EINVAL, "attach what? Write: uattach PATH OFFSET[:NAME]...");
	return ret;
}

/* No less than the functions of a command. */
static unsigned int krp_uattach_most(const char *text)
{
	const char *at;
	unsigned int n = 0;

	for (at = text; *at; at++)
		n += isdigit(*at) && (at == text || at[-1] == ' ');
	return n;
}

static struct krp_attach *krp_uattach_alloc(const char *text)
{
	size_t len = strlen(text) + 1;
	struct krp_attach *att = kvzalloc(struct_size(att, patterns, len), GFP_KERNEL);
	unsigned int most = krp_uattach_most(text);
	struct krp_uattach *user;

	user = kvzalloc(struct_size(user, funcs, most) + most * sizeof(*user->ups), GFP_KERNEL);
	if (!att || !user) {
		kvfree(att);
		kvfree(user);
		return NULL;
	}
	user->ups = (struct krp_uretprobe **)&user->funcs[most];
	att->user = user;
	return att;
}

/**
 * krp_uattach_free() - remove the probes of an attachment, and free them
 * @user: its functions
 *
 * Calls that are in flight are not waited for.
 *
 * Context: process, krp_attach_mutex held; may sleep.
 */
void krp_uattach_free(struct krp_uattach *user)
{
	krp_uretprobe_unregister_batch(user->ups, NULL, user->nr_ups);
	kvfree(user);
}

/**
 * krp_command_uattach() - attach functions of programs
 * @text: what follows the command's name; is written to
 * @answer: filled in
 *
 * Context: process, krp_attach_mutex held; may sleep.
 * Return: 0; -EINVAL if the command is malformed, or the file or the offset is of
 * the wrong kind; or see krp_attach_refused(), krp_attach_time() and
 * krp_uretprobe_register(). Nothing is held on failure.
 */
int krp_command_uattach(char *text, struct krp_answer *answer)
{
	int ret = krp_attach_refused(answer);
	struct krp_attach *att;

	if (ret)
		return ret;
	att = krp_uattach_alloc(text);
	if (!att)
		return krp_answer(answer, -ENOMEM, "there is no memory");
	ret = krp_uattach_parse(att, text, answer);
	if (!ret)
		ret = krp_attach_time(att, att->user->nr, answer);
	if (!ret)
		ret = krp_uattach_hook(att, answer);
	if (ret) {
		krp_uattach_free(att->user);
		krp_latency_free(att->latency);
		kvfree(att);
		return ret;
	}
	krp_attach_add(att);
	return krp_answer(answer, 0, "attached as %u: %u functions, 0 left out", att->id,
			  att->user->nr);
}

/**
 * krp_uattach_functions() - how many functions an attachment has
 * @user: they
 *
 * Context: process, krp_attach_mutex held.
 * Return: how many.
 */
unsigned int krp_uattach_functions(const struct krp_uattach *user)
{
	return user->nr;
}

/**
 * krp_uattach_counts() - what became of the calls of an attachment's functions
 * @user: they
 * @counts: filled in
 *
 * Context: process, krp_attach_mutex held.
 */
void krp_uattach_counts(const struct krp_uattach *user, struct krp_rethook_counts *counts)
{
	struct krp_uretprobe_counts c;
	unsigned int i, cause;

	memset(counts, 0, sizeof(*counts));
	for (i = 0; i < user->nr_ups; i++) {
		krp_uretprobe_counts(user->ups[i], &c);
		counts->hits += c.hits;
		counts->skipped += c.skipped;
		counts->inflight += c.inflight;
		for (cause = 0; cause < KRP_NR_MISSES; cause++)
			counts->missed[cause] += c.missed[cause];
	}
}

/**
 * krp_uattach_name() - print a function's name, one word: FILE:NAME
 * @m: where to
 * @user: the attachment's functions
 * @index: of the function
 *
 * Context: process, krp_attach_mutex held.
 */
void krp_uattach_name(struct seq_file *m, const struct krp_uattach *user, unsigned int index)
{
	const struct krp_ufunc *func = &user->funcs[index];
	int file = func->path_len;

	while (file && func->shown[file - 1] != '/')
		file--;
	seq_printf(m, "%.*s:%.*s", func->path_len - file, func->shown + file, func->name_len,
		   func->name);
}
