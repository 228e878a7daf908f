import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchFunction } from '../../canonical/own-tools.ts';
import { clientFormats } from '../registry.ts';
import { hostedTools } from './hosted-tools.ts';

test('a search stays possible when no function may be called, however the mode is written', () => {
  for (const mode of ['NONE', 'none']) {
    const body = {
      model: 'm',
      contents: [{ parts: [{ text: 'q' }] }],
      tools: [{ googleSearch: {} }, { functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode } },
    };
    const request = clientFormats.gemini.parseRequest(body, { chatMaxTokens: null });
    const asked = hostedTools.withFunctions(
      request,
      new Map([['web_search', searchFunction]]),
    ).body;
    assert.equal('toolConfig' in asked, false, mode);
    assert.match(
      JSON.stringify(asked.tools),
      /^\[\{"functionDeclarations":\[\{"name":"web_search"/,
    );
  }
});
