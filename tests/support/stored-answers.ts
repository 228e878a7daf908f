// Answers that a test stores itself, as the gateway does.
import type { StoredResponse, WholeResponse } from '../../src/terms/stored-response.ts';
import type { CacheRun } from '../../src/domain/cache/cache-run.ts';
import type { AnswerFiles } from '../../src/domain/idempotency/answer-files.ts';
import type { Claim } from '../../src/domain/idempotency/claim.ts';
import { pack } from '../../src/lib/packing.ts';

export async function sealForKey(claim: Claim, response: StoredResponse) {
  return claim.seal(response, response.body && (await pack(response.body)));
}

export async function sealForCache(run: CacheRun, response: WholeResponse) {
  return run.seal(response, await pack(response.body));
}

/** For tests without long answers. */
export const noFiles: AnswerFiles = {
  put: () => Promise.reject(new Error('a file was to be written')),
  get: () => Promise.reject(new Error('a file was to be read')),
};
