/** What is wrong with a certificate, in the words of an operator. */
const CAUSES: Readonly<Record<string, string>> = {
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is of an authority that is not trusted (--ca-cert-paths)',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself and not trusted (--ca-cert-paths)',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is of an authority that is not trusted (--ca-cert-paths)',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate is of an authority that is not trusted (--ca-cert-paths)',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is of an authority that is not trusted (--ca-cert-paths)',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  EPROTO: 'it does not speak TLS, or refused the handshake',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'it does not speak TLS',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'it wants a client certificate (--client-cert-path)',
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: 'it refused the TLS handshake; it may want a client certificate',
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'it does not speak this version of HTTP over TLS',
  ERR_HTTP2_ERROR: 'it does not speak HTTP/2',
  HPE_INVALID_CONSTANT: 'it does not speak HTTP/1.1',
};

/** Why a connection to a worker failed, with the code in it. */
export function connectFailure(error: Error): string {
  // A stream of HTTP/2 only says that its connection failed.
  if (error.cause instanceof Error) return connectFailure(error.cause);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const cause = CAUSES[code];
  if (cause !== undefined) return `${cause}: ${code}`;
  return code === '' ? error.message : code;
}
