// A form on disk is read as it was sent, wherever its parts lie, and a hostile one is refused.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../canonical/errors.ts';
import { systemClock } from '../lib/clock.ts';
import { roomsByMode } from './body-room.ts';
import { readUploadForm, spoolTo } from './upload-form.ts';

const folder = await mkdtemp(join(tmpdir(), 'upload-form-'));
after(() => rm(folder, { recursive: true }));
const spool = spoolTo(folder, roomsByMode(10_000_000, systemClock));

/** Reads a form that arrives in pieces of this size. */
async function read(body: Buffer, contentType: string, pieceBytes = 65_536) {
  const payload = new IncomingMessage(new Socket());
  for (let start = 0; start < body.length; start += pieceBytes)
    payload.push(body.subarray(start, start + pieceBytes));
  payload.push(null);
  const raw = { socket: new Socket() };
  const headers = { 'content-type': contentType };
  const request = {
    headers,
    raw,
    upload: null,
    bodies: null,
    ip: '::1',
  } as unknown as FastifyRequest;
  const spooled = await spool(request, payload, 9_000_000);
  request.body = spooled;
  try {
    const fields = (await readUploadForm(request)) as Record<string, unknown>;
    const pieces: Buffer[] = [];
    for await (const piece of request.upload?.pieces() ?? []) pieces.push(piece);
    return { fields, name: request.upload?.name, file: Buffer.concat(pieces) };
  } finally {
    await spooled.close();
  }
}

test('a connection with many uploads keeps nothing of those that have ended', async () => {
  const socket = new Socket();
  const before = socket.listenerCount('close');
  for (let upload = 0; upload < 3; upload++) {
    const payload = new IncomingMessage(new Socket());
    payload.push(null);
    const request = { raw: { socket }, ip: '::1' } as unknown as FastifyRequest;
    const spooled = await spool(request, payload, 1_000);
    assert.equal(socket.listenerCount('close'), before + 1);
    await spooled.close();
  }
  assert.equal(socket.listenerCount('close'), before);
});

test('tests that keep their uploads take no room of those who pay', async () => {
  const upload = (mode: 'live' | 'test') => {
    const payload = new IncomingMessage(new Socket());
    payload.push(Buffer.alloc(4_000_000));
    payload.push(null);
    const apiKey = { id: mode, accountId: mode, mode };
    const request = { raw: { socket: new Socket() }, ip: '::1', apiKey };
    return spool(request as unknown as FastifyRequest, payload, 9_000_000);
  };
  const kept = [await upload('test')];
  await assert.rejects(upload('test'), { code: 'overloaded' });
  kept.push(await upload('live'), await upload('live'));
  for (const spooled of kept) await spooled.close();
});

/** Sizes around the windows in which a form is searched, and ends that look like a delimiter. */
const windowBytes = 256 * 1024;
for (const bytes of [1, 60, windowBytes - 150, windowBytes, windowBytes + 1, 3 * windowBytes])
  test(`a file of ${bytes} bytes between fields is read as it was sent`, async () => {
    const content = Buffer.concat([randomBytes(bytes), Buffer.from('\r\n--\r\n\r\n-')]);
    const form = new FormData();
    form.append('model', 'whisper-ü');
    form.append('include[]', 'a');
    form.append('file', new Blob([content]), 'a "b".mp3');
    form.append('include[]', 'b');
    form.append('empty', '');
    const response = new Response(form);
    const body = Buffer.from(await response.arrayBuffer());
    for (const pieceBytes of [1_000, 65_536]) {
      const got = await read(body, response.headers.get('content-type')!, pieceBytes);
      assert.deepEqual(got.file, content);
      const { file, ...texts } = got.fields;
      assert.deepEqual(texts, { model: 'whisper-ü', include: ['a', 'b'], empty: '' });
      assert.equal((file as { bytes: number }).bytes, content.length);
    }
  });

test('a preamble and an epilogue are no parts', async () => {
  const part = '--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n';
  const got = await read(
    Buffer.from(`before\r\n${part}--b--\r\nafter`),
    'multipart/form-data; boundary=b',
  );
  assert.deepEqual(got.fields, { x: '1' });
});

const head = 'Content-Disposition: form-data; name=';
for (const [what, body] of [
  ['a field twice', `--b\r\n${head}x\r\n\r\n1\r\n--b\r\n${head}x\r\n\r\n2\r\n--b--`],
  ['another file', `--b\r\n${head}x; filename=y\r\n\r\n1\r\n--b--`],
  ['a second file', `--b\r\n${head}file; filename=y\r\n\r\n1\r\n`.repeat(2) + '--b--'],
  [
    'a text that would replace the file',
    `--b\r\n${head}file; filename=y\r\n\r\n1\r\n--b\r\n${head}file[]\r\n\r\n2\r\n--b--`,
  ],
  ['no end', `--b\r\n${head}x\r\n\r\n1\r\n--b`],
  ['a part without headers', '--b\r\n--b--'],
  ['endless headers', `--b\r\nx: ${'y'.repeat(5_000)}\r\n${head}x\r\n\r\n1\r\n--b--`],
  ['a hundred parts and more', `--b\r\n${head}x[]\r\n\r\n1\r\n`.repeat(102) + '--b--'],
  ['a long text', `--b\r\n${head}x\r\n\r\n${'y'.repeat(1_100_000)}\r\n--b--`],
  ['bytes that are no text', `--b\r\n${head}x\r\n\r\n\u00ff\r\n--b--`],
] as const)
  test(`${what} is refused`, async () => {
    const sent = read(Buffer.from(body, 'latin1'), 'multipart/form-data; boundary=b');
    await assert.rejects(sent, (error) => error instanceof ApiError && error.status === 400);
  });

test('a body over its limit is a 413, and nothing stays in the folder', async () => {
  const large = read(Buffer.alloc(9_000_001), 'multipart/form-data; boundary=b');
  await assert.rejects(large, (error) => error instanceof ApiError && error.status === 413);
  assert.deepEqual(await readdir(folder), []);
});
