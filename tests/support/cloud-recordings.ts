// Recorded exchanges of clouds, which exist beside the repository on some machines.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

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

/** Registers a test that is skipped when the recordings are absent, and fails then under CI. */
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
    .filter(({ group }) => groups.includes(group))
    .map(({ file, group, status, path }) => ({
      file,
      group,
      status,
      path,
      bytes: readBytes(file),
    }));
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
