import { useEffect, useRef, type RefObject } from 'react';

/** Distance from the bottom that still counts as the bottom. */
const nearPixels = 40;

/** Keeps a growing element scrolled to the bottom, unless the reader has scrolled up. */
export function useStickToBottom(): RefObject<HTMLDivElement | null> {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    let isAtBottom = true;
    const readPosition = () => {
      isAtBottom = element.scrollHeight - element.scrollTop - element.clientHeight < nearPixels;
    };
    const observer = new MutationObserver((mutations) => {
      // A new top-level element is the reader's new question.
      if (mutations.some(({ target }) => target === element)) isAtBottom = true;
      if (isAtBottom) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener('scroll', readPosition);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      element.removeEventListener('scroll', readPosition);
      observer.disconnect();
    };
  }, []);
  return ref;
}
