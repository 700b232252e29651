import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ErrorObject } from 'ajv'
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser'
import { packageRoot } from '../runtime/package-root.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import { explainErrors, placeIn, pointerParts } from '../schema/explain-errors.ts'
import { checkPolicy } from './check-policy.ts'
import { checkServers } from './check-servers.ts'
import { checkVoice } from './check-voice.ts'
import { ConfigError, type ToolpostConfig, type VoiceConfig } from './config.ts'

const DEFAULT_CONFIG_FILE = 'toolpost.json'

export interface LoadedConfig {
  config: ToolpostConfig
  /** Where it was read from. */
  file: string
}

interface Source {
  /** The file as the person named it. */
  shown: string
  text: string
}

/**
 * Reads and checks a configuration; comments are allowed in it. Without a `file` it is `toolpost.json` in `folder`,
 * and `undefined` comes back if there is none. Rejects with a ConfigError that names file, place and expectation.
 */
export async function readConfig(
  file: string | undefined,
  folder = process.cwd(),
): Promise<LoadedConfig | undefined> {
  const path = resolve(folder, file ?? DEFAULT_CONFIG_FILE)
  const shown = file ?? DEFAULT_CONFIG_FILE
  const text = await readText(path, shown, file !== undefined)
  if (text === undefined) return undefined
  const tree = parse({ shown, text })
  const config: ToolpostConfig = getNodeValue(tree)
  await checkAgainstSchema(config, tree, { shown, text })
  checkServers(config, shown)
  checkVoice(config, shown)
  await checkPolicy(config, shown)
  return { config: withAbsolutePaths(config, dirname(path)), file: path }
}

async function readText(path: string, shown: string, wanted: boolean): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && !wanted) return undefined
    const problem = code === 'ENOENT' ? 'there is no such file' : `cannot be read: ${message}`
    throw new ConfigError(shown, '', problem, { cause: error })
  }
}

function parse(source: Source): Node {
  const errors: ParseError[] = []
  const tree = readTree(source, errors)
  const [error] = errors
  if (tree && !error) return tree
  const problem = error
    ? printParseErrorCode(error.error).replace(/(?<=[a-z])[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
    : 'it is empty'
  throw new ConfigError(at(source, error?.offset ?? 0), '', `is not JSON: ${problem}`)
}

/** The parser calls itself for every level. */
function readTree({ shown, text }: Source, errors: ParseError[]): Node | undefined {
  try {
    const tree = parseTree(text.replace(/^\ufeff/, ' '), errors, { allowTrailingComma: true })
    if (tree) getNodeValue(tree)
    return tree
  } catch (cause) {
    throw new ConfigError(shown, '', 'is nested too deeply', { cause })
  }
}

/** `toolpost.json:3:7`, as editors and terminals understand it. */
function at({ shown, text }: Source, offset: number): string {
  const before = text.slice(0, offset).split('\n')
  return `${shown}:${before.length}:${(before.at(-1) ?? '').length + 1}`
}

async function checkAgainstSchema(config: unknown, tree: Node, source: Source): Promise<void> {
  const schema = await readFile(join(packageRoot(), 'toolpost.schema.json'), 'utf8')
  const { validate } = await compileSchema(JSON.parse(schema), { isOurs: true })
  if (validate(config)) return
  const [error] = validate.errors as [ErrorObject]
  const [problem = 'is not a configuration'] = explainErrors(validate.errors ?? [])
  const place = placeIn(error)
  const said = knownKeys(error, problem)
    .replace(`'${place}' `, '')
    .replace(/^arguments must be/, 'the configuration must be')
  throw new ConfigError(at(source, offsetOf(error, tree)), place, said)
}

function offsetOf({ instancePath, params }: ErrorObject, tree: Node): number {
  const parts = pointerParts(instancePath).map(part => (/^\d+$/.test(part) ? Number(part) : part))
  const { additionalProperty } = params as { additionalProperty?: string }
  const key =
    additionalProperty === undefined ? undefined : findNodeAtLocation(tree, [...parts, additionalProperty])
  return key?.parent?.offset ?? findNodeAtLocation(tree, parts)?.offset ?? 0
}

/** A misspelt key is the commonest mistake: say what there is. */
function knownKeys(error: ErrorObject, problem: string): string {
  if (error.keyword !== 'additionalProperties') return problem
  const known = Object.keys(error.parentSchema?.properties ?? {}).filter(key => !key.startsWith('$'))
  const hint =
    error.params.additionalProperty === 'servers' ? " (use 'mcpServers' instead of VS Code's 'servers')" : ''
  return `${problem}${hint}; expected one of ${known.join(', ')}`
}

/** Paths in a configuration are meant from its own folder. */
function withAbsolutePaths(config: ToolpostConfig, folder: string): ToolpostConfig {
  const { documents, voice } = config
  return {
    ...config,
    ...(documents !== undefined && { documents: resolve(folder, documents) }),
    ...(voice && { voice: withAbsoluteModels(voice, folder) }),
  }
}

function withAbsoluteModels(voice: VoiceConfig, folder: string): VoiceConfig {
  const { whisper, piperModel } = voice
  return {
    ...voice,
    ...(whisper && { whisper: { ...whisper, model: resolve(folder, whisper.model) } }),
    ...(piperModel !== undefined && { piperModel: resolve(folder, piperModel) }),
  }
}
