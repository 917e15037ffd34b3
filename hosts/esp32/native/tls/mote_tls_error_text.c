#include "mote_tls_error_text.h"

static const char *of_certificate(const struct mote_tls_connection *connection)
{
	uint32_t flags = connection->judged ? mbedtls_ssl_get_verify_result(&connection->ssl) : 0;
	static const struct {
		uint32_t flags;
		const char *words;
	} known[] = {
		{MBEDTLS_X509_BADCERT_MISSING, "certificate: none"},
		{MBEDTLS_X509_BADCERT_CN_MISMATCH, "certificate: for another name"},
		{MBEDTLS_X509_BADCERT_EXT_KEY_USAGE | MBEDTLS_X509_BADCERT_KEY_USAGE | MBEDTLS_X509_BADCERT_NS_CERT_TYPE, "certificate: not for servers"},
		{MBEDTLS_X509_BADCERT_BAD_KEY | MBEDTLS_X509_BADCERT_BAD_PK, "certificate: its key is too weak"},
		{MBEDTLS_X509_BADCERT_BAD_MD, "certificate: signed in a way that is not trusted"},
		{MBEDTLS_X509_BADCERT_NOT_TRUSTED, NULL},
		// Last: the time of day matters only where nothing else is wrong.
		{MBEDTLS_X509_BADCERT_FUTURE, "certificate: not valid yet"},
		{MBEDTLS_X509_BADCERT_EXPIRED, "certificate: expired"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (flags & known[i].flags) {
			if (known[i].words)
				return known[i].words;
			break;
		}
	return connection->refusal ? connection->refusal : "certificate: unknown issuer";
}

/** X.509 and ASN.1 errors: for an unknown critical extension mbedTLS reports an unexpected tag. */
static const char *of_x509(int error)
{
	if (error == MBEDTLS_ERR_X509_UNKNOWN_SIG_ALG || error == MBEDTLS_ERR_X509_UNKNOWN_OID)
		return "certificate: signed in a way that is not trusted";
	return "certificate: malformed, or demands what is not known";
}

const char *mote_tls_text_of_handshake(const struct mote_tls_connection *connection, int error)
{
	switch (error) {
		case MBEDTLS_ERR_SSL_ALLOC_FAILED:
			return MOTE_TLS_TEXT_NO_MEMORY;
		case MBEDTLS_ERR_X509_CERT_VERIFY_FAILED:
		case MBEDTLS_ERR_SSL_CA_CHAIN_REQUIRED:
			return of_certificate(connection);
		case MBEDTLS_ERR_SSL_BAD_CERTIFICATE:
			return connection->judged ? of_certificate(connection) : "certificate: malformed, or demands what is not known";
		case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE:
			return "TLS: refused by the other side";
		case MBEDTLS_ERR_SSL_INVALID_RECORD:
		// A record longer than allowed.
		case MBEDTLS_ERR_SSL_BAD_INPUT_DATA:
			return "TLS: the other side does not speak it (a port for http?)";
		case MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE:
			return "TLS: messages out of order";
		case MBEDTLS_ERR_SSL_INVALID_MAC:
			return "TLS: what came can't be decrypted";
		case PSA_ERROR_INVALID_SIGNATURE:
			return "TLS: a key that the server did not sign";
	}
	if ((error <= -0x2080 && error >= -0x3000) || (error <= -0x60 && error >= -0x6e))
		return of_x509(error);
	return "TLS: no agreement with the other side";
}

const char *mote_tls_text_of_record(int error)
{
	switch (error) {
		case 0:
		case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY:
			return "end";
		case MBEDTLS_ERR_SSL_CONN_EOF:
			// Anybody can cut TCP, so a good end is said within TLS.
			return "connection cut";
		case MOTE_TLS_NET_BROKEN:
			return "connection reset";
		case MBEDTLS_ERR_SSL_ALLOC_FAILED:
			return MOTE_TLS_TEXT_NO_MEMORY;
		case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE:
			return "TLS: ended by the other side";
		case MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE:
			return "TLS: messages out of order";
	}
	return "TLS: what came can't be decrypted";
}
