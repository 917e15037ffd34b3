/*
 * Counts the instructions of an emulated chip, by the address of each translated block. The counts
 * are in a mapped file, which the bench reads at any moment without disturbing the chip.
 * Little-endian, like the machine that runs it:
 *
 *   0   8 bytes  "motecnt1"
 *   8   8        instructions since the start
 *   16  4        places in the table, a power of two
 *   20  4        blocks for which the table had no place; only the sum includes their instructions
 *   24  16 each  address (0: empty place), instructions of the block, how often it ran (8 bytes)
 *
 * A block counts as a whole when it begins. Only an exception leaves it in the middle, because
 * interrupts are taken between blocks.
 *
 *   -plugin count.so,counts=PATH
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
	Block blocks[PLACES];
} Counts;

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static Counts *counts;

/* The chip has one core: one thread runs these. */
static void ran(unsigned int core, void *which)
{
	Block *block = which;

	(void)core;
	block->runs++;
	counts->total += block->instructions;
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

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t instructions = qemu_plugin_tb_n_insns(tb);
	Block *block = placeOf((uint32_t)qemu_plugin_tb_vaddr(tb), (uint32_t)instructions);

	(void)id;
	if (block)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, ran, QEMU_PLUGIN_CB_NO_REGS, block);
	else
		qemu_plugin_register_vcpu_tb_exec_cb(tb, ranWithoutPlace, QEMU_PLUGIN_CB_NO_REGS, (void *)(uintptr_t)instructions);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	int named = argc == 1 && !strncmp(argv[0], "counts=", 7);
	int file = named ? open(argv[0] + 7, O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;

	(void)info;
	if (file < 0 || ftruncate(file, sizeof(Counts))) {
		fprintf(stderr, "count: counts=PATH is needed, of a file that can be written\n");
		return -1;
	}
	counts = mmap(NULL, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (counts == MAP_FAILED)
		return -1;
	counts->places = PLACES;
	memcpy(counts->magic, "motecnt1", 8);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
