// What the simulator's modules of the SDK leave out.
#include <signal.h>
#include <stdint.h>
#include <sys/random.h>

// The SDK's sockets write to connections that the peer has reset, which ends the process.
void moteKeepPipes(void) { signal(SIGPIPE, SIG_IGN); }

// The SDK's own numbers are those of an unseeded rand(): the same in each run.
uint32_t moteRandom(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number)
    ;
  return number;
}
