// Native functions that the SDK's simulator lacks. Written for Linux and macOS, never run on macOS:
// there, the simulator cannot restart by itself.
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

// The SDK's sockets write to connections that were reset. SIGPIPE would end the process.
void mote_ignore_sigpipe(void) { signal(SIGPIPE, SIG_IGN); }

// The SDK's random numbers come from an unseeded rand(), so they are the same in each run.
uint32_t mote_random(void) {
  uint32_t number = 0;
  while (getentropy(&number, sizeof number) != 0)
    ;
  return number;
}

#define WORDS 4096
#define FILES 1024

// Starts the simulator again with the program that its command line names. Returns 0 if it names
// none.
uint32_t mote_restart(void) {
  static char words[WORDS + 1];
  FILE *file = fopen("/proc/self/cmdline", "r");
  if (!file)
    return 0;
  size_t count = fread(words, 1, WORDS, file);
  fclose(file);
  words[count] = 0;
  char *program = words + strlen(words) + 1;
  size_t length = program < words + count ? strlen(program) : 0;
  if (length < 3 || strcmp(program + length - 3, ".so"))
    return 0;
  // Otherwise the new process would keep the window and the sockets of the old one.
  for (int open = 3; open < FILES; open++)
    fcntl(open, F_SETFD, FD_CLOEXEC);
  execl("/proc/self/exe", words, program, NULL);
  return 0;
}
