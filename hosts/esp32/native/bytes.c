// Loops over bytes (ByteLoops in src/port.ts). A range of `length` bytes begins at `bytes + from`.
#include <stdint.h>
#include "esp_rom_crc.h"

uint32_t mote_crc32(uint8_t *bytes, uint32_t from, uint32_t length)
{
	return esp_rom_crc32_le(0, bytes + from, length);
}

/** 1 if all bytes of the range are 0xff. */
int32_t mote_is_erased(uint8_t *bytes, uint32_t from, uint32_t length)
{
	for (uint32_t i = 0; i < length; i++)
		if (bytes[from + i] != 0xff)
			return 0;
	return 1;
}
