// Test sizes: small in `npm test`, full in `npm run test:all` (TOLLGATE_TEST_VOLUME=full).
const isFull = process.env['TOLLGATE_TEST_VOLUME'] === 'full';

/** Among all groups of `npm run test:all`, where a random part of a file's work is enough. */
export const isPart = process.env['TOLLGATE_TEST_PART'] === 'true';

export function scaled<Size>(few: Size, many: Size): Size {
  return isFull ? many : few;
}
