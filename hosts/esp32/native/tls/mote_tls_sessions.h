// Stores sessions of earlier connections. With one, a handshake takes a single round trip.
#pragma once
#include "mote_tls_connection.h"

/** Offers the session of this server, if there is one. */
void mote_tls_sessions_offer(struct mote_tls_connection *connection);
/** Frees the peer's certificate, some 2 KB, which is not needed after its verification. */
void mote_tls_sessions_without_certificate(struct mote_tls_connection *connection);
/** Stores the session for the next connection. */
void mote_tls_sessions_keep(struct mote_tls_connection *connection);
/** Forgets the offered session. Call it when the handshake failed. */
void mote_tls_sessions_drop(const struct mote_tls_connection *connection);
void mote_tls_sessions_clear(void);
