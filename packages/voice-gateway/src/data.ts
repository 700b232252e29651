import { readFileSync } from 'node:fs'

/** Reads a file of the package's `data` folder. */
export function readData<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8')) as T
}
