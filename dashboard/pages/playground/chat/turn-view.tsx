import { chatFormats } from '../../../api/chat-formats/registry.ts';
import { AnswerView } from './answer-view.tsx';
import { AttachmentList } from '../../../parts/messages/attachment-list.tsx';
import shared from '../../../parts/messages/messages.module.css';
import classes from './chat.module.css';
import { earlierResults, type StepPlace, type Turn } from './conversation.ts';
import type { Conversation } from './use-conversation.ts';

type Props = {
  readonly turn: Turn;
  readonly conversation: Conversation;
  readonly nameOf: (model: string) => string;
  readonly keyId: string;
  /** Null shows the replies of all columns side by side. */
  readonly shownColumn: number | null;
  readonly onShowCode: (place: StepPlace) => void;
};

/** A question and the models' answers. */
export function TurnView({ turn, conversation, nameOf, keyId, shownColumn, onShowCode }: Props) {
  const { turns, sendResults } = conversation;
  const replies = turn.replies.filter(
    ({ column }) => shownColumn === null || column === shownColumn,
  );
  const isLast = turn === turns.at(-1);
  return (
    <article className={classes.turn} aria-label={`Turn ${turn.id}`}>
      <div className={shared.question}>
        <AttachmentList attachments={turn.attachments} />
        {turn.text !== '' && <div className={shared.text}>{turn.text}</div>}
      </div>
      <div className={classes.replies} data-count={replies.length}>
        {replies.map(({ column, steps }) => (
          <section
            key={column}
            className={classes.reply}
            aria-label={`Answer of ${nameOf(steps[0]!.model)}`}
          >
            {steps.map((step, index) => {
              const place = { turn: turn.id, column, step: index };
              const canAnswer = isLast && index === steps.length - 1 && step.state === 'complete';
              return (
                <AnswerView
                  key={index}
                  step={step}
                  title={`${nameOf(step.model)} · ${chatFormats[turn.format].label}`}
                  isJson={turn.settings.schema !== null}
                  suggestionsFor={(tool) => earlierResults(turns, tool)}
                  onSendResults={canAnswer ? (results) => sendResults(place, results, keyId) : null}
                  onShowCode={() => onShowCode(place)}
                />
              );
            })}
          </section>
        ))}
      </div>
    </article>
  );
}
