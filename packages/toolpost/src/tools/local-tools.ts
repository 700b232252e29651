import { packageJson } from '../util/package-root.ts'
import { declareTools, type Handler, type ToolDeclaration } from './declared-tools.ts'
import { datetime } from './local/datetime.ts'
import { ragQuery } from './local/documents.ts'
import { webSearch } from './local/search.ts'
import { volume } from './local/volume.ts'
import type { Tool } from './tool.ts'

export interface LocalToolsOptions {
  /** A folder of Markdown and text files for `search_documents`; no such tool if left out. */
  documents?: string | undefined
  /** URL of a SearXNG instance for `search`; DuckDuckGo's instant answers if left out. */
  searxng?: string | undefined
}

/** The tools that need no configuration: `data/local-tools.json`. */
export function localTools(options: LocalToolsOptions = {}, internals = localInternals(options)): Tool[] {
  const { documents, searxng } = options
  const declarations: ToolDeclaration[] = packageJson('data/local-tools.json')
  const own = { datetime: datetime(), search: webSearch({ searxng }), volume: volume() }
  const offered = declarations.filter(({ name }) => documents || name !== 'search_documents')
  return declareTools(offered, { internals: { ...own, ...internals } })
}

/** The internal handlers that Toolpost itself provides for declared tools. */
export function localInternals({ documents }: LocalToolsOptions): Record<string, Handler> {
  return documents ? { rag_query: ragQuery(documents) } : {}
}
