import { Text } from '@mantine/core';
import { AppLink } from '../../parts/link.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import { usdText } from '../../parts/money-text.ts';
import { countText, durationText } from '../../parts/number-text.ts';
import { chatFormats } from '../../api/chat-formats.ts';
import classes from './chat.module.css';
import type { Turn } from './use-conversation.ts';

type Props = {
  readonly turn: Turn;
  readonly names: readonly { readonly id: string; readonly name: string }[];
};

/** A question and its answer, as plain text. */
export function TurnView({ turn, names }: Props) {
  const { question, model, format, progress, state, error } = turn;
  const { text = '', reasoning = '' } = progress.answer;
  const isWaiting = state === 'running';
  return (
    <article className={classes.turn} aria-label={`Turn ${turn.id}`}>
      <div className={`${classes.question} ${classes.text}`}>{question}</div>
      <div className={classes.answer}>
        <Text size="sm" c="dimmed" mb={6}>
          {names.find(({ id }) => id === model)?.name ?? model} · {chatFormats[format].label}
        </Text>
        {reasoning !== '' && (
          <details className={classes.reasoning}>
            <summary>{isWaiting && text === '' ? 'Reasoning…' : 'Reasoning'}</summary>
            <div className={classes.text}>{reasoning}</div>
          </details>
        )}
        <div className={`${classes.text} ${isWaiting ? classes.waiting : ''}`} data-testid="answer">
          {text}
        </div>
        {error && <ErrorNotice error={error} />}
        <Figures turn={turn} />
      </div>
    </article>
  );
}

function Figures({ turn: { progress, state } }: { readonly turn: Turn }) {
  const { answer, requestId, firstTokenMs, elapsedMs } = progress;
  if (state === 'running') return null;
  return (
    <div className={classes.figures}>
      {state === 'stopped' && <span>Stopped. The tokens so far are charged.</span>}
      {answer.inputTokens !== undefined && (
        <span>{countText(answer.inputTokens)} input tokens</span>
      )}
      {answer.outputTokens !== undefined && state === 'complete' && (
        <span>{countText(answer.outputTokens)} output tokens</span>
      )}
      {answer.costMicros !== undefined && <span>{usdText(answer.costMicros)}</span>}
      {firstTokenMs !== null && <span>first token after {durationText(firstTokenMs)}</span>}
      {state === 'complete' && <span>{durationText(elapsedMs)} total</span>}
      {state === 'complete' && hitTokenLimit(answer.stop) && (
        <span>stopped at the token limit</span>
      )}
      {requestId !== null && state === 'complete' && (
        <AppLink
          to="/requests"
          search={(before) => ({ account: before.account, mode: before.mode, request: requestId })}
          inherit
        >
          {' '}
          View request{' '}
        </AppLink>
      )}
    </div>
  );
}

/** Compares with each format's own stop reason. */
function hitTokenLimit(stop: string | undefined): boolean {
  return stop === 'length' || stop === 'max_tokens' || stop === 'max_output_tokens';
}
