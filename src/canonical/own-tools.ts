// Tools that the gateway runs for a model: the functions by which it asks for them, and what they give as
// parts of its answer.
import type { AssistantPart, MediaSource } from './request.ts';

/** Only in answers: the next request shows it to the model as a call and its result. */
export type SearchPart = {
  readonly type: 'search';
  /** null: the model sent none. */
  readonly query: string | null;
  readonly found: readonly SearchedPage[] | SearchFailure;
};

export type SearchedPage = {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** `2026-01-05`; null when unknown. */
  readonly date: string | null;
};

/** The names are Anthropic's. */
export type SearchFailure = 'invalid_tool_input' | 'max_uses_exceeded' | 'unavailable';

/** An image that the gateway drew. The next request shows the model its prompt only. */
export type DrawingPart = {
  readonly type: 'drawing';
  /** null: the model sent none. */
  readonly prompt: string | null;
  readonly drawn: DrawnImage | DrawingFailure;
};

/** A tool begins; its part ends it. */
export type OwnToolEvent =
  | { readonly type: 'search-start'; readonly query: string | null }
  | { readonly type: 'drawing-start'; readonly prompt: string | null }
  /** An image while it is drawn. `index`: from 0. */
  | { readonly type: 'drawing-partial'; readonly index: number; readonly base64: string }
  | SearchPart
  | DrawingPart;

/** As it was asked for; null: by other fields. */
type DrawnImage = {
  readonly source: MediaSource;
  readonly size: string | null;
  readonly quality: string | null;
  readonly action: 'generate' | 'edit';
};

/** `refused`: by the provider, for its prompt. `unreadable`: an image to change, or there is none. */
export type DrawingFailure = 'no-prompt' | 'too-many' | 'refused' | 'unreadable' | 'unavailable';

/** A part of an answer that may hold what tools of the gateway gave. */
export type AnswerPart = AssistantPart | SearchPart | DrawingPart;

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

/** The function by which a model asks the gateway for an image. */
export const imageFunction = {
  name: 'generate_image',
  description: 'Draws an image from a description, and shows it to the user.',
  parameters: {
    type: 'object',
    properties: { prompt: { type: 'string', description: 'What to draw, in all detail.' } },
    required: ['prompt'],
  },
};

/** The same where images of the conversation, so many, can be changed. `mustEdit`: one has to be. */
export function editingFunction(count: number, mustEdit: boolean): OwnFunction {
  const { parameters } = imageFunction;
  const { properties, required } = parameters;
  const whenNew = mustEdit ? '' : ' Leave it out for a new image.';
  const images = {
    type: 'array',
    items: { type: 'integer' },
    description: `The images to change or to draw from, by their numbers: 1 is the first image of this conversation, ${count} the last.${whenNew}`,
  };
  return {
    ...imageFunction,
    description:
      'Draws an image from a description, or changes images of this conversation, and shows it to the user.',
    parameters: {
      ...parameters,
      properties: { ...properties, images },
      required: mustEdit ? [...required, 'images'] : required,
    },
  };
}

export type OwnFunction = Pick<typeof imageFunction, 'name' | 'description'> & {
  readonly parameters: object;
};
