// One turn of a chat: asks, and tells of the answer as it comes.
import { callWithKey, costInComment, costInHead, type KeyCall } from '../../api/call-with-key.ts';
import { ApiError } from '../../api/api-error.ts';
import { readEventStream } from '../../api/event-stream.ts';
import { addPiece, type Ask, type ChatFormat, type Piece } from './chat-formats.ts';

export type Progress = {
  readonly answer: Piece;
  /** null: not told yet. */
  readonly costMicros: number | null;
  readonly requestId: string | null;
  /** From the sending to the first piece that has something to read. */
  readonly firstByteMs: number | null;
  readonly elapsedMs: number;
};

export const nothingYet: Progress = { answer: {}, costMicros: null, requestId: null, firstByteMs: null, elapsedMs: 0 };

type ChatRun = Pick<KeyCall, 'account' | 'key' | 'signal'> & { readonly format: ChatFormat; readonly ask: Ask };

/** Resolves when the answer is complete. Throws ApiError, also where the answer breaks off, and the signal's reason when it was stopped. */
export async function runChat({ format, ask, ...call }: ChatRun, tell: (progress: Progress) => void): Promise<void> {
  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  const response = await callWithKey({ ...call, path: format.path, body: format.writeBody(ask) });
  let progress: Progress = { ...nothingYet, requestId: response.headers.get('x-request-id') };
  const note = (piece: Piece, costMicros: number | null) => {
    const isFirst = progress.firstByteMs === null && Boolean(piece.text ?? piece.reasoning);
    progress = {
      ...progress,
      answer: addPiece(progress.answer, piece),
      costMicros: costMicros ?? progress.costMicros,
      firstByteMs: isFirst ? elapsedMs() : progress.firstByteMs,
      elapsedMs: elapsedMs(),
    };
    tell(progress);
  };
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    note(format.readAnswer(await response.json()), costInHead(response));
    return;
  }
  for await (const part of readEventStream(response.body!)) {
    if (part.kind === 'comment') note({}, costInComment(part.text));
    else if (part.data !== '[DONE]') note(format.readEvent(part.event, JSON.parse(part.data)), null);
    const { error } = progress.answer;
    if (error) throw new ApiError({ status: 200, ...error, requestId: progress.requestId });
  }
  if (progress.answer.stop === undefined)
    throw new ApiError({
      status: 200,
      code: 'broken_off',
      message: 'The connection broke before the answer was complete.',
      requestId: progress.requestId,
    });
}
