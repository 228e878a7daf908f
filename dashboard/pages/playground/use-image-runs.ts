// The image requests of this page, newest first.
import { useEffect, useRef, useState } from 'react';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import { callWithKey, costFromHeaders } from '../../api/call-with-key.ts';
import { useAccount } from '../../api/account.ts';
import type { Json } from '../../api/chat-formats/types.ts';

export type ImageRun = {
  readonly id: number;
  readonly prompt: string;
  /** Name of the model. */
  readonly model: string;
  readonly state: 'running' | 'complete' | 'stopped' | 'failed';
  /** Paths on this origin. */
  readonly images: readonly string[];
  readonly costMicros: number | null;
  readonly elapsedMs: number | null;
  readonly error: ApiError | null;
};

type ImageRequest = {
  readonly key: string;
  readonly prompt: string;
  readonly model: string;
  readonly body: Json;
};

export function useImageRuns() {
  const { id: account } = useAccount();
  const [runs, setRuns] = useState<readonly ImageRun[]>([]);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (id: number, { key, body }: ImageRequest) => {
    const controller = new AbortController();
    running.current = controller;
    const change = (patch: Partial<ImageRun>) =>
      setRuns((before) => before.map((each) => (each.id === id ? { ...each, ...patch } : each)));
    const startMs = performance.now();
    try {
      const response = await callWithKey({
        account,
        key,
        path: '/v1/images/generations',
        body,
        signal: controller.signal,
      });
      const images = imagesOf(await response.json());
      change({
        state: 'complete',
        images,
        costMicros: costFromHeaders(response),
        elapsedMs: performance.now() - startMs,
      });
    } catch (thrown) {
      if (controller.signal.aborted) change({ state: 'stopped' });
      else change({ state: 'failed', error: toApiError(thrown) });
    } finally {
      if (running.current === controller) running.current = null;
    }
  };

  const start = (request: ImageRequest) => {
    const id = (runs[0]?.id ?? 0) + 1;
    const { prompt, model } = request;
    const started: ImageRun = {
      id,
      prompt,
      model,
      state: 'running',
      images: [],
      costMicros: null,
      elapsedMs: null,
      error: null,
    };
    setRuns([started, ...runs]);
    void run(id, request);
  };
  return {
    runs,
    isRunning: runs.some(({ state }) => state === 'running'),
    start,
    stop: () => running.current?.abort(),
  };
}

/**
 * Turns links to the gateway's public address into paths on this origin, which serves the same
 * files.
 */
function imagesOf(answer: unknown): readonly string[] {
  const { data } = answer as { readonly data: readonly { readonly url: string }[] };
  return data.map(({ url }) => {
    const { pathname, search } = new URL(url, location.origin);
    return pathname + search;
  });
}
