import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callPart, textPart, thinkingPart } from '../../../tests/support/canonical/parts.ts';
import fc from '../../../tests/support/property.ts';
import type { AssistantPart, ThinkingPart } from '../../canonical/request.ts';
import { placeThinking, insertThinking } from './thinking-places.ts';

const thinking: ThinkingPart = thinkingPart('', { vendor: 'anthropic', value: 's' });
const anyThinking = fc
  .string({ minLength: 1 })
  .map((text): AssistantPart => ({ ...thinking, text }));
const anyText = fc.string({ minLength: 1 }).map((text): AssistantPart => textPart(text));
const anyCall = fc.uuid().map((id): AssistantPart => callPart(id, 'look'));
/** Calls follow the text, as in Chat. */
const anyContent = fc
  .tuple(fc.array(fc.oneof(anyThinking, anyText)), fc.array(fc.oneof(anyThinking, anyCall)))
  .map((halves) => halves.flat());

test('reasoning returns to its place in the answer, whatever the order in which a client sends it', () => {
  fc.assert(
    fc.property(anyContent, fc.boolean(), (content, isReversed) => {
      const placed = placeThinking(content);
      const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      const text: AssistantPart = textPart(texts.join(''));
      const rest = [
        ...(texts.length > 0 ? [text] : []),
        ...content.filter(({ type }) => type === 'tool-call'),
      ];
      const isOrderKnown =
        new Set(placed.map(({ place }) => JSON.stringify(place))).size === placed.length;
      const sent = isReversed && isOrderKnown ? placed.toReversed() : placed;
      assert.deepEqual(joinTexts(insertThinking(sent, rest)), joinTexts(content));
    }),
  );
});

test('no text is lost or repeated, whatever places a client invents', () => {
  const anyPlace = fc.record({ textLength: fc.nat(30), calls: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(anyPlace), fc.array(fc.oneof(anyText, anyCall)), (places, rest) => {
      const placed = places.map((place) => ({ part: thinking, place }));
      const merged = insertThinking(placed, rest);
      assert.equal(merged.filter(({ type }) => type === 'thinking').length, places.length);
      assert.deepEqual(
        joinTexts(merged.filter(({ type }) => type !== 'thinking')),
        joinTexts(rest),
      );
    }),
  );
});

/** Joins texts: their boundaries have no meaning. */
function joinTexts(parts: readonly AssistantPart[]): AssistantPart[] {
  const joined: AssistantPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.type === 'text' && last?.type === 'text')
      joined[joined.length - 1] = { ...last, text: last.text + part.text };
    else joined.push(part);
  }
  return joined;
}
