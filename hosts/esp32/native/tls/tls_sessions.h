// What connections of before left, so that the next to the same place is made in one round trip. A few, in memory.
#pragma once
#include "tls_connection.h"

/** Offers what is kept for this place, if there is something. */
void tls_sessions_offer(struct tls_connection *connection);
/** Its certificate was judged, and takes some 2 KB. */
void tls_sessions_without_certificate(struct tls_connection *connection);
/** Keeps what the other side gave for the next time. */
void tls_sessions_keep(struct tls_connection *connection);
/** What was offered did no good. */
void tls_sessions_drop(const struct tls_connection *connection);
void tls_sessions_clear(void);
