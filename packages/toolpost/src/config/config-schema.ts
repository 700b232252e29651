import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ErrorObject } from 'ajv'
import { packageRoot } from '../runtime/package-root.ts'
import { compileOwnSchema } from '../schema/compile.ts'
import { explainErrors, pointerParts } from '../schema/explain.ts'

/** A violation of the schema. */
interface SchemaProblem {
  path: string[]
  problem: string
  /** A key that does not belong there. */
  key: string | undefined
}

/** `toolpost.schema.json`: the only list of valid keys, and what their values are checked against. */
export interface ConfigSchema {
  keys: ReadonlySet<string>
  serverKeys: ReadonlySet<string>
  /** The first problem in a configuration, if any. */
  problemIn(config: unknown): SchemaProblem | undefined
}

let loaded: Promise<ConfigSchema> | undefined

export function configSchema(): Promise<ConfigSchema> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<ConfigSchema> {
  const schema = JSON.parse(await readFile(join(packageRoot(), 'toolpost.schema.json'), 'utf8'))
  const validate = compileOwnSchema(schema)
  return {
    keys: new Set(Object.keys(schema.properties)),
    serverKeys: new Set(Object.keys(schema.definitions.server.properties)),
    problemIn(config) {
      if (validate(config)) return undefined
      const errors = validate.errors ?? []
      const error = (errors.find(({ keyword }) => keyword !== 'additionalProperties') ??
        errors[0]) as ErrorObject
      const { instancePath, params } = error
      return { path: pointerParts(instancePath), problem: inWords(error), key: params.additionalProperty }
    },
  }
}

/** Patterns are unreadable, so the description says what is expected. */
function inWords(error: ErrorObject): string {
  const { keyword, parentSchema = {}, params } = error
  if (keyword === 'pattern') return `expected ${parentSchema.description ?? 'another form'}`
  if (keyword === 'minLength' && params.limit === 1) return 'must not be empty'
  const [problem = ''] = explainErrors([error])
  if (keyword === 'additionalProperties') return `${problem}${knownKeys(error)}`
  return problem.replace(/^arguments must be/, 'the configuration must be').replace(/^'[^']*' must/, 'must')
}

/** A misspelt key is the commonest mistake, so list the valid ones. */
function knownKeys({ parentSchema }: ErrorObject): string {
  const known = Object.keys(parentSchema?.properties ?? {}).filter(key => !key.startsWith('$'))
  return `; expected one of ${known.join(', ')}`
}
