import type { InvokeOptions } from '../../tool.ts'
import type { DocumentHit, DocumentIndex } from './document-index.ts'

interface RagQueryOptions {
  /** A folder of Markdown and text files, read on the first query. */
  folder: string
}

interface RagQueryArgs {
  query: string
  limit?: number
}

interface RagQueryResult {
  query: string
  results: DocumentHit[]
  /** What to say: the best passage and its source, or that nothing was found. */
  text: string
}

const DEFAULT_LIMIT = 5

type RagQuery = (args: RagQueryArgs, options?: Pick<InvokeOptions, 'signal'>) => Promise<RagQueryResult>

/** The internal handler `rag_query`: searches a folder of documents. */
export function createRagQuery({ folder }: RagQueryOptions): RagQuery {
  let opening: Promise<DocumentIndex> | undefined
  return async ({ query, limit = DEFAULT_LIMIT }, options) => {
    options?.signal.throwIfAborted()
    opening ??= import('./document-index.ts').then(({ DocumentIndex }) => new DocumentIndex(folder))
    const index = await opening
    const results = await index.search(query, limit)
    options?.signal.throwIfAborted()
    return { query, results, text: describe(query, results, index.fileCount) }
  }
}

function describe(query: string, [best]: readonly DocumentHit[], fileCount: number): string {
  if (best) return `${best.heading} (${best.file}): ${best.text}`
  if (fileCount === 0) return `Nothing was found for "${query}": the folder has no Markdown or text files.`
  return `Nothing was found for "${query}" in ${fileCount} ${fileCount === 1 ? 'document' : 'documents'}.`
}

/** The declaration of `search_documents`, implemented by `rag_query`. */
export const searchDocumentsDeclaration = {
  name: 'search_documents',
  description:
    'Searches the notes and documents of this home or team (Markdown and text files) and returns the best passages with file and heading. Use it first for anything local: instructions, schedules, devices, manuals, contacts. Not for the web.',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, description: 'Keywords or a short question' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: 20,
        description: `The most passages to return (default ${DEFAULT_LIMIT})`,
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
  implementation: { type: 'internal', handler: 'rag_query' },
  read_only: true,
  idempotent: true,
  sentences: [
    'search [in] [the|my|our] (notes|documents) for {query}',
    'what (do|does) [the|my|our] (notes|documents) say about {query}',
    '(find|look up) {query} in [the|my|our] (notes|documents)',
    '(look|check) [in|through] [the|my|our] (notes|documents) for {query}',
    'what (do|did) (i|we) (write|note) [down] about {query}',
    '(what is|where is|who is|when is|where are|what are) (my|our) {query}',
  ],
} as const
