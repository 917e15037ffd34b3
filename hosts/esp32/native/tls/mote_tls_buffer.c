#include "mote_tls_buffer.h"
#include <string.h>

/** Bytes besides a record's content: its number, its header, and room that decryption may use. */
#define AROUND (8 + MOTE_TLS_HEAD + 64)
/** mbedTLS refuses a record whose header announces more bytes. */
#define LONGEST (16384 + 256)

bool mote_tls_buffer_is_supported(const mbedtls_ssl_context *ssl)
{
	const uint8_t *bytes = ssl->MBEDTLS_PRIVATE(in_buf);
	return bytes && ssl->MBEDTLS_PRIVATE(in_ctr) == bytes && ssl->MBEDTLS_PRIVATE(in_hdr) == bytes + 8 && ssl->MBEDTLS_PRIVATE(in_len) == bytes + 8 + 3;
}

void mote_tls_buffer_begin(struct mote_tls_buffer *buffer)
{
	buffer->room = MBEDTLS_SSL_IN_CONTENT_LEN;
}

bool mote_tls_buffer_idle(const mbedtls_ssl_context *ssl)
{
	return ssl->MBEDTLS_PRIVATE(in_left) == 0 && ssl->MBEDTLS_PRIVATE(in_offt) == NULL && ssl->MBEDTLS_PRIVATE(in_hslen) == 0 &&
		!mbedtls_ssl_check_pending(ssl);
}

bool mote_tls_buffer_in_pieces(const mbedtls_ssl_context *ssl)
{
	return ssl->MBEDTLS_PRIVATE(in_hsfraglen) > 0;
}

void mote_tls_buffer_park(struct mote_tls_buffer *buffer, mbedtls_ssl_context *ssl)
{
	uint8_t *bytes = ssl->MBEDTLS_PRIVATE(in_buf);
	if (!bytes)
		return;
	buffer->head = ssl->MBEDTLS_PRIVATE(in_hdr) - bytes;
	buffer->length = ssl->MBEDTLS_PRIVATE(in_len) - bytes;
	buffer->iv = ssl->MBEDTLS_PRIVATE(in_iv) - bytes;
	buffer->message = ssl->MBEDTLS_PRIVATE(in_msg) - bytes;
	memcpy(buffer->counter, ssl->MBEDTLS_PRIVATE(in_ctr), sizeof buffer->counter);
	mbedtls_platform_zeroize(bytes, 8 + MOTE_TLS_HEAD + buffer->room);
	mbedtls_free(bytes);
	ssl->MBEDTLS_PRIVATE(in_buf) = NULL;
	buffer->room = 0;
}

bool mote_tls_buffer_make(struct mote_tls_buffer *buffer, mbedtls_ssl_context *ssl, size_t record)
{
	mote_tls_buffer_park(buffer, ssl);
	uint8_t *bytes = mbedtls_calloc(1, AROUND + record);
	if (!bytes)
		return false;
	memcpy(bytes, buffer->counter, sizeof buffer->counter);
	ssl->MBEDTLS_PRIVATE(in_buf) = ssl->MBEDTLS_PRIVATE(in_ctr) = bytes;
	ssl->MBEDTLS_PRIVATE(in_hdr) = bytes + buffer->head;
	ssl->MBEDTLS_PRIVATE(in_len) = bytes + buffer->length;
	ssl->MBEDTLS_PRIVATE(in_iv) = bytes + buffer->iv;
	ssl->MBEDTLS_PRIVATE(in_msg) = bytes + buffer->message;
	buffer->room = record;
	return true;
}

size_t mote_tls_buffer_record(const uint8_t head[MOTE_TLS_HEAD])
{
	size_t record = (size_t)head[3] << 8 | head[4];
	return record < LONGEST ? record : LONGEST;
}
