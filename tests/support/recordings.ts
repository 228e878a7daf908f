// The recorded answers of real providers, with what their index says of each.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WireFormatName } from './plain/reading.ts';

export type Recording = {
  readonly file: string;
  readonly format: WireFormatName;
  readonly stream: boolean;
  readonly status: number;
  readonly bytes: Buffer;
};

/** What is not asked of a recording, and why; each is as narrow as one file. */
type Exception = { readonly file: string; readonly unasked: 'stop' | 'rules'; readonly why: string };

const exceptions: readonly Exception[] = [
  {
    file: 'anthropic/json/ai--anthropic-programmatic-tool-calling.1.json',
    unasked: 'stop',
    why:
      'The calls were made, and answered, inside a program that Anthropic ran: the message ends with `end_turn` although it holds' +
      ' `tool_use` blocks. Only a client of Messages can ask for such a thing; to the others calls mean that the turn ended for them.',
  },
  {
    file: 'anthropic/stream/anthropic-sdk-ts--incomplete_partial_json_response.sse',
    unasked: 'rules',
    why: 'The official SDK made it up for its own tests: the last block is never closed. On the straight path events pass as they came.',
  },
];

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'fixtures');
const formats: Readonly<Record<string, WireFormatName>> = {
  'openai-responses': 'responses',
  'openai-chat': 'chat',
  anthropic: 'messages',
  gemini: 'gemini',
};

/** All of them; none where they are not on the machine, which the caller's test run then says, and CI does not accept. */
export function loadRecordings(): readonly Recording[] {
  const index = join(folder, 'index.json');
  const isThere = existsSync(index);
  test('the recordings are there', (t) => {
    if (isThere) return;
    assert.ok(!process.env.CI, `no recordings in ${folder}`);
    t.diagnostic(`no recordings in ${folder}: nothing was compared`);
    t.skip();
  });
  return isThere ? (JSON.parse(readFileSync(index, 'utf8')) as IndexEntry[]).map(loadRecording) : [];
}

export function isAsked(file: string, what: Exception['unasked']): boolean {
  return !exceptions.some((exception) => exception.file === file && exception.unasked === what);
}

type IndexEntry = Omit<Recording, 'format' | 'bytes'> & { readonly format: string };

function loadRecording({ file, format, stream, status }: IndexEntry): Recording {
  return { file, format: formats[format]!, stream, status, bytes: readFileSync(join(folder, file)) };
}
