import type { ServerStatus } from '../../mcp/index.ts'
import { readSentences } from '../../models/offline/sentence-book.ts'
import { readSettings } from '../../models/offline/spoken-words.ts'
import { ToolLists } from '../../models/offline/tool-lists.ts'
import type { Project } from '../../project/project.ts'
import { defaultBuiltins } from '../../tools/builtins/index.ts'
import type { ToolDeclaration } from '../../tools/declared-tools.ts'
import { listDocuments } from '../../tools/local/documents.ts'
import { localInternals, localTools } from '../../tools/local-tools.ts'
import type { Finding } from './doctor.ts'

/** Documents, declared tools and sentences. Handlers, names and sentences are mentioned only if there is a finding. */
export async function toolFindings(project: Project, servers: ServerStatus[]): Promise<Finding[]> {
  return [
    ...(await documents(project)),
    ...handlers(project),
    ...sameNames(project),
    ...(await sentences(project)),
    ...lostSentences(project, servers),
  ]
}

async function documents({ config: { documents: folder } }: Project): Promise<Finding[]> {
  if (folder === undefined) return []
  try {
    const { size } = await listDocuments(folder)
    return [{ ok: true, text: `documents: ${size} ${size === 1 ? 'file' : 'files'} in ${folder}` }]
  } catch (error) {
    return [{ ok: false, text: `documents: ${(error as Error).message}` }]
  }
}

function handlers({ config: { tools = [], documents } }: Project): Finding[] {
  const known = { builtin: defaultBuiltins, internal: localInternals({ documents }) }
  return tools.flatMap(({ name, implementation }: ToolDeclaration) => {
    if (implementation.type === 'mock') return []
    const { type, handler } = implementation
    if (handler !== undefined && Object.hasOwn(known[type], handler)) return []
    const problem = handler === undefined ? "'handler' is missing" : `${type} handler '${handler}' not found`
    const expected = Object.keys(known[type]).join(', ') || 'rag_query, if "documents" is set'
    return { ok: false, text: `tool ${name}: ${problem}`, advice: [`Expected one of ${expected}`] }
  })
}

function sameNames({ config: { tools = [], documents } }: Project): Finding[] {
  const local = new Set(localTools({ documents }).map(({ name }) => name))
  return [...new Set(tools.map(({ name }) => name))].flatMap(name => {
    const times = tools.filter(tool => tool.name === name).length
    if (times > 1)
      return { ok: false, text: `tool ${name}: declared ${times} times; only the last one is used` }
    return local.has(name) ? { ok: true, text: `tool ${name}: replaces the local one` } : []
  })
}

async function sentences({ tools, config, executor }: Project): Promise<Finding[]> {
  const spoken = readSettings(config.sentences)
  const lists = new ToolLists(spoken.sources, () => {})
  await lists.read(tools.getTools(), executor)
  const rules = [...spoken.problems, ...lists.problems(tools.getTools(), executor)].map(problem => ({
    ok: false,
    text: `sentences: the ${problem}`,
  }))
  const byTool = tools.getTools().flatMap(tool => {
    const { problems } = readSentences(tool, tools, spoken)
    return problems.map(problem => ({ ok: false, text: `tool ${tool.name}: the ${problem}` }))
  })
  return [...rules, ...byTool]
}

/** Only for servers that are ready: the tools of the others are unknown. */
function lostSentences({ config: { mcpServers = {} }, tools }: Project, servers: ServerStatus[]): Finding[] {
  const origins = tools.getTools().map(tool => tools.originOf(tool))
  return servers.flatMap(({ name: server, state }) => {
    if (state !== 'ready') return []
    const own = new Set(origins.flatMap(origin => (origin?.server === server ? origin.name : [])))
    const lost = Object.keys(mcpServers[server]?.sentences ?? {}).filter(name => !own.has(name))
    return lost.map(name => ({
      ok: false,
      text: `server ${server}: 'sentences' names a tool '${name}' that it does not have`,
    }))
  })
}
