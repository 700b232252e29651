import { randomUUID } from 'node:crypto'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { applyEdits, modify } from 'jsonc-parser'
import { isRecord, valueAt } from '../util/guards.ts'
import { ConfigError } from './config.ts'
import { BROKER_VARIABLES, ZWAVE_SERVER, zwavePackage } from './example-home.ts'
import { normaliseServer } from './other-programs.ts'
import { Project } from './project.ts'
import { builtInExample, DEFAULT_CONFIG_FILE, resolveConfig, resolveSource } from './resolve.ts'
import { type ConfigPath, ConfigSource } from './source.ts'
import { commandsOf, trust } from './trust.ts'

const EMPTY = '{\n  "$schema": "./node_modules/toolpost/toolpost.schema.json"\n}\n'

/** Edits the text of a configuration in place: comments, order and all other lines stay as they were written. */
export class ConfigEditor {
  readonly file: string
  readonly isNew: boolean
  #text: string

  private constructor(file: string, text: string | undefined) {
    this.file = resolve(file)
    this.isNew = text === undefined
    this.#text = text ?? EMPTY
  }

  /** Opens the given file, or `toolpost.json` here; a missing one is started empty. Throws a ConfigError if it is not JSON. */
  static async open(file: string = DEFAULT_CONFIG_FILE): Promise<ConfigEditor> {
    const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') return undefined
      throw new ConfigError(file, '', `cannot be read: ${cause.message}`, { cause })
    })
    const editor = new ConfigEditor(file, text)
    const source = new ConfigSource(file, editor.#text)
    if (!isRecord(source.value)) throw source.error({ path: [], problem: 'must be an object' })
    return editor
  }

  get folder(): string {
    return dirname(this.file)
  }

  get(path: ConfigPath): unknown {
    return valueAt(new ConfigSource(this.file, this.#text).value, path)
  }

  set(path: ConfigPath, value: unknown): void {
    const tabSize = /^( +)\S/m.exec(this.#text)?.[1]?.length ?? 2
    const formattingOptions = { tabSize, insertSpaces: !/^\t/m.test(this.#text), eol: '\n' }
    this.#text = applyEdits(this.#text, modify(this.#text, [...path], value, { formattingOptions }))
  }

  /** Atomic: a watcher never reads a half-written file. */
  async save(): Promise<void> {
    const draft = `${this.file}.${randomUUID()}`
    const mode = this.isNew ? 0o600 : (await stat(this.file)).mode
    await writeFile(draft, this.#text, { mode })
    await rename(draft, this.file)
  }
}

interface AddServerOptions extends Record<'check' | 'replace', boolean> {
  /** The configuration; `undefined` for the built-in example, which is written to a file together with the server. */
  file: string | undefined
  name: string
  entry: Readonly<Record<string, unknown>>
  signal?: AbortSignal | undefined
}

type TriedServer = Awaited<ReturnType<typeof tryServer>>

/** With `hasExample`, the file is new and holds the built-in example as well, which ran here until now. */
type AddedServer =
  | { outcome: 'added'; file: string; tried: TriedServer | undefined; hasExample: boolean }
  | { outcome: 'failed'; tried: TriedServer }
  | { outcome: 'taken'; file: string }

/** Tries a server, and adds it to the configuration if it works. Rejects with a ConfigError if the entry is invalid. */
export async function addServer(options: AddServerOptions): Promise<AddedServer> {
  const { name, check, replace, signal } = options
  const editor = await ConfigEditor.open(options.file)
  const { file } = editor
  if (editor.get(['mcpServers', name]) !== undefined && !replace) return { outcome: 'taken', file }
  const { entry } = normaliseServer(options.entry)
  const tried = check ? await tryServer(file, name, entry, signal) : undefined
  if (tried && !['ready', 'needs_login'].includes(tried.status.state)) return { outcome: 'failed', tried }
  const hasExample = options.file === undefined && editor.isNew
  if (hasExample) writeExample(editor)
  editor.set(['mcpServers', name], entry)
  await editor.save()
  try {
    // Whoever adds a server approves its command; if that cannot be saved, they are asked.
    const { mcpServers = {} } = (await resolveConfig(file)).config
    const { [name]: added } = mcpServers
    if (added) trust(file, commandsOf(hasExample ? mcpServers : { [name]: added }))
  } catch {}
  return { outcome: 'added', file, tried, hasExample }
}

/** A file replaces the built-in example, so its contents are written there, too, and nothing disappears. */
function writeExample(editor: ConfigEditor): void {
  for (const [key, value] of Object.entries(builtInExample().config)) editor.set([key], value)
  const folder = zwavePackage()
  if (!folder) return
  const given = BROKER_VARIABLES.filter(name => process.env[name])
  editor.set(['mcpServers', ZWAVE_SERVER], {
    command: 'node',
    args: [join(folder, 'bin', 'zwave-mcp-server.js')],
    trust: true,
    ...(given.length > 0 && { env: Object.fromEntries(given.map(name => [name, `\${${name}}`])) }),
  })
}

async function tryServer(file: string, name: string, entry: unknown, signal?: AbortSignal) {
  const source = new ConfigSource(file, JSON.stringify({ mcpServers: { [name]: entry }, pins: 'off' }))
  const read = () => resolveSource(source)
  const project = new Project(await read(), { read, triesOnce: true })
  const stop = () => void project.close()
  signal?.addEventListener('abort', stop)
  try {
    const [status] = await project.ready(name)
    if (!status) throw new Error(`There is no server '${name}'`)
    return { status, tools: status.tools }
  } finally {
    signal?.removeEventListener('abort', stop)
    await project.close()
  }
}
