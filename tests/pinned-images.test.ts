// Images of others that Tollgate is built on or deployed with are named so that nobody gets another
// program by the same name.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { root } from './support/built-program.ts';

const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');
const digest = /@sha256:[0-9a-f]{64}$/;
/** A release, such as `3.2.25`; PostgreSQL's have two numbers. A digest may follow. */
const release = /:(?:v?\d+\.\d+\.\d+|(?<=\bpostgres:)\d+\.\d+)(?:@sha256:[0-9a-f]{64})?$/;

test('the images that the Dockerfile builds on have digests', () => {
  const bases = [...read('Dockerfile').matchAll(/^ARG \w*BASE=(.+)$/gm)].map(([, image]) => image!);
  assert.equal(bases.length, 2);
  for (const image of bases) assert.match(image, digest);
});

test('the images of others in deploy/compose are releases, not lines of releases', () => {
  const { services } = parse(read('deploy', 'compose', 'compose.yaml')) as {
    readonly services: Readonly<
      Record<string, { readonly image: string; readonly build?: object }>
    >;
  };
  const images = Object.values(services).flatMap(({ image, build }) => (build ? [] : [image]));
  assert.equal(images.length, 3);
  for (const image of images) assert.match(image, release);
});
