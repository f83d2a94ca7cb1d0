import { VIA_UPSTREAM } from '../../picker/request-end.ts';
import { DESTINATION_NAMESPACE, PICKER_NAMESPACE, PROTOCOL_SERVED_KEY, SERVED_KEY } from '../names.ts';
import type { Fields } from '../wire/fields.ts';
import type { Incoming } from './message.ts';

/**
 * Address of the worker that answered, as a `response_headers` message proves it; null without proof. The served metadata
 * names the host chosen last even when its connection failed (envoy 6.7), so the response details, where Envoy sends them,
 * have the last word.
 */
export function servedAddress(message: Incoming): string | null {
  const details = codeDetails(message);
  if (details !== null && details !== VIA_UPSTREAM) return null;
  return chosenHost(message) ?? (details === null ? null : upstreamAddress(message));
}

/** Address of the worker that Envoy asked last, whether it answered or not; null when it is not told. */
export function triedAddress(message: Incoming): string | null {
  return chosenHost(message) ?? upstreamAddress(message);
}

/** `response.code_details`, null where Envoy does not send attributes. */
export function codeDetails(message: Incoming): string | null {
  return textIn(message.attributes, 'response.code_details');
}

/** Attempts that Envoy made, null where it does not tell. */
export function attempts({ attributes }: Incoming): number | null {
  const value = attributes?.['upstream.request_attempt_count'];
  return typeof value === 'number' ? value : null;
}

/** The endpoint that served, by the metadata of the Endpoint Picker Protocol or of our own configuration. */
export function chosenHost({ metadata }: Incoming): string | null {
  return (
    textIn(metadata?.[DESTINATION_NAMESPACE], PROTOCOL_SERVED_KEY) ?? textIn(metadata?.[PICKER_NAMESPACE], SERVED_KEY)
  );
}

function upstreamAddress({ attributes }: Incoming): string | null {
  return textIn(attributes, 'upstream.address');
}

function textIn(fields: Fields | null | undefined, key: string): string | null {
  const value = fields?.[key];
  return typeof value === 'string' && value !== '' ? value : null;
}
