/*
 * Counts the instructions of an emulated chip, by the address of each translated block. What it counted lies in a file that is mapped: the bench reads it at any
 * moment, and the chip notices nothing. Little-endian, as the machine that runs it:
 *
 *   0   8 bytes  "motecnt1"
 *   8   8        instructions since the start
 *   16  4        places in the table, a power of two
 *   20  4        blocks that found no place; their instructions are in the sum alone
 *   24  4        where the engine's byte code begins; 0 if nothing is said of it
 *   28  4        words of byte code
 *   32  16 each  address, instructions of the block, how often it ran (8 bytes). An address of 0 is an empty place.
 *   ..  8 each   for each word of byte code, instructions from when the engine read it until it read another one
 *
 * A block counts as a whole when it begins. It is left in its middle by an exception alone: interrupts are taken between blocks.
 *
 * What an interrupt does is nobody's; after a switch of tasks it is nobody's until the engine reads byte code again.
 *
 *   -plugin count.so,counts=PATH[,run=FROM-TO,code=FROM-TO,enter=ADDRESS,exit=ADDRESS,switch=ADDRESS]
 *
 * Addresses in hex: the engine's function that reads byte code, byte code, where an interrupt begins and ends, where tasks are switched.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <qemu-plugin.h>

#define PLACES (1u << 17)

typedef struct {
	uint32_t address;
	uint32_t instructions;
	uint64_t runs;
} Block;

typedef struct {
	char magic[8];
	uint64_t total;
	uint32_t places;
	uint32_t lost;
	uint32_t codeFrom;
	uint32_t codeWords;
	Block blocks[PLACES];
	uint64_t code[];
} Counts;

typedef struct {
	uint32_t from;
	uint32_t to;
} Range;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static Counts *counts;
static Range run, code;
static uint32_t enterAt, exitAt, switchAt;

/* The word of byte code that was read last, if the engine's task runs; what it was before an interrupt. */
static uint64_t *current, *interrupted;

/* The chip has one core: one thread runs these. */
static void ran(unsigned int core, void *which)
{
	Block *block = which;

	(void)core;
	block->runs++;
	counts->total += block->instructions;
	if (current)
		*current += block->instructions;
}

static void entered(unsigned int core, void *unused)
{
	(void)core;
	(void)unused;
	interrupted = current;
	current = NULL;
}

static void exited(unsigned int core, void *unused)
{
	(void)core;
	(void)unused;
	current = interrupted;
}

static void switched(unsigned int core, void *unused)
{
	(void)core;
	(void)unused;
	current = interrupted = NULL;
}

static void readCode(unsigned int core, qemu_plugin_meminfo_t how, uint64_t address, void *unused)
{
	(void)core;
	(void)how;
	(void)unused;
	if (address >= code.from && address < code.to)
		current = &counts->code[(address - code.from) >> 2];
}

static void ranWithoutPlace(unsigned int core, void *instructions)
{
	(void)core;
	counts->total += (uintptr_t)instructions;
}

/* The place of a block, which is the same when it is translated again. */
static Block *placeOf(uint32_t address, uint32_t instructions)
{
	uint32_t at = ((address >> 1) * 2654435761u + instructions) & (PLACES - 1);

	for (uint32_t tried = 0; tried < 64; tried++, at = (at + 1) & (PLACES - 1)) {
		Block *block = &counts->blocks[at];

		if (block->address == address && block->instructions == instructions)
			return block;
		if (block->address == 0) {
			block->instructions = instructions;
			block->address = address;
			return block;
		}
	}
	counts->lost++;
	return NULL;
}

/* Byte code is followed by what the engine's function loads, and by blocks that begin where tasks or interrupts do. */
static void followed(struct qemu_plugin_tb *tb, size_t instructions)
{
	uint32_t address = (uint32_t)qemu_plugin_tb_vaddr(tb);

	if (address == enterAt)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, entered, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (address == exitAt)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, exited, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (address == switchAt)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, switched, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (address < run.from || address >= run.to)
		return;
	/* Not QEMU_PLUGIN_MEM_R: QEMU 8.1 leaves out loads of single bytes then, as byte code is read. Nobody writes there. */
	for (size_t i = 0; i < instructions; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), readCode, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t instructions = qemu_plugin_tb_n_insns(tb);
	Block *block = placeOf((uint32_t)qemu_plugin_tb_vaddr(tb), (uint32_t)instructions);

	(void)id;
	if (block)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, ran, QEMU_PLUGIN_CB_NO_REGS, block);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(tb, ranWithoutPlace, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)instructions);
	if (code.to)
		followed(tb, instructions);
}

static int readArgument(const char *text, const char **path)
{
	if (!strncmp(text, "counts=", 7))
		*path = text + 7;
	else if (sscanf(text, "run=%x-%x", &run.from, &run.to) != 2 && sscanf(text, "code=%x-%x", &code.from, &code.to) != 2
		&& sscanf(text, "enter=%x", &enterAt) != 1 && sscanf(text, "exit=%x", &exitAt) != 1 && sscanf(text, "switch=%x", &switchAt) != 1)
		return 0;
	return 1;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	const char *path = NULL;
	int good = 1;

	(void)info;
	for (int i = 0; i < argc; i++)
		good &= readArgument(argv[i], &path);

	uint32_t words = code.to > code.from ? (code.to - code.from + 3) / 4 : 0;
	size_t size = sizeof(Counts) + words * sizeof(uint64_t);
	int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;

	if (!good || file < 0 || ftruncate(file, size)) {
		fprintf(stderr, "count: counts=PATH is needed, of a file that can be written; of other words run, code, enter, exit and switch are known\n");
		return -1;
	}
	counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (counts == MAP_FAILED)
		return -1;
	counts->places = PLACES;
	counts->codeFrom = code.from;
	counts->codeWords = words;
	memcpy(counts->magic, "motecnt1", 8);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
