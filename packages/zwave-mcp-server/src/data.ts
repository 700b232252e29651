import { readdirSync, readFileSync } from 'node:fs'

/** The version of this package; a test keeps it equal to package.json. */
export const VERSION = '0.1.0'

// This module and the bundles lie one level below the package.
const SENTENCES = new URL('../sentences/', import.meta.url)

/** Reads a file of the package's `data` folder. */
export function readData<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8')) as T
}

/** What `--help` or `--version` of a command prints, if it was asked for. */
export function aboutCommand(name: string, asked: { help?: boolean; version?: boolean }): string | undefined {
  if (!asked.help) return asked.version ? `${VERSION}\n` : undefined
  return readFileSync(new URL(`../data/${name}.txt`, import.meta.url), 'utf8').replace('{version}', VERSION)
}

/** The sentences that call the tools without a model, as YAML by language. */
export function readSentences(): Record<string, string> {
  const files = readdirSync(SENTENCES).filter(name => name.endsWith('.yaml'))
  return Object.fromEntries(
    files.map(name => [name.replace('.yaml', ''), readFileSync(new URL(name, SENTENCES), 'utf8')]),
  )
}
