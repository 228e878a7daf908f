// Runs one request of a chat and reports the answer as it arrives.
import { callWithKey, type KeyCall } from './call-with-key.ts';
import { ApiError } from './api-error.ts';
import { readEventStream } from './event-stream.ts';
import { noAnswer, type Answer, type ChatFormat, type ChatRequest } from './chat-formats/types.ts';

export type Progress = {
  readonly answer: Answer;
  readonly requestId: string | null;
  /** Time from sending the request to the first text, reasoning or call. */
  readonly firstTokenMs: number | null;
  readonly elapsedMs: number;
};

export const noProgress: Progress = {
  answer: noAnswer,
  requestId: null,
  firstTokenMs: null,
  elapsedMs: 0,
};

type ChatRun = Pick<KeyCall, 'account' | 'key' | 'signal'> & {
  readonly format: ChatFormat;
  readonly request: ChatRequest;
};

/**
 * Resolves when the answer is complete. Throws ApiError when the request fails or the answer ends
 * early, and the signal's reason when the caller aborts it.
 */
export async function runChat(
  { format, request, ...call }: ChatRun,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const startMs = performance.now();
  const response = await callWithKey({
    ...call,
    path: format.path,
    body: format.writeBody(request),
  });
  let progress: Progress = { ...noProgress, requestId: response.headers.get('x-request-id') };
  const report = (answer: Answer) => {
    const elapsedMs = performance.now() - startMs;
    const isFirst = progress.firstTokenMs === null && hasTokens(answer);
    const firstTokenMs = isFirst ? elapsedMs : progress.firstTokenMs;
    progress = { ...progress, answer, firstTokenMs, elapsedMs };
    onProgress(progress);
  };
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    report(format.readAnswer(await response.json()));
    return;
  }
  for await (const event of readEventStream(response.body!)) {
    if (event.data !== '[DONE]')
      report(format.readEvent(progress.answer, event.event ?? '', JSON.parse(event.data)));
    const { error } = progress.answer;
    if (error) throw new ApiError({ status: 200, ...error, requestId: progress.requestId });
  }
  if (progress.answer.stop === undefined)
    throw new ApiError({
      status: 200,
      code: 'broken_off',
      message: 'The connection was lost before the answer was complete.',
      requestId: progress.requestId,
    });
}

/** Returns true when the answer has something from the model. */
export function hasTokens({ text, reasoning, calls }: Answer): boolean {
  return text !== '' || reasoning !== '' || calls.length > 0;
}
