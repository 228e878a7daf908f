// What is kept about a request beside its columns in `request_log`.
import type { RequestTry } from '../../events/request-try.ts';
import { modelNameOf } from '../../events/request-spans.ts';
import { isObject } from '../../lib/json.ts';

export type RequestNotes = {
  /** The model's name as it was sent; absent when no model could have it. */
  readonly askedModel?: string;
  /** Absent when the provider worded the message, because it may quote the prompt. */
  readonly errorMessage?: string;
  /** The field at fault. */
  readonly errorParam?: string;
  readonly address?: string;
  readonly traceId?: string;
  /** Why the model stopped. */
  readonly finish?: string;
  /** The client disconnected before it had the whole answer. */
  readonly isClientGone?: true;
  /** The calls to providers, in order. */
  readonly tries?: readonly RequestTry[];
};

/** Names and messages are cut, so that a row stays small. */
const nameCharactersMax = 200;
const messageCharactersMax = 500;

type Noted = {
  readonly [Name in keyof RequestNotes]: RequestNotes[Name] | null | undefined;
};

/** Everything that a client has sent is cut. Fields without a value are left out. */
export function writeNotes(notes: Omit<Noted, 'isClientGone'>, isClientGone: boolean): string {
  const cut = (text: string | null | undefined, max: number) =>
    typeof text === 'string' ? text.slice(0, max).toWellFormed().replaceAll('\0', '') : undefined;
  return JSON.stringify({
    askedModel: modelNameOf(notes.askedModel),
    errorMessage: cut(notes.errorMessage, messageCharactersMax),
    errorParam: cut(notes.errorParam, nameCharactersMax),
    address: cut(notes.address, nameCharactersMax),
    traceId: cut(notes.traceId, nameCharactersMax),
    finish: notes.finish ?? undefined,
    isClientGone: isClientGone || undefined,
    tries: notes.tries ?? undefined,
  });
}

export function readNotes(details: string): RequestNotes {
  const notes: unknown = JSON.parse(details);
  return isObject(notes) ? notes : {};
}
