// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz: writes to files what nobody should, again and again.
 *
 *   fuzz [-s SEED] [-n COUNT] [-j JOBS] [-d WORDS] [-r N] [-v] FILE...
 *     -s     where the random numbers start; the same seed gives the same writes
 *     -n     writes in all (10000)
 *     -j     processes that share them (1); each is replayed with the seed it
 *            says and -j 1
 *     -d     a file with words worth trying, a line each
 *     -r     of what begins with a command one in so many is left as it is (1, all),
 *            the others are misspelt: to look at all symbols, or to wait for who
 *            may be in a function, takes a kernel that checks itself a second
 *     -v     says every write before it is done, and what came of it
 *   fuzz unprivileged UID PATH...
 *     as that user, nothing below the paths can be written, what can be read
 *     holds no kernel address, and what cannot gives EACCES or EPERM
 *   fuzz powerless FILE...
 *     as root without capabilities, no write to the files is accepted
 *
 * Exit status: 0, 1 if something is not as it should be, 2 usage.
 */

#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LENGTH_MAX	(256 * 1024)
#define KEPT_MAX	256
#define KEPT_LENGTH	512
#define WORDS_MAX	4096

struct text {
	char *data;
	size_t len;
};

static uint64_t state;
static bool verbose;
static size_t rare = 1;

/* Words of the languages that such files speak, and numbers at their limits. */
static const char * const own_words[] = {
	"", "0", "1", "-1", "2147483647", "2147483648", "4294967295", "4294967296",
	"18446744073709551615", "18446744073709551616", "-9223372036854775808", "0x", "0xffffffff",
	"1e9", "Y", "N", "on", "off", "clear", "add", "remove", "enable", "disable", "reset",
	"attach", "detach", "attach vfs_read", "attach vfs_*", "detach all", "all", "!vfs_*",
	"uattach", "uattach /", "/", "/dev/null", "/etc/passwd", "\\040", "\\000", "0x10:f",
	"vfs_read", "krp_objpool_pop_slow", "no_such_function", "kretpool:krp_return",
	"vfs_read+0x4", "vfs_read+0", "0xffffffff81000000", "maxactive=", "maxactive=0",
	"maxactive=99999999999", "data_size=4096", "regs", "hist", "latency", "max=", "p:", "r:",
	"-:", "*", "vfs_*", "%s%n%x", "../../etc", "\n", "\t", " ", "\r\n", "#", "'", "\"", "\\",
	"\x7f\xff\x80", "=", ",", ":", ";", "$retval", "$arg1", "if", "&&", "||", ">", "==",
};

static struct text words[WORDS_MAX];
static unsigned int nr_words;

/* What a file has accepted is worth changing a little. */
static struct text kept[KEPT_MAX];
static unsigned int nr_kept;

static char *buffer, *at_end;

/* splitmix64 */
static uint64_t number(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static size_t below(size_t n)
{
	return n ? number() % n : 0;
}

static void add_word(const char *data, size_t len)
{
	if (nr_words == WORDS_MAX)
		return;
	words[nr_words].data = strndup(data, len);
	words[nr_words].len = len;
	nr_words += words[nr_words].data != NULL;
}

static int read_words(const char *path)
{
	char line[256];
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return 2;
	}
	while (fgets(line, sizeof(line), f))
		add_word(line, strcspn(line, "\n"));
	fclose(f);
	return 0;
}

static void keep(const char *data, size_t len)
{
	struct text *slot = &kept[nr_kept < KEPT_MAX ? nr_kept : below(KEPT_MAX)];
	char *copy;

	if (!len || len > KEPT_LENGTH)
		return;
	copy = malloc(len);
	if (!copy)
		return;
	memcpy(copy, data, len);
	if (nr_kept < KEPT_MAX)
		nr_kept++;
	else
		free(slot->data);
	*slot = (struct text){ copy, len };
}

