#include "mote_tls_connection.h"
#include "mote_tls_sessions.h"
#include "mote_tls_trust.h"
#include "mote_tls_error_text.h"
#include "esp_log.h"
#include <stdlib.h>
#include <string.h>

static const char *const TAG = "mote_tls";

/** Sizes of the rings. Received bytes beyond them wait in the record buffer and in TCP. */
#define IN_BYTES 4096
#define OUT_BYTES 2048

/** Free heap that a handshake needs: in all, and in one block. */
#define HANDSHAKE_BYTES 36864
#define HANDSHAKE_BLOCK 20480
/** A step ends after so many bytes from TCP, more than a record, so that others get their turn. */
#define MAX_STEP_BYTES 20480
/** Free heap that TCP and Wi-Fi need. A connection waits until more than that is free. */
#define RESERVE_BYTES 12288
/** How long a handshake or a record waits for memory. */
#define MEMORY_WAIT_S 10

/** Suites with forward secrecy and authenticated encryption, fastest in software first. */
static const int cipher_suites[] = {
	MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
	MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
	MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
	MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
	0,
};

static bool is_address(const char *name)
{
	return strspn(name, "0123456789.") == strlen(name);
}

struct mote_tls_connection *mote_tls_connection_make(
	const char *address, uint16_t port, const char *name, const struct mote_tls_authorities *authorities)
{
	struct mote_tls_connection *connection = calloc(1, sizeof *connection);
	if (!connection)
		return NULL;
	connection->address = strdup(address);
	connection->name = strdup(name);
	connection->port = port;
	connection->is_address = is_address(name);
	if (connection->address && connection->name && mote_tls_trust_copy(connection, authorities) == ESP_OK)
		return connection;
	mote_tls_connection_retire(connection);
	mote_tls_connection_free(connection);
	return NULL;
}

static bool end(struct mote_tls_connection *connection, const char *reason)
{
	connection->phase = MOTE_TLS_PHASE_ENDED;
	mote_tls_lock();
	if (!connection->reason)
		connection->reason = reason;
	connection->events |= MOTE_TLS_CLOSED;
	mote_tls_unlock();
	return false;
}

static int send_to_tcp(void *context, const unsigned char *from, size_t count)
{
	struct mote_tls_connection *connection = context;
	int sent = mote_tls_net_send(connection->net, from, count);
	if (sent > 0)
		return sent;
	return sent == MOTE_TLS_NET_AGAIN ? MBEDTLS_ERR_SSL_WANT_WRITE : MOTE_TLS_NET_BROKEN;
}

/** True if the next record is larger than the buffer. */
static bool exceeds_buffer(struct mote_tls_connection *connection, size_t count)
{
	uint8_t head[MOTE_TLS_HEAD];
	return connection->phase == MOTE_TLS_PHASE_OPEN && count == MOTE_TLS_HEAD && mote_tls_buffer_idle(&connection->ssl) &&
		mote_tls_net_peek(connection->net, head, MOTE_TLS_HEAD) == MOTE_TLS_HEAD && mote_tls_buffer_record(head) > connection->buffer.room;
}

/** True if this step must end. One call of mbedTLS would read warning alerts without a limit. */
static bool received_enough(const struct mote_tls_connection *connection)
{
	return connection->step_bytes >= MAX_STEP_BYTES;
}

static int receive_from_tcp(void *context, unsigned char *into, size_t count)
{
	struct mote_tls_connection *connection = context;
	if (received_enough(connection))
		return MBEDTLS_ERR_SSL_WANT_READ;
	// In an open connection, the only handshake message is a session ticket, which fits one record.
	if (connection->phase == MOTE_TLS_PHASE_OPEN && mote_tls_buffer_in_pieces(&connection->ssl))
		return MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE;
	if (exceeds_buffer(connection, count))
		return MBEDTLS_ERR_SSL_WANT_READ;
	int received = mote_tls_net_receive(connection->net, into, count);
	if (received > 0) {
		connection->step_bytes += received;
		return received;
	}
	if (received == MOTE_TLS_NET_AGAIN)
		return MBEDTLS_ERR_SSL_WANT_READ;
	return received == MOTE_TLS_NET_END ? MBEDTLS_ERR_SSL_CONN_EOF : MOTE_TLS_NET_BROKEN;
}

static bool start_connect(struct mote_tls_connection *connection)
{
	connection->net = mote_tls_net_connect(connection->address, connection->port);
	if (!connection->net)
		return end(connection, "bad address, or no socket left");
	connection->phase = MOTE_TLS_PHASE_CONNECTING;
	return true;
}

