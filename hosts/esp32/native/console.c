// The serial console of a release build. A debug build leaves the line to the SDK's debugger, where trace() prints.
#include <stdint.h>
#include "esp_rom_sys.h"
#include "sdkconfig.h"

/** Prints a line. Returns once it is on its way: 10 ms for 100 bytes at 115,200 baud. */
void mote_console(char *line)
{
#ifndef mxDebug
	esp_rom_printf("%s\n", line);
#endif
}
