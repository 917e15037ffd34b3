// The input buffer of mbedTLS, which allocates 16 KiB per connection. With these functions, an open
// connection has a buffer only while a record arrives, and only as large as that record.
#pragma once
#include "mote_tls_mbedtls.h"
#include <stdbool.h>

#define MOTE_TLS_HEAD 5

struct mote_tls_buffer {
	/** Offsets of mbedTLS's pointers into the buffer. */
	uint16_t head, length, iv, message;
	/** The number of the next record. */
	uint8_t counter[8];
	/** Maximum bytes of a record; 0: there is no buffer. */
	size_t room;
};

/** False if a new context has another layout than this code was written for. */
bool mote_tls_buffer_is_supported(const mbedtls_ssl_context *ssl);
/** Call after the handshake. Its buffer, mbedTLS's own, has room for any record. */
void mote_tls_buffer_begin(struct mote_tls_buffer *buffer);
/** True if the buffer contains no part of a record. */
bool mote_tls_buffer_idle(const mbedtls_ssl_context *ssl);
/** True inside a message of several records. Our buffers have no room to join them. */
bool mote_tls_buffer_in_pieces(const mbedtls_ssl_context *ssl);
/** Frees the buffer. It must be idle, or the connection must have ended. */
void mote_tls_buffer_park(struct mote_tls_buffer *buffer, mbedtls_ssl_context *ssl);
/** Allocates a buffer for a record; the present one must be idle. False: no memory. */
bool mote_tls_buffer_make(struct mote_tls_buffer *buffer, mbedtls_ssl_context *ssl, size_t record);
/** The length of a record from its header, limited to slightly more than mbedTLS accepts. */
size_t mote_tls_buffer_record(const uint8_t head[MOTE_TLS_HEAD]);
