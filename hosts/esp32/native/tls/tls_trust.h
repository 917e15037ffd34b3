// Whether the other side is who it should be.
#pragma once
#include "tls_connection.h"

/** Copies them: what the engine has moves. False: no memory. */
bool tls_trust_copy(struct tls_connection *connection, const struct tls_authorities *authorities);
/** Has mbedTLS judge by them, or by the bundle. 0, or mbedTLS's error. */
int tls_trust_set_up(struct tls_connection *connection);
/** When the handshake is over, or failed: notes the chain's validity, unless something other than a date was wrong with it. */
void tls_trust_dates(struct tls_connection *connection);
/** The handshake is over. */
void tls_trust_drop(struct tls_connection *connection);
