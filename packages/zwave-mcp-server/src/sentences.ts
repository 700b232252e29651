import { readdirSync, readFileSync } from 'node:fs'

/** The key of a tool's `_meta` under which clients find sentences that call the tools without a model: language → YAML. */
const META_KEY = 'toolpost/sentences'
const FOLDER = new URL('../sentences/', import.meta.url)

let meta: Record<string, Record<string, string>> | undefined

/** The sentence files of this package, to be sent with one of its tools. */
export function sentencesMeta(): Record<string, Record<string, string>> {
  meta ??= {
    [META_KEY]: Object.fromEntries(
      readdirSync(FOLDER)
        .filter(name => name.endsWith('.yaml'))
        .map(name => [name.replace('.yaml', ''), readFileSync(new URL(name, FOLDER), 'utf8')]),
    ),
  }
  return meta
}
