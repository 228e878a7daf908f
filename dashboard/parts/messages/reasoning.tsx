import classes from './messages.module.css';

type Props = { readonly text: string; readonly isRunning?: boolean };

/** Shows a model's thoughts, closed at first. */
export function Reasoning({ text, isRunning = false }: Props) {
  if (text === '') return null;
  return (
    <details className={classes.reasoning}>
      <summary>{isRunning ? 'Reasoning…' : 'Reasoning'}</summary>
      <div className={classes.text}>{text}</div>
    </details>
  );
}
