// Test sizes: small in `npm test`, full in `npm run test:all` (TOLLGATE_TEST_VOLUME=full).
const isFull = process.env['TOLLGATE_TEST_VOLUME'] === 'full';

export function scaled<Size>(few: Size, many: Size): Size {
  return isFull ? many : few;
}
