// The last lines, and the place of the last panic, in memory that no reset but a power-on clears; and which image this is.
#include <stdint.h>
#include <string.h>
#include "sdkconfig.h"
#include "esp_app_format/include/esp_app_desc.h"
#include "esp_attr.h"
#include "esp_memory_utils.h"
#include "esp_private/panic_internal.h"
#if CONFIG_IDF_TARGET_ARCH_XTENSA
#include "esp_cpu_utils.h"
#include "esp_debug_helpers.h"
#include "xtensa_context.h"
#else
#include "riscv/rvruntime-frames.h"
#endif

#define BYTES 4096
#define BUILD 8
#define PLACES 16
/** Bytes of a stack that are looked through. */
#define DEEP 1024
#define NOTED 0x70616e69

// src/log/ring.ts knows what of it is whole.
static RTC_NOINIT_ATTR uint8_t lines[BYTES];

typedef struct {
	uint8_t build[BUILD];
	uint32_t places[PLACES];
} Panic;

static RTC_NOINIT_ATTR struct {
	uint32_t noted;
	uint32_t sum;
	Panic panic;
} last;

static int within(uint32_t at, uint32_t length)
{
	return at <= BYTES && length <= BYTES - at;
}

void mote_log_read(uint8_t *into, uint32_t at, uint32_t length)
{
	if (into && within(at, length))
		memcpy(into, lines + at, length);
}

void mote_log_write(uint8_t *from, uint32_t at, uint32_t length)
{
	if (from && within(at, length))
		memcpy(lines + at, from, length);
}

/** The first bytes of the SHA-256 of the ELF file. */
void mote_log_build(uint8_t *into)
{
	memcpy(into, esp_app_get_description()->app_elf_sha256, BUILD);
}

static uint32_t sumOf(const Panic *panic)
{
	uint32_t sum = NOTED;
	const uint8_t *bytes = (const uint8_t *)panic;
	for (size_t i = 0; i < sizeof(Panic); i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

/** The build that panicked, then 16 addresses of code, 0 where there are fewer. 0: no panic since the last call. Forgets it. */
uint32_t mote_log_panic(uint8_t *into)
{
	int found = last.noted == NOTED && last.sum == sumOf(&last.panic);
	if (found)
		memcpy(into, &last.panic, sizeof(Panic));
	last.noted = 0;
	return found;
}

// Linked around ESP-IDF's own by tools/moddable/esp32/panic-component.ts; in a build without that nothing calls it.
extern void __real_esp_panic_handler(panic_info_t *info) __attribute__((weak));

static int isCode(uint32_t at)
{
	return esp_ptr_executable((void *)at);
}

/** As far as it can be known without a debugger's tables: `mote decode` leaves out what follows no call. */
static void notePlaces(const void *frame, uint32_t *places)
{
	int count = 0;
#if CONFIG_IDF_TARGET_ARCH_XTENSA
	const XtExcFrame *at = frame;
	esp_backtrace_frame_t next = { .pc = at->pc, .sp = at->a1, .next_pc = at->a0, .exc_frame = at };
	places[count++] = esp_cpu_process_stack_pc(next.pc);
	while (count < PLACES && next.next_pc != 0 && esp_backtrace_get_next_frame(&next))
		places[count++] = esp_cpu_process_stack_pc(next.pc);
#else
	const RvExcFrame *at = frame;
	places[count++] = at->mepc;
	if (isCode(at->ra))
		places[count++] = at->ra;
	for (uint32_t word = at->sp & ~3u, end = word + DEEP; word < end && count < PLACES; word += 4) {
		if (!esp_ptr_in_dram((void *)word))
			break;
		uint32_t value = *(volatile uint32_t *)word;
		if (isCode(value) && value != places[count - 1])
			places[count++] = value;
	}
#endif
}

void __wrap_esp_panic_handler(panic_info_t *info)
{
	// A panic within this one would bring it here again.
	if (last.noted != NOTED) {
		last.noted = NOTED;
		memset(&last.panic, 0, sizeof(Panic));
		memcpy(last.panic.build, esp_app_get_description()->app_elf_sha256, BUILD);
		last.sum = sumOf(&last.panic);
		if (info && info->frame)
			notePlaces(info->frame, last.panic.places);
		last.sum = sumOf(&last.panic);
	}
	if (__real_esp_panic_handler)
		__real_esp_panic_handler(info);
}
