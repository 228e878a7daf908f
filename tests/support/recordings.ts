// Upstream answers for the format tests: our own in `tests/answers`, and recordings of real
// providers, which exist beside the repository on some machines. Both have an `index.json` of the
// same shape. Loaded once per process.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import type { WireFormatName } from './plain/reading.ts';

export type Recording = {
  /** Relative to its set's folder: `openai-chat/text.sse`. */
  readonly file: string;
  readonly format: WireFormatName;
  readonly stream: boolean;
  readonly status: number;
  readonly bytes: Buffer;
  /** The body of the answered request, if recorded. */
  readonly request: Buffer | null;
};

/** An answer that we wrote. `reads`: its content, one line per part. */
export type OwnAnswer = Recording & { readonly about: string; readonly reads: readonly string[] };

/** A check that does not apply to a file, with the reason. */
type Exception = {
  readonly file: string;
  readonly unasked: 'stop' | 'rules';
  readonly why: string;
};

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
  {
    file: 'clouds/hosts/openrouter/pydantic-ai--test_openai_responses.test_openai_responses_raw_cot_stream_openrouter.0.sse',
    unasked: 'rules',
    why: 'The host lets its items overlap: on the straight path they pass as they came.',
  },
  {
    file: 'clouds/bedrock/mantle/ruby_llm--providers_bedrock_mantle_responses_chat_streams_through_the_responses_surface.0.sse',
    unasked: 'rules',
    why: 'The host numbers its parts from 1: on the straight path they pass as they came.',
  },
  {
    file: 'openai-responses/only-done.sse',
    unasked: 'rules',
    why: 'The host sends no deltas: on the straight path no text is streamed before it is done.',
  },
  {
    file: 'openai-responses/overlapping-items.sse',
    unasked: 'rules',
    why: 'The host lets its items overlap: on the straight path they pass as they came.',
  },
];

const formats: Readonly<Record<string, WireFormatName>> = {
  'openai-responses': 'responses',
  'openai-chat': 'chat',
  anthropic: 'messages',
  gemini: 'gemini',
};

const ownFolder = join(import.meta.dirname, '..', 'answers');
const recordedFolder = join(import.meta.dirname, '..', '..', '..', 'shared', 'fixtures');

export const ownAnswers: readonly OwnAnswer[] = readSet(ownFolder);
const recorded: readonly Recording[] = existsSync(recordedFolder) ? readSet(recordedFolder) : [];

/**
 * Returns both sets. Registers a test that is skipped when the recordings are absent, and fails
 * then under CI.
 */
export function loadRecordings(): readonly Recording[] {
  test('the recordings are there', (t) => {
    if (existsSync(recordedFolder)) return;
    assert.ok(!process.env['CI'], `no recordings in ${recordedFolder}`);
    t.diagnostic(`no recordings in ${recordedFolder}: only our own answers were tested`);
    t.skip();
  });
  return [...ownAnswers, ...recorded];
}

/** The bytes of one of our answers, such as `anthropic/text.sse`. */
export function readOwnAnswer(file: string): Buffer {
  const answer = ownAnswers.find((own) => own.file === file);
  assert.ok(answer, `${file} is not in the index of ${ownFolder}`);
  return answer.bytes;
}

export function isAsked(file: string, what: Exception['unasked']): boolean {
  return !exceptions.some((exception) => exception.file === file && exception.unasked === what);
}

type IndexEntry = Omit<OwnAnswer, 'format' | 'bytes' | 'request'> & {
  readonly format: string;
  readonly request_file?: string | null;
};

/** Throws when a listed file is missing or a file is not listed. */
function readSet(folder: string): OwnAnswer[] {
  const entries = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as IndexEntry[];
  const listed = entries.flatMap(({ file, request_file: request }) =>
    request ? [file, request] : [file],
  );
  const present = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath !== folder)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  assert.deepEqual(
    present.toSorted(),
    listed.toSorted(),
    `${folder} holds the files that its index lists, and no others`,
  );
  const read = (file: string) => readFileSync(join(folder, file));
  return entries.map(({ format, request_file: request, ...entry }) => {
    assert.ok(formats[format], `${entry.file}: no format is called ${format}`);
    return {
      ...entry,
      format: formats[format],
      bytes: read(entry.file),
      request: request ? read(request) : null,
    };
  });
}
