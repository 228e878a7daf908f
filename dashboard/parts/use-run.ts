import { useState } from 'react';
import { toApiError, type ApiError } from '../api/api-error.ts';

/** Runs what a button starts: `start` never throws, and its error is for an `ErrorNotice`. */
export function useRun(run: () => Promise<unknown>) {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const start = async () => {
    setRunning(true);
    setError(null);
    try {
      await run();
    } catch (thrown) {
      setError(toApiError(thrown));
    } finally {
      setRunning(false);
    }
  };
  return { start, isRunning, error, setError };
}
