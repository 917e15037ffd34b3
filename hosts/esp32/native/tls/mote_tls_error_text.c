#include "mote_tls_error_text.h"

static const char *certificate_text(const struct mote_tls_connection *connection)
{
	uint32_t flags = connection->chain_checked ? mbedtls_ssl_get_verify_result(&connection->ssl) : 0;
	static const struct {
		uint32_t flags;
		const char *text;
	} known[] = {
		{MBEDTLS_X509_BADCERT_MISSING, "certificate: none"},
		{MBEDTLS_X509_BADCERT_CN_MISMATCH, "certificate: for another name"},
		{MBEDTLS_X509_BADCERT_EXT_KEY_USAGE | MBEDTLS_X509_BADCERT_KEY_USAGE | MBEDTLS_X509_BADCERT_NS_CERT_TYPE, "certificate: not for servers"},
		{MBEDTLS_X509_BADCERT_BAD_KEY | MBEDTLS_X509_BADCERT_BAD_PK, "certificate: its key is too weak"},
		{MBEDTLS_X509_BADCERT_BAD_MD, "certificate: signed in a way that is not trusted"},
		{MBEDTLS_X509_BADCERT_NOT_TRUSTED, NULL},
		// Last, because the device's time may be wrong: report any other fault first.
		{MBEDTLS_X509_BADCERT_FUTURE, "certificate: not valid yet"},
		{MBEDTLS_X509_BADCERT_EXPIRED, "certificate: expired"},
	};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (flags & known[i].flags) {
			if (known[i].text)
				return known[i].text;
			break;
		}
	return connection->refusal ? connection->refusal : "certificate: unknown issuer";
}

/** X.509 and ASN.1 errors: for an unknown critical extension mbedTLS reports an unexpected tag. */
static const char *x509_text(int error)
{
	if (error == MBEDTLS_ERR_X509_UNKNOWN_SIG_ALG || error == MBEDTLS_ERR_X509_UNKNOWN_OID)
		return "certificate: signed in a way that is not trusted";
	return "certificate: malformed, or with an unknown critical extension";
}

const char *mote_tls_text_of_handshake(const struct mote_tls_connection *connection, int error)
{
	switch (error) {
		case MBEDTLS_ERR_SSL_ALLOC_FAILED:
			return MOTE_TLS_TEXT_NO_MEMORY;
		case MBEDTLS_ERR_X509_CERT_VERIFY_FAILED:
		case MBEDTLS_ERR_SSL_CA_CHAIN_REQUIRED:
			return certificate_text(connection);
		case MBEDTLS_ERR_SSL_BAD_CERTIFICATE:
			return connection->chain_checked ? certificate_text(connection) : "certificate: malformed, or with an unknown critical extension";
		case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE:
			return "TLS: refused by the other side";
		case MBEDTLS_ERR_SSL_INVALID_RECORD:
		// A record longer than allowed.
		case MBEDTLS_ERR_SSL_BAD_INPUT_DATA:
			return "TLS: the other side does not speak it (a port for http?)";
		case MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE:
			return "TLS: messages out of order";
		case MBEDTLS_ERR_SSL_INVALID_MAC:
			return "TLS: received data cannot be decrypted";
		case PSA_ERROR_INVALID_SIGNATURE:
			return "TLS: a key that the server did not sign";
	}
	if ((error <= -0x2080 && error >= -0x3000) || (error <= -0x60 && error >= -0x6e))
		return x509_text(error);
	return "TLS: no agreement with the other side";
}

const char *mote_tls_text_of_record(int error)
{
	switch (error) {
		case 0:
		case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY:
			return "end";
		case MBEDTLS_ERR_SSL_CONN_EOF:
			// Not an orderly end: anyone can cut TCP, so a server ends within TLS.
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
	return "TLS: received data cannot be decrypted";
}
