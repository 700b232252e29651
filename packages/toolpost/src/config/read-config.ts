import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ErrorObject } from 'ajv'
import { packageRoot } from '../runtime/package-root.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import { explainErrors, pointerParts } from '../schema/explain-errors.ts'
import { checkLimits } from './check-limits.ts'
import { checkPolicy } from './check-policy.ts'
import { checkServers } from './check-servers.ts'
import { checkVoice } from './check-voice.ts'
import { ConfigError, type ToolpostConfig, type VoiceConfig } from './config.ts'
import { ConfigSource } from './config-source.ts'

const DEFAULT_CONFIG_FILE = 'toolpost.json'

export interface LoadedConfig {
  config: ToolpostConfig
  /** Where it was read from. */
  file: string
  source: ConfigSource
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
  const source = new ConfigSource(shown, text)
  const config = source.value as ToolpostConfig
  await checkAgainstSchema(config, source)
  checkServers(config, source)
  checkLimits(config, source)
  checkVoice(config, source)
  await checkPolicy(config, source)
  return { config: withAbsolutePaths(config, dirname(path)), file: path, source }
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

async function checkAgainstSchema(config: unknown, source: ConfigSource): Promise<void> {
  const schema = await readFile(join(packageRoot(), 'toolpost.schema.json'), 'utf8')
  const { validate } = await compileSchema(JSON.parse(schema), { isOurs: true })
  if (validate(config)) return
  const errors = validate.errors ?? []
  const error = (errors.find(({ keyword }) => keyword !== 'additionalProperties') ?? errors[0]) as ErrorObject
  throw source.error(pointerParts(error.instancePath), inWords(error), {
    key: error.params.additionalProperty,
  })
}

/** A pattern says nothing to a person; its description says what is expected. */
function inWords(error: ErrorObject): string {
  const { keyword, parentSchema = {}, params } = error
  if (keyword === 'pattern') return `expected ${parentSchema.description ?? 'another form'}`
  if (keyword === 'minLength' && params.limit === 1) return 'must not be empty'
  const [problem = ''] = explainErrors([error])
  if (keyword === 'additionalProperties') return `${problem}${knownKeys(error)}`
  return problem.replace(/^arguments must be/, 'the configuration must be').replace(/^'[^']*' must/, 'must')
}

/** A misspelt key is the commonest mistake: say what there is. */
function knownKeys({ parentSchema, params }: ErrorObject): string {
  const known = Object.keys(parentSchema?.properties ?? {}).filter(key => !key.startsWith('$'))
  const hint =
    params.additionalProperty === 'servers' ? " (use 'mcpServers' instead of VS Code's 'servers')" : ''
  return `${hint}; expected one of ${known.join(', ')}`
}

/** Paths in a configuration are meant from its own folder. */
function withAbsolutePaths(config: ToolpostConfig, folder: string): ToolpostConfig {
  const { documents, voice, history } = config
  return {
    ...config,
    ...(documents !== undefined && { documents: resolve(folder, documents) }),
    ...(voice && { voice: withAbsoluteModels(voice, folder) }),
    ...(history &&
      history.file !== undefined && { history: { ...history, file: resolve(folder, history.file) } }),
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
