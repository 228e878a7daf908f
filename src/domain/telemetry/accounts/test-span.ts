// A span that an account sends to see whether its receiver takes it.
import { newSpanId, newTraceId } from '../../../lib/trace-context.ts';
import { writeTexts } from '../attributes.ts';

/** Returns a JSON object. */
export function writeTestSpan(accountId: string, nowMs: number): string {
  const nanos = `${nowMs}000000`;
  const attributes = writeTexts({ 'tollgate.account.id': accountId, 'tollgate.test': 'true' });
  return (
    `{"traceId":"${newTraceId()}","spanId":"${newSpanId()}","flags":1,"name":"tollgate test","kind":1,` +
    `"startTimeUnixNano":"${nanos}","endTimeUnixNano":"${nanos}","attributes":${attributes}}`
  );
}
