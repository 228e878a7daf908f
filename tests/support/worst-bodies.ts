// The worst bodies that the endpoints of models accept: as large or with as many values as the bounds
// allow, and each made for one kind of work.
import { requestValuesMax } from '../../src/lib/json.ts';
import type { UpstreamWireName } from './answers.ts';

export type Body = Readonly<Record<string, unknown>>;
type Shape = (wire: UpstreamWireName) => Body;

/** The largest body, less what stands around the long part. */
export const bodyBytesMax = 31_000_000;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** As many items as a body may have. `share`: the part of the values that they may take. */
function many<T>(make: (index: number) => T, share = 1): T[] {
  const sample = make(100);
  const count = Math.min(
    ((requestValuesMax - 100) * share) / (valuesIn(sample) + 1),
    bodyBytesMax / JSON.stringify(sample).length,
  );
  return times(Math.floor(count), make);
}
/** As the brackets and commas of its JSON. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner = Object.values(value);
  return inner.reduce<number>((sum, one) => sum + valuesIn(one), Math.max(inner.length, 1));
}
const manyNamed = (make: (index: number) => unknown, share = 1) =>
  Object.fromEntries(many(make, share).map((value, index) => [`p${index}`, value]));
const long = (unit: string, bytes: number) => unit.repeat(Math.floor(bytes / unit.length));

/** A request with one message of the user. */
function ask(wire: UpstreamWireName, content: unknown, fields: Body = {}): Body {
  const turn = [{ role: 'user', content }];
  if (wire === 'gemini') return { contents: [googleTurn(turn[0]!)], ...inGoogleFields(fields) };
  if (wire === 'chat') return { messages: turn, ...fields };
  if (wire === 'responses') return { input: turn, ...fields };
  return { messages: turn, max_tokens: 128_000, ...fields };
}
function converse(wire: UpstreamWireName, items: readonly unknown[]): Body {
  if (wire === 'gemini') {
    const last = { role: 'user', content: 'x' };
    const contents = [...fitting(items.map(googleTurn)), googleTurn(last)];
    return { ...ask(wire, 'x'), contents };
  }
  const name = wire === 'responses' ? 'input' : 'messages';
  return { ...ask(wire, 'x'), [name]: [...items, { role: 'user', content: 'x' }] };
}
/** As many items, or groups of items, as a body may have. */
const converseMany =
  (make: (wire: UpstreamWireName, index: number) => unknown): Shape =>
  (wire) =>
    converse(wire, many((index) => make(wire, index)).flat());
/** A message of as many parts as a body may have. */
const askMany =
  (make: (wire: UpstreamWireName, index: number) => unknown): Shape =>
  (wire) =>
    ask(
      wire,
      many((index) => make(wire, index)),
    );
/** `text`: a directive of the sandbox. */
const stopAt =
  (list: () => readonly string[], text = 'sandbox: tokens=128000'): Shape =>
  (wire) =>
    ask(wire, text, stops(wire, list()));

/** A turn of `content` in Google's words; others are left as they are. */
function googleTurn(item: unknown): unknown {
  const { content, role, ...rest } = item as Record<string, unknown>;
  if (content === undefined) return item;
  const parts = Array.isArray(content) ? content : [{ text: content }];
  return { role: role === 'assistant' ? 'model' : role, parts, ...rest };
}
/** As many as fit: a turn of Google's has more values than the turns of others. */
function fitting(turns: readonly unknown[]): readonly unknown[] {
  const values = valuesIn(turns) + turns.length;
  const most = requestValuesMax - 200;
  if (values <= most) return turns;
  // From the start and from the end, so that calls keep results.
  const half = Math.floor((turns.length * most) / values / 2);
  return [...turns.slice(0, half), ...turns.slice(-half)];
}
/** Google has one object for all functions, and puts the stop sequences beside the limit. */
function inGoogleFields({ tools, stop_sequences: stopSequences, ...fields }: Body): Body {
  return {
    generationConfig: {
      maxOutputTokens: 128_000,
      ...(stopSequences !== undefined && { stopSequences }),
    },
    ...(tools !== undefined && { tools: [{ functionDeclarations: tools }] }),
    ...fields,
  };
}

