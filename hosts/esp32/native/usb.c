// The chip's native USB (C3, C6, S3), the only cable of many boards. A release build prints its
// console there and on the serial line.
#include <stdint.h>
#include "soc/soc_caps.h"

#if SOC_USB_SERIAL_JTAG_SUPPORTED
// Uses registers, because the SDK's makefile lacks ESP-IDF's component with functions for them.
#include "soc/usb_serial_jtag_struct.h"

/** Reads 64 bytes at most, and returns their number; -1 on a chip without native USB. */
int32_t mote_usb_read(uint8_t *into)
{
	int32_t count = 0;

	while (count < 64 && USB_SERIAL_JTAG.ep1_conf.serial_out_ep_data_avail)
		into[count++] = USB_SERIAL_JTAG.ep1.rdwr_byte;
	return count;
}

/** Sends `count` bytes, 64 at most, and returns how many were accepted: 0 without a reader. */
int32_t mote_usb_write(uint8_t *from, uint32_t count)
{
	uint32_t taken = 0;

	while (taken < count && USB_SERIAL_JTAG.ep1_conf.serial_in_ep_data_free)
		USB_SERIAL_JTAG.ep1.rdwr_byte = from[taken++];
	if (taken > 0)
		USB_SERIAL_JTAG.ep1_conf.wr_done = 1;
	return taken;
}
#else
int32_t mote_usb_read(uint8_t *into) { return -1; }
int32_t mote_usb_write(uint8_t *from, uint32_t count) { return 0; }
#endif
