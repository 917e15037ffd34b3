// The device log, the addresses of the last panic, and the build of this image. The memory of the
// log and the panic survives all restarts except a power-on.
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
/** Bytes of a stack that are searched for addresses of code. */
#define DEEP 1024
#define NOTED 0x70616e69

// extras/diagnostics/ring.ts defines the contents.
static RTC_NOINIT_ATTR uint8_t lines[BYTES];

struct mote_log_panic {
	uint8_t build[BUILD];
	uint32_t places[PLACES];
};

static RTC_NOINIT_ATTR struct {
	uint32_t noted;
	uint32_t sum;
	struct mote_log_panic panic;
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

static uint32_t sum_of(const struct mote_log_panic *panic)
{
	uint32_t sum = NOTED;
	const uint8_t *bytes = (const uint8_t *)panic;
	for (size_t i = 0; i < sizeof(struct mote_log_panic); i++)
		sum = (sum ^ bytes[i]) * 16777619u;
	return sum;
}

/**
 * Reads and forgets the last panic: its build, then 16 addresses of code, the missing ones 0.
 * Returns 0 if there was no panic since the last call.
 */
uint32_t mote_log_panic(uint8_t *into)
{
	int found = last.noted == NOTED && last.sum == sum_of(&last.panic);
	if (found)
		memcpy(into, &last.panic, sizeof(struct mote_log_panic));
	last.noted = 0;
	return found;
}

// ESP-IDF's own handler. Missing unless tools/moddable/esp32/wrap-component.ts wraps it.
extern void __real_esp_panic_handler(panic_info_t *info) __attribute__((weak));

static int is_code(uint32_t at)
{
	return esp_ptr_executable((void *)at);
}

/**
 * Notes addresses of code on the stack. The first is the program counter. Without debug tables,
 * some of the others may not be callers.
 */
static void note_places(const void *frame, uint32_t *places)
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
	if (is_code(at->ra))
		places[count++] = at->ra;
	for (uint32_t word = at->sp & ~3u, end = word + DEEP; word < end && count < PLACES; word += 4) {
		if (!esp_ptr_in_dram((void *)word))
			break;
		uint32_t value = *(volatile uint32_t *)word;
		if (is_code(value) && value != places[count - 1])
			places[count++] = value;
	}
#endif
}

void __wrap_esp_panic_handler(panic_info_t *info)
{
	// A panic inside this handler calls it again: keep the first one.
	if (last.noted != NOTED) {
		last.noted = NOTED;
		memset(&last.panic, 0, sizeof(struct mote_log_panic));
		memcpy(last.panic.build, esp_app_get_description()->app_elf_sha256, BUILD);
		last.sum = sum_of(&last.panic);
		if (info && info->frame)
			note_places(info->frame, last.panic.places);
		last.sum = sum_of(&last.panic);
	}
	if (__real_esp_panic_handler)
		__real_esp_panic_handler(info);
}