function tool(wire: UpstreamWireName, name: string, schema: unknown): object {
  if (wire === 'chat') return { type: 'function', function: { name, parameters: schema } };
  if (wire === 'responses') return { type: 'function', name, parameters: schema };
  if (wire === 'gemini') return { name, parameters: schema };
  return { name, input_schema: schema };
}
/** One tool, which must be called. */
function forced(wire: UpstreamWireName, schema: object): Body {
  if (wire === 'gemini')
    return ask(wire, 'x', {
      tools: [tool(wire, 't', schema)],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['t'] } },
    });
  const choices = {
    chat: { type: 'function', function: { name: 't' } },
    responses: { type: 'function', name: 't' },
    messages: { type: 'tool', name: 't' },
  };
  return ask(wire, 'x', { tools: [tool(wire, 't', schema)], tool_choice: choices[wire] });
}
function output(wire: UpstreamWireName, schema: object): Body {
  const format = { type: 'json_schema', name: 's', schema, strict: true };
  if (wire === 'chat')
    return ask(wire, 'x', {
      response_format: { type: 'json_schema', json_schema: { name: 's', schema, strict: true } },
    });
  if (wire === 'responses') return ask(wire, 'x', { text: { format } });
  if (wire === 'gemini') {
    const typed = { responseMimeType: 'application/json', responseSchema: schema };
    return ask(wire, 'x', { generationConfig: { maxOutputTokens: 128_000, ...typed } });
  }
  return ask(wire, 'x', { output_config: { format: { type: 'json_schema', schema } } });
}
const closed = (properties: Body) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

function call(wire: UpstreamWireName, id: string, name: string, text = '{}'): object {
  if (wire === 'chat') {
    const calls = [{ id, type: 'function', function: { name, arguments: text } }];
    return { role: 'assistant', content: null, tool_calls: calls };
  }
  if (wire === 'responses') return { type: 'function_call', call_id: id, name, arguments: text };
  if (wire === 'gemini')
    return {
      role: 'model',
      parts: [{ functionCall: { id, name, args: JSON.parse(text) as unknown } }],
    };
  const use = { type: 'tool_use', id, name, input: JSON.parse(text) as unknown };
  return { role: 'assistant', content: [use] };
}
function result(wire: UpstreamWireName, id: string): object {
  if (wire === 'chat') return { role: 'tool', tool_call_id: id, content: 'r' };
  if (wire === 'responses') return { type: 'function_call_output', call_id: id, output: 'r' };
  if (wire === 'gemini') {
    const functionResponse = { id, name: 't', response: { output: 'r' } };
    return { role: 'user', parts: [{ functionResponse }] };
  }
  return { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'r' }] };
}

function part(wire: UpstreamWireName, text: string): object {
  if (wire === 'gemini') return { text };
  return { type: wire === 'responses' ? 'input_text' : 'text', text };
}
function image(wire: UpstreamWireName, url: string): object {
  if (wire === 'chat') return { type: 'image_url', image_url: { url } };
  if (wire === 'responses') return { type: 'input_image', image_url: url };
  if (wire === 'gemini') return { fileData: { mimeType: 'image/png', fileUri: url } };
  return { type: 'image', source: { type: 'url', url } };
}
function inlineImage(wire: UpstreamWireName, data: string): object {
  if (wire === 'gemini') return { inlineData: { mimeType: 'image/jpeg', data } };
  if (wire !== 'messages') return image(wire, `data:image/jpeg;base64,${data}`);
  return { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data } };
}
function pdf(wire: UpstreamWireName, content: string): object {
  const data = Buffer.from(`%PDF-1.4\n${content}`).toString('base64');
  const url = `data:application/pdf;base64,${data}`;
  if (wire === 'chat') return { type: 'file', file: { filename: 'a.pdf', file_data: url } };
  if (wire === 'gemini') return { inlineData: { mimeType: 'application/pdf', data } };
  if (wire === 'responses') return { type: 'input_file', filename: 'a.pdf', file_data: url };
  return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } };
}

const stops = (wire: UpstreamWireName, list: readonly string[]) =>
  wire === 'messages' || wire === 'gemini' ? { stop_sequences: list } : { stop: list };
