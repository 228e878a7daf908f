// A text of the API with its Markdown code and links to the documentation shown as such.
import { Anchor, Code } from '@mantine/core';

export function WithCode({ text }: { readonly text: string }) {
  return text.split(/(`[^`]*`|\[[\w .-]*\]\([\w-]+\.md(?:#[\w-]+)?\))/).map((part, index) => {
    if (index % 2 === 0) return part;
    if (part.startsWith('`')) return <Code key={index}>{part.slice(1, -1)}</Code>;
    const [name, page] = part.slice(1, -1).split('](');
    return (
      <Anchor key={index} inherit href={`/docs/${page!.replace('.md', '')}`} underline="always">
        {name!.replace('.md', '')}
      </Anchor>
    );
  });
}