static int configure(struct mote_tls_connection *connection)
{
	mbedtls_ssl_config *config = &connection->config;
	int error = mbedtls_ssl_config_defaults(config, MBEDTLS_SSL_IS_CLIENT, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
	if (error)
		return error;
	mbedtls_ssl_conf_ciphersuites(config, cipher_suites);
	mbedtls_ssl_conf_min_tls_version(config, MBEDTLS_SSL_VERSION_TLS1_2);
	mbedtls_ssl_conf_session_tickets(config, MBEDTLS_SSL_SESSION_TICKETS_ENABLED);
#if defined(MBEDTLS_SSL_PROTO_TLS1_3)
	// A resumed session also agrees on new keys.
	mbedtls_ssl_conf_tls13_key_exchange_modes(config, MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_EPHEMERAL | MBEDTLS_SSL_TLS1_3_KEY_EXCHANGE_MODE_PSK_EPHEMERAL);
#endif
	error = mbedtls_ssl_setup(&connection->ssl, config);
	if (error)
		return error;
	return mote_tls_buffer_is_supported(&connection->ssl) ? mote_tls_trust_set_up(connection) : MBEDTLS_ERR_SSL_INTERNAL_ERROR;
}

static bool set_up_tls(struct mote_tls_connection *connection)
{
	connection->is_set_up = true;
	mbedtls_ssl_init(&connection->ssl);
	mbedtls_ssl_config_init(&connection->config);
	mbedtls_x509_crt_init(&connection->trusted);
	int error = psa_crypto_init() == PSA_SUCCESS ? configure(connection) : MBEDTLS_ERR_SSL_ALLOC_FAILED;
	if (error == MBEDTLS_ERR_SSL_ALLOC_FAILED)
		return end(connection, MOTE_TLS_TEXT_NO_MEMORY);
	if (error)
		return end(connection, error == MBEDTLS_ERR_SSL_INTERNAL_ERROR ? "TLS: compiled for another mbedTLS" : "config.ca is not a certificate (expected DER or PEM)");
	mbedtls_ssl_set_bio(&connection->ssl, connection, send_to_tcp, receive_from_tcp, NULL);
	mote_tls_sessions_offer(connection);
	connection->phase = MOTE_TLS_PHASE_HANDSHAKE;
	connection->last_step_at = mote_tls_seconds();
	return true;
}

/** True if the connection has waited too long for memory. */
static bool waited_too_long(struct mote_tls_connection *connection)
{
	uint32_t now = mote_tls_seconds() + 1;
	if (!connection->waiting_since)
		connection->waiting_since = now;
	return now - connection->waiting_since > MEMORY_WAIT_S;
}

static bool finish_connect(struct mote_tls_connection *connection)
{
	int state = mote_tls_net_connected(connection->net);
	if (state == MOTE_TLS_NET_AGAIN)
		return false;
	if (state)
		return end(connection, "connection failed");
	if (mote_tls_largest_free() < HANDSHAKE_BLOCK || mote_tls_free() < HANDSHAKE_BYTES + RESERVE_BYTES)
		return waited_too_long(connection) ? end(connection, MOTE_TLS_TEXT_NO_MEMORY) : false;
	connection->waiting_since = 0;
	return set_up_tls(connection);
}

static bool handshake_done(struct mote_tls_connection *connection)
{
	mote_tls_trust_drop(connection);
	connection->phase = MOTE_TLS_PHASE_OPEN;
	mote_tls_buffer_begin(&connection->buffer);
	// Stored sessions have no certificate. So if there is one, the handshake was a full one.
	connection->resumed = connection->resumed && !mbedtls_ssl_get_peer_cert(&connection->ssl);
	mote_tls_trust_keep_dates(connection);
	if (!connection->resumed)
		connection->verified_at = mote_tls_seconds();
	mote_tls_sessions_without_certificate(connection);
	// In TLS 1.3 the session ticket arrives later, in a separate message.
	if (mbedtls_ssl_get_version_number(&connection->ssl) == MBEDTLS_SSL_VERSION_TLS1_2)
		mote_tls_sessions_keep(connection);
	mote_tls_lock();
	mote_tls_ring_begin(&connection->in, IN_BYTES);
	mote_tls_ring_begin(&connection->out, OUT_BYTES);
	connection->events |= MOTE_TLS_OPENED;
	mote_tls_unlock();
	return true;
}

/** Takes one step of the handshake, because a signature takes long and other connections wait. */
static bool handshake_step(struct mote_tls_connection *connection)
{
	int error = mbedtls_ssl_handshake_step(&connection->ssl);
	if (error == MBEDTLS_ERR_SSL_WANT_READ || error == MBEDTLS_ERR_SSL_WANT_WRITE)
		return received_enough(connection);
	connection->last_step_at = mote_tls_seconds();
	if (error && error != MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) {
		mote_tls_trust_keep_dates(connection);
		ESP_LOGW(TAG, "handshake: -0x%04x", (unsigned)-error);
		if (connection->resumed)
			mote_tls_sessions_drop(connection);
		return end(connection, mote_tls_text_of_handshake(connection, error));
	}
	return mbedtls_ssl_is_handshake_over(&connection->ssl) ? handshake_done(connection) : true;
}

/** True while TCP has accepted only a part of a record. */
static bool is_half_sent(const struct mote_tls_connection *connection)
{
	return connection->ssl.MBEDTLS_PRIVATE(out_left) > 0;
}

/** Removes the `count` bytes of a record that was sent completely. */
static void record_sent(struct mote_tls_connection *connection, size_t count)
{
	connection->sending = 0;
	mote_tls_lock();
	mote_tls_ring_used(&connection->out, count);
	mote_tls_ring_trim(&connection->out);
	if (connection->write_blocked) {
		connection->write_blocked = false;
		connection->events |= MOTE_TLS_WRITABLE;
	}
	mote_tls_unlock();
}

/** How many of `count` bytes one record can contain. */
static size_t record_payload(struct mote_tls_connection *connection, size_t count)
{
	int most = mbedtls_ssl_get_max_out_record_payload(&connection->ssl);
	return most > 0 && (size_t)most < count ? (size_t)most : count;
}

/** Allocates the output ring if a write waits for it. False: no memory. */
static bool reserve_out(struct mote_tls_connection *connection)
{
	mote_tls_lock();
	bool lacks = connection->write_blocked && !connection->out.bytes;
	bool has = !lacks || (mote_tls_free() >= OUT_BYTES + RESERVE_BYTES && mote_tls_ring_reserve(&connection->out));
	if (lacks && has) {
		connection->waiting_since = 0;
		connection->write_blocked = false;
		connection->events |= MOTE_TLS_WRITABLE;
	}
	mote_tls_unlock();
	return has;
}

/** True if bytes were sent. */
static bool send_some(struct mote_tls_connection *connection)
{
	// Reading a ticket has sent the rest of the record: do not write its bytes again.
	if (connection->sending && !is_half_sent(connection)) {
		record_sent(connection, connection->sending);
		return true;
	}
	if (!reserve_out(connection))
		return waited_too_long(connection) ? end(connection, MOTE_TLS_TEXT_NO_MEMORY) : false;
	size_t count;
	mote_tls_lock();
	uint8_t *from = mote_tls_ring_oldest(&connection->out, &count);
	mote_tls_unlock();
	bool rest = is_half_sent(connection);
	if (count == 0 && !rest)
		return false;
	// A call with 0 bytes sends the rest of the record.
	int sent = mbedtls_ssl_write(&connection->ssl, from, rest ? 0 : count);
	if (sent == MBEDTLS_ERR_SSL_WANT_READ || sent == MBEDTLS_ERR_SSL_WANT_WRITE) {
		if (!rest && is_half_sent(connection))
			connection->sending = record_payload(connection, count);
		return false;
	}
	// An earlier read received the first part of this message.
	if (sent == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) {
		mote_tls_sessions_keep(connection);
		return true;
	}
	if (sent < 0 || (sent == 0 && !rest))
		return end(connection, mote_tls_text_of_record(sent));
	if (!rest)
		record_sent(connection, sent);
	return true;
}

/** 0 if there is a buffer for the next record or the rest of the current one; else an error. */
static int make_room(struct mote_tls_connection *connection)
{
	uint8_t head[MOTE_TLS_HEAD];
	if (!mote_tls_buffer_idle(&connection->ssl))
		return 0;
	int there = mote_tls_net_peek(connection->net, head, MOTE_TLS_HEAD);
	if (there < 0) {
		mote_tls_buffer_park(&connection->buffer, &connection->ssl);
		return there;
	}
	size_t record = mote_tls_buffer_record(head);
	if (connection->buffer.room >= record && connection->buffer.room > 0)
		return 0;
	mote_tls_buffer_park(&connection->buffer, &connection->ssl);
	if (mote_tls_free() >= record + RESERVE_BYTES && mote_tls_buffer_make(&connection->buffer, &connection->ssl, record)) {
		connection->waiting_since = 0;
		return 0;
	}
	// The record waits in TCP until another connection frees its memory.
	return waited_too_long(connection) ? MBEDTLS_ERR_SSL_ALLOC_FAILED : MOTE_TLS_NET_AGAIN;
}

/** Ends the connection if TCP ended. All records were read, and none of them ended TLS. */
static bool end_unless_again(struct mote_tls_connection *connection, int why)
{
	if (why == MOTE_TLS_NET_AGAIN)
		return false;
	return end(connection, mote_tls_text_of_record(why == MOTE_TLS_NET_END ? MBEDTLS_ERR_SSL_CONN_EOF : why));
}

/** Returns where to put the next decrypted bytes; NULL: no memory. */
static uint8_t *begin_filling(struct mote_tls_connection *connection, size_t *room)
{
	mote_tls_lock();
	connection->filling = mote_tls_ring_reserve(&connection->in);
	uint8_t *into = connection->filling ? mote_tls_ring_room(&connection->in, room) : NULL;
	mote_tls_unlock();
	return into;
}

static void end_filling(struct mote_tls_connection *connection, int received)
{
	mote_tls_lock();
	connection->filling = false;
	if (received > 0) {
		mote_tls_ring_added(&connection->in, received);
		connection->events |= MOTE_TLS_READABLE;
	}
	mote_tls_ring_trim(&connection->in);
	mote_tls_unlock();
}

/** True if there may be more to receive. */
static bool receive_some(struct mote_tls_connection *connection)
{
	size_t room;
	mote_tls_lock();
	bool full = connection->in.filled == connection->in.size;
	mote_tls_unlock();
	if (full) {
		// Free the memory for other connections until the engine reads.
		if (mote_tls_buffer_idle(&connection->ssl))
			mote_tls_buffer_park(&connection->buffer, &connection->ssl);
		return false;
	}
	int missing = make_room(connection);
	if (missing)
		return end_unless_again(connection, missing);
	uint8_t *into = begin_filling(connection, &room);
	if (!into)
		return waited_too_long(connection) ? end(connection, MOTE_TLS_TEXT_NO_MEMORY) : false;
	connection->waiting_since = 0;
	int received = mbedtls_ssl_read(&connection->ssl, into, room);
	end_filling(connection, received);
	if (received == MBEDTLS_ERR_SSL_WANT_READ || received == MBEDTLS_ERR_SSL_WANT_WRITE)
		return received_enough(connection);
	if (received == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET) {
		mote_tls_sessions_keep(connection);
		return true;
	}
	if (received <= 0)
		return end(connection, mote_tls_text_of_record(received));
	return true;
}

static bool exchange(struct mote_tls_connection *connection)
{
	bool more = send_some(connection);
	return connection->phase == MOTE_TLS_PHASE_OPEN && (receive_some(connection) || more);
}

bool mote_tls_connection_step(struct mote_tls_connection *connection)
{
	connection->step_bytes = 0;
	switch (connection->phase) {
		case MOTE_TLS_PHASE_NEW:
			return start_connect(connection);
		case MOTE_TLS_PHASE_CONNECTING:
			return finish_connect(connection);
		case MOTE_TLS_PHASE_HANDSHAKE:
			return handshake_step(connection);
		case MOTE_TLS_PHASE_OPEN:
			return exchange(connection);
		case MOTE_TLS_PHASE_ENDED:
			break;
	}
	return false;
}

void mote_tls_connection_retire(struct mote_tls_connection *connection)
{
	if (connection->is_set_up) {
		// Try once, because the peer may be gone. Never after half a record.
		if (connection->phase == MOTE_TLS_PHASE_OPEN && !is_half_sent(connection))
			mbedtls_ssl_close_notify(&connection->ssl);
		// mbedTLS would clear a buffer of its own size, and ours is shorter.
		if (connection->buffer.room > 0)
			mote_tls_buffer_park(&connection->buffer, &connection->ssl);
		mbedtls_ssl_free(&connection->ssl);
		mbedtls_ssl_config_free(&connection->config);
		mbedtls_x509_crt_free(&connection->trusted);
		connection->is_set_up = false;
	}
	if (connection->net)
		mote_tls_net_close(connection->net);
	connection->net = NULL;
	connection->phase = MOTE_TLS_PHASE_ENDED;
	free(connection->address);
	free(connection->name);
	free(connection->authorities);
	connection->address = connection->name = NULL;
	connection->authorities = NULL;
	mote_tls_lock();
	mote_tls_ring_drop(&connection->out);
	mote_tls_unlock();
}

void mote_tls_connection_free(struct mote_tls_connection *connection)
{
	mote_tls_ring_drop(&connection->in);
	mote_tls_ring_drop(&connection->out);
	if (connection->engine)
		connection->engine->forget(connection->context);
	free(connection);
}
