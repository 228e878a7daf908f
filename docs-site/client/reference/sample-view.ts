// The code of a request beside a call, in the reader's language.
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import highlighter from 'highlight.js/lib/core';
import { addCopyButton } from '../copy.ts';
import { element } from '../dom.ts';
import { readKey, watchKey } from '../key.ts';
import { createTabs } from '../language.ts';
import type { SampleRequest } from './request.ts';
import { languages, type LanguageName } from './samples.ts';

for (const [name, language] of Object.entries({ bash, go, python, typescript }))
  highlighter.registerLanguage(name, language);

const names = Object.keys(languages) as LanguageName[];

export function createSamples(example: SampleRequest) {
  let request = example;
  let name: LanguageName = names[0]!;
  const code = element('code', {});
  const figure = element('figure', { class: 'code' }, element('pre', { tabindex: '0' }, code));
  addCopyButton(figure);
  const write = () => {
    const { write: writeCode, highlighted } = languages[name];
    const text = writeCode(withReadersKey(request));
    code.innerHTML = highlighter.highlight(text, { language: highlighted }).value;
  };
  const tabs = createTabs(
    names.map((one) => ({ name: one, title: languages[one].title })),
    [figure],
    (at) => {
      name = names[at]!;
      write();
    },
  );
  watchKey(write);
  return {
    root: element('div', { class: 'samples' }, tabs, figure),
    show: (next: SampleRequest) => {
      request = next;
      write();
    },
  };
}

/** The page never has an admin key. */
function withReadersKey({ key, ...request }: SampleRequest): SampleRequest {
  const shown = key?.variable === 'TOLLGATE_KEY' ? readKey() : null;
  return { ...request, key: key && { ...key, shown: shown ?? key.shown } };
}
