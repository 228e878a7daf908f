// A name in one line. Where there is no room it is cut, and the whole is in a tooltip.
import { Text, Tooltip, type TextProps } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import classes from './cut-text.module.css';

type Props = Omit<TextProps, 'children'> & {
  readonly text: string;
  /** On a line of its own. */
  readonly block?: boolean;
  /** An element that shows the text, such as a link. Default: the text alone. */
  readonly children?: ReactNode;
};

/**
 * `<CutText text={key.name} fw={500} />`. A cut name can be focused, unless it is within a button or
 * a link, or has one: those can be focused already. On a phone it wraps and is never cut.
 */
export function CutText({ text, block = false, children = text, ...look }: Props) {
  const name = useRef<HTMLSpanElement>(null);
  const [cut, setCut] = useState<'no' | 'alone' | 'in-control'>('no');
  useEffect(() => {
    const element = name.current!;
    const isInControl =
      (element.closest('a, button') ?? element.querySelector('a, button')) !== null;
    return watchSize(element, () => {
      const isCut = element.scrollWidth > element.clientWidth;
      setCut(isCut ? (isInControl ? 'in-control' : 'alone') : 'no');
    });
  }, []);
  return (
    <Tooltip label={text} disabled={cut === 'no'} multiline maw={480}>
      <Text
        span
        inherit
        className={classes.box}
        data-block={block || undefined}
        __vars={{ '--letters': String(text.length) }}
        tabIndex={cut === 'alone' ? 0 : undefined}
        {...look}
      >
        <span ref={name} dir="auto" className={classes.name}>
          {children}
        </span>
      </Text>
    </Tooltip>
  );
}

const watched = new WeakMap<Element, () => void>();
/** One for all names of a page. */
const observer = new ResizeObserver((changes) => {
  for (const { target } of changes) watched.get(target)?.();
});

/** Calls `onSize` now and after each change of the size, until the returned function is called. */
function watchSize(element: Element, onSize: () => void): () => void {
  watched.set(element, onSize);
  observer.observe(element);
  return () => observer.unobserve(element);
}
