import { Anchor, Text, UnstyledButton } from '@mantine/core';
import { lazy, Suspense } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import type { ToolResult } from '../../../api/chat-formats/types.ts';
import { CodeBlock } from '../../../parts/code-block.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { AppLink } from '../../../parts/link.tsx';
import { usdText } from '../../../parts/money-text.ts';
import { AttachmentList } from '../../../parts/messages/attachment-list.tsx';
import { Reasoning } from '../../../parts/messages/reasoning.tsx';
import shared from '../../../parts/messages/messages.module.css';
import { prettyJson } from '../../../parts/pretty-json.ts';
import { loadAgain } from '../../../parts/load-again.ts';
import { countedText, countText, durationText } from '../../../parts/number-text.ts';
import classes from './chat.module.css';
import type { Step } from './conversation.ts';
import { tokensPerSecond } from './speed.ts';
import { ToolCalls } from './tool-calls.tsx';

const Markdown = lazy(
  loadAgain(async () => ({ default: (await import('./markdown.tsx')).Markdown })),
);

type Props = {
  readonly step: Step;
  readonly title: string;
  /** The request asked for JSON, which is shown indented. */
  readonly isJson: boolean;
  readonly suggestionsFor: (tool: string) => readonly string[];
  /** Null: results of calls cannot be sent. */
  readonly onSendResults: ((results: readonly ToolResult[]) => void) | null;
  readonly onShowCode: () => void;
};

export function AnswerView(props: Props) {
  const { step, title, isJson, suggestionsFor, onSendResults, onShowCode } = props;
  const { progress, state, error, results, drafted = [] } = step;
  const { text, reasoning, calls, images = [] } = progress.answer;
  const isWaiting = state === 'running';
  return (
    <div className={classes.answer}>
      <Text size="sm" c="dimmed" mb={6}>
        {title}
      </Text>
      <Reasoning text={reasoning} isRunning={isWaiting && text === ''} />
      <div className={isWaiting ? classes.waiting : undefined} data-testid="answer">
        <AnswerText text={text} isJson={isJson} />
      </div>
      <AttachmentList attachments={images} />
      <ToolCalls
        calls={calls}
        results={results}
        drafted={drafted}
        suggestionsFor={suggestionsFor}
        onSend={onSendResults}
      />
      {error && <ErrorNotice error={error} />}
      {error && <ErrorLink error={error} />}
      {!isWaiting && <Figures step={step} onShowCode={onShowCode} />}
    </div>
  );
}

function AnswerText({ text, isJson }: { readonly text: string; readonly isJson: boolean }) {
  const json = isJson ? prettyJson(text) : null;
  if (json !== null) return <CodeBlock label="Answer as JSON" code={json} />;
  if (text === '') return null;
  return (
    <Suspense fallback={<div className={shared.text}>{text}</div>}>
      <Markdown text={text} />
    </Suspense>
  );
}

/** Errors of the connection have no page in the documentation. */
function ErrorLink({ error: { code } }: { readonly error: ApiError }) {
  if (['unreachable', 'broken_off', 'unknown'].includes(code)) return null;
  return (
    <Anchor href={`/docs/errors#${code}`} size="sm" mt={4} display="inline-block">
      About {code}
    </Anchor>
  );
}

function Figures({ step, onShowCode }: Pick<Props, 'step' | 'onShowCode'>) {
  const { progress, state } = step;
  const { answer, requestId, firstTokenMs, elapsedMs } = progress;
  const speed = state === 'complete' ? tokensPerSecond(progress) : null;
  return (
    <div className={classes.figures}>
      {state === 'stopped' && <span>Stopped. The tokens so far are charged.</span>}
      {answer.costMicros !== undefined && (
        <span className={classes.cost}>{usdText(answer.costMicros)}</span>
      )}
      {answer.inputTokens !== undefined && (
        <span>{countedText(answer.inputTokens, 'input token')}</span>
      )}
      {answer.outputTokens !== undefined && state === 'complete' && (
        <span>{countedText(answer.outputTokens, 'output token')}</span>
      )}
      {firstTokenMs !== null && <span>first token after {durationText(firstTokenMs)}</span>}
      {speed !== null && <span>{countText(speed)} tokens/s</span>}
      {state === 'complete' && elapsedMs > 0 && <span>{durationText(elapsedMs)} total</span>}
      {state === 'complete' && hitTokenLimit(answer.stop) && (
        <span>stopped at the token limit</span>
      )}
      {requestId !== null && state === 'complete' && (
        <AppLink
          to="/requests"
          search={(before) => ({ account: before.account, mode: before.mode, request: requestId })}
          inherit
        >
          View request
        </AppLink>
      )}
      <UnstyledButton className={classes.link} onClick={onShowCode}>
        Copy as code
      </UnstyledButton>
      {answer.text !== '' && <CopyButton text={answer.text} label="Copy answer" size="xs" />}
    </div>
  );
}

/** Compares with each format's own stop reason. */
function hitTokenLimit(stop: string | undefined): boolean {
  return stop === 'length' || stop === 'max_tokens' || stop === 'max_output_tokens';
}
