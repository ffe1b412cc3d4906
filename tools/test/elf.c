// SPDX-License-Identifier: GPL-2.0-only
/* Functions in ELF files: found, not to be had, and in files that are damaged. */

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf_file.h"
#include "tap.h"

#if defined(__x86_64__)
#define MACHINE		EM_X86_64
#else
#define MACHINE		EM_AARCH64
#endif

#define BASE		0x400000

enum { S_NULL, S_SYMTAB, S_STRTAB, S_DYNSYM, S_DYNSTR, S_VERSYM, S_VERDEF, NR_SECTIONS };

/* A program as it lies in the file. */
struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	char text[256];
	char data[64];
	Elf64_Sym syms[16];
	char names[160];
	Elf64_Sym dynsyms[8];
	char dynnames[80];
	Elf64_Versym versions[8];
	struct {
		Elf64_Verdef def;
		Elf64_Verdaux aux;
	} defs[3];
	Elf64_Shdr sh[NR_SECTIONS];
};

static struct image image;
static char why[ELF_WHY_MAX];
static int fd;
static char path[64];

/* The place of a name in a table of names, where it is put if it is not there. */
static unsigned int name_at(char *names, size_t size, const char *name)
{
	size_t at = 1;

	while (at < size && names[at]) {
		if (!strcmp(names + at, name))
			return at;
		at += strlen(names + at) + 1;
	}
	if (at + strlen(name) < size)
		strcpy(names + at, name);
	return at;
}

#define SYMBOL(sym, names, name, type, bind, at, section)	\
	(*(sym) = (Elf64_Sym) {					\
		.st_name = name_at(names, sizeof(names), name),	\
		.st_info = ELF64_ST_INFO(bind, type),		\
		.st_shndx = section,				\
		.st_value = at,					\
	})

#define TEXT(n)		(BASE + offsetof(struct image, text) + (n))
#define FUNC(i, name, at)	\
	SYMBOL(&image.syms[i], image.names, name, STT_FUNC, STB_GLOBAL, at, 1)
#define LOCAL(i, name, at)	\
	SYMBOL(&image.syms[i], image.names, name, STT_FUNC, STB_LOCAL, at, 1)
#define DYNAMIC(i, name, type, at)	\
	SYMBOL(&image.dynsyms[i], image.dynnames, name, type, STB_GLOBAL, at, 1)

static void make_sections(void)
{
#define SECTION(t, member, l, e) \
	{ .sh_type = t, .sh_offset = offsetof(struct image, member), \
	  .sh_size = sizeof(image.member), .sh_link = l, .sh_entsize = e }
	const Elf64_Shdr sh[NR_SECTIONS] = {
		[S_SYMTAB] = SECTION(SHT_SYMTAB, syms, S_STRTAB, sizeof(Elf64_Sym)),
		[S_STRTAB] = SECTION(SHT_STRTAB, names, 0, 0),
		[S_DYNSYM] = SECTION(SHT_DYNSYM, dynsyms, S_DYNSTR, sizeof(Elf64_Sym)),
		[S_DYNSTR] = SECTION(SHT_STRTAB, dynnames, 0, 0),
		[S_VERSYM] = SECTION(SHT_GNU_versym, versions, S_DYNSYM, 2),
		[S_VERDEF] = SECTION(SHT_GNU_verdef, defs, S_DYNSTR, 0),
	};

	memcpy(image.sh, sh, sizeof(sh));
}

static void make_versions(void)
{
	static const char * const names[] = { "lib.so", "V1", "V2" };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		image.defs[i].def = (Elf64_Verdef) {
			.vd_version = 1, .vd_ndx = i + 1, .vd_cnt = 1,
			.vd_aux = sizeof(Elf64_Verdef),
			.vd_next = i < 2 ? sizeof(image.defs[0]) : 0,
		};
		image.defs[i].aux.vda_name = name_at(image.dynnames, sizeof(image.dynnames),
						     names[i]);
	}
	/* Index 2 is V1, 3 is V2; that bit: not the default one. */
	image.versions[1] = 1;
	image.versions[2] = 2 | 0x8000;
	image.versions[3] = 3;
	image.versions[4] = 2;
	image.versions[5] = 2 | 0x8000;
	image.versions[6] = 3;
}

