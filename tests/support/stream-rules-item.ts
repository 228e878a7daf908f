// Rules inside one output item of a Responses stream: parts open and close in order, and `.done`
// events repeat the deltas.
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Json } from './stream-rules-frames.ts';

/** The field of a `.done` event with the whole text, by the event's name without its suffix. */
const textFields: Readonly<Record<string, string>> = {
  'response.output_text': 'text',
  'response.refusal': 'refusal',
  'response.reasoning_text': 'text',
  'response.reasoning_summary_text': 'text',
  'response.function_call_arguments': 'arguments',
  'response.custom_tool_call_input': 'input',
  'response.mcp_call_arguments': 'arguments',
  'response.code_interpreter_call_code': 'code',
};

const partLists = {
  'response.content_part': 'content_index',
  'response.reasoning_summary_part': 'summary_index',
} as const;

type Text = { readonly name: string; readonly index: number | undefined; said: string };

export class ItemRules {
  readonly #item: Json;
  readonly #straight: boolean;
  /** The text whose deltas are arriving. */
  #text: Text | null = null;
  /** Finished texts, in order. */
  readonly #texts: Text[] = [];
  #part: { readonly name: string; readonly index: number; annotations: unknown[] } | null = null;
  readonly #parts: Record<string, Json[]> = { content_index: [], summary_index: [] };

  constructor(item: Json, straight: boolean) {
    this.#item = item;
    this.#straight = straight;
    if (item['type'] === 'function_call')
      assert.equal(item['id'], item['call_id'], "a function call's id is its call_id");
  }

  take(event: Json): void {
    const type = String(event['type']);
    if ('item_id' in event)
      assert.equal(event['item_id'], this.#item['id'], `${type} names the open item`);
    const [name, ending] = splitAtLastDot(type);
    if (name === 'response.web_search_call' || name === 'response.image_generation_call')
      return assert.equal(`response.${this.#item['type']}`, name, `${type} is of its tool`);
    if (name in partLists)
      return ending === 'added' ? this.#openPart(name, event) : this.#closePart(name, event);
    if (type === 'response.output_text.annotation.added') return this.#annotate(event);
    if (!(name in textFields))
      return assert.ok(this.#straight, `an event of no known type: ${type}`);
    if (ending === 'delta') this.#say(name, event);
    else this.#endText(name, event);
  }

  /**
   * An item keeps its announced id, type and names. Its texts and parts are those that were
   * streamed.
   */
  end(item: Json): void {
    assert.equal(this.#part, null, 'every part is done');
    assert.equal(this.#text, null, `every text is done: ${this.#text?.name}`);
    for (const field of ['id', 'type', 'call_id', 'name'])
      assert.equal(item[field], this.#item[field], `the item keeps its ${field}`);
    const whole = { function_call: 'arguments', custom_tool_call: 'input' }[item['type'] as string];
    if (whole)
      assert.equal(
        item[whole],
        this.#texts.map(({ said }) => said).join(''),
        'the item holds what was streamed',
      );
    if (item['type'] === 'message') this.#checkParts(item['content'], 'content_index');
    if (item['type'] === 'reasoning') this.#checkReasoning(item);
  }

  #openPart(name: string, { part, ...at }: Json): void {
    assert.equal(this.#part, null, 'parts do not overlap');
    const index = at[indexField(name)];
    assert.equal(index, this.#parts[indexField(name)]!.length, 'parts are numbered without gaps');
    assert.equal(part.text ?? part.refusal, '', 'a part is announced empty');
    this.#part = { name, index, annotations: [] };
  }

  #closePart(name: string, { part, ...at }: Json): void {
    assert.ok(
      this.#part?.name === name && at[indexField(name)] === this.#part.index,
      'the part that is open is done',
    );
    assert.equal(this.#text, null, 'the text of a part is done before the part');
    const said = this.#texts
      .filter(({ index }) => index === this.#part!.index)
      .map((text) => text.said);
    assert.equal(part.text ?? part.refusal, said.at(-1), 'the part holds what was streamed');
    if (this.#part.annotations.length > 0 || !this.#straight)
      assert.deepEqual(
        part.annotations ?? [],
        this.#part.annotations,
        'the part holds its annotations',
      );
    this.#parts[indexField(name)]!.push(part);
    this.#part = null;
  }

  #annotate({ annotation_index: index, annotation, content_index: at }: Json): void {
    assert.equal(at, this.#part?.index, 'an annotation is of the open part');
    assert.equal(index, this.#part!.annotations.length, 'annotations are numbered without gaps');
    this.#part!.annotations.push(annotation);
  }

  #say(name: string, event: Json): void {
    const index = indexOf(event);
    assert.equal(typeof event['delta'], 'string');
    this.#checkPlace(name, index);
    this.#text ??= { name, index, said: '' };
    assert.deepEqual([name, index], [this.#text.name, this.#text.index], 'texts do not overlap');
    this.#text.said += event['delta'];
  }

  /**
   * Text belongs to a part. Raw reasoning has none, because the official SDK knows no reasoning
   * parts.
   */
  #checkPlace(name: string, index: number | undefined): void {
    if (index === undefined || name === 'response.reasoning_text') return;
    assert.equal(this.#part?.index, index, `${name} is of the open part`);
  }

  #endText(name: string, event: Json): void {
    const index = indexOf(event);
    this.#checkPlace(name, index);
    const text = this.#text ?? { name, index, said: '' };
    this.#text = null;
    assert.deepEqual([name, index], [text.name, text.index], 'the text that is open is done');
    assert.equal(event[textFields[name]!], text.said, `${name}.done holds the whole text`);
    this.#texts.push(text);
  }

  #checkParts(parts: unknown, list: string): void {
    assert.ok(
      isDeepStrictEqual(parts, this.#parts[list]),
      `the item holds its parts: ${JSON.stringify([parts, this.#parts[list]])}`,
    );
  }

  #checkReasoning({ content, summary }: Json): void {
    this.#checkParts(summary, 'summary_index');
    const raw = this.#texts
      .filter(({ name }) => name === 'response.reasoning_text')
      .map(({ said }) => said);
    const inItem = ((content ?? []) as Json[]).map((part) => part['text']);
    assert.deepEqual(
      inItem.filter(Boolean),
      raw.filter(Boolean),
      'the item holds the reasoning that was streamed',
    );
  }
}

function splitAtLastDot(type: string): [name: string, ending: string] {
  const at = type.lastIndexOf('.');
  return [type.slice(0, at), type.slice(at + 1)];
}

function indexField(name: string): 'content_index' | 'summary_index' {
  return partLists[name as keyof typeof partLists];
}

function indexOf(event: Json): number | undefined {
  return (event['content_index'] ?? event['summary_index']) as number | undefined;
}
