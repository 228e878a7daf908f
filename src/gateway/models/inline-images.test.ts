import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FetchedBytes } from '../../domain/images/fetched-bytes.ts';
import type { ImageFiles } from '../images/image-files.ts';
import { withImagesInlined } from './inline-images.ts';

const image = (url: string) => ({ type: 'image', source: { type: 'url', url } });
const memory = new FetchedBytes(1).enter('a');
const nameUrl = (path: string) => ({ param: path, subject: path });

test('no image is fetched when they are too many, and none is inlined when fetching takes too long', async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const inline = (content: readonly object[], readUrls: ImageFiles['readUrls']) => {
    const files = { readUrls } as ImageFiles;
    const body = { messages: [{ role: 'user', content }] };
    return withImagesInlined(files, body, { signal, memory, nameUrl });
  };
  const many = Array.from({ length: 21 }, (_, index) => image(`http://host.example/${index}`));
  assert.equal(await inline(many, () => assert.fail('fetched')), null);
  const slow: ImageFiles['readUrls'] = async (_urls, asked) => {
    controller.abort();
    asked.signal.throwIfAborted();
    return new Map();
  };
  assert.equal(await inline([image('http://host.example/1')], slow), null);
});
