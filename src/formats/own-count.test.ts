import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientFormatName } from '../terms/format-name.ts';
import { countUsage, noUsage, totalInputTokens } from '../canonical/usage.ts';
import type { ClientFormat } from './format.ts';
import { clientFormats } from './registry.ts';

const early = { ...noUsage, inputTokens: 40, cacheReadTokens: 60 };
const text = 'twelve bytes';

/** The totals in the last frame of each format that has them. */
const readers: Readonly<Record<ClientFormatName, RegExp>> = {
  chat: /"prompt_tokens":(?<input>\d+),"completion_tokens":(?<output>\d+)/g,
  responses: /"input_tokens":(?<input>\d+).*?"output_tokens":(?<output>\d+)/g,
  messages: /"input_tokens":(?<input>\d+).*?"output_tokens":(?<output>\d+)/g,
};
const bodies: Readonly<Record<ClientFormatName, object>> = {
  chat: { messages: [{ role: 'user', content: 'x' }], stream_options: { include_usage: true } },
  responses: { input: 'x' },
  messages: { max_tokens: 100, messages: [{ role: 'user', content: 'x' }] },
};

for (const [name, format] of Object.entries(clientFormats) as [ClientFormatName, ClientFormat][]) {
  test(`${name}: an upstream’s early count of the input is shown and charged`, () => {
    const request = format.parseRequest(
      { model: 'm', stream: true, ...bodies[name] },
      { chatMaxTokens: null },
    );
    const pipe = format.writeStream({
      requestId: 'x',
      model: 'm',
      createdAtSeconds: 1,
      request,
      estimatedInputTokens: 7,
    });
    const events = [
      { type: 'start', usage: early },
      { type: 'text-start' },
      { type: 'text-delta', text },
      { type: 'text-end' },
      { type: 'finish', stop: { reason: 'end', sequence: null }, usage: null },
    ] as const;
    const frames = events.map((event) => pipe.push(event)).join('') + pipe.close(0);
    const { usage, output } = pipe.progress;
    const charged = countUsage(usage, { estimatedInputTokens: 7, outputBytes: output.bytes });
    const shown = [...frames.matchAll(readers[name])].at(-1)!.groups!;
    // Messages counts cached input beside `input_tokens`; the others include it.
    const input = name === 'messages' ? charged.inputTokens : totalInputTokens(charged);
    assert.deepEqual(
      [Number(shown['input']), Number(shown['output'])],
      [input, charged.outputTokens],
    );
    assert.deepEqual([totalInputTokens(charged), charged.outputTokens], [100, 3]);
  });
}
