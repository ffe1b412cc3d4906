// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/kretpool/control: attaching functions from a shell.
 *
 *   attach PATTERN... [!EXCLUDE...]   one attachment of all that match
 *   uattach PATH OFFSET[:NAME]...     functions of programs, see control_uret.c
 *   detach ID|all
 *
 * A command a write, for root with CAP_SYS_ADMIN alone. Reading gives a line
 * for each attachment and, as the last one, what became of the command that was
 * written to this open file, or of the last one at all: "# ok: ..." or
 * "# error: ...". The file functions beside it has the functions by name, those
 * left out too.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "attach.h"

#define KRP_ATTACHED_MAX	64

DEFINE_MUTEX(krp_attach_mutex);
LIST_HEAD(krp_attached);

static unsigned int krp_nr_attached;
static struct krp_answer krp_last_answer;

/**
 * krp_answer() - say what has become of a command
 * @answer: filled in
 * @ret: below 0 if it was an error
 * @fmt: as for printf()
 *
 * Context: any.
 * Return: @ret.
 */
int krp_answer(struct krp_answer *answer, int ret, const char *fmt, ...)
{
	int len = scnprintf(answer->text, sizeof(answer->text), ret < 0 ? "error: " : "ok: ");
	va_list args;

	va_start(args, fmt);
	vscnprintf(answer->text + len, sizeof(answer->text) - len, fmt, args);
	va_end(args);
	return ret;
}

/**
 * struct krp_words - patterns, taken apart
 * @match: those that functions must match one of, blanks between them
 * @exclude: those that they must match none of
 * @shown: all of them, as they were given
 */
struct krp_words {
	char match[KRP_COMMAND_MAX];
	char exclude[KRP_COMMAND_MAX];
	char shown[KRP_COMMAND_MAX];
};

/* There is room: all that is added was in one command. */
static void krp_words_add(char *list, const char *word)
{
	size_t len = strlen(list);

	scnprintf(list + len, KRP_COMMAND_MAX - len, len ? " %s" : "%s", word);
}

/* What can be in the name of a function, or its module's, or in a pattern. */
static bool krp_pattern_valid(const char *word)
{
	size_t len;

	for (len = 0; word[len]; len++)
		if (!isalnum(word[len]) && !strchr("_.$:*?[]!-", word[len]))
			return false;
	return len && len < KSYM_NAME_LEN;
}

static int krp_words_split(struct krp_words *words, char *text, struct krp_answer *answer)
{
	char *word;

	while ((word = strsep(&text, " "))) {
		bool exclude = *word == '!';

		if (!*word)
			continue;
		if (!krp_pattern_valid(word + exclude))
			return krp_answer(answer, -EINVAL, "'%.64s' is no pattern: it takes letters, digits and _ . $ : * ? [ ] -",
					  word);
		krp_words_add(exclude ? words->exclude : words->match, word + exclude);
		krp_words_add(words->shown, word);
	}
	if (!*words->match)
		return krp_answer(answer, -EINVAL, "attach what? Write: attach PATTERN... [!EXCLUDE...]");
	return 0;
}

static void krp_detach(struct krp_attach *att)
{
	if (att->user)
		krp_uattach_free(att->user);
	else
		krp_multi_unregister(&att->multi);
	krp_latency_free(att->latency);
	list_del(&att->list);
	krp_nr_attached--;
	kvfree(att);
}

/**
 * krp_attach_refused() - may anything be attached now?
 * @answer: filled in if not
 *
 * Context: process, krp_attach_mutex held.
 * Return: 0, -EPERM where the kernel is locked down, -ENOSPC if there are too
 * many attachments.
 */
int krp_attach_refused(struct krp_answer *answer)
{
	/* What the kernel asks before it lets people define kprobes. */
	int ret = security_locked_down(LOCKDOWN_KPROBES);

	if (ret)
		return krp_answer(answer, ret, "the kernel is locked down (lockdown=confidentiality)");
	if (krp_nr_attached == KRP_ATTACHED_MAX)
		return krp_answer(answer, -ENOSPC, "%u attachments are the most there can be: detach some",
				  KRP_ATTACHED_MAX);
	return 0;
}

static int krp_attach_register(struct krp_attach *att, struct krp_words *words,
			       struct krp_answer *answer)
{
	int ret;

	att->multi.exit = krp_latency_exit;
	att->multi.data_size = sizeof(u64);
	att->multi.flags = KRP_RETHOOK_TIMED | KRP_RETHOOK_LIGHT;
	ret = krp_multi_register(&att->multi, words->match, *words->exclude ? words->exclude : NULL);
	if (ret == -ENOENT && strchr(words->match, ' '))
		return krp_answer(answer, ret, "one of these matches no function, dmesg says which: %.64s",
				  words->match);
	if (ret == -ENOENT)
		return krp_answer(answer, ret, "no function matches '%.64s': see /sys/kernel/tracing/available_filter_functions",
				  words->shown);
	if (ret == -EADDRNOTAVAIL)
		return krp_answer(answer, ret, "a name means several functions: put MODULE: or vmlinux: before it, or a * behind it; dmesg says which");
	if (ret == -EINVAL)
		return krp_answer(answer, ret, "none of these functions can be hooked");
	if (ret == -ENOSPC)
		return krp_answer(answer, ret, "there are no return thunks left: detach others");
	if (ret)
		return krp_answer(answer, ret, "the functions cannot be hooked (%d): see dmesg", ret);
	return 0;
}

