// What the engine's task and block never used; and deep sleep, for which the SDK has no module on this chip.
#include <stdint.h>
#include "xsAll.h"
#include "esp_sleep.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"

extern txMachine *gThe;

uint32_t bench_stack_left(void)
{
	return uxTaskGetStackHighWaterMark(NULL) * sizeof(StackType_t);
}

uint32_t bench_engine_left(void)
{
	return gThe->heap ? gThe->heap_pend - gThe->heap_ptr : 0;
}

void bench_sleep(uint32_t seconds)
{
	esp_deep_sleep(seconds * 1000000ULL);
}
