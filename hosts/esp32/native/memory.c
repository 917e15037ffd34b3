// What there is of memory, and what happens where the engine's block can't be had.
#include <stdint.h>
#include <stdlib.h>
#include "xsAll.h"
#include "app_update/include/esp_ota_ops.h"
#include "esp_attr.h"
#include "esp_heap_caps.h"
#include "esp_rom_sys.h"
#include "esp_system.h"
#include "esp_task_wdt.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

#define SAY_AGAIN_MS 10000

extern txMachine *gThe;
extern void *xsPreparationAndCreation(txCreation **creation);

static int onTrial(void)
{
	esp_ota_img_states_t state;
	const esp_partition_t *running = esp_ota_get_running_partition();
	return running && ESP_OK == esp_ota_get_state_partition(running, &state) && ESP_OTA_IMG_PENDING_VERIFY == state;
}

/**
 * The engine's memory is one block, taken at start. Without it the SDK would use address 0 and restart for ever. An image on trial makes way for the
 * one before it; otherwise the device stays where it is and says why.
 */
static void failed(size_t size, uint32_t caps, const char *function)
{
	txCreation *creation;

	xsPreparationAndCreation(&creation);
	if (!creation->staticSize || size < (size_t)creation->staticSize || gThe)
		return;
#if CONFIG_ESP_TASK_WDT_EN
	esp_task_wdt_delete(NULL);
#endif
	for (;;) {
		esp_rom_printf("mote: no memory for the engine: %u bytes in one piece wanted (creation.static), %u there; the device stops here\n",
			(unsigned)size, (unsigned)heap_caps_get_largest_free_block(MALLOC_CAP_DEFAULT));
		if (onTrial())
			esp_restart();
		vTaskDelay(pdMS_TO_TICKS(SAY_AGAIN_MS));
	}
}

/** The C++ library's own would print the name of an exception, and brings 25 KB that read such names. Nothing here throws any. */
void _ZN9__gnu_cxx27__verbose_terminate_handlerEv(void)
{
	abort();
}

static void __attribute__((constructor)) watchAllocations(void)
{
	heap_caps_register_failed_alloc_callback(failed);
}

/** What the engine needs to say why it gives up, and what its block grows by (manifest.json: 64 slots). With less it restarts the chip without a word. */
#define WORDS 64
#define GROWTH 1024
#define FULL 0x66756c6c

static RTC_NOINIT_ATTR uint32_t lastRun;

static void noteMemory(void)
{
	txBlock *block = gThe ? gThe->firstBlock : NULL;
	int full = block && gThe->heap && gThe->heap_pend - gThe->heap_ptr < GROWTH && block->limit - block->current < WORDS;
	lastRun = full ? FULL : 0;
}

static void __attribute__((constructor)) watchRestarts(void)
{
	esp_register_shutdown_handler(noteMemory);
}

enum { LARGEST_FREE, STACK_LEFT, ENGINE_LEFT, ENGINE, WAS_FULL };

/**
 * Bytes: 0 the largest free piece of the heap; 1 the least that was left of the engine task's stack; 2 what the engine never used of its block;
 * 3 its block; 4 not 0 if the run before this one restarted the chip when that block was full.
 */
uint32_t mote_memory(uint32_t what)
{
	txCreation *creation;

	switch (what) {
		case LARGEST_FREE:
			return heap_caps_get_largest_free_block(MALLOC_CAP_DEFAULT);
		case STACK_LEFT:
			return uxTaskGetStackHighWaterMark(NULL) * sizeof(StackType_t);
		case ENGINE_LEFT:
			return gThe->heap_pend - gThe->heap_ptr;
		case ENGINE:
			// Not by the ends of its block: slots move one of them.
			xsPreparationAndCreation(&creation);
			return creation->staticSize;
		case WAS_FULL:
			return esp_reset_reason() == ESP_RST_SW && lastRun == FULL;
	}
	return 0;
}
