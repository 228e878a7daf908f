import { Tabs } from '@mantine/core';
import { CopyButton } from './copy-button.tsx';
import classes from './code-block.module.css';

type Props = {
  readonly code: string;
  /** Label for screen readers: `Request with curl`. */
  readonly label: string;
  /** Text to copy when it differs from the text shown, such as a masked secret. */
  readonly copied?: string;
  /** Long text: it scrolls within most of the screen's height. */
  readonly isHigh?: boolean;
};

/** Code with a copy button. Long lines wrap, so that nothing is out of sight. */
export function CodeBlock({ code, label, copied = code, isHigh = false }: Props) {
  return (
    <div className={classes.block}>
      <pre
        className={classes.code}
        data-high={isHigh || undefined}
        tabIndex={0}
        role="region"
        aria-label={label}
      >
        <code>{code}</code>
      </pre>
      <div className={classes.copy}>
        <CopyButton text={copied} label="Copy code" />
      </div>
    </div>
  );
}

type CodeSample = Props & { readonly language: string };

/** The same code in several languages: `<CodeTabs samples={[{ language: 'curl', label: 'With curl', code }]} />` */
export function CodeTabs({ samples }: { readonly samples: readonly CodeSample[] }) {
  return (
    <Tabs defaultValue={samples[0]?.language} keepMounted={false}>
      <Tabs.List aria-label="Language">
        {samples.map(({ language }) => (
          <Tabs.Tab key={language} value={language}>
            {language}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {samples.map(({ language, ...block }) => (
        <Tabs.Panel key={language} value={language} pt="sm">
          <CodeBlock {...block} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}