static void make_symbols(void)
{
	FUNC(1, "alone", TEXT(16));
	LOCAL(2, "twice", TEXT(32));
	LOCAL(3, "twice", TEXT(48));
	FUNC(4, "alias", TEXT(64));
	LOCAL(5, "alias", TEXT(64));
	SYMBOL(&image.syms[6], image.names, "chooses", STT_GNU_IFUNC, STB_GLOBAL, TEXT(80), 1);
	SYMBOL(&image.syms[7], image.names, "data", STT_OBJECT, STB_GLOBAL, TEXT(0), 1);
	SYMBOL(&image.syms[8], image.names, "elsewhere", STT_FUNC, STB_GLOBAL, 0, SHN_UNDEF);
	/* Not executable, behind what is in the file, not loaded at all. */
	FUNC(9, "in_data", BASE + 0x100000);
	FUNC(10, "behind", TEXT(256));
	FUNC(11, "nowhere", ~0ULL);
	FUNC(12, "static_v@@V2", TEXT(96));
	FUNC(13, "both", TEXT(112));
	LOCAL(14, "dis_appear.isra.0", TEXT(120));

	DYNAMIC(1, "both", STT_FUNC, TEXT(128));
	DYNAMIC(2, "versioned", STT_FUNC, TEXT(144));
	DYNAMIC(3, "versioned", STT_FUNC, TEXT(160));
	DYNAMIC(4, "dynamic", STT_FUNC, TEXT(176));
	DYNAMIC(5, "mixed", STT_FUNC, TEXT(192));
	DYNAMIC(6, "mixed", STT_GNU_IFUNC, TEXT(208));
}

static void make(void)
{
	memset(&image, 0, sizeof(image));
	memcpy(image.eh.e_ident, ELFMAG, SELFMAG);
	image.eh.e_ident[EI_CLASS] = ELFCLASS64;
	image.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	image.eh.e_type = ET_DYN;
	image.eh.e_machine = MACHINE;
	image.eh.e_phoff = offsetof(struct image, ph);
	image.eh.e_phnum = 3;
	image.eh.e_phentsize = sizeof(Elf64_Phdr);
	image.eh.e_shoff = offsetof(struct image, sh);
	image.eh.e_shnum = NR_SECTIONS;
	image.eh.e_shentsize = sizeof(Elf64_Shdr);
	image.ph[0] = (Elf64_Phdr) { .p_type = PT_NOTE, .p_flags = PF_X, .p_vaddr = BASE,
				    .p_filesz = sizeof(image) };
	image.ph[1] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = TEXT(0),
		.p_offset = offsetof(struct image, text), .p_filesz = sizeof(image.text),
		.p_memsz = 0x1000,
	};
	image.ph[2] = (Elf64_Phdr) {
		.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = BASE + 0x100000,
		.p_offset = offsetof(struct image, data), .p_filesz = sizeof(image.data),
	};
	make_sections();
	make_versions();
	make_symbols();
}

static void write_image(size_t len)
{
	if (ftruncate(fd, 0) || pwrite(fd, &image, len, 0) != (ssize_t)len)
		abort();
}

/* The place in the text; -1 if there is none, and @why says so. */
static long find(const char *name)
{
	struct elf_file elf;
	uint64_t offset = 0;
	int ret;

	*why = '\0';
	write_image(sizeof(image));
	if (elf_open(&elf, path, why))
		return -1;
	ret = elf_function(&elf, name, &offset, why);
	elf_close(&elf);
	return ret ? -1 : (long)(offset - offsetof(struct image, text));
}

/* @name is not to be had, and each of the texts is in what is said then. */
static void refused(const char *name, ...)
{
	const char *text;
	va_list args;

	tap_note("%s", name);
	CHECK_EQ(find(name), -1);
	va_start(args, name);
	while ((text = va_arg(args, const char *)))
		if (!CHECK(strstr(why, text)))
			tap_say("'%s' has no '%s'", why, text);
	va_end(args);
}

static void test_found(void)
{
	make();
	CHECK_EQ(find("alone"), 16);
	CHECK_EQ(find("alias"), 64);
	/* .symtab comes first. */
	CHECK_EQ(find("both"), 112);
	CHECK_EQ(find("dynamic"), 176);
	image.eh.e_type = ET_EXEC;
	CHECK_EQ(find("alone"), 16);
	/* Without .symtab, as most programs are. */
	image.sh[S_SYMTAB].sh_type = SHT_PROGBITS;
	CHECK_EQ(find("both"), 128);
	/* Without section headers there are no symbols. */
	image.eh.e_shoff = 0;
	refused("dynamic", "has no function 'dynamic'", "0 dynamic symbols", "0xOFFSET", NULL);
}

