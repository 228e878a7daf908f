// Sizes of tests: `npm test` runs them small, `npm run test:all` in full (TOLLGATE_TEST_VOLUME=full).
const isFull = process.env['TOLLGATE_TEST_VOLUME'] === 'full';

export function scaled<Size>(few: Size, many: Size): Size {
  return isFull ? many : few;
}
