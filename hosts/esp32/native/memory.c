// Memory figures, and the reaction to a failed allocation of the engine's memory.
#include <stdint.h>
#include <stdlib.h>
#include "xsAll.h"
#include "mc.defines.h"
#include "app_update/include/esp_ota_ops.h"
#include "esp_attr.h"
#include "esp_heap_caps.h"
#include "esp_rom_sys.h"
#include "esp_system.h"
#include "esp_task_wdt.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

/** Interval of the error message on a board that stopped. */
#define MESSAGE_MS 10000

extern txMachine *gThe;
extern void *xsPreparationAndCreation(txCreation **creation);

/**
 * Bytes that stay for Wi-Fi, lwIP and TLS (memory-plan.ts). A project whose own C needs more raises
 * it in its manifest: defines.mote.system. An image for the emulator does, because it lacks Wi-Fi's
 * memory: its engine is not to be larger than a board's.
 */
#ifdef MODDEF_MOTE_SYSTEM
#define SYSTEM_BYTES MODDEF_MOTE_SYSTEM
#else
#define SYSTEM_BYTES 156548
#endif
#define ALIGNMENT 16

/** The creation parameters, with the size that the block got. */
static txCreation own_creation;

/** Weak, because only tools/moddable/esp32/wrap-component.ts makes the linker define it. */
extern txMachine *__real_modCloneMachine(txCreation *creation, const char *name) __attribute__((weak));

/** The largest block that leaves the system its memory, and at least `creation.static`. */
static txSize block_size(txSize least)
{
	size_t largest = heap_caps_get_largest_free_block(MALLOC_CAP_DEFAULT | MALLOC_CAP_INTERNAL);
	size_t free = heap_caps_get_free_size(MALLOC_CAP_DEFAULT | MALLOC_CAP_INTERNAL);
	size_t spare = free > SYSTEM_BYTES ? free - SYSTEM_BYTES : 0;
	txSize most = (spare < largest ? spare : largest) & ~(ALIGNMENT - 1);

	// With PSRAM, the block may lie there, and its size is the owner's choice.
	if (heap_caps_get_total_size(MALLOC_CAP_SPIRAM) > 0)
		return least;
	return most > least ? most : least;
}

/**
 * Gives the engine all memory that the system does not need. The image decides how much that is, so
 * the size is not known before the start.
 */
txMachine *__wrap_modCloneMachine(txCreation *creation, const char *name)
{
	// A worker has parameters of its own.
	if (!creation) {
		xsPreparationAndCreation(&creation);
		own_creation = *creation;
		if (own_creation.staticSize)
			own_creation.staticSize = block_size(own_creation.staticSize);
		creation = &own_creation;
	}
	return __real_modCloneMachine(creation, name);
}

static int is_on_trial(void)
{
	esp_ota_img_states_t state;
	const esp_partition_t *running = esp_ota_get_running_partition();
	return running && ESP_OK == esp_ota_get_state_partition(running, &state) && ESP_OTA_IMG_PENDING_VERIFY == state;
}

/**
 * The engine's memory is one block, allocated at the start. Without it, the SDK would use address 0
 * and restart forever. Instead, an image on trial rolls back; any other stops here and logs why.
 */
static void allocation_failed(size_t size, uint32_t caps, const char *function)
{
	txCreation *creation;

	xsPreparationAndCreation(&creation);
	if (!creation->staticSize || size < (size_t)creation->staticSize || gThe)
		return;
#if CONFIG_ESP_TASK_WDT_EN
	esp_task_wdt_delete(NULL);
#endif
	for (;;) {
		esp_rom_printf("mote: no memory for the engine: it needs a block of %u bytes (creation.static), the largest free one has %u; stopped\n",
			(unsigned)size, (unsigned)heap_caps_get_largest_free_block(MALLOC_CAP_DEFAULT));
		if (is_on_trial())
			esp_restart();
		vTaskDelay(pdMS_TO_TICKS(MESSAGE_MS));
	}
}

/** Replaces the C++ library's handler, which takes 25 KB to print exceptions. None is thrown. */
void _ZN9__gnu_cxx27__verbose_terminate_handlerEv(void)
{
	abort();
}

static void __attribute__((constructor)) watch_allocations(void)
{
	heap_caps_register_failed_alloc_callback(allocation_failed);
}

// If the engine's memory is full, it restarts the chip without a message. It is full with less free
// memory than its error message needs, and than its heap grows by (manifest.json: 32 slots).
#define MESSAGE_BYTES 64
#define GROWTH_BYTES 512
#define FULL 0x66756c6c

static RTC_NOINIT_ATTR uint32_t last_run;

static void note_memory(void)
{
	txBlock *block = gThe ? gThe->firstBlock : NULL;
	int full = block && gThe->heap && gThe->heap_pend - gThe->heap_ptr < GROWTH_BYTES && block->limit - block->current < MESSAGE_BYTES;
	last_run = full ? FULL : 0;
}

static void __attribute__((constructor)) watch_restarts(void)
{
	esp_register_shutdown_handler(note_memory);
}

// TLS, Wi-Fi and lwIP do not use PSRAM.
#define INTERNAL_HEAP (MALLOC_CAP_DEFAULT | MALLOC_CAP_INTERNAL)

enum { LARGEST_FREE, STACK_LEFT, ENGINE_LEFT, ENGINE, WAS_FULL, FREE, LEAST_FREE, ENGINE_FREE };

/** Between the two ends of the block, slots that hold no object, and the end of the chunks. */
static uint32_t engine_free(txMachine *the)
{
	txBlock *block;
	uint32_t slots;

	fxCollectGarbage(the);
	block = the->firstBlock;
	slots = the->maximumHeapCount - the->currentHeapCount;
	return (the->heap_pend - the->heap_ptr) + slots * sizeof(txSlot) + (block ? block->limit - block->current : 0);
}

/**
 * Bytes. Of the heap without PSRAM: FREE, free now; LEAST_FREE, its minimum since the start;
 * LARGEST_FREE, the largest free block. STACK_LEFT: the minimum of free stack of the engine's task.
 * ENGINE: the engine's memory. ENGINE_LEFT: the part that it never used. ENGINE_FREE: all of it that
 * holds nothing, after collecting garbage. WAS_FULL: not 0 if the last run restarted the chip when
 * that memory was full.
 */
uint32_t mote_memory(uint32_t what)
{
	txCreation *creation;

	switch (what) {
		case LARGEST_FREE:
			return heap_caps_get_largest_free_block(INTERNAL_HEAP);
		case FREE:
			return heap_caps_get_free_size(INTERNAL_HEAP);
		case LEAST_FREE:
			return heap_caps_get_minimum_free_size(INTERNAL_HEAP);
		case STACK_LEFT:
			return uxTaskGetStackHighWaterMark(NULL) * sizeof(StackType_t);
		case ENGINE_LEFT:
			return gThe->heap_pend - gThe->heap_ptr;
		case ENGINE:
			// Not computed from the ends of its memory, because slots move one of them.
			xsPreparationAndCreation(&creation);
			return own_creation.staticSize ? own_creation.staticSize : creation->staticSize;
		case WAS_FULL:
			return esp_reset_reason() == ESP_RST_SW && last_run == FULL;
		case ENGINE_FREE:
			return engine_free(gThe);
	}
	return 0;
}
