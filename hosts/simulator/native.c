// Native functions that the SDK's simulator lacks.
#include <signal.h>
#include <stdint.h>
#include <sys/random.h>

// The SDK's sockets write to reset connections, which would end the process.
void moteKeepPipes(void) { signal(SIGPIPE, SIG_IGN); }

// The SDK uses an unseeded rand(), with the same numbers in each run.
uint32_t moteRandom(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number)
    ;
  return number;
}
