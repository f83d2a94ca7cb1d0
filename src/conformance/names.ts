/** Names of the Endpoint Picker Protocol, as its text spells them. */

/** Header and metadata key of the destination list, out (endpoint-picker-protocol 3). */
export const DESTINATION = 'x-gateway-destination-endpoint';
/** Metadata namespace of the destination, out, and of the served endpoint, in. */
export const LB_NAMESPACE = 'envoy.lb';
/** Metadata key of the endpoint that answered, in (endpoint-picker-protocol 5). */
export const SERVED = 'x-gateway-destination-endpoint-served';
/** Metadata namespace and key of the subset hint, in (endpoint-picker-protocol 2). */
export const SUBSET_NAMESPACE = 'envoy.lb.subset_hint';
export const SUBSET = 'x-gateway-destination-endpoint-subset';
/** Where Envoy puts attributes (envoy 3.1). */
export const FILTER = 'envoy.filters.http.ext_proc';
/** Switch and echo that the gateways' own conformance suite uses (endpoint-picker-protocol 9). */
export const TEST_SELECTION = 'test-epp-endpoint-selection';
export const TEST_SERVED = 'x-conformance-test-served-endpoint';

/** Reserved for documentation (RFC 5737, RFC 3849): no fleet has it. */
export const NOBODY = '203.0.113.7:9';
export const NOBODY_IPV6 = '[2001:db8::7]:9';
