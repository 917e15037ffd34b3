#pragma once
#include "mote_tls_service.h"

/** The engine's queue. */
bool harness_post(void *engine);
/** The next message to the engine, or NULL after so many ms. */
void *harness_message(uint32_t ms);
/** TCP connections that are there. */
int harness_nets(void);
/** From when a connection is open TCP takes ten bytes, and the rest only once it gave a whole record and was asked `times` in vain. */
void harness_block(int times);
/** Bytes that came from TCP since it was asked last. */
size_t harness_received(void);
/** `harness rogue KIND CERT KEY` */
void rogue(const char *kind, const char *cert, const char *key);
