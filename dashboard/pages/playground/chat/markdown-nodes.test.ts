import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { markdownNodes } from './markdown-nodes.ts';

const render = (text: string) =>
  renderToStaticMarkup(
    createElement(
      'div',
      null,
      markdownNodes(text, (code, language) => createElement('pre', { title: language }, code)),
    ),
  ).slice(5, -6);

test('ordinary Markdown becomes elements', () => {
  assert.equal(
    render('# Title\n\nSome **bold** and `a<b`, and &amp; [a site](https://example.com).'),
    '<h3>Title</h3><p>Some <strong>bold</strong> and <code>a&lt;b</code>, and &amp; <a href="https://example.com" target="_blank" rel="noopener noreferrer">a site</a>.</p>',
  );
  assert.equal(render('```js\nlet a;\n```'), '<div><pre title="js">let a;</pre></div>');
  assert.equal(
    render('3. three\n4. four'),
    '<ol start="3"><li><span>three</span></li><li><span>four</span></li></ol>',
  );
  assert.match(render('| a | b |\n|---|--:|\n| 1 | 2 |'), /<td style="text-align:right">2<\/td>/);
});

test('HTML is text, an image is a link, and a script address is no link', () => {
  assert.equal(
    render('Hello <b onclick="x()">you</b>'),
    '<p>Hello &lt;b onclick=&quot;x()&quot;&gt;you&lt;/b&gt;</p>',
  );
  assert.equal(
    render('![a cat](https://example.com/cat.png)'),
    '<p><a href="https://example.com/cat.png" target="_blank" rel="noopener noreferrer">a cat</a></p>',
  );
  assert.equal(render('[go](javascript:alert(1))'), '<p><span>go</span></p>');
  assert.equal(render('[go](/keys)'), '<p><span>go</span></p>');
});
