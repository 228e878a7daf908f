// A text of the API with its Markdown code shown as code.
import { Code } from '@mantine/core';

export function WithCode({ text }: { readonly text: string }) {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? <Code key={index}>{part}</Code> : part));
}