/**
 * krp_attach_time() - have calls of an attachment's functions timed from now on
 * @att: the attachment
 * @functions: how many it has
 * @answer: filled in if that is not possible
 *
 * Context: process, krp_attach_mutex held.
 * Return: 0, or see krp_latency_alloc().
 */
int krp_attach_time(struct krp_attach *att, unsigned int functions, struct krp_answer *answer)
{
	struct krp_latency *lat = krp_latency_alloc(functions);

	if (lat == ERR_PTR(-E2BIG))
		return krp_answer(answer, -E2BIG, "histograms of %u functions take %zu MiB, and %zu MiB are left: narrow the pattern, detach others, or raise /sys/module/kretpool/parameters/latency_mib",
				  functions, krp_latency_need(functions) >> 20,
				  krp_latency_limit() >> 20);
	if (IS_ERR(lat))
		return krp_answer(answer, PTR_ERR(lat), "there is no memory for %u functions",
				  functions);
	/* Pairs with the dependent reads in the handlers: seen filled in. */
	smp_store_release(&att->latency, lat);
	return 0;
}

/**
 * krp_attach_add() - list what has been attached
 * @att: the attachment
 *
 * Context: process, krp_attach_mutex held.
 */
void krp_attach_add(struct krp_attach *att)
{
	static unsigned int ids;

	att->id = ++ids;
	list_add_tail(&att->list, &krp_attached);
	krp_nr_attached++;
}

static int krp_attach_words(struct krp_words *words, struct krp_answer *answer)
{
	size_t len = strlen(words->shown) + 1;
	struct krp_attach *att = kvzalloc(struct_size(att, patterns, len), GFP_KERNEL);
	int ret;

	if (!att)
		return krp_answer(answer, -ENOMEM, "there is no memory");
	memcpy(att->patterns, words->shown, len);
	ret = krp_attach_register(att, words, answer);
	if (ret) {
		kvfree(att);
		return ret;
	}
	krp_attach_add(att);
	ret = krp_attach_time(att, att->multi.functions, answer);
	if (ret) {
		krp_detach(att);
		return ret;
	}
	return krp_answer(answer, 0, "attached as %u: %u functions, %u left out", att->id,
			  att->multi.functions, att->multi.left_out);
}

static int krp_command_attach(char *text, struct krp_answer *answer)
{
	struct krp_words *words;
	int ret = krp_attach_refused(answer);

	if (ret)
		return ret;
	words = kvzalloc(sizeof(*words), GFP_KERNEL);
	if (!words)
		return krp_answer(answer, -ENOMEM, "there is no memory");
	ret = krp_words_split(words, text, answer) ?: krp_attach_words(words, answer);
	kvfree(words);
	return ret;
}

static int krp_command_detach(char *text, struct krp_answer *answer)
{
	struct krp_attach *att, *next;
	unsigned int id, n = 0;
	bool all = !strcmp(text, "all");

	if (!all && (!isdigit(*text) || kstrtouint(text, 10, &id)))
		return krp_answer(answer, -EINVAL, "detach what? Write: detach ID, or: detach all");
	list_for_each_entry_safe(att, next, &krp_attached, list) {
		if (!all && att->id != id)
			continue;
		krp_detach(att);
		n++;
	}
	if (!all && !n)
		return krp_answer(answer, -ENOENT, "there is no attachment %u", id);
	return krp_answer(answer, 0, "detached %u", n);
}

/* krp_attach_mutex is held. */
static int krp_command(char *text, struct krp_answer *answer)
{
	char *rest = strchr(text, ' ');

	if (rest)
		*rest++ = '\0';
	else
		rest = text + strlen(text);
	if (!strcmp(text, "attach"))
		return krp_command_attach(rest, answer);
	if (!strcmp(text, "uattach"))
		return krp_command_uattach(rest, answer);
	if (!strcmp(text, "detach"))
		return krp_command_detach(strim(rest), answer);
	return krp_answer(answer, -EINVAL, "there are three commands: attach PATTERN... [!EXCLUDE...], uattach PATH OFFSET[:NAME]..., and: detach ID|all");
}

