// The pages of the documentation in their order. A page is named by its file in `docs/`, without
// the ending, and has the same path below `/docs/`. Documents for contributors are not served.

/** Who reads a page. The navigation shows the pages of one audience. */
export type Audience = 'customers' | 'operators';

export type Section = {
  readonly title: string;
  readonly audience: Audience;
  readonly pages: readonly string[];
};

/** The names of the two parts, in the navigation. */
export const audiences: Readonly<Record<Audience, string>> = {
  customers: 'Use the API',
  operators: 'Operate it',
};

/** The page at `/docs` itself. */
export const homePage = 'guides/README';

/** Pages without a file in `docs/`, with their titles. */
export const madePages = {
  /** Written by the reader's browser from `/openapi.json`. */
  reference: 'API reference',
  'admin-reference': 'Admin API reference',
  /** Its tables are written by the gateway, with the prices in force. */
  models: 'Models and prices',
} as const;

export function isMade(name: string): name is keyof typeof madePages {
  return Object.hasOwn(madePages, name);
}

const customerSections: readonly Omit<Section, 'audience'>[] = [
  {
    title: 'Start',
    pages: [homePage, 'guides/quick-start', 'guides/test-mode', 'guides/models', 'models'],
  },
  {
    title: 'Guides',
    pages: [
      'guides/streaming',
      'guides/structured-output',
      'guides/tools',
      'guides/agents',
      'guides/reasoning',
      'guides/vision',
      'guides/pdfs',
      'guides/embeddings',
      'guides/images',
      'guides/speech',
      'guides/transcription',
      'guides/search',
      'guides/rerank',
      'guides/moderations',
      'guides/batches',
      'guides/completions',
      'guides/costs',
      'guides/caps',
      'guides/own-keys',
      'guides/idempotency',
      'guides/cache',
      'guides/errors',
    ],
  },
  {
    title: 'SDKs',
    pages: [
      'guides/openai-sdk',
      'guides/anthropic-sdk',
      'guides/google-sdk',
      'guides/vercel-ai-sdk',
      'guides/langchain',
      'guides/llamaindex',
    ],
  },
  {
    title: 'Agents and apps',
    pages: [
      'guides/codex',
      'guides/claude-code',
      'guides/opencode',
      'guides/qwen-code',
      'guides/aider',
      'guides/cline',
      'guides/roo-code',
      'guides/continue',
      'guides/cursor',
      'guides/zed',
      'guides/goose',
      'guides/n8n',
      'guides/open-webui',
      'guides/librechat',
    ],
  },
  {
    title: 'Migrate',
    pages: ['guides/from-openrouter', 'guides/from-litellm', 'guides/from-new-api'],
  },
  {
    title: 'Reference',
    pages: [
      'reference',
      'errors',
      'formats',
      'api',
      'images',
      'search',
      'test-mode',
      'limits',
      'webhooks',
      'api-changes',
      'breaking-changes',
    ],
  },
];

const operatorSections: readonly Omit<Section, 'audience'>[] = [
  {
    title: 'Set up',
    pages: ['deploying', 'configuration', 'settings', 'kubernetes', 'moving', 'upgrading'],
  },
  {
    title: 'Run',
    pages: [
      'operations',
      'metrics',
      'telemetry',
      'clouds',
      'routing',
      'own-keys',
      'billing',
      'image-files',
    ],
  },
  { title: 'People and access', pages: ['dashboard', 'sign-in', 'security'] },
  { title: 'Automate', pages: ['admin-api', 'admin-reference', 'command-line'] },
];

export const sections: readonly Section[] = [
  ...customerSections.map((section) => ({ ...section, audience: 'customers' as const })),
  ...operatorSections.map((section) => ({ ...section, audience: 'operators' as const })),
];

/** Returns the address of a page, as links have it. */
export function addressOf(page: string): string {
  return page === homePage ? '/docs' : `/docs/${page}`;
}

/** Returns the address of a page's text. */
export function markdownAddressOf(page: string): string {
  return `/docs/${page}.md`;
}
