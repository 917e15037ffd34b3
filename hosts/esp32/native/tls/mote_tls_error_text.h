// Error texts for people: why a connection ended.
#pragma once
#include "mote_tls_connection.h"

#define MOTE_TLS_TEXT_NO_MEMORY "TLS: no memory for the connection"

/** For a handshake that failed. */
const char *mote_tls_text_of_handshake(const struct mote_tls_connection *connection, int error);
/** For an open connection. */
const char *mote_tls_text_of_record(int error);
