// The HTML that starts the web app, with links to the code of the page at an address. The browser
// then loads that code together with the app, instead of after it.

/** Vite's list of the built files, by the source of each. */
export type Manifest = Readonly<
  Record<string, { readonly file: string; readonly imports?: readonly string[] }>
>;

/** Pages whose folder is not named like their address. */
const otherFolders: Readonly<Record<string, string>> = {
  '/': '/overview',
  '/operator': '/operator/home',
};

export class DashboardPage {
  readonly #html: string;
  readonly #manifest: Manifest;
  readonly #linksOf = new Map<string, string>();

  constructor(html: string, manifest: Manifest) {
    this.#html = html;
    this.#manifest = manifest;
  }

  /** Returns the HTML. A page that is not found just loads its code later. */
  withCodeOf(url: string): string {
    const path = url.split('?')[0]!.replace(/(.)\/$/, '$1');
    const source = `pages${otherFolders[path] ?? path}/page.tsx`;
    if (this.#manifest[source] === undefined) return this.#html;
    const links = this.#linksOf.get(source) ?? this.#makeLinks(source);
    this.#linksOf.set(source, links);
    return this.#html.replace('</head>', `${links}</head>`);
  }

  #makeLinks(source: string): string {
    const files = [...this.#filesOf(source)].filter((file) => !this.#html.includes(file));
    return files.map((file) => `<link rel="modulepreload" crossorigin href="/${file}">\n`).join('');
  }

  #filesOf(source: string, found = new Set<string>()): ReadonlySet<string> {
    const { file, imports = [] } = this.#manifest[source]!;
    if (found.has(file)) return found;
    found.add(file);
    for (const each of imports) this.#filesOf(each, found);
    return found;
  }
}
