import type { ErrorContext } from '../../src/canonical/errors.ts';

/** The request and the gateway of errors that a test writes. */
export const errorContext: ErrorContext = {
  requestId: 'req_1',
  publicUrl: 'https://llm.example.com',
};
