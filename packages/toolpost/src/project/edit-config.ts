import { rename, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { applyEdits, modify } from 'jsonc-parser'
import { isRecord, valueAt } from '../util/guards.ts'
import { exampleServers } from './example-home.ts'
import { normaliseServer } from './other-programs.ts'
import { createProject } from './project.ts'
import { builtInExample, DEFAULT_CONFIG_FILE, resolveConfig, resolveSource } from './resolve.ts'
import { type ConfigPath, configSource, readText } from './source.ts'
import { commandsOf, trust } from './trust.ts'

const EMPTY = '{\n  "$schema": "./node_modules/toolpost/toolpost.schema.json"\n}\n'

/**
 * Edits the text of a configuration, `toolpost.json` here by default, in place: comments, order and all other lines stay as they
 * were written. A missing file is started empty. Rejects with a ConfigError if it is not JSON.
 */
export async function editConfig(given: string = DEFAULT_CONFIG_FILE) {
  const before = readText(given)
  let text = before ?? EMPTY
  const source = configSource(given, text)
  if (!isRecord(source.value)) throw source.error({ path: [], problem: 'must be an object' })
  const file = resolve(given)
  const isNew = before === undefined
  return {
    file,
    isNew,
    folder: dirname(file),
    get: (path: ConfigPath) => valueAt(configSource(file, text).value, path),
    set(path: ConfigPath, value: unknown): void {
      const tabSize = /^( +)\S/m.exec(text)?.[1]?.length ?? 2
      const formattingOptions = { tabSize, insertSpaces: !/^\t/m.test(text), eol: '\n' }
      text = applyEdits(text, modify(text, [...path], value, { formattingOptions }))
    },
    /** Atomic: a watcher never reads a half-written file. */
    async save(): Promise<void> {
      const draft = `${file}.${process.pid}.tmp`
      await writeFile(draft, text, { mode: isNew ? 0o600 : (await stat(file)).mode })
      await rename(draft, file)
    },
  }
}

interface AddServerOptions extends Record<'check' | 'replace', boolean> {
  file: string | undefined
  name: string
  entry: Readonly<Record<string, unknown>>
  signal?: AbortSignal | undefined
}

/** Tries a server, and adds it to the configuration if it works. Rejects with a ConfigError if the entry is invalid. */
export async function addServer({ name, check, replace, signal, ...options }: AddServerOptions) {
  const editor = await editConfig(options.file)
  const { file } = editor
  if (editor.get(['mcpServers', name]) !== undefined && !replace) return { outcome: 'taken', file } as const
  const { entry } = normaliseServer(options.entry)
  const tried = check ? await tryServer(file, name, entry, signal) : undefined
  if (tried && !['ready', 'needs_login'].includes(tried.status.state))
    return { outcome: 'failed', tried } as const
  // A new file replaces the built-in example, which ran here until now: it is written there, too, and nothing disappears.
  const hasExample = options.file === undefined && editor.isNew
  const example = { ...builtInExample().config, mcpServers: exampleServers({ isWritten: true }) }
  if (hasExample) for (const [key, value] of Object.entries(example)) editor.set([key], value)
  editor.set(['mcpServers', name], entry)
  await editor.save()
  try {
    // Whoever adds a server approves its command; if that cannot be saved, they are asked.
    const { mcpServers = {} } = (await resolveConfig(file)).config
    const { [name]: added } = mcpServers
    if (added) trust(file, commandsOf(hasExample ? mcpServers : { [name]: added }))
  } catch {}
  return { outcome: 'added', file, tried, hasExample } as const
}

async function tryServer(file: string, name: string, entry: unknown, signal?: AbortSignal) {
  const source = configSource(file, JSON.stringify({ mcpServers: { [name]: entry }, pins: 'off' }))
  const read = () => resolveSource(source)
  const project = createProject(await read(), { read, triesOnce: true })
  signal?.addEventListener('abort', () => void project.close())
  const [status] = await project.ready(name).finally(() => project.close())
  if (!status) throw new Error(`There is no server '${name}'`)
  return { status, tools: status.tools }
}
