import { homedir } from 'node:os'
import { basename, sep } from 'node:path'
import type { Environment } from '../runtime/environment.ts'
import { isObjectLike } from '../runtime/guards.ts'
import type { ConfigPath, ConfigSource } from './config-source.ts'
import type { ConfigInput } from './inputs.ts'

/** What variables are replaced from. */
export interface Scope {
  /** Locates mistakes. */
  text: ConfigSource
  environment: Environment
  /** The project's folder. */
  folder: string
  /** The inputs of a file, by id, and the answers to them. */
  inputs?: { known: ReadonlyMap<string, ConfigInput>; answerTo(input: ConfigInput): string | undefined }
}

/** Fills in every string in a value. Numbers and booleans become strings, as in an environment. */
export function fillAll<Value>(value: Value, path: ConfigPath, scope: Scope): Value {
  if (Array.isArray(value))
    return value.map((entry, index) => fillAll(entry, [...path, index], scope)) as Value
  if (!isObjectLike(value)) return fillText(String(value), path, scope) as Value
  const entries = Object.entries(value).map(([key, entry]) => [key, fillAll(entry, [...path, key], scope)])
  return Object.fromEntries(entries)
}

/** `${NAME}`, `${NAME:-default}`, and the variables of Cursor and VS Code: `${env:NAME}`, `${input:id}`, `${userHome}` … */
const VARIABLE = /\$\{([^}]+?)(?::-([^}]*))?\}/g

/** Throws a ConfigError on a variable without a value or default. */
export function fillText(text: string, path: ConfigPath, scope: Scope): string {
  return text.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = lookUp(name, scope) ?? fallback
    if (value === undefined) throw scope.text.error(path, missing(name, scope))
    return value
  })
}

const EDITOR_VARIABLES: ReadonlyMap<string, (folder: string) => string> = new Map([
  ['workspaceFolder', (folder: string) => folder],
  ['workspaceRoot', (folder: string) => folder],
  ['workspaceFolderBasename', (folder: string) => basename(folder)],
  ['userHome', () => homedir()],
  ['cwd', () => process.cwd()],
  ['pathSeparator', () => sep],
  ['/', () => sep],
])

function lookUp(name: string, { environment, folder, inputs }: Scope): string | undefined {
  const editors = EDITOR_VARIABLES.get(name)
  if (editors) return editors(folder)
  const input = inputs?.known.get(idOf(name) ?? '')
  if (input) return environment[input.variable] ?? inputs?.answerTo(input)
  return environment[name.replace(/^env:/, '')]
}

function idOf(name: string): string | undefined {
  return name.startsWith('input:') ? name.slice('input:'.length) : undefined
}

function missing(name: string, { inputs }: Scope): string {
  const id = idOf(name)
  const input = inputs?.known.get(id ?? '')
  if (input)
    return `the input '${input.id}' has no value; set ${input.variable}, or start Toolpost in a terminal to be asked`
  if (id !== undefined) return `unknown input '${id}': it is not in 'inputs'`
  if (name.includes(':') && !name.startsWith('env:')) return `\${${name}} is not supported`
  return `the environment variable ${name.replace(/^env:/, '')} is not set`
}
