// Memory figures, and what happens when the engine's memory is not to be had, or full.
#include <stdint.h>
#include <stdlib.h>
#include "xsAll.h"
#include "mc.defines.h"
#include "app_update/include/esp_ota_ops.h"
#include "esp_heap_caps.h"
#include "esp_rom_sys.h"
#include "esp_system.h"
#include "esp_task_wdt.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "nvs_flash/include/nvs.h"

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

// TLS, Wi-Fi and lwIP do not use PSRAM.
#define INTERNAL_HEAP (MALLOC_CAP_DEFAULT | MALLOC_CAP_INTERNAL)

enum { LARGEST_FREE, STACK_LEFT, ENGINE_LEFT, ENGINE, FREE, LEAST_FREE, ENGINE_FREE, CHUNKS_FREE };

/**
 * Bytes that hold nothing: between the two ends of the block, among the slots, behind the chunks.
 */
struct room {
	uint32_t between, slots, chunks;
};

static struct room room_of(txMachine *the)
{
	txBlock *block = the->firstBlock;
	struct room room = {
		.between = the->heap_pend - the->heap_ptr,
		.slots = (the->maximumHeapCount - the->currentHeapCount) * sizeof(txSlot),
		.chunks = block ? block->limit - block->current : 0,
	};
	return room;
}

static uint32_t engine_free(txMachine *the)
{
	struct room room;

	fxCollectGarbage(the);
	room = room_of(the);
	return room.between + room.slots + room.chunks;
}

/**
 * Slots never become chunks, nor the other way round. Texts and buffers are chunks; they have few
 * slots.
 */
static int has_room(txMachine *the, uint32_t bytes)
{
	struct room room = room_of(the);

	return room.between + room.chunks >= bytes && room.between + room.slots >= bytes / 4;
}

/** 0 if the engine's memory has not `bytes` left, even after collecting garbage. */
int32_t mote_has_room(uint32_t bytes)
{
	// Without a block, the memory is the system's.
	if (!own_creation.staticSize || has_room(gThe, bytes))
		return 1;
	fxCollectGarbage(gThe);
	return has_room(gThe, bytes);
}

/**
 * Bytes. Of the heap without PSRAM: FREE, free now; LEAST_FREE, its minimum since the start;
 * LARGEST_FREE, the largest free block. STACK_LEFT: the minimum of free stack of the engine's task.
 * ENGINE: the engine's memory. ENGINE_LEFT: the part that it never used. ENGINE_FREE: all of it
 * that holds nothing, after collecting garbage. CHUNKS_FREE: the part of that which chunks may use.
 */
uint32_t mote_memory(uint32_t what)
{
	txCreation *creation;
	struct room room;

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
		case ENGINE_FREE:
			return engine_free(gThe);
		case CHUNKS_FREE:
			room = room_of(gThe);
			return room.between + room.chunks;
	}
	return 0;
}

// As in store.ts and crash-record.ts.
#define STORE "mote-host"
#define KEY "ended"
#define RECORD "\x01memory full"

/** Weak like the other one. */
extern void __real_fxAbort(txMachine *the, int status) __attribute__((weak));

/**
 * The engine's memory is full. The engine would call JavaScript, which needs memory. In C, the
 * cause is printed and stored for the next start.
 */
static void memory_full(void)
{
	nvs_handle_t handle;

	esp_rom_printf("mote: memory full: the engine's %u bytes are used up; restart\n", (unsigned)mote_memory(ENGINE));
	if (ESP_OK == nvs_open(STORE, NVS_READWRITE, &handle)) {
		nvs_set_blob(handle, KEY, RECORD, sizeof(RECORD) - 1);
		nvs_commit(handle);
	}
	esp_restart();
}

void __wrap_fxAbort(txMachine *the, int status)
{
	if (XS_NOT_ENOUGH_MEMORY_EXIT == status)
		memory_full();
	__real_fxAbort(the, status);
}
