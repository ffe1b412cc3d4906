// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looking up functions in ELF files. A name may be that of several, and of what
 * is no function; whoever asked is told which there are.
 */

#include <stdio.h>
#include <string.h>

#include "distance.h"
#include "elf_file.h"

#define FOUND_MAX	8

/**
 * struct wanted - what is looked for
 * @base: the name
 * @len: of it, without a version
 * @version: the version, or NULL
 * @is_default: only if that is the default one: NAME@@VERSION
 */
struct wanted {
	const char *base;
	size_t len;
	const char *version;
	bool is_default;
};

/**
 * struct found - what has that name
 * @rank: of what follows: 1 the default version, 0 another one
 * @offsets: of functions, in the file
 * @local: are these local symbols?
 * @nr: how many there are; more may have been seen than there is room for
 * @unplaced: functions that are not in the file
 * @indirect: functions that choose one
 * @others: data, and the like
 * @undefined: used here, and of another file
 */
struct found {
	int rank;
	uint64_t offsets[FOUND_MAX];
	bool local[FOUND_MAX];
	unsigned int nr;
	unsigned int unplaced;
	unsigned int indirect;
	unsigned int others;
	unsigned int undefined;
};

static struct wanted parse_wanted(const char *name)
{
	struct wanted want = { .base = name, .len = strcspn(name, "@") };

	if (name[want.len]) {
		want.version = name + want.len + 1;
		want.is_default = *want.version == '@';
		want.version += want.is_default;
	}
	return want;
}

/* Has a symbol that version? Sets whether it is the default one. */
static bool version_matches(const struct elf_file *elf, const struct elf_table *table, size_t i,
			    const struct wanted *want, bool *is_default)
{
	const char *suffix = elf_name(table, i) + want->len, *version = NULL;
	size_t index = table->versions ? table->versions[i] & 0x7fff : 0;

	*is_default = !table->versions || !(table->versions[i] & 0x8000);
	if (*suffix == '@') {
		/* .symtab has them in the names. */
		*is_default = suffix[1] == '@';
		version = suffix + 1 + *is_default;
	} else if (index > 1 && index < elf->nr_version_names) {
		version = elf->version_names[index];
	}
	if (!want->version)
		return true;
	return version && !strcmp(version, want->version) && (*is_default || !want->is_default);
}

static void add_function(const struct elf_file *elf, const Elf64_Sym *sym, struct found *found)
{
	uint64_t offset;
	unsigned int i;

	if (!elf_place(elf, sym->st_value, &offset)) {
		found->unplaced++;
		return;
	}
	for (i = 0; i < found->nr && i < FOUND_MAX; i++)
		if (found->offsets[i] == offset)
			return;
	if (found->nr < FOUND_MAX) {
		found->offsets[found->nr] = offset;
		found->local[found->nr] = ELF64_ST_BIND(sym->st_info) == STB_LOCAL;
	}
	found->nr++;
}

static void add_symbol(const struct elf_file *elf, const Elf64_Sym *sym, struct found *found)
{
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
		add_function(elf, sym, found);
		break;
	case STT_GNU_IFUNC:
		found->indirect++;
		break;
	case STT_FILE:
	case STT_SECTION:
		break;
	default:
		found->others++;
	}
}

static void search_table(const struct elf_file *elf, const struct elf_table *table,
			 const struct wanted *want, struct found *found)
{
	size_t i;

	for (i = 0; i < table->nr; i++) {
		const char *name = elf_name(table, i);
		bool is_default;

		if (strncmp(name, want->base, want->len) ||
		    (name[want->len] && name[want->len] != '@'))
			continue;
		if (table->syms[i].st_shndx == SHN_UNDEF) {
			found->undefined++;
			continue;
		}
		if (!version_matches(elf, table, i, want, &is_default) ||
		    is_default < found->rank)
			continue;
		/* The default version is what is meant where none is named. */
		if (is_default > found->rank)
			*found = (struct found){ .rank = 1, .undefined = found->undefined };
		add_symbol(elf, &table->syms[i], found);
	}
}

#define NEAR_MAX	5

/**
 * struct near - names that are near to one that there is none of
 * @names: the nearest first
 * @far: how far each is
 * @nr: how many
 */
struct near {
	const char *names[NEAR_MAX];
	unsigned int far[NEAR_MAX];
	unsigned int nr;
};

static void add_near(struct near *near, const char *name, unsigned int far)
{
	unsigned int i;

	for (i = 0; i < near->nr; i++)
		if (!strcmp(near->names[i], name))
			return;
	if (near->nr == NEAR_MAX && far >= near->far[NEAR_MAX - 1])
		return;
	if (near->nr < NEAR_MAX)
		near->nr++;
	for (i = near->nr - 1; i && near->far[i - 1] > far; i--) {
		near->names[i] = near->names[i - 1];
		near->far[i] = near->far[i - 1];
	}
	near->names[i] = name;
	near->far[i] = far;
}

