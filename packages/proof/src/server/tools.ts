import { readFileSync } from 'node:fs'

/** The server's only argument, as JSON. */
export interface ServerSettings {
  ledger: string
  faults: StartFaults
  /** Listens there if given (0: on any port), else on stdin. */
  port?: number
  /** In front of every tool's name, for a second server. */
  prefix: string
  /** A module that adds to this server. */
  extension?: string
  /** Where a schema with a remote `$ref` points. */
  trapUrl: string
}

/** How a server misbehaves from its start; the rest it does when a call asks for it. */
export interface StartFaults {
  /** Never answers `initialize`. */
  hangs?: boolean
  /** Exits at once, with a last word on stderr. */
  crashes?: boolean
  /** Ignores SIGTERM and the end of its input. */
  isStubborn?: boolean
  /** Also lists this tool with a hostile schema. */
  schema?: string
}

type Schema = Record<string, unknown>

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  name: string
  inputSchema: Schema & { properties?: Schema }
}

interface ToolData {
  ordinary: ListedTool[]
  hostile: ListedTool[]
  /** By kind, what is sent one after the other; `$key` stands for the key of the call. */
  answers: Record<string, Record<string, unknown>[]>
}

const data: ToolData = JSON.parse(readFileSync(new URL('../../tools.json', import.meta.url), 'utf8'))
export const ANSWERS = data.answers

/** What the server lists at its start: `tools.json`, and the schema that it was asked for. */
export function listedTools({ faults, trapUrl, prefix }: ServerSettings): ListedTool[] {
  const hostile = data.hostile.filter(({ name }) => name === faults.schema)
  const listed = JSON.stringify([...data.ordinary, ...hostile]).replace('$trap', trapUrl)
  const tools: ListedTool[] = JSON.parse(listed)
  for (const tool of tools) {
    if (tool.name === 'deep') Object.assign(tool.inputSchema.properties ?? {}, { nested: deepSchema() })
    tool.name = `${prefix}${tool.name}`
  }
  return tools
}

const deepSchema = () => JSON.parse(`${'{"properties":{"inner":'.repeat(1_000)}{}${'}}'.repeat(1_000)}`)
