#include "tls_sessions.h"
#include <stdlib.h>
#include <string.h>

/** Places at once: the platform, a host of firmware, and one more. */
#define MOST 3
/** Longer than that no session stands for the certificate that was judged when it began. */
#define OLDEST_S 43200

struct session {
	char *name;
	uint16_t port;
	/** By these authorities. */
	uint32_t trust_id;
	/** When the certificate was judged; and when it was last of use. */
	uint32_t born, used;
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

static struct session *find(const struct tls_connection *connection)
{
	for (struct session *one = sessions; one < sessions + MOST; one++) {
		if (one->name && tls_seconds() - one->born > OLDEST_S)
			forget(one);
		if (one->name && one->port == connection->port && one->trust_id == connection->trust_id && 0 == strcmp(one->name, connection->name))
			return one;
	}
	return NULL;
}

/** A free place, or the one that was of no use for longest. */
static struct session *place(void)
{
	struct session *best = sessions;
	for (struct session *one = sessions; one < sessions + MOST; one++) {
		if (!one->name)
			return one;
		if (one->used < best->used)
			best = one;
	}
	forget(best);
	return best;
}

void tls_sessions_offer(struct tls_connection *connection)
{
	struct session *one = find(connection);
	if (!one)
		return;
	one->used = tls_seconds();
	connection->born = one->born;
	connection->resumed = 0 == mbedtls_ssl_set_session(&connection->ssl, &one->session);
	if (!connection->resumed)
		forget(one);
}

void tls_sessions_without_certificate(struct tls_connection *connection)
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

void tls_sessions_keep(struct tls_connection *connection)
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
	*one = (struct session){.name = name, .port = connection->port, .trust_id = connection->trust_id, .born = connection->born, .used = tls_seconds(), .session = fresh};
}

void tls_sessions_drop(const struct tls_connection *connection)
{
	struct session *one = find(connection);
	if (one)
		forget(one);
}

void tls_sessions_clear(void)
{
	for (struct session *one = sessions; one < sessions + MOST; one++)
		forget(one);
}
