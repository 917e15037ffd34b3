// All TLS connections: what the engine asks of them, and the task that serves them.
#pragma once
#include "tls_connection.h"

/** At once: a platform's three, those that are about to be closed, and one to a host of firmware. */
#define TLS_MOST 6

/** NULL with `why`: no memory, or too many. `engine` is what messages carry; it is given to `tls_forget` when nobody needs it any more. */
struct tls_connection *tls_open(const char *address, uint16_t port, const char *name, const struct tls_authorities *authorities, void *engine, const char **why);
/** How many bytes were taken; after fewer than `count`, TLS_WRITABLE is reported. */
size_t tls_write(struct tls_connection *connection, const uint8_t *from, size_t count);
size_t tls_read(struct tls_connection *connection, uint8_t *into, size_t count);
/** Nothing more is reported. */
void tls_close(struct tls_connection *connection);
/** For a message: what happened since the last; 0 after `tls_close`. */
int tls_take_events(struct tls_connection *connection, const char **reason);
/** The engine's object, or a message, lets go of it. */
void tls_release(struct tls_connection *connection);
/** The engine goes away: after that no message is posted. */
void tls_leave(struct tls_connection *connection);

struct tls_figures {
	/** In the task's table. */
	int connections;
	/** Since the start. */
	uint32_t full, resumed, failed;
};
void tls_figures(struct tls_figures *figures);
