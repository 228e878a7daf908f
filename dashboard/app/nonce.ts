// The policy of the page lets only styles with this answer's nonce be written into it.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Read by the packages that lock scrolling and hide what is behind a dialog.
Object.assign(globalThis, { __webpack_nonce__: nonce });

export function nonceOf(): string {
  return nonce;
}
