import { readFileSync } from 'node:fs'

/** Reads a file of the package's `data` folder. This module and the bundles lie one level below the package. */
export function readData<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../data/${name}`, import.meta.url), 'utf8')) as T
}
