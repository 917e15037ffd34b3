// All TLS connections: the calls of the engine, and the task that serves them.
#pragma once
#include "mote_tls_connection.h"

/** Open connections: three to the platform, three that are closing, one to a firmware server. */
#define MOTE_TLS_MOST 7

/**
 * Opens a connection with two references: the engine's and the task's. `context` is passed to the
 * callbacks of `engine`, which must outlive the connection. Returns ESP_ERR_NO_MEM, or
 * ESP_ERR_INVALID_STATE if there are MOTE_TLS_MOST connections.
 */
esp_err_t mote_tls_open(const char *address, uint16_t port, const char *name,
	const struct mote_tls_authorities *authorities, const struct mote_tls_engine *engine, void *context,
	struct mote_tls_connection **into);
/** Returns the number of accepted bytes. If it is less than `count`, MOTE_TLS_WRITABLE follows. */
size_t mote_tls_write(struct mote_tls_connection *connection, const uint8_t *from, size_t count);
size_t mote_tls_read(struct mote_tls_connection *connection, uint8_t *into, size_t count);
/** Closes the connection. The engine gets no more events. */
void mote_tls_close(struct mote_tls_connection *connection);
/** Call for each posted message. Returns the events since the last call; 0 after closing. */
int mote_tls_take_events(struct mote_tls_connection *connection, const char **reason);
/** Releases the reference of the engine's object or of a posted message. */
void mote_tls_release(struct mote_tls_connection *connection);

struct mote_tls_figures {
	/** Number of connections. */
	int connections;
	/** Handshakes since the start. */
	uint32_t full, resumed, failed;
};
void mote_tls_get_figures(struct mote_tls_figures *into);