static size_t length(void)
{
	static const size_t edges[] = { 0, 1, 31, 32, 127, 128, 255, 256, 1023, 1024, 4095, 4096,
					4097, 8192, 65535, 65536, 65537, LENGTH_MAX };

	switch (below(8)) {
	case 0: return edges[below(ARRAY_SIZE(edges))];
	case 1: return below(5000);
	default:
		return below(64);
	}
}

static size_t append(size_t len, const void *data, size_t more)
{
	if (more > LENGTH_MAX - len)
		more = LENGTH_MAX - len;
	memcpy(buffer + len, data, more);
	return len + more;
}

static size_t make_random(void)
{
	bool printable = below(2);
	size_t len = length(), i;

	/* Random numbers for each byte of very many would take most of the time. */
	for (i = 0; i < len && i < 4096; i++)
		buffer[i] = printable ? ' ' + below(95) : below(256);
	for (; i < len; i++)
		buffer[i] = buffer[i - 4096];
	return len;
}

static size_t make_words(void)
{
	static const char between[] = " \t\n,:=";
	size_t len = 0, n = 1 + below(below(16) ? 6 : 600);

	while (n--) {
		const struct text *word = &words[below(nr_words)];

		len = append(len, word->data, word->len);
		if (n)
			len = append(len, &between[below(4) ? 0 : below(sizeof(between) - 1)], 1);
	}
	if (below(2))
		len = append(len, "\n", 1);
	return len;
}

static size_t make_repeated(void)
{
	const struct text *word = &words[below(nr_words)];
	size_t len = 0, want = length();

	while (len < want && word->len)
		len = append(len, word->data, word->len);
	return len;
}

/* One change to what is in the buffer. */
static size_t change(size_t len)
{
	const struct text *word = &words[below(nr_words)];
	size_t at = below(len + 1), n;

	switch (below(5)) {
	case 0:
		if (at < len)
			buffer[at] ^= 1 << below(8);
		break;
	case 1:
		if (at < len)
			buffer[at] = below(256);
		break;
	case 2:
		n = below(len - at + 1);
		memmove(buffer + at, buffer + at + n, len - at - n);
		len -= n;
		break;
	case 3:
		if (len + word->len > LENGTH_MAX)
			break;
		memmove(buffer + at + word->len, buffer + at, len - at);
		memcpy(buffer + at, word->data, word->len);
		len += word->len;
		break;
	case 4:
		if (len && len * 2 <= LENGTH_MAX)
			len = append(len, buffer, len);
		break;
	}
	return len;
}

static size_t make_mutated(void)
{
	size_t len, n;

	if (!nr_kept)
		return make_words();
	n = below(nr_kept);
	len = append(0, kept[n].data, kept[n].len);
	for (n = 1 + below(4); n; n--)
		len = change(len);
	return len;
}

static size_t make(void)
{
	switch (below(8)) {
	case 0: return make_random();
	case 1: return make_repeated();
	case 2: case 3: case 4: return make_words();
	default:
		return make_mutated();
	}
}

static void say(const char *path, uint64_t nr, const char *data, size_t len)
{
	size_t i;

	printf("# %llu %s %zu \"", (unsigned long long)nr, path, len);
	for (i = 0; i < len && i < 200; i++)
		printf(data[i] >= ' ' && data[i] < 127 && data[i] != '"' && data[i] != '\\' ?
		       "%c" : "\\x%02x", (unsigned char)data[i]);
	printf(len > 200 ? "\"...\n" : "\"\n");
	fflush(stdout);
}

/* One write; most of them plain, some in ways that careless code gets wrong. */
static ssize_t write_one(int fd, size_t len)
{
	const char *from = buffer;

	switch (below(32)) {
	case 0:
		/* the end of the data is not there */
		return pwrite(fd, at_end - below(len + 1), len + 1, 0);
	case 1:
		return pwrite(fd, NULL, len, 0);
	case 2:
		/* somewhere behind the beginning */
		return pwrite(fd, from, len, below(2) ? below(100000) : INT64_MAX);
	case 3:
		/* more than any write takes */
		return pwrite(fd, from, SIZE_MAX / 2, 0);
	case 4:
		/* in two halves */
		if (write(fd, from, len / 2) < 0)
			return -1;
		return write(fd, from + len / 2, len - len / 2);
	case 5: {
		/* right before memory that is not there */
		size_t n = len < 4096 ? len : 4096;

		memcpy(at_end - n, from, n);
		return pwrite(fd, at_end - n, n, 0);
	}
	default:
		return pwrite(fd, from, len, 0);
	}
}

