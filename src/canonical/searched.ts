// A web search that the gateway ran for a model, as a part of its answer.
import type { AssistantPart } from './request.ts';

/** Only in answers: the next request shows it to the model as a call and its result. */
export type SearchPart = {
  readonly type: 'search';
  /** null: the model sent none. */
  readonly query: string | null;
  readonly found: readonly SearchedPage[] | SearchFailure;
};

export type SearchEvent =
  /** It begins; the part ends it. */
  { readonly type: 'search-start'; readonly query: string | null } | SearchPart;

export type SearchedPage = {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** `2026-01-05`; null when unknown. */
  readonly date: string | null;
};

/** The names are Anthropic's. */
export type SearchFailure = 'invalid_tool_input' | 'max_uses_exceeded' | 'unavailable';

/** A part of an answer that may hold searches. */
export type AnswerPart = AssistantPart | SearchPart;

/** The function by which a model without a search of its own asks the gateway for one. */
export const searchFunction = {
  name: 'web_search',
  description: 'Searches the web. Returns numbered titles, addresses and excerpts of pages.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to search for.' } },
    required: ['query'],
  },
};
