import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './package-root.ts'

let version: string | undefined

export function toolpostVersion(): string {
  version ??= String(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')).version)
  return version
}
