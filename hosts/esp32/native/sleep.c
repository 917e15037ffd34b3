// Deep sleep, for which the SDK has no module on this chip: memory that outlives it and nothing else, and how long it lasted.
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include "esp_attr.h"
#include "esp_sleep.h"

#define KEPT 512

// Zero after every start but the one that ends a deep sleep.
static RTC_DATA_ATTR uint8_t kept[KEPT];
static RTC_DATA_ATTR int64_t asleepSince;

static int64_t now(void)
{
	struct timeval tv;
	gettimeofday(&tv, NULL);
	return (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
}

void mote_kept_read(uint8_t *into)
{
	memcpy(into, kept, KEPT);
}

void mote_kept_write(uint8_t *from)
{
	memcpy(kept, from, KEPT);
}

/** Milliseconds since the sleep began, by the clock that ran on meanwhile; -1 if there was none. To be asked before the time is set. */
double mote_slept(void)
{
	return asleepSince ? (double)(now() - asleepSince) / 1000 : -1;
}

/** Does not return. */
void mote_sleep(uint32_t ms)
{
	asleepSince = now();
	esp_deep_sleep((uint64_t)ms * 1000);
}
