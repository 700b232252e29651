import { echoDeclaration, mathEvalDeclaration } from './builtins/index.ts'
import { declareTools, type Handler } from './declared-tools.ts'
import { datetimeTool } from './local/datetime.ts'
import { createRagQuery, searchDocumentsDeclaration } from './local/documents/rag-query.ts'
import { searchTool } from './local/search.ts'
import { volumeTool } from './local/volume.ts'
import type { Tool } from './tool.ts'

export interface LocalToolsOptions {
  /** A folder of Markdown and text files for `search_documents`; no such tool if left out. */
  documents?: string | undefined
  /** URL of a SearXNG instance for `search`; DuckDuckGo's instant answers if left out. */
  searxng?: string | undefined
}

/** The tools that need no configuration. */
export function localTools(options: LocalToolsOptions = {}, internals = localInternals(options)): Tool[] {
  const { documents, searxng } = options
  const declarations = [
    mathEvalDeclaration,
    echoDeclaration,
    ...(documents ? [searchDocumentsDeclaration] : []),
  ]
  return [datetimeTool(), searchTool({ searxng }), volumeTool(), ...declareTools(declarations, { internals })]
}

/** The internal handlers that Toolpost itself provides for declared tools. */
export function localInternals({ documents }: LocalToolsOptions): Record<string, Handler> {
  return documents ? { rag_query: createRagQuery({ folder: documents }) } : {}
}
