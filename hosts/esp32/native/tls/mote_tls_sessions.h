// Sessions of earlier connections, so that the next one to the same server takes one round trip.
#pragma once
#include "mote_tls_connection.h"

/** Offers the session of this server, if there is one. */
void mote_tls_sessions_offer(struct mote_tls_connection *connection);
/** Frees the peer's certificate, some 2 KB, once it was verified. */
void mote_tls_sessions_without_certificate(struct mote_tls_connection *connection);
/** Keeps the session for the next connection. */
void mote_tls_sessions_keep(struct mote_tls_connection *connection);
/** Forgets the session that was offered: the handshake failed. */
void mote_tls_sessions_drop(const struct mote_tls_connection *connection);
void mote_tls_sessions_clear(void);
