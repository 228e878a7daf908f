// Recorded exchanges of endpoints other than chat, which exist beside the repository on some machines.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const folder = join(import.meta.dirname, '..', '..', '..', 'shared', 'recordings', 'endpoints');

export type EndpointRecording = {
  readonly file: string;
  readonly group: string;
  readonly host: string;
  readonly path: string;
  readonly model: string | null;
  readonly status: number;
  /** The response header that carries usage. */
  readonly usageHeaders: Readonly<Record<string, string>> | null;
  /** null: the request is not recorded. */
  readonly request: unknown;
  /** Decoded if it was stored as base64. */
  readonly bytes: Buffer;
};

type Entry = Omit<EndpointRecording, 'usageHeaders' | 'request' | 'bytes'> & {
  readonly request_file: string | null;
  readonly usage_headers: EndpointRecording['usageHeaders'];
  readonly encoding: string | null;
};

/** Registers a test that is skipped when the recordings are absent, and fails then under CI. */
export function loadEndpointRecordings(group: string): readonly EndpointRecording[] {
  const index = join(folder, 'index.json');
  test(`the recordings of ${group} are there`, (t) => {
    if (existsSync(index)) return;
    assert.ok(!process.env['CI'], `no recordings in ${folder}`);
    t.skip(`no recordings in ${folder}`);
  });
  if (!existsSync(index)) return [];
  const entries = JSON.parse(readFileSync(index, 'utf8')) as readonly Entry[];
  return entries.flatMap(({ request_file: requestFile, usage_headers, encoding, ...entry }) => {
    if (entry.group !== group) return [];
    const stored = readFileSync(join(folder, entry.file));
    return {
      ...entry,
      usageHeaders: usage_headers,
      request: requestFile === null ? null : readJson(join(folder, requestFile)),
      bytes: encoding === 'base64' ? Buffer.from(stored.toString('latin1'), 'base64') : stored,
    };
  });
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}