static int krp_command_text(char *text, size_t len, struct krp_answer *answer)
{
	size_t i;

	if (len && text[len - 1] == '\n')
		len--;
	for (i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return krp_answer(answer, -EINVAL, "a command is one line of plain text");
	text[len] = '\0';
	return krp_command(text, answer);
}

/* Who opened the file must have been allowed to, and who writes must be. */
static bool krp_control_permitted(struct file *file)
{
	return file_ns_capable(file, &init_user_ns, CAP_SYS_ADMIN) && capable(CAP_SYS_ADMIN) &&
	       uid_eq(current_euid(), GLOBAL_ROOT_UID);
}

static ssize_t krp_control_write(struct file *file, const char __user *buf, size_t len,
				 loff_t *pos)
{
	struct krp_answer *answer = ((struct seq_file *)file->private_data)->private;
	char *text;
	int ret;

	if (!krp_control_permitted(file))
		return -EPERM;
	if (len > KRP_COMMAND_MAX)
		return -E2BIG;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	/* An open file does not hold the module, and a probe needs it to be there. */
	if (!try_module_get(THIS_MODULE)) {
		kfree(text);
		return -ENODEV;
	}
	ret = mutex_lock_killable(&krp_attach_mutex);
	if (!ret) {
		ret = krp_command_text(text, len, answer);
		krp_last_answer = *answer;
		mutex_unlock(&krp_attach_mutex);
	}
	module_put(THIS_MODULE);
	kfree(text);
	return ret ?: len;
}

static void krp_attach_show(struct seq_file *m, struct krp_attach *att)
{
	unsigned int functions = att->multi.functions;
	struct krp_rethook_counts c;

	if (att->user) {
		functions = krp_uattach_functions(att->user);
		krp_uattach_counts(att->user, &c);
	} else {
		krp_multi_counts(&att->multi, &c);
	}
	seq_printf(m, "%u %s %u %u %u %lu %lu %lu %lu %lu %lu %lu %lu %zu %s\n",
		   att->id, att->multi.gone < functions ? "attached" : "gone", functions,
		   att->multi.left_out, att->multi.gone, c.hits, c.skipped,
		   c.missed[KRP_MISS_EMPTY], c.missed[KRP_MISS_RECURSION],
		   c.missed[KRP_MISS_UNWATCHED], c.missed[KRP_MISS_REMOVED],
		   c.missed[KRP_MISS_EXITED], c.inflight, krp_latency_bytes(att->latency),
		   att->patterns);
}

static int krp_control_show(struct seq_file *m, void *v)
{
	struct krp_answer *answer = m->private;
	struct krp_attach *att;

	seq_puts(m, "id state functions left_out gone hits skipped missed_empty missed_recursion missed_unwatched missed_removed missed_exited inflight bytes patterns\n");
	mutex_lock(&krp_attach_mutex);
	list_for_each_entry(att, &krp_attached, list)
		krp_attach_show(m, att);
	if (!*answer->text)
		answer = &krp_last_answer;
	if (*answer->text)
		seq_printf(m, "# %s\n", answer->text);
	mutex_unlock(&krp_attach_mutex);
	return 0;
}

/**
 * struct krp_functions - where a list of functions goes
 * @m: the file
 * @id: the attachment
 */
struct krp_functions {
	struct seq_file *m;
	unsigned int id;
};

static int krp_function_show(unsigned long ip, const char *name, enum krp_multi_state state,
			     void *data)
{
	struct krp_functions *to = data;

	/* One word, without the "[module]" behind it; and never an address. */
	seq_printf(to->m, "%u %.*s %s\n", to->id, (int)strcspn(name, " "),
		   strncmp(name, "0x", 2) ? name : "?", krp_multi_state_name(state));
	/* What is full will be read again, into more. */
	return seq_has_overflowed(to->m);
}

static void krp_ufunctions_show(struct seq_file *m, const struct krp_attach *att)
{
	unsigned int i;

	for (i = 0; i < krp_uattach_functions(att->user); i++) {
		seq_printf(m, "%u ", att->id);
		krp_uattach_name(m, att->user, i);
		seq_printf(m, " %s\n", krp_multi_state_name(KRP_MULTI_ATTACHED));
	}
}

static int krp_functions_show(struct seq_file *m, void *v)
{
	struct krp_functions to = { .m = m };
	struct krp_attach *att;

	seq_puts(m, "id function state\n");
	mutex_lock(&krp_attach_mutex);
	list_for_each_entry(att, &krp_attached, list) {
		to.id = att->id;
		if (att->user)
			krp_ufunctions_show(m, att);
		else
			krp_multi_visit(&att->multi, krp_function_show, &to);
	}
	mutex_unlock(&krp_attach_mutex);
	return 0;
}

static int krp_control_open(struct inode *inode, struct file *file)
{
	struct krp_answer *answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	int ret;

	if (!answer)
		return -ENOMEM;
	ret = single_open(file, krp_control_show, answer);
	if (ret)
		kfree(answer);
	return ret;
}

static int krp_control_release(struct inode *inode, struct file *file)
{
	kfree(((struct seq_file *)file->private_data)->private);
	return single_release(inode, file);
}

static const struct proc_ops krp_control_ops = {
	.proc_open = krp_control_open,
	.proc_read = seq_read,
	.proc_write = krp_control_write,
	.proc_lseek = seq_lseek,
	.proc_release = krp_control_release,
};

/**
 * krp_control_init() - make /proc/kretpool/control and functions
 * @dir: /proc/kretpool
 *
 * Context: process.
 * Return: 0 or -ENOMEM.
 */
int krp_control_init(struct proc_dir_entry *dir)
{
	return proc_create("control", 0600, dir, &krp_control_ops) &&
	       proc_create_single("functions", 0400, dir, krp_functions_show) ? 0 : -ENOMEM;
}
