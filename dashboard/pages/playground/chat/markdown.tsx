// An answer as Markdown. Loaded with the first answer, because the parser is large.
import { CodeBlock } from '../../../parts/code-block.tsx';
import { markdownNodes } from './markdown-nodes.ts';
import classes from './markdown.module.css';

export function Markdown({ text }: { readonly text: string }) {
  return <div className={classes.markdown}>{markdownNodes(text, showCode)}</div>;
}

function showCode(code: string, language: string) {
  return <CodeBlock code={code} label={language === '' ? 'Code' : `Code in ${language}`} />;
}