#define PROGRESS	20000	/* writes */

/* Does it begin with one of the commands that may take long? */
static bool begins_with_command(size_t len)
{
	static const char * const commands[] = { "attach", "uattach", "detach" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (len >= strlen(commands[i]) &&
		    !memcmp(buffer, commands[i], strlen(commands[i])))
			return true;
	return false;
}

/* Standard input is open: a file is never 0. */
static bool open_one(const char *path, int *fd)
{
	int new = open(path, O_WRONLY | (below(16) ? 0 : O_APPEND) | (below(4) ? 0 : O_TRUNC));

	*fd = new < 0 ? 0 : new;
	return new >= 0;
}

static int hammer(char **files, int nr_files, uint64_t count)
{
	uint64_t nr, accepted = 0, unopened = 0, seed = state;
	int *fds = calloc(nr_files, sizeof(*fds));

	if (!fds)
		return 2;
	for (nr = 0; nr < count; nr++) {
		size_t which = below(nr_files), len = make();
		const char *path = files[which];
		ssize_t ret;

		if (nr && nr % PROGRESS == 0) {
			printf("# %llu of %llu writes, %llu accepted\n", (unsigned long long)nr,
			       (unsigned long long)count, (unsigned long long)accepted);
			fflush(stdout);
		}
		if (begins_with_command(len) && below(rare))
			buffer[below(strlen("attach"))] ^= 1 << below(5);
		if (verbose)
			say(path, nr, buffer, len);
		if (!fds[which] && !open_one(path, &fds[which])) {
			unopened++;
			continue;
		}
		ret = write_one(fds[which], len);
		if (verbose)
			printf("#   %zd %s\n", ret, ret < 0 ? strerror(errno) : "");
		/* Most of the time would go into opening, on a kernel that checks itself. */
		if (!below(16)) {
			close(fds[which]);
			fds[which] = 0;
		}
		if (ret < 0)
			continue;
		accepted++;
		keep(buffer, len);
	}
	printf("# seed %llu: %llu writes, %llu accepted", (unsigned long long)seed,
	       (unsigned long long)count, (unsigned long long)accepted);
	if (unopened)
		printf(", %llu times a file could not be opened", (unsigned long long)unopened);
	printf("\n");
	free(fds);
	return unopened == count && count;
}

static int hammer_in_parallel(char **files, int nr_files, uint64_t count, unsigned int jobs)
{
	uint64_t seed = state;
	unsigned int i;
	int status, bad = 0;

	fflush(stdout);
	for (i = 0; i < jobs; i++) {
		state = seed + i;
		if (fork())
			continue;
		bad = hammer(files, nr_files, count / jobs);
		fflush(stdout);
		_exit(bad);
	}
	while (wait(&status) > 0)
		bad |= !WIFEXITED(status) || WEXITSTATUS(status);
	return bad;
}

/* A buffer, and a page that is followed by one which cannot be touched. */
static int make_buffers(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	buffer = calloc(1, LENGTH_MAX);
	if (!buffer || page == MAP_FAILED || mprotect(page + 4096, 4096, PROT_NONE))
		return 2;
	at_end = page + 4096;
	return 0;
}

/* ffff and at least 8 more: no count or size looks like that, a pointer does. */
static bool has_address(const char *data, ssize_t len)
{
	ssize_t i, run = 0;

	for (i = 0; i < len; i++) {
		bool hex = (data[i] >= '0' && data[i] <= '9') || (data[i] >= 'a' && data[i] <= 'f');

		run = hex ? run + 1 : 0;
		if (run >= 12 && !memcmp(&data[i + 1 - run], "ffff", 4))
			return true;
	}
	return false;
}

static unsigned int nr_checked, nr_bad;

static void wrong(const char *path, const char *what, int err)
{
	printf("# %s: %s%s%s\n", path, what, err ? ": " : "", err ? strerror(err) : "");
	nr_bad++;
}

static bool refused(int err)
{
	return err == EACCES || err == EPERM;
}

static int check_unprivileged(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	static char data[1 << 20];
	ssize_t len;
	int fd;

	(void)ftw;
	if (type != FTW_F || !S_ISREG(st->st_mode))
		return 0;
	nr_checked++;
	fd = open(path, O_WRONLY);
	if (fd >= 0) {
		wrong(path, "can be opened for writing", 0);
		close(fd);
	} else if (!refused(errno)) {
		wrong(path, "writing", errno);
	}
	fd = open(path, O_RDONLY);
	if (fd < 0) {
		if (!refused(errno))
			wrong(path, "reading", errno);
		return 0;
	}
	len = read(fd, data, sizeof(data));
	if (len < 0 && !refused(errno) && errno != EIO && errno != EINVAL)
		wrong(path, "reading", errno);
	if (has_address(data, len))
		wrong(path, "shows a kernel address", 0);
	close(fd);
	return 0;
}

static int unprivileged(int uid, char **paths, int nr)
{
	int i;

	if (setgroups(0, NULL) || setgid(uid) || setuid(uid)) {
		perror("fuzz: becoming another user");
		return 2;
	}
	for (i = 0; i < nr; i++)
		if (nftw(paths[i], check_unprivileged, 16, FTW_PHYS))
			wrong(paths[i], "cannot be walked", errno);
	printf("# %u files looked at as user %d\n", nr_checked, uid);
	return nr_bad || !nr_checked;
}

static int powerless(char **files, int nr)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = {};
	int i, fd;

	/* Opened with them: what counts is who writes. */
	for (i = 0; i < nr; i++) {
		pid_t pid;
		int status;

		fd = open(files[i], O_WRONLY);
		if (fd < 0) {
			wrong(files[i], "opening", errno);
			continue;
		}
		fflush(stdout);
		pid = fork();
		if (!pid) {
			if (syscall(SYS_capset, &header, none))
				_exit(2);
			if (write(fd, "1\n", 2) >= 0)
				_exit(1);
			_exit(refused(errno) ? 0 : 3);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			wrong(files[i], "takes a write without capabilities, or says no to it otherwise", 0);
		close(fd);
	}
	return nr_bad != 0;
}

static int say_usage(void)
{
	fprintf(stderr, "usage: fuzz [-s SEED] [-n COUNT] [-j JOBS] [-d WORDS] [-r N] [-v] FILE... | unprivileged UID PATH... | powerless FILE...\n");
	return 2;
}

int main(int argc, char **argv)
{
	unsigned long long count = 10000;
	unsigned int jobs = 1, i;
	int c;

	if (argc > 3 && !strcmp(argv[1], "unprivileged"))
		return unprivileged(atoi(argv[2]), argv + 3, argc - 3);
	if (argc > 2 && !strcmp(argv[1], "powerless"))
		return powerless(argv + 2, argc - 2);

	for (i = 0; i < ARRAY_SIZE(own_words); i++)
		add_word(own_words[i], strlen(own_words[i]));
	add_word("\0", 1);
	state = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
	while ((c = getopt(argc, argv, "s:n:j:d:r:v")) != -1) {
		switch (c) {
		case 's':
			state = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			count = strtoull(optarg, NULL, 0);
			break;
		case 'j':
			jobs = strtoul(optarg, NULL, 0);
			break;
		case 'd':
			if (read_words(optarg))
				return 2;
			break;
		case 'r':
			rare = strtoul(optarg, NULL, 0);
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return say_usage();
		}
	}
	if (optind == argc || !jobs || !rare || make_buffers())
		return say_usage();
	if (jobs > 1)
		return hammer_in_parallel(argv + optind, argc - optind, count, jobs);
	return hammer(argv + optind, argc - optind, count);
}