function nest(depth: number, inside: object, wrap: (inside: object) => object): object {
  return depth === 0 ? inside : nest(depth - 1, wrap(inside), wrap);
}
/** Messages and Gemini have a call's arguments as an object, which must be JSON. */
const hasObjects = (wire: UpstreamWireName) => wire === 'messages' || wire === 'gemini';
/** For a model's arguments in a text. */
const inText = (wire: UpstreamWireName, text: string, unit: string) =>
  hasObjects(wire) ? `{"a":[${long(unit, 45_000 * unit.length)}1]}` : text;

/** `bytes`: the length of the long texts. */
export function worstBodies(bytes: number): Readonly<Record<string, Shape>> {
  const pattern = { type: 'string', minLength: 500, pattern: `b|${'\\u0061'.repeat(330)}` };
  const small = { type: 'object', properties: { a: {} } };
  return {
    'a text of letters': (wire) => ask(wire, long('a', bytes)),
    'a text of quotes': (wire) => ask(wire, long('"', bytes / 2)),
    'a text of backslashes': (wire) => ask(wire, long('\\', bytes / 2)),
    'a text of spaces': (wire) => ask(wire, `x${long(' ', bytes)}x`),
    'a text of line feeds': (wire) => ask(wire, `x${long('\n', bytes / 2)}x`),
    'a text of emoji': (wire) => ask(wire, long('😀', bytes / 2)),
    'a text of control characters': (wire) => ask(wire, long('\u0001', bytes / 6)),
    'directives for tools': (wire) => ({
      ...forced(wire, small),
      ...ask(wire, long('sandbox: tool=t\n', bytes)),
    }),
    'spaces before words like a directive': (wire) => ask(wire, long('x      sandbox:', bytes)),
    'a directive with deep arguments': (wire) => ({
      ...forced(wire, small),
      ...ask(wire, `sandbox: tool=t {"a":${long('[', Math.min(bytes, 3e6))}`),
    }),
    'messages of two roles': converseMany((_, i) => ({
      role: i % 2 ? 'assistant' : 'user',
      content: 'q',
    })),
    'messages of one role': converseMany(() => ({ role: 'user', content: 'q' })),
    'empty messages': converseMany((_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: '' })),
    instructions: converseMany(() => ({ role: 'system', content: 's' })),
    parts: askMany((wire) => part(wire, 'a')),
    'empty parts': askMany((wire) => part(wire, '')),
    'images by address': askMany((wire, i) => image(wire, `https://e.example/${i}`)),
    'small images': askMany((wire) => inlineImage(wire, 'iVBORw0KGgo=')),
    'a large image': (wire) => ask(wire, [inlineImage(wire, long('iVBO', bytes))]),
    'a large image of markers': (wire) =>
      ask(wire, [
        inlineImage(wire, Buffer.from(`ffd8${long('ffe00002', bytes)}`, 'hex').toString('base64')),
      ]),
    'small documents': askMany((wire) => pdf(wire, '')),
    'a large document of pages': (wire) =>
      ask(wire, [pdf(wire, long('/Type /Page ', bytes * 0.7))]),
    'a large document of streams': (wire) =>
      ask(wire, [pdf(wire, long('<</Length 1>>stream\nendstream', bytes * 0.7))]),
    'a large document of slashes': (wire) => ask(wire, [pdf(wire, long('/Type', bytes * 0.7))]),
    tools: (wire) =>
      ask(wire, 'x', { tools: many((i) => tool(wire, `t${i}`, { type: 'object' })) }),
    'tools of one name': (wire) =>
      ask(wire, 'x', { tools: many(() => tool(wire, 't', { type: 'object' })) }),
    'tools whose names must change': (wire) =>
      ask(wire, 'x', {
        tools: many((i) => tool(wire, `${'é.'.repeat(100)}${i}`, { type: 'object' })),
      }),
    'tools of many properties': (wire) =>
      forced(wire, { type: 'object', properties: manyNamed(() => ({}), 0.9) }),
    'tools of many required properties': (wire) => forced(wire, closed(manyNamed(() => ({}), 0.6))),
    'a long enumeration': (wire) =>
      forced(wire, { type: 'object', properties: { a: { enum: many((i) => i) } } }),
    'schemas in wrappers': (wire) =>
      forced(
        wire,
        nest(25, { type: 'object', properties: manyNamed(() => ({}), 0.9) }, (inside) => ({
          allOf: [inside],
        })),
      ),
    alternatives: (wire) => forced(wire, { anyOf: many(() => small) }),
    'alternatives in alternatives': (wire) =>
      forced(
        wire,
        nest(25, small, (inside) => ({ anyOf: [inside, ...many(() => small, 1 / 30)] })),
      ),
    'definitions of definitions': (wire) =>
      forced(wire, {
        $ref: '#/definitions/p0',
        definitions: manyNamed((i) => ({ $ref: `#/definitions/p${i + 1}` }), 0.9),
      }),
    'keywords that become words': (wire) =>
      forced(
        wire,
        nest(25, { type: 'object', not: { enum: many((i) => i, 0.9) } }, (inside) => ({
          type: 'object',
          not: inside,
          if: { type: 'string' },
        })),
      ),
    'a call with an explosive pattern': (wire) => forced(wire, closed({ v: pattern })),
    'an output with explosive patterns': (wire) =>
      output(wire, closed({ v: { anyOf: times(100, () => pattern) } })),
    'an output of small objects': (wire) =>
      output(
        wire,
        closed({
          v: {
            type: 'array',
            minItems: 10_000,
            items: closed({ a: { anyOf: [{ type: 'null' }] } }),
          },
        }),
      ),
    'an output of many properties': (wire) => output(wire, closed(manyNamed(() => ({}), 0.6))),
    'an output of closed objects': (wire) => output(wire, closed(manyNamed(() => closed({}), 0.6))),
    'calls and results': converseMany((wire, i) => [
      call(wire, `c${i}`, 't'),
      result(wire, `c${i}`),
    ]),
    'calls and results of one id': converseMany((wire) => [
      call(wire, 'c', 't'),
      result(wire, 'c'),
    ]),
    'calls of one id, then their results': (wire) =>
      converse(wire, [
        ...many(() => call(wire, 'c', 't'), 0.6),
        ...many(() => result(wire, 'c'), 0.3),
      ]),
    'calls of ids that must change': converseMany((wire, i) => [
      call(wire, `${'.'.repeat(200)}${i}`, 't'),
      result(wire, `${'.'.repeat(200)}${i}`),
    ]),
    'calls without results': converseMany((wire, i) => call(wire, `c${i}`, 't')),
    'calls, then their results from the last to the first': (wire) => {
      const calls = many((i) => call(wire, `c${i}`, 't'), 0.5);
      return converse(wire, [
        ...calls,
        ...calls.map((_, i) => result(wire, `c${calls.length - i - 1}`)),
      ]);
    },
    'results without calls': converseMany((wire, i) => result(wire, `c${i}`)),
    'calls whose names must change': converseMany((wire, i) => [
      call(wire, `c${i}`, `${'é'.repeat(30)}${i}`),
      result(wire, `c${i}`),
    ]),
    'small values in arguments': (wire) =>
      converse(wire, [
        call(wire, 'c', 't', inText(wire, `{"a":[${long('1,', bytes)}1]}`, '1,')),
        result(wire, 'c'),
      ]),
    'small values in the arguments of many calls': (wire) =>
      converse(
        wire,
        times(100, (i) =>
          call(wire, `c${i}`, 't', hasObjects(wire) ? '{}' : `{"a":[${long('1,', bytes / 100)}1]}`),
        ),
      ),
    'long numbers in arguments': (wire) =>
      converse(wire, [
        call(
          wire,
          'c',
          't',
          inText(wire, `{"a":[${long('12345678901234567890,', bytes)}1]}`, '12345678901234567890,'),
        ),
        result(wire, 'c'),
      ]),
    'deep arguments': (wire) =>
      converse(wire, [
        call(wire, 'c', 't', hasObjects(wire) ? '{}' : `{"a":${long('[', bytes / 2)}`),
        result(wire, 'c'),
      ]),
    'stop sequences': stopAt(() => many((i) => `zq${i}`)),
    'the most stop sequences that are searched for': stopAt(() =>
      times(64, (i) => `e that was ask${i}`),
    ),
    'long stop sequences': stopAt(() => times(4, () => long('a', bytes / 4))),
    'blank stop sequences': stopAt(() => many(() => ' '), 'x'),
    metadata: (wire) => ask(wire, 'x', { metadata: manyNamed(() => 'v') }),
    'long numbers in metadata': (wire) => ask(wire, 'x', { metadata: { a: many(() => 1e300) } }),
    biases: (wire) => ask(wire, 'x', { logit_bias: manyNamed(() => 1) }),
    'unknown fields': (wire) =>
      ask(
        wire,
        'x',
        manyNamed(() => 1),
      ),
    'an unknown field of a long name': (wire) => ask(wire, 'x', { [long('maxtokens', bytes)]: 1 }),
    'unknown fields of a message': (wire) =>
      converse(wire, [{ role: 'user', content: 'x', ...manyNamed(() => 1) }]),
    'lists where a text belongs': askMany(() => []),
    'a long role': (wire) => converse(wire, [{ role: long('a', bytes), content: 'x' }]),
    'a long model': (wire) => ({ ...ask(wire, 'x'), model: long('g', bytes) }),
  };
}

