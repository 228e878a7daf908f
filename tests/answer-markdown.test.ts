// The playground shows answers as Markdown. An answer is untrusted.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { markdownNodes } from '../dashboard/pages/playground/chat/markdown-nodes.ts';
import fc from './support/property.ts';

const render = (text: string) =>
  renderToStaticMarkup(
    createElement(
      'div',
      null,
      markdownNodes(text, (code) => createElement('pre', null, code)),
    ),
  );

const allowed = new Set(
  'h3 h4 h5 h6 p blockquote ol ul li div pre hr br table thead tbody tr th td strong em del code a span'.split(
    ' ',
  ),
);
const pieces = fc.constantFrom(
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<iframe src="https://evil.example">',
  '![x](data:text/html,1)',
  '[x](JaVaScRiPt:alert(1))',
  '[x](\u0001javascript:1)',
  '[x](https://a.example "t\\" onclick=\\"y")',
  '<https://a.example/"onclick=x>',
  '[r]: vbscript:x',
  '[r]',
  '**',
  '`',
  '```',
  '- ',
  '> ',
  '\n',
  '| a | b |\n|---|---|\n',
  '<svg/onload=x>',
  '&lt;b&gt;',
);

test('no text yields an element or an attribute that could run or load something', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(pieces, fc.string({ maxLength: 8 })), { maxLength: 12 }),
      (parts) => {
        const html = render(parts.join(''));
        for (const [, name, attributes] of html.matchAll(/<([a-z][\w-]*)((?:\s[^<>]*)?)\/?>/gi)) {
          assert.ok(allowed.has(name!), `<${name}> in ${html}`);
          for (const [, attribute, value] of attributes!.matchAll(/([\w-]+)="([^"]*)"/g)) {
            assert.match(attribute!, /^(?:href|target|rel|start|style|title)$/, html);
            if (attribute === 'href') assert.match(value!, /^(?:https?:\/\/|mailto:)/i);
          }
        }
      },
    ),
    { numRuns: 2_000 },
  );
});
