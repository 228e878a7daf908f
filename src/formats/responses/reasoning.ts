// The content of a reasoning item, for readers and writers: OpenAI shows summaries, other hosts
// (DeepSeek, gpt-oss) the raw text.
import type { ThinkingPart } from '../../canonical/request.ts';
import { objectOf, textOf, listOf } from '../../lib/json.ts';
import { openReasoning } from '../sealed-reasoning.ts';

/** Separates the sections of a summary, each a paragraph. */
export const sectionSeparator = '\n\n';

export type SectionKind = 'content' | 'summary';

/** Returns null when the item holds nothing to use or show, like the one that we insert. */
export function readReasoning(item: Readonly<Record<string, unknown>>): ThinkingPart | null {
  const opened = openReasoning(item.encrypted_content);
  const text =
    opened?.text ?? readSections(item, chooseSections(item)).filter(Boolean).join(sectionSeparator);
  if (text === '' && !opened) return null;
  return {
    type: 'thinking',
    text,
    signature: opened?.signature ?? null,
    redacted: opened?.redacted ?? false,
  };
}

/** Prefers the raw text to its summary. */
export function chooseSections(item: Readonly<Record<string, unknown>>): SectionKind {
  return readSections(item, 'content').some((text) => text !== '') ? 'content' : 'summary';
}

export function readSections(item: Readonly<Record<string, unknown>>, kind: SectionKind): string[] {
  return listOf(item[kind]).map((section) => textOf(objectOf(section).text));
}
