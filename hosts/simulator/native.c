// Native functions that the SDK's simulator lacks.
#include <signal.h>
#include <stdint.h>
#include <sys/random.h>

// The SDK's sockets write to connections that were reset. SIGPIPE would end the process.
void mote_ignore_sigpipe(void) { signal(SIGPIPE, SIG_IGN); }

// The SDK's random numbers come from an unseeded rand(), so they are the same in each run.
uint32_t mote_random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number)
    ;
  return number;
}
