// The pages of the documentation in their order. A page is named by its file in `docs/`, without
// the ending, and has the same path below `/docs/`. Documents for contributors are not served.

export type Section = {
  readonly title: string;
  /** Code in its pages shows the address and the key of the reader. */
  readonly fillsCode: boolean;
  readonly pages: readonly string[];
};

/** The page at `/docs` itself. */
export const homePage = 'guides/README';

/** Written by the reader's browser from `/openapi.json`. */
export const referencePage = { name: 'reference', title: 'API reference' };

export const sections: readonly Section[] = [
  {
    title: 'Start',
    fillsCode: true,
    pages: [homePage, 'guides/quick-start', 'guides/test-mode', 'guides/models'],
  },
  {
    title: 'Guides',
    fillsCode: true,
    pages: [
      'guides/streaming',
      'guides/costs',
      'guides/caps',
      'guides/idempotency',
      'guides/cache',
      'guides/tools',
      'guides/images',
      'guides/search',
      'guides/errors',
    ],
  },
  {
    title: 'SDKs',
    fillsCode: true,
    pages: [
      'guides/openai-sdk',
      'guides/anthropic-sdk',
      'guides/vercel-ai-sdk',
      'guides/langchain',
      'guides/llamaindex',
    ],
  },
  {
    title: 'Agents and apps',
    fillsCode: true,
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
    fillsCode: true,
    pages: ['guides/from-openrouter', 'guides/from-litellm', 'guides/from-new-api'],
  },
  {
    title: 'Reference',
    fillsCode: true,
    pages: [
      referencePage.name,
      'errors',
      'formats',
      'api',
      'images',
      'search',
      'test-mode',
      'limits',
    ],
  },
  {
    title: 'For operators',
    fillsCode: false,
    pages: [
      'configuration',
      'settings',
      'command-line',
      'admin-api',
      'deploying',
      'operations',
      'metrics',
      'upgrading',
      'moving',
      'kubernetes',
      'telemetry',
      'routing',
      'billing',
      'image-files',
      'dashboard',
      'sign-in',
      'security',
    ],
  },
];

/** Returns the address of a page, as links have it. */
export function addressOf(page: string): string {
  return page === homePage ? '/docs' : `/docs/${page}`;
}
