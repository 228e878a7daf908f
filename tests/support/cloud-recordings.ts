// Recorded exchanges of clouds, which exist beside the repository on some machines.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WireFormatName } from './plain/reading.ts';
import type { Recording } from './recordings.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'recordings', 'clouds');

export type CloudRecording = {
  readonly file: string;
  /** `bedrock/converse-stream` */
  readonly group: string;
  readonly status: number;
  readonly path: string;
  /** The answer; what was stored as base64 is decoded. */
  readonly bytes: Buffer;
};

type Entry = Omit<CloudRecording, 'bytes'>;

/**
 * No group: all of them. Registers a test that is skipped when the recordings are absent, and fails
 * then under CI.
 */
export function loadCloudRecordings(...groups: readonly string[]): readonly CloudRecording[] {
  const index = join(folder, 'index.json');
  test('the recordings of clouds are there', (t) => {
    if (existsSync(index)) return;
    assert.ok(!process.env['CI'], `no recordings in ${folder}`);
    t.skip(`no recordings in ${folder}`);
  });
  if (!existsSync(index)) return [];
  const entries = JSON.parse(readFileSync(index, 'utf8')) as readonly Entry[];
  return entries
    .filter(({ group }) => groups.length === 0 || groups.includes(group))
    .map(({ file, group, status, path }) => ({
      file,
      group,
      status,
      path,
      bytes: readBytes(file),
    }));
}

/** Answers in a format of ours, as JSON or server-sent events. */
export function loadCloudAnswers(): readonly Recording[] {
  return loadCloudRecordings().flatMap(({ file, path, status, bytes }) => {
    const stream = file.endsWith('.sse');
    const format = formatAt(path, bytes);
    if (unread.some((name) => file.includes(name))) return [];
    if (!format || (!stream && !file.endsWith('.json'))) return [];
    return { file: `clouds/${file}`, format, stream, status, bytes, request: null };
  });
}

/** What no request of the gateway causes, or no other format can carry. */
const unread: readonly string[] = [
  // The suite's client asked for enumerations as numbers.
  'vertex/opentelemetry-python-contrib--',
  'vertex/openinference--',
  // `streamFunctionCallArguments` sends calls in pieces.
  'google-vertex-stream-tool-call-arguments',
];

/** One suite gives answers of Chat the path of Responses. */
function formatAt(path: string, bytes: Buffer): WireFormatName | null {
  const [plain = ''] = path.split(/[?#]/);
  if (/:(?:streamG|g)enerateContent$/.test(plain)) return 'gemini';
  if (!/\/(?:chat\/completions|responses)$/.test(plain)) return null;
  if (bytes.includes('"choices"')) return 'chat';
  return plain.endsWith('/responses') ? 'responses' : 'chat';
}

/** The test says what they hold. */
export function readVectors(): unknown {
  const path = join(folder, 'bedrock', 'vectors.json');
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as unknown) : null;
}

function readBytes(file: string): Buffer {
  const bytes = readFileSync(join(folder, file));
  return file.endsWith('.b64') ? Buffer.from(bytes.toString('ascii'), 'base64') : bytes;
}
