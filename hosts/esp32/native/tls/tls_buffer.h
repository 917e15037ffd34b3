// mbedTLS keeps a buffer for a record of 16 KiB as long as a connection lives. Here an open connection has one only while a record is on its way, as large as that record.
#pragma once
#include "tls_mbedtls.h"
#include <stdbool.h>

#define TLS_HEAD 5

struct tls_buffer {
	/** Of mbedTLS's pointers, how far into the buffer. */
	uint16_t head, length, iv, message;
	/** The number of the next record. */
	uint8_t counter[8];
	/** Bytes that a record may have at present; 0: there is no buffer. */
	size_t room;
};

/** Of a new context: its structure is the one that we were compiled for. */
bool tls_buffer_as_expected(const mbedtls_ssl_context *ssl);
/** Of a handshake that is over: its buffer holds what any record needs. */
void tls_buffer_begin(struct tls_buffer *buffer);
/** True if nothing of a record is in the buffer. */
bool tls_buffer_idle(const mbedtls_ssl_context *ssl);
/** True amid a message in several records, which mbedTLS puts one behind the other: no buffer of ours holds more than one. */
bool tls_buffer_in_pieces(const mbedtls_ssl_context *ssl);
/** Gives the buffer back. Only when it is idle, or the connection is over. */
void tls_buffer_park(struct tls_buffer *buffer, mbedtls_ssl_context *ssl);
/** Makes one for a record of so many bytes behind its head; what there was is idle. False: no memory. */
bool tls_buffer_make(struct tls_buffer *buffer, mbedtls_ssl_context *ssl, size_t record);
/** What the head of a record says of its length, but no more than a record may have: mbedTLS refuses a longer one by its head. */
size_t tls_buffer_record(const uint8_t head[TLS_HEAD]);
