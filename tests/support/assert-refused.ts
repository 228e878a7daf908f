import assert from 'node:assert/strict';
import { ApiError } from '../../src/canonical/errors.ts';

/**
 * Checks that a request is refused as invalid, by an error that names the field. `message`: the
 * whole message, or what it matches.
 */
export function assertRefused(
  run: () => unknown,
  param: string | null,
  message: RegExp | string = /./,
): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.deepEqual([error.code, error.param], ['invalid_request', param]);
    if (param !== null) assert.ok(error.message.includes(param), error.message);
    if (typeof message === 'string') assert.equal(error.message, message);
    else assert.match(error.message, message);
    return true;
  });
}