static void test_versions(void)
{
	make();
	CHECK_EQ(find("versioned"), 160);
	CHECK_EQ(find("versioned@V2"), 160);
	CHECK_EQ(find("versioned@@V2"), 160);
	CHECK_EQ(find("versioned@V1"), 144);
	refused("versioned@@V1", "has no function 'versioned@@V1'", "mean: versioned", NULL);
	refused("versioned@V3", "has no function 'versioned@V3'", NULL);
	refused("alone@V1", "has no function 'alone@V1'", NULL);
	CHECK_EQ(find("static_v"), 96);
	CHECK_EQ(find("static_v@V2"), 96);
	refused("static_v@V1", "has no function", NULL);
	/* The default version is an indirect function, the other is not. */
	refused("mixed", "IFUNC", NULL);
	CHECK_EQ(find("mixed@V1"), 192);
	/* Versions that are not there. */
	image.sh[S_VERDEF].sh_type = SHT_PROGBITS;
	refused("versioned@V1", "has no function", NULL);
	CHECK_EQ(find("versioned"), 160);
	/* All of them default ones, then. */
	image.sh[S_VERSYM].sh_size = 2;
	refused("versioned", "has 2 functions", NULL);
}

static void test_refused(void)
{
	char both[100];

	make();
	snprintf(both, sizeof(both), "at 0x%zx (local), 0x%zx (local)",
		 offsetof(struct image, text) + 32, offsetof(struct image, text) + 48);
	refused("twice", "has 2 functions named 'twice'", both, "FILE:0xOFFSET", NULL);
	refused("chooses", "IFUNC", NULL);
	refused("data", "not marked as a function", "FILE:0xOFFSET", NULL);
	refused("elsewhere", "only used in", "comes from a library", NULL);
	refused("in_data", "to be executed", NULL);
	refused("behind", "to be executed", NULL);
	refused("nowhere", "to be executed", NULL);
	refused("", "no name", NULL);
	refused("@V1", "no name", NULL);
	refused("alon", "has no function 'alon'", "Did you mean: alone", NULL);
	refused("dis_appear", "Did you mean: dis_appear.isra.0", NULL);
	refused("nothing_like_it", "has no function", NULL);
	CHECK(!strstr(why, "mean") && !strstr(why, "stripped"));
	image.sh[S_SYMTAB].sh_type = SHT_PROGBITS;
	refused("alone", "it is stripped", "7 dynamic symbols", NULL);
	/* What a file says is not what a terminal does. */
	make();
	strcpy(image.names + image.syms[1].st_name, "al\033ne");
	refused("alone", "al?ne", NULL);
}

static void test_headers(void)
{
	struct elf_file elf;
	size_t len;

#define WRONG(change, text) \
	do { \
		make(); \
		change; \
		refused("alone", text, NULL); \
	} while (0)
	WRONG(image.eh.e_ident[EI_CLASS] = ELFCLASS32, "of 32 bits");
	WRONG(image.eh.e_ident[EI_DATA] = ELFDATA2MSB, "another kind of machine");
	WRONG(image.eh.e_machine = EM_S390, "another kind of machine (22");
	WRONG(image.eh.e_type = ET_REL, "neither a program nor a library");
	WRONG(image.eh.e_type = ET_CORE, "neither a program nor a library");
	WRONG(memcpy(&image, "#!/bin/sh", 9), "is a script");
	WRONG(image.eh.e_ident[0] = 'X', "no ELF file");
	WRONG(image.eh.e_phentsize = 32, "damaged");
	WRONG(image.eh.e_shentsize = 40, "damaged");
	WRONG(image.eh.e_phoff = sizeof(image) - 1, "damaged");
	WRONG(image.eh.e_phoff = ~0ULL, "damaged");
	WRONG(image.eh.e_shoff = ~0ULL - 100, "damaged");
	WRONG(image.sh[S_SYMTAB].sh_size = ~0ULL, "damaged");
	WRONG(image.sh[S_SYMTAB].sh_offset = ~0ULL, "damaged");
	WRONG(image.sh[S_SYMTAB].sh_entsize = 0, "damaged");
	WRONG(image.sh[S_SYMTAB].sh_link = 1000, "damaged");
	WRONG(image.sh[S_SYMTAB].sh_link = S_DYNSYM, "damaged");
	WRONG(image.ph[1].p_filesz = ~0ULL, "to be executed");
	WRONG(image.ph[1].p_offset = ~0ULL, "to be executed");

	/* More sections and segments than the header has room for. */
	make();
	image.eh.e_shnum = 0;
	image.sh[0].sh_size = NR_SECTIONS;
	image.eh.e_phnum = PN_XNUM;
	image.sh[0].sh_info = 3;
	CHECK_EQ(find("alone"), 16);
	image.sh[0].sh_size = ~0ULL;
	refused("alone", "damaged", NULL);

	make();
	for (len = 0; len < sizeof(image.eh); len++) {
		write_image(len);
		CHECK_EQ(elf_open(&elf, path, why), -1);
	}
	CHECK_EQ(elf_open(&elf, "/nowhere", why), -1);
	CHECK(strstr(why, "there is no file '/nowhere'"));
	CHECK_EQ(elf_open(&elf, "/", why), -1);
	CHECK(strstr(why, "no regular file"));
	CHECK_EQ(elf_open(&elf, "/dev/null", why), -1);
	CHECK(strstr(why, "no regular file"));
}

