import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorContext } from '../../../tests/support/error-context.ts';
import fc from '../../../tests/support/property.ts';
import { answerContext } from '../../../tests/support/pipes.ts';
import { noUsage } from '../../canonical/usage.ts';
import { ApiError } from '../../canonical/errors.ts';
import { clientFormats, upstreamFormats } from '../registry.ts';
import { withArrayStreams } from './array-stream.ts';

const arrays = withArrayStreams(clientFormats.gemini, upstreamFormats.gemini);
const event = fc.oneof(
  fc.record({ type: fc.constant('text-delta' as const), text: fc.string() }),
  fc.constant('keep-alive' as const),
);
const ends = fc.constantFrom('finished', 'failed', 'limited');

test('a stream is one JSON array, wherever keep-alives fall and however it ends; traces read its chunks', () => {
  fc.assert(
    fc.property(fc.array(event), ends, (events, ending) => {
      const context = answerContext('gemini');
      const pipe = arrays.writeStream(context);
      let sent = arrays.openingKeepAlive!;
      const read: object[] = [];
      const write = (frames: string) => {
        sent += frames;
        read.push(
          ...arrays.answerReader!.readFrames!(frames).map(({ data }) => JSON.parse(data) as object),
        );
      };
      write(pipe.push({ type: 'start', usage: null }));
      write(pipe.push({ type: 'text-start' }));
      for (const one of events) {
        if (one === 'keep-alive') sent += arrays.keepAlive;
        else write(pipe.push(one));
      }
      const stop = { reason: 'end', sequence: null } as const;
      if (ending === 'finished') {
        write(pipe.push({ type: 'text-end' }));
        write(pipe.push({ type: 'finish', stop, usage: noUsage }));
        write(pipe.end());
      }
      if (ending === 'limited') write(pipe.limit());
      const error = new ApiError('upstream_error', 'The provider broke off.');
      write(ending === 'failed' ? pipe.fail(error, errorContext) : pipe.close(0));
      const chunks = JSON.parse(sent) as object[];
      assert.ok(chunks.length > 0);
      assert.deepEqual(read, chunks);
    }),
  );
});
