import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from '../../tests/support/property.ts';
import { readTraceContext, traceHeaders } from './trace-context.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const valid = `00-${traceId}-${parentId}-01`;
const zeros = '0'.repeat(32);

test('a trace keeps its id and its sampling, and every call gets a new parent id', () => {
  const trace = readTraceContext(valid, 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE')!;
  assert.deepEqual(trace, {
    traceId,
    callerId: parentId,
    flags: '01',
    state: 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE',
  });
  const calls = [traceHeaders(trace), traceHeaders(trace)];
  const parents = calls.map((headers) => {
    assert.equal(headers['tracestate'], trace.state);
    const [version, id, parent, flags] = headers['traceparent']!.split('-');
    assert.deepEqual([version, id, flags], ['00', traceId, '01']);
    assert.match(parent!, /^[0-9a-f]{16}$/);
    return parent;
  });
  assert.equal(new Set([...parents, parentId]).size, 3);
});

test('an invalid traceparent is no trace', () => {
  const invalid = [
    '',
    'x',
    valid.toUpperCase(),
    `ff-${traceId}-${parentId}-01`,
    `0-${traceId}-${parentId}-01`,
    `00-${zeros}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.slice(1)}-${parentId}-01`,
    `00-${traceId}-${parentId}-1`,
    `00-${traceId}-${parentId}`,
    `${valid}-more`,
    ` ${valid}`,
    `${valid}, ${valid}`,
    `01-${traceId}-${parentId}-01.more`,
    `01-${traceId}-${parentId}-01x`,
  ];
  for (const text of invalid) assert.equal(readTraceContext(text, 'a=b'), null, text);
});

test('a later version is read as far as it is known', () => {
  assert.deepEqual(readTraceContext(`cc-${traceId}-${parentId}-ff-what-comes`, null), {
    traceId,
    callerId: parentId,
    flags: '03',
    state: null,
  });
});

test('a tracestate that cannot be sent on is dropped, and the trace stays', () => {
  for (const state of ['', ' ', 'a=\u0001', 'a=ü', 'x'.repeat(513)])
    assert.equal(readTraceContext(valid, state)!.state, null, state);
});

test('whatever a client sends, a call carries a valid trace or none, and no other text', () => {
  const hexDigits = (count: number) =>
    fc.string({
      unit: fc.constantFrom(...Array.from('0123456789abcdef')),
      minLength: count,
      maxLength: count,
    });
  const parent = fc.oneof(
    fc.string(),
    fc
      .tuple(hexDigits(2), hexDigits(32), hexDigits(16), hexDigits(2), fc.string())
      .map((parts) => parts.slice(0, 4).join('-') + parts[4]),
    fc.tuple(hexDigits(32), hexDigits(16), hexDigits(2)).map((parts) => `00-${parts.join('-')}`),
  );
  const state = fc.option(fc.oneof(fc.string(), fc.constantFrom('a=1', 'a=1,b@c=2 3')));
  fc.assert(
    fc.property(parent, state, (traceparent, tracestate) => {
      const trace = readTraceContext(traceparent, tracestate);
      if (!trace) return;
      const headers = traceHeaders(trace);
      assert.ok(traceparent.includes(trace.traceId));
      assert.ok(readTraceContext(headers['traceparent']!, headers['tracestate'] ?? null));
      // oxlint-disable-next-line no-control-regex -- a header must not end in another
      assert.doesNotMatch(Object.values(headers).join(''), /[\x00-\x1f\x7f-\uffff]/);
      assert.ok((headers['tracestate'] ?? '').length <= 512);
    }),
  );
});