static void test_offsets(void)
{
	const size_t text = offsetof(struct image, text);
	struct elf_file elf;

	make();
	write_image(sizeof(image));
	if (!CHECK_EQ(elf_open(&elf, path, why), 0))
		return;
	CHECK(!elf_executes(&elf, text - 1));
	CHECK(elf_executes(&elf, text));
	CHECK(elf_executes(&elf, text + 255));
	CHECK(!elf_executes(&elf, text + 256));
	CHECK(!elf_executes(&elf, ~0ULL));
	elf_close(&elf);
}

/* What the file has there is what is in memory. */
[[gnu::noinline, gnu::used]] static int own_function(int x)
{
	return x * 3 + 1;
}

static void test_own(void)
{
	unsigned char bytes[8];
	struct elf_file elf;
	uint64_t offset;
	int self;

	if (!CHECK_EQ(elf_open(&elf, "/proc/self/exe", why), 0))
		return;
	if (CHECK_EQ(elf_function(&elf, "own_function", &offset, why), 0)) {
		self = open("/proc/self/exe", O_RDONLY);
		CHECK_EQ(pread(self, bytes, sizeof(bytes), offset), sizeof(bytes));
		CHECK(!memcmp(bytes, (void *)own_function, sizeof(bytes)));
		close(self);
	}
	elf_close(&elf);
}

/* Looks at all there is: what comes of it matters less than that it ends well. */
static void look(void)
{
	static const char * const names[] = {
		"alone", "twice", "versioned@V1", "versioned", "mixed", "nothing", "alon",
	};
	struct elf_file elf;
	uint64_t offset;
	size_t i;

	if (elf_open(&elf, path, why))
		return;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!elf_function(&elf, names[i], &offset, why))
			CHECK(offset < elf.size && elf_executes(&elf, offset));
	elf_close(&elf);
}

static void test_cut_off(void)
{
	size_t len;

	make();
	for (len = 0; len < sizeof(image); len += 3) {
		write_image(len);
		look();
	}
}

/* Every byte of what says how the file is made, at its limits. */
static void test_each_byte(void)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	size_t at, v;

	for (at = 0; at < sizeof(image); at++) {
		if (at == offsetof(struct image, text))
			at = offsetof(struct image, syms);
		for (v = 0; v < sizeof(values); v++) {
			make();
			((unsigned char *)&image)[at] = values[v];
			write_image(sizeof(image));
			look();
		}
	}
}

static void test_random(void)
{
	static const uint64_t numbers[] = {
		0, 1, ~0ULL, ~0ULL >> 1, 1ULL << 63, 1ULL << 32, ~0ULL - 0xfff, 0xffff,
		sizeof(struct image), sizeof(struct image) - 1, 1ULL << 40,
	};
	unsigned int n, i;

	srand(1);
	for (n = 0; n < 20000; n++) {
		tap_note("%u", n);
		make();
		for (i = rand() % 6; i < 6; i++) {
			uint64_t number = rand() % 4 ? numbers[rand() % 11] : (uint64_t)rand();
			size_t size = 1 << rand() % 4;
			size_t at = rand() % 3 ? offsetof(struct image, sh) +
				    rand() % sizeof(image.sh) : rand() % sizeof(image);

			at -= at % size;
			if (at + size <= sizeof(image))
				memcpy((char *)&image + at, &number, size);
		}
		write_image(rand() % 8 ? sizeof(image) : rand() % sizeof(image));
		look();
	}
}

int main(void)
{
	static const struct tap_test tests[] = {
		TAP_TEST(found),
		TAP_TEST(versions),
		TAP_TEST(refused),
		TAP_TEST(headers),
		TAP_TEST(offsets),
		TAP_TEST(own),
		TAP_TEST(cut_off),
		TAP_TEST(each_byte),
		TAP_TEST(random),
	};

	fd = memfd_create("elf", 0);
	if (fd < 0)
		return 1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return tap_run(tests, sizeof(tests) / sizeof(*tests));
}
