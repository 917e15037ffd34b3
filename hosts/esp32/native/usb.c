// The USB that a chip has of its own (C3, C6, S3): the only cable of many boards. The console of a release build is on it beside the serial line.
#include <stdint.h>
#include "soc/soc_caps.h"

#if SOC_USB_SERIAL_JTAG_SUPPORTED
#include "hal/usb_serial_jtag_ll.h"

/** Takes what came, 64 bytes at most. How many; -1 on a chip without it. */
int32_t mote_usb_read(uint8_t *into)
{
	return usb_serial_jtag_ll_read_rxfifo(into, 64);
}

/** Sends `count` bytes, 64 at most. How many were taken: none while nobody reads. */
int32_t mote_usb_write(uint8_t *from, uint32_t count)
{
	int32_t taken = usb_serial_jtag_ll_write_txfifo(from, count > 64 ? 64 : count);

	if (taken > 0)
		usb_serial_jtag_ll_txfifo_flush();
	return taken;
}
#else
int32_t mote_usb_read(uint8_t *into) { return -1; }
int32_t mote_usb_write(uint8_t *from, uint32_t count) { return 0; }
#endif
