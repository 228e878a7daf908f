import { useEffect, useRef, type RefObject } from 'react';

/** Closer to the end than this is at the end. */
const nearPixels = 40;

/** For what grows at its end: it is kept in sight, unless the reader has gone back to what stands above. */
export function useFollowedEnd(): RefObject<HTMLDivElement | null> {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = ref.current;
    if (!element) return;
    let isFollowed = true;
    const note = () => {
      isFollowed = element.scrollHeight - element.scrollTop - element.clientHeight < nearPixels;
    };
    const observer = new MutationObserver((mutations) => {
      // What is added at the top level is new, and what the reader has just asked for.
      if (mutations.some(({ target }) => target === element)) isFollowed = true;
      if (isFollowed) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener('scroll', note);
    observer.observe(element, { childList: true, subtree: true, characterData: true });
    return () => {
      element.removeEventListener('scroll', note);
      observer.disconnect();
    };
  }, []);
  return ref;
}
