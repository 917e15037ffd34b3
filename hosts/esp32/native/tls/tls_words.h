// Why a connection ended, for people.
#pragma once
#include "tls_connection.h"

#define TLS_WORDS_NO_MEMORY "TLS: no memory for the connection"

/** Of a handshake that failed. */
const char *tls_words_of_handshake(const struct tls_connection *connection, int error);
/** Of an open connection. */
const char *tls_words_of_record(int error);
