// Errors that most endpoints of the public API have.
import type { ErrorCode } from '../canonical/errors.ts';

export const always: readonly ErrorCode[] = [
  'invalid_request',
  'internal_error',
  'upstream_unavailable',
];
export const withKey: readonly ErrorCode[] = [
  ...always,
  'invalid_api_key',
  'address_not_allowed',
  'rate_limit_exceeded',
];
export const withBody: readonly ErrorCode[] = [
  'request_too_large',
  'unsupported_media_type',
  'overloaded',
];
export const withScope: readonly ErrorCode[] = [...withKey, 'key_scope_missing'];
