// The input buffer of mbedTLS. mbedTLS keeps one of 16 KiB per connection. Here an open connection
// has one only while a record arrives, and no larger than that record.
#pragma once
#include "mote_tls_mbedtls.h"
#include <stdbool.h>

#define MOTE_TLS_HEAD 5

struct mote_tls_buffer {
	/** Where mbedTLS's pointers point to within the buffer. */
	uint16_t head, length, iv, message;
	/** The number of the next record. */
	uint8_t counter[8];
	/** Bytes that the record may have; 0: there is no buffer. */
	size_t room;
};

/** False if a new context is laid out in another way than this code was compiled for. */
bool mote_tls_buffer_as_expected(const mbedtls_ssl_context *ssl);
/** After a handshake, whose buffer holds any record. */
void mote_tls_buffer_begin(struct mote_tls_buffer *buffer);
/** True if the buffer holds nothing of a record. */
bool mote_tls_buffer_idle(const mbedtls_ssl_context *ssl);
/** True within a message of several records: no buffer of ours has room to join them. */
bool mote_tls_buffer_in_pieces(const mbedtls_ssl_context *ssl);
/** Frees the buffer. It must be idle, or the connection over. */
void mote_tls_buffer_park(struct mote_tls_buffer *buffer, mbedtls_ssl_context *ssl);
/** Allocates a buffer for a record; the present one must be idle. False: no memory. */
bool mote_tls_buffer_make(struct mote_tls_buffer *buffer, mbedtls_ssl_context *ssl, size_t record);
/** The length of a record by its head, at most the longest: mbedTLS refuses a longer one. */
size_t mote_tls_buffer_record(const uint8_t head[MOTE_TLS_HEAD]);
