// Recorded speech of real hosts becomes audio with the hosts' own count.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { knownProviders } from '../src/config/known-providers.ts';
import type { JsonObject } from '../src/lib/json.ts';
import type { ChatKindName } from '../src/terms/provider-kind.ts';
import { speechHostOf } from '../src/providers/speech/index.ts';
import { loadEndpointRecordings } from './support/endpoint-recordings.ts';

/** By a part of the host's name. */
const providers: readonly (readonly [host: string, name: string])[] = [
  ['generativelanguage', 'google'],
  ['mistral', 'mistral'],
  ['openrouter', 'openrouter'],
  ['openai.com', 'openai'],
  ['x.ai', 'xai'],
  ['deepgram', 'deepgram'],
];

const recordings = loadEndpointRecordings('speech').filter(({ status }) => status === 200);

for (const { file, host, bytes, request } of recordings) {
  const [, name] = providers.find(([part]) => host.includes(part))!;
  const { kind, wishes } = knownProviders[name]!;
  const form = speechHostOf({ kind: kind as ChatKindName, wishes: wishes ?? {} })!;
  const { model, input, voice } = { model: '', input: '', voice: '', ...(request as object) };
  const place = { region: null, project: null, apiVersion: null };
  const format = form.formats[0]!;
  const said = { input, voice, instructions: null, format, speed: null };
  const job = { upstreamModel: model, place, isByTokens: false, ...said };
  test(`${file} becomes audio`, () => {
    const { answer, body } = form.write(job);
    if (name === 'xai' || name === 'deepgram') {
      const { voice_id: _, output_format: __, ...sent } = body;
      assert.deepEqual({ ...sent, text: '' }, { ...(request as object), text: '' });
    } else if (name !== 'google') {
      const { response_format: _, ...sent } = body;
      const { response_format: __, ...recorded } = request as JsonObject;
      assert.deepEqual(sent, recorded);
    }
    if (answer === 'bytes') return assert.ok(isMp3(bytes));
    const piece = form.read(JSON.parse(bytes.toString()) as JsonObject, job)!;
    if (name !== 'google') return assert.ok(isMp3(piece.audio!));
    const seconds = piece.audio!.readUInt32LE(40) / piece.audio!.readUInt32LE(28);
    assert.equal(piece.audio!.length, 44 + piece.audio!.readUInt32LE(40));
    assert.deepEqual(piece.count, { inputTokens: 11, outputTokens: 111 });
    // 25 tokens a second.
    assert.equal(Math.round(111 / seconds), 25);
  });
}

function isMp3(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 3) === 'ID3' || bytes.readUInt16BE(0) >= 0xffe0;
}
