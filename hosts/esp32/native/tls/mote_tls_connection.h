// One TLS connection. The task advances it; the engine reads and writes through two rings of bytes.
#pragma once
#include "mote_tls_buffer.h"
#include "mote_tls_mbedtls.h"
#include "mote_tls_platform.h"
#include "mote_tls_ring.h"

/** Events for the engine. */
enum {
	MOTE_TLS_OPENED = 1,
	MOTE_TLS_READABLE = 2,
	MOTE_TLS_WRITABLE = 4,
	MOTE_TLS_CLOSED = 8,
};

/** Callbacks to the engine. `context` is the engine's value for the connection. */
struct mote_tls_engine {
	/** Notifies the engine's task that there are events. False: its queue is full. */
	bool (*post)(void *context);
	/** Called when the last reference to the connection was released. */
	void (*forget)(void *context);
};

/** CA certificates to trust, DER or PEM. None stands for the image's bundle. */
struct mote_tls_authorities {
	size_t count;
	const uint8_t *const *bytes;
	const size_t *lengths;
};

enum mote_tls_phase {
	MOTE_TLS_PHASE_NEW,
	MOTE_TLS_PHASE_CONNECTING,
	MOTE_TLS_PHASE_HANDSHAKE,
	MOTE_TLS_PHASE_OPEN,
	MOTE_TLS_PHASE_ENDED,
};

/** The period in which all certificates of a chain are valid, in seconds since 1970; 0: unknown. */
struct mote_tls_validity {
	uint32_t from, to;
};

struct mote_tls_connection {
	struct mote_tls_connection *next;

	// Use with the lock only.
	/** Counts the engine's object, the task, and each posted message. */
	int references;
	/** The engine closed the connection. */
	bool closed;
	/** A message is in the engine's queue. */
	bool posted;
	uint8_t events;
	/** A write did not fit `out`, so the engine waits for MOTE_TLS_WRITABLE. */
	bool write_blocked;
	/** The task is writing into `in`. */
	bool filling;
	struct mote_tls_ring in, out;
	const char *reason;
	const struct mote_tls_engine *engine;
	void *context;

	// Used by the task only.
	enum mote_tls_phase phase;
	char *address;
	char *name;
	uint16_t port;
	bool is_address;
	uint8_t *authorities;
	size_t authorities_length;
	uint32_t trust_id;
	bool is_set_up;
	bool resumed;
	/** Uptime in seconds when the peer's certificate was verified, in the first handshake. */
	uint32_t verified_at;
	/** At least one certificate was checked, valid or not. */
	bool chain_checked;
	/** The dates of the certificates so far, and those to report: see mote_tls_trust_keep_dates. */
	struct mote_tls_validity chain, validity;
	/** A more precise error text than mbedTLS's flags allow, or NULL. */
	const char *refusal;
	/** ESP-IDF's function that verifies with the bundle. */
	int (*bundle)(void *, mbedtls_x509_crt *, int, uint32_t *);
	void *bundle_context;
	/** Payload bytes of a record that TCP has accepted only in part. */
	size_t sending;
	struct mote_tls_net *net;
	/** Bytes received from TCP in this step. */
	size_t step_bytes;
	struct mote_tls_buffer buffer;
	/** Uptime in seconds, plus one, when the wait for memory began; 0: not waiting. */
	uint32_t waiting_since;
	/** Uptime in seconds when the handshake made its last step. */
	uint32_t last_step_at;
	mbedtls_ssl_config config;
	mbedtls_ssl_context ssl;
	mbedtls_x509_crt trusted;
};

/** Returns NULL if there is no memory. */
struct mote_tls_connection *mote_tls_connection_make(
	const char *address, uint16_t port, const char *name, const struct mote_tls_authorities *authorities);
/** For the task: does all that is possible without waiting. True if the task must call it again. */
bool mote_tls_connection_step(struct mote_tls_connection *connection);
/** For the task: frees everything except the bytes that the engine may still read. */
void mote_tls_connection_retire(struct mote_tls_connection *connection);
/** Frees the rest. Call it when no reference is left. */
void mote_tls_connection_free(struct mote_tls_connection *connection);
