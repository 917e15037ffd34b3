// All TLS connections: the calls of the engine, and the task that serves them.
#pragma once
#include "mote_tls_connection.h"

/**
 * Connections at once: three to the platform, three about to be closed, one to a firmware server.
 */
#define MOTE_TLS_MOST 7

/**
 * Opens a connection, and holds two references: the engine's and the task's. ESP_ERR_NO_MEM;
 * ESP_ERR_INVALID_STATE if there are MOTE_TLS_MOST connections. `context` goes to the callbacks of
 * `engine`, which must outlive the connection.
 */
esp_err_t mote_tls_open(const char *address, uint16_t port, const char *name,
	const struct mote_tls_authorities *authorities, const struct mote_tls_engine *engine, void *context,
	struct mote_tls_connection **into);
/** The number of bytes that were taken. If fewer than `count`, MOTE_TLS_WRITABLE follows later. */
size_t mote_tls_write(struct mote_tls_connection *connection, const uint8_t *from, size_t count);
size_t mote_tls_read(struct mote_tls_connection *connection, uint8_t *into, size_t count);
/** Nothing is reported afterwards. */
void mote_tls_close(struct mote_tls_connection *connection);
/** For a message: the events since the last one; 0 after `mote_tls_close`. */
int mote_tls_take_events(struct mote_tls_connection *connection, const char **reason);
/** Drops the reference of the engine's object, or of a message. */
void mote_tls_release(struct mote_tls_connection *connection);
/** The engine is about to end: closes the connection and returns when no message can be posted. */
void mote_tls_leave(struct mote_tls_connection *connection);

struct mote_tls_figures {
	/** Connections that the task serves. */
	int connections;
	/** Handshakes since the start. */
	uint32_t full, resumed, failed;
};
void mote_tls_get_figures(struct mote_tls_figures *into);
