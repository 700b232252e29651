import { echoDeclaration, mathEvalDeclaration } from './builtins/index.ts'
import { declareTools, type Handler } from './declared-tools.ts'
import {
  createRagQuery,
  datetimeTool,
  searchDocumentsDeclaration,
  searchTool,
  volumeTool,
} from './local/index.ts'
import type { Tool } from './tool.ts'

export interface LocalToolsOptions {
  /** A folder of Markdown and text files; without it there is no `search_documents`. */
  documents?: string | undefined
  /** Address of a SearXNG instance for `search`; DuckDuckGo's instant answers without it. */
  searxng?: string | undefined
}

/** The tools that are there from the start, with nothing configured. */
export function localTools(options: LocalToolsOptions = {}, internals = localInternals(options)): Tool[] {
  const { documents, searxng } = options
  const declarations = [
    mathEvalDeclaration,
    echoDeclaration,
    ...(documents ? [searchDocumentsDeclaration] : []),
  ]
  return [
    datetimeTool(),
    searchTool(searxng === undefined ? {} : { searxng }),
    volumeTool(),
    ...declareTools(declarations, { internals }),
  ]
}

/** The internal handlers that Toolpost itself supplies to declared tools. */
export function localInternals({ documents }: LocalToolsOptions): Record<string, Handler> {
  return documents ? { rag_query: createRagQuery({ folder: documents }) } : {}
}
