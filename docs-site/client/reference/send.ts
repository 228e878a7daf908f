// Sends a request of the reference page and reports its answer as it arrives.
import { readKey } from '../key.ts';
import type { SampleRequest } from './request.ts';

export type Progress = {
  readonly status: string;
  readonly isOk: boolean;
  readonly elapsedMs: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The answer as it came, to `rawMax` characters. */
  readonly raw: string;
  /** The characters after `raw`. */
  readonly leftOut: number;
};

/** An answer can be endless. */
const rawMax = 5_000_000;
const reportEveryMs = 100;

const shownHeaders =
  /^(?:x-request-id|retry-after|content-type|x-ratelimit-remaining-.+|x-.+-(?:cost-micros|balance-cents|route|attempts|mode|cache|ignored|emulated))$/;

/**
 * Reports at the start of the answer, several times a second while it arrives, and at its end.
 * Throws when the connection fails.
 */
export async function send(
  { method, url, headers: own, body }: SampleRequest,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const startMs = performance.now();
  // The key alone decides: a reader who is signed in to the dashboard is nobody else here.
  const headers = { ...own, Authorization: `Bearer ${readKey()}` };
  const request = { method, headers, body, signal, credentials: 'omit' } as const;
  const response = await fetch(url, request);
  let raw = '';
  let leftOut = 0;
  let reportedMs = 0;
  const report = () => {
    reportedMs = performance.now();
    onProgress({
      status: `${response.status} ${response.statusText}`.trim(),
      isOk: response.ok,
      elapsedMs: reportedMs - startMs,
      headers: [...response.headers].filter(([name]) => shownHeaders.test(name)),
      raw,
      leftOut,
    });
  };
  report();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const taken = value.slice(0, rawMax - raw.length);
      raw += taken;
      leftOut += value.length - taken.length;
      if (performance.now() - reportedMs > reportEveryMs) report();
    }
  } finally {
    report();
  }
}

/** Returns the text of an event stream in any of the three formats; null for other answers. */
export function streamedText(raw: string): string | null {
  if (!/^(?:event|data|:)/.test(raw)) return null;
  const texts = raw.split('\n').map((line) => {
    if (!line.startsWith('data: {')) return '';
    try {
      return deltaOf(JSON.parse(line.slice('data: '.length)) as StreamedEvent);
    } catch {
      return ''; // The rest of the line has not arrived.
    }
  });
  return texts.join('');
}

type StreamedEvent = {
  readonly type?: string;
  readonly delta?: string | { readonly text?: string };
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
};

function deltaOf({ type, delta, choices }: StreamedEvent): string {
  if (choices) return choices[0]?.delta?.content ?? '';
  if (typeof delta === 'string') return type === 'response.output_text.delta' ? delta : '';
  return delta?.text ?? '';
}

/** Returns the code of an error in any shape; null when there is none. */
export function errorCode(raw: string): string | null {
  try {
    const { error } = JSON.parse(raw) as { readonly error?: { readonly code?: string } };
    return error?.code ?? null;
  } catch {
    return null;
  }
}
