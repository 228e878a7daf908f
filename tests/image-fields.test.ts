// Every field of OpenAI's image requests, as in the installed SDK's types, has a verdict that
// docs/images.md documents. A new SDK version with a new field fails here until both exist.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiError } from '../src/canonical/errors.ts';
import { parseImageRequest } from '../src/domain/images/image-request.ts';
import { readSdkFields } from './support/sdk-fields.ts';

/** The effect of setting the field. `read`: it becomes part of the request. */
const verdicts: Readonly<
  Record<string, { readonly value: unknown; readonly verdict: 'read' | 'ignored' | 'refused' }>
> = {
  prompt: { value: 'x', verdict: 'read' },
  model: { value: 'x', verdict: 'read' },
  n: { value: 2, verdict: 'read' },
  size: { value: '1024x1024', verdict: 'read' },
  quality: { value: 'low', verdict: 'read' },
  output_format: { value: 'png', verdict: 'read' },
  response_format: { value: 'b64_json', verdict: 'read' },
  background: { value: 'transparent', verdict: 'refused' },
  stream: { value: true, verdict: 'refused' },
  partial_images: { value: 1, verdict: 'refused' },
  // The form of the edits endpoint sends its files as `images`.
  image: { value: 'x', verdict: 'read' },
  mask: { value: 'x', verdict: 'read' },
  markup: { value: 'x', verdict: 'refused' },
  complexity: { value: 'high', verdict: 'ignored' },
  frame_count: { value: 4, verdict: 'ignored' },
  frame_duration_ms: { value: 100, verdict: 'ignored' },
  input_fidelity: { value: 'high', verdict: 'ignored' },
  moderation: { value: 'low', verdict: 'ignored' },
  output_compression: { value: 50, verdict: 'ignored' },
  safety_identifier: { value: 'x', verdict: 'ignored' },
  style: { value: 'vivid', verdict: 'ignored' },
  svg: { value: { model: 'x' }, verdict: 'ignored' },
  user: { value: 'x', verdict: 'ignored' },
};

function verdictOn(name: string, value: unknown): string {
  try {
    const { ignored } = parseImageRequest({ model: 'm', prompt: 'p', [name]: value });
    return ignored.includes(name) ? 'ignored' : 'read';
  } catch (error) {
    assert.ok(error instanceof ApiError && error.param === name, String(error));
    return 'refused';
  }
}

test('every field of the SDK has a verdict', () => {
  const file = 'openai/resources/images.d.ts';
  const fields = ['ImageGenerateParamsBase', 'ImageEditParamsBase'].flatMap((type) =>
    readSdkFields({ file, type }),
  );
  const names = new Set(fields.filter(({ steps }) => steps.length === 0).map(({ name }) => name));
  assert.deepEqual([...names].toSorted(), Object.keys(verdicts).toSorted());
});

test('each verdict is what happens, and is documented', () => {
  const guide = readFileSync(join(import.meta.dirname, '..', 'docs', 'images.md'), 'utf8');
  for (const [name, { value, verdict }] of Object.entries(verdicts)) {
    assert.equal(verdictOn(name, value), verdict, name);
    assert.ok(guide.includes(`\`${name}\``), `${name} is not in docs/images.md`);
  }
});
