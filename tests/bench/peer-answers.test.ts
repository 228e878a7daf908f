import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerBody, streamFrames } from '../../bench/bodies.ts';
import { AnswerReader, faultOf, type Answer } from '../../bench/side-by-side/answer.ts';

const frames = streamFrames('chat');

function read(bytes: string, cut: number): Answer | null {
  const reader = new AnswerReader();
  let answer: Answer | null = null;
  for (let at = 0; at < bytes.length; at += cut)
    answer = reader.push(Buffer.from(bytes.slice(at, at + cut)));
  return answer;
}

function chunked(parts: readonly string[], trailers = ''): string {
  const chunks = parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`);
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks.join('')}0\r\n${trailers}\r\n`;
}

function faultOfFrames(parts: readonly string[]): string | null {
  return faultOf('paced', read(chunked(parts), 1_000)!);
}

test('an answer is read however its bytes are cut', () => {
  const body = answerBody('chat');
  const whole = `HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  for (const cut of [1, 2, 7, 1_000, 100_000]) {
    assert.equal(faultOf('whole', read(whole, cut)!), null);
    assert.equal(faultOf('paced', read(chunked(frames, 'x-cost: 1\r\n'), cut)!), null);
  }
});

test('a lost, swapped, repeated or merged chunk is found', () => {
  assert.equal(faultOfFrames(frames), null);
  assert.match(faultOfFrames(frames.toSpliced(5, 1))!, /chunk 4 is " word5"/);
  assert.match(faultOfFrames(frames.toSpliced(5, 2, frames[6]!, frames[5]!))!, /chunk 4/);
  assert.match(faultOfFrames(frames.toSpliced(5, 0, frames[4]!))!, /chunk 4 is " word3"/);
  const merged = frames[5]!.replace('" word4"', '" word4 word5"');
  assert.match(faultOfFrames(frames.toSpliced(5, 2, merged))!, /chunk 4 is " word4 word5"/);
});

test('a stream that ends early is found', () => {
  assert.equal(faultOfFrames(frames.slice(0, -1)), 'no end');
  assert.equal(faultOfFrames(frames.toSpliced(frames.length - 3, 1)), 'no finish reason');
  assert.equal(read(chunked(frames).slice(0, -3), 1_000), null);
});

test('an error, another text and another usage are found', () => {
  const body = answerBody('chat');
  const fault = (status: number, text: string) =>
    faultOf('whole', { status, body: text, firstByteAtMs: 0 });
  assert.equal(fault(200, body), null);
  assert.match(fault(500, 'no')!, /status 500: no/);
  assert.equal(fault(200, body.replace('shears', 'knives')), 'another text');
  assert.equal(
    fault(200, body.replace('"prompt_tokens":247', '"prompt_tokens":0')),
    'another usage',
  );
  assert.match(fault(200, 'no JSON')!, /SyntaxError/);
});