type OtherBody = { readonly name: string; readonly path: string; readonly body: Body };

/**
 * For the endpoints that count tokens: what is long for a model is long for them. Each body is for one
 * of them, because both count as a request of a model is counted.
 */
export function countBodies(bytes: number): OtherBody[] {
  return Object.entries(worstBodies(bytes)).map(([name, make], index) => {
    if (index % 2 === 0)
      return {
        name,
        path: '/v1/responses/input_tokens',
        body: { model: 'on-gemini', ...make('responses') },
      };
    const { max_tokens: _unknown, stop_sequences: _stops, ...messages } = make('messages');
    return {
      name,
      path: '/v1/messages/count_tokens',
      body: { model: 'on-messages', ...messages },
    };
  });
}

export function imageBodies(path: string, bytes: number): OtherBody[] {
  const png = 'data:image/png;base64,';
  const drawing = { model: 'gpt-image-flare', prompt: 'a fox' };
  const bodies: Readonly<Record<string, Body>> = {
    'a long prompt': { ...drawing, prompt: long('a', bytes) },
    'a prompt of quotes': { ...drawing, prompt: long('"', bytes / 2) },
    'a prompt of blanks': { ...drawing, prompt: long(' ', bytes) },
    'directives in the prompt': { ...drawing, prompt: long('sandbox: status=500\n', 30_000) },
    'a long image': { ...drawing, images: [png + long('iVBO', bytes)] },
    'a long image that is not base64': { ...drawing, images: [`${png}${long('iVBO', bytes)}!`] },
    'an image of spaces': { ...drawing, images: [long(' ', bytes)] },
    'a long address': { ...drawing, images: [`https://${long('a.', bytes)}`] },
    'many images': { ...drawing, images: many(() => `${png}iVBORw0KGgo=`) },
    'many addresses': { ...drawing, images: many((index) => `https://e.example/${index}`) },
    'a long size': { ...drawing, size: long('1', bytes) },
    'a long model': { ...drawing, model: long('gpt-image', bytes) },
    'unknown fields': { ...drawing, ...manyNamed(() => 1) },
    'lists for images': { ...drawing, images: many(() => []) },
  };
  return Object.entries(bodies).map(([name, body]) => ({ name, path, body }));
}

export function searchBodies(bytes: number): OtherBody[] {
  const bodies: Readonly<Record<string, Body>> = {
    'a long query': { query: long('a', bytes) },
    'a query of quotes': { query: long('"', bytes / 2) },
    'the longest query': { query: long('<', 2_000), num: 20 },
    'many numbers': { query: 'x', num: many((index) => index) },
    'unknown fields': { query: 'x', ...manyNamed(() => 1) },
  };
  return Object.entries(bodies).map(([name, body]) => ({ name, path: '/v1/web-search', body }));
}
