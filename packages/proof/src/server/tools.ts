import { readFileSync } from 'node:fs'

/** The environment of the server: `ServerSettings` as JSON. */
export const SETTINGS_VARIABLE = 'TOOLPOST_PROOF_SERVER'

export interface ServerSettings {
  ledger: string
  faults: StartFaults
  /** Listens there if given (0: on any port), else on stdin. */
  port?: number
  /** In front of every tool's name, for a second server. */
  prefix: string
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
    Object.assign(tool.inputSchema.properties ?? {}, LARGE_SCHEMAS[tool.name]?.())
    tool.name = `${prefix}${tool.name}`
  }
  return tools
}

/** Properties that are too large to be written down. */
const LARGE_SCHEMAS: Record<string, () => Schema> = {
  deep: () => ({ nested: JSON.parse(`${'{"properties":{"inner":'.repeat(1_000)}{}${'}}'.repeat(1_000)}`) }),
  /** Every level tries eight variants of the next, and none of them fits. */
  exponential: () => {
    const $defs: Schema = { level0: { type: 'object', required: ['never'] } }
    for (let level = 1; level <= 9; level++) {
      const next = { properties: { inner: { $ref: `#/properties/nested/$defs/level${level - 1}` } } }
      $defs[`level${level}`] = { anyOf: Array.from({ length: 8 }, () => next) }
    }
    return { nested: { $ref: '#/properties/nested/$defs/level9', $defs } }
  },
}
