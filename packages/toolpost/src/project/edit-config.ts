import { randomUUID } from 'node:crypto'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { applyEdits, modify } from 'jsonc-parser'
import { isRecord, valueAt } from '../util/guards.ts'
import { ConfigError } from './config.ts'
import { DEFAULT_CONFIG_FILE } from './read.ts'
import { type ConfigPath, ConfigSource } from './source.ts'

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
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw new ConfigError(file, '', `cannot be read: ${error.message}`, { cause: error })
    })
    const editor = new ConfigEditor(file, text)
    const source = new ConfigSource(file, editor.#text)
    if (!isRecord(source.value)) throw source.error([], 'must be an object')
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
