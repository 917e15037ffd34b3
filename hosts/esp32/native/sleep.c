// Deep sleep, which the SDK lacks on this chip: its start, its duration, and memory that survives.
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include "esp_attr.h"
#include "esp_sleep.h"

#define KEPT 512

// Zero after every start except one that ends a deep sleep.
static RTC_DATA_ATTR uint8_t kept[KEPT];
static RTC_DATA_ATTR int64_t asleep_since;

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

/** Milliseconds since the sleep began; -1 if there was none. Call it before setting the time. */
double mote_slept(void)
{
	return asleep_since ? (double)(now() - asleep_since) / 1000 : -1;
}

/** Starts deep sleep. Does not return: the chip restarts after `ms`. */
void mote_sleep(uint32_t ms)
{
	asleep_since = now();
	esp_deep_sleep((uint64_t)ms * 1000);
}
