#include "mote_tls_sessions.h"
#include <stdlib.h>
#include <string.h>

/** Maximum number of sessions: the platform's, a firmware server's, and one more. */
#define MOST 3
/** Maximum age of a session. Then a full handshake verifies the certificate again. */
#define OLDEST_S 43200

struct session {
	char *name;
	uint16_t port;
	/** Identifies the CA certificates that verified the server. */
	uint32_t trust_id;
	/** Uptime in seconds when the certificate was verified, and when the session was last used. */
	uint32_t verified_at, used_at;
	mbedtls_ssl_session session;
};

static struct session sessions[MOST];

static void forget(struct session *one)
{
	if (!one->name)
		return;
	free(one->name);
	mbedtls_ssl_session_free(&one->session);
	*one = (struct session){0};
}

static struct session *find(const struct mote_tls_connection *connection)
{
	for (struct session *one = sessions; one < sessions + MOST; one++) {
		if (one->name && mote_tls_seconds() - one->verified_at > OLDEST_S)
			forget(one);
		if (one->name && one->port == connection->port && one->trust_id == connection->trust_id && 0 == strcmp(one->name, connection->name))
			return one;
	}
	return NULL;
}

/** A free slot. If there is none, forgets the least recently used session. */
static struct session *place(void)
{
	struct session *best = sessions;
	for (struct session *one = sessions; one < sessions + MOST; one++) {
		if (!one->name)
			return one;
		if (one->used_at < best->used_at)
			best = one;
	}
	forget(best);
	return best;
}

void mote_tls_sessions_offer(struct mote_tls_connection *connection)
{
	struct session *one = find(connection);
	if (!one)
		return;
	one->used_at = mote_tls_seconds();
	connection->verified_at = one->verified_at;
	connection->resumed = 0 == mbedtls_ssl_set_session(&connection->ssl, &one->session);
	if (!connection->resumed)
		forget(one);
}

void mote_tls_sessions_without_certificate(struct mote_tls_connection *connection)
{
#if defined(MBEDTLS_SSL_KEEP_PEER_CERTIFICATE)
	mbedtls_ssl_session *session = connection->ssl.session;
	if (!session || !session->peer_cert)
		return;
	mbedtls_x509_crt_free(session->peer_cert);
	mbedtls_free(session->peer_cert);
	session->peer_cert = NULL;
#endif
}

void mote_tls_sessions_keep(struct mote_tls_connection *connection)
{
	mbedtls_ssl_session fresh;
	mbedtls_ssl_session_init(&fresh);
	char *name = strdup(connection->name);
	if (!name || 0 != mbedtls_ssl_get_session(&connection->ssl, &fresh)) {
		free(name);
		mbedtls_ssl_session_free(&fresh);
		return;
	}
	struct session *one = find(connection);
	if (one)
		forget(one);
	else
		one = place();
	*one = (struct session){.name = name,
				.port = connection->port,
				.trust_id = connection->trust_id,
				.verified_at = connection->verified_at,
				.used_at = mote_tls_seconds(),
				.session = fresh};
}

void mote_tls_sessions_drop(const struct mote_tls_connection *connection)
{
	struct session *one = find(connection);
	if (one)
		forget(one);
}

void mote_tls_sessions_clear(void)
{
	for (struct session *one = sessions; one < sessions + MOST; one++)
		forget(one);
}