/* A letter or two off, or with something before or behind it. */
static void search_near(const struct elf_table *table, const struct wanted *want,
			struct near *near)
{
	char base[64];
	size_t i, base_len;

	snprintf(base, sizeof(base), "%.*s", (int)want->len, want->base);
	base_len = strlen(base);
	for (i = 0; *base && i < table->nr; i++) {
		const char *name = elf_name(table, i);
		size_t len = strlen(name);
		unsigned int far = 3;

		if (ELF64_ST_TYPE(table->syms[i].st_info) != STT_FUNC ||
		    table->syms[i].st_shndx == SHN_UNDEF)
			continue;
		if (len < base_len + 3 && base_len < len + 3)
			far = distance(name, base);
		/* Of that very name are other versions. */
		if (!far && !want->version)
			continue;
		if (far <= 2)
			add_near(near, name, far);
		else if (strcasestr(name, base))
			add_near(near, name, 3 + len - base_len);
	}
}

static void put_near(const struct elf_file *elf, const struct wanted *want, char *text,
		     size_t size)
{
	struct near near = {};
	size_t t, len = 0;
	unsigned int i;

	*text = '\0';
	for (t = 0; t < ELF_TABLES; t++)
		search_near(&elf->tables[t], want, &near);
	for (i = 0; i < near.nr && len < size; i++)
		len += snprintf(text + len, size - len, "%s%.64s", i ? ", " : ". Did you mean: ",
				near.names[i]);
}

static int say_ambiguous(const struct elf_file *elf, const char *name, const struct found *found,
			 char *why)
{
	char list[FOUND_MAX * 32];
	unsigned int i;
	size_t len = 0;

	for (i = 0; i < found->nr && i < FOUND_MAX; i++)
		len += snprintf(list + len, sizeof(list) - len, "%s0x%llx (%s)", i ? ", " : "",
				(unsigned long long)found->offsets[i],
				found->local[i] ? "local" : "global");
	return elf_why(why, "'%.200s' has %u functions named '%.100s', at %s%s. Type: kretpool uattach FILE:0xOFFSET",
		       elf->path, found->nr, name, list, i < found->nr ? ", ..." : "");
}

/* Nothing to be hooked has that name: what has, and what could be meant. */
static int say_missing(const struct elf_file *elf, const char *name, const struct wanted *want,
		       const struct found *found, char *why)
{
	char near[512], stripped[160] = "";

	put_near(elf, want, near, sizeof(near));
	if (found->unplaced)
		return elf_why(why, "'%.100s' is not in what '%.200s' has to be executed",
			       name, elf->path);
	if (found->indirect)
		return elf_why(why, "'%.100s' is an indirect function (IFUNC), which only chooses one when the program starts: name that one%s",
			       name, near);
	if (found->others)
		return elf_why(why, "'%.100s' is not marked as a function in '%.200s'. If it is one, type: kretpool uattach FILE:0xOFFSET",
			       name, elf->path);
	if (found->undefined)
		return elf_why(why, "'%.100s' is only used in '%.150s', and comes from a library. Type: ldd FILE, then: kretpool uattach LIBRARY:%.100s",
			       name, elf->path, name);
	if (!elf->tables[ELF_SYMTAB].nr)
		snprintf(stripped, sizeof(stripped),
			 "; it is stripped, and has but %zu dynamic symbols: FILE:0xOFFSET may be given",
			 elf->tables[ELF_DYNSYM].nr ? elf->tables[ELF_DYNSYM].nr - 1 : 0);
	return elf_why(why, "'%.200s' has no function '%.100s'%s%s", elf->path, want->base,
		       stripped, near);
}

/**
 * elf_function() - find a function
 * @elf: the file
 * @name: its name, which may have a version behind it: NAME@VERSION, NAME@@VERSION
 * @offset: set to where its first instruction is in the file
 * @why: ELF_WHY_MAX bytes, filled in if there is not one such function
 *
 * Names are looked for in .symtab, and if it has none, in .dynsym.
 *
 * Return: 0 or -1.
 */
int elf_function(const struct elf_file *elf, const char *name, uint64_t *offset, char *why)
{
	const struct wanted want = parse_wanted(name);
	struct found found = {};
	size_t t;

	if (!want.len)
		return elf_why(why, "'%.100s' is no name of a function", name);
	for (t = 0; t < ELF_TABLES && !found.nr; t++)
		search_table(elf, &elf->tables[t], &want, &found);
	if (found.nr > 1)
		return say_ambiguous(elf, name, &found, why);
	if (!found.nr)
		return say_missing(elf, name, &want, &found, why);
	*offset = found.offsets[0];
	return 0;
}
