import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertRefused } from '../../tests/support/assert-refused.ts';
import { emptyRequest, type Tool, type ToolChoice } from '../canonical/request.ts';
import { fitRequestNames } from './translated-tool-names.ts';

const look: Tool = {
  name: 'look',
  description: null,
  parameters: { type: 'object' },
  strict: null,
  kind: 'function',
};
const rule = { charactersMax: 64 };

test('a choice that the tools cannot satisfy is refused by name', () => {
  const cases: [tools: Tool[], choice: ToolChoice, message: RegExp][] = [
    [[], { type: 'required' }, /^tool_choice asks for a tool call/],
    [[], { type: 'tool', name: 'look' }, /it has none/],
    [[look], { type: 'tool', name: 'lok' }, /"look"/],
  ];
  for (const [tools, toolChoice, message] of cases)
    assertRefused(
      () => fitRequestNames({ ...emptyRequest, tools, toolChoice }, rule),
      'tool_choice',
      message,
    );
});

test('of tools with the same name the first stays where names are unique, and the others are listed', () => {
  const tools = [look, { ...look, description: 'Another' }, { ...look, name: 'b' }, { ...look }];
  const fit = (isUnique?: true) =>
    fitRequestNames({ ...emptyRequest, tools }, { ...rule, ...(isUnique && { isUnique }) });
  assert.deepEqual(fit(true), {
    request: { ...emptyRequest, tools: [tools[0], tools[2]] },
    names: null,
    ignored: ['tools.look'],
  });
  assert.deepEqual(fit(), { request: { ...emptyRequest, tools }, names: null, ignored: [] });
});
