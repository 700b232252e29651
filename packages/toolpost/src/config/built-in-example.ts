import { join } from 'node:path'
import { packageRoot } from '../runtime/package-root.ts'
import type { ToolpostConfig } from './config.ts'

/** Used without any configuration: the local tools, and a folder of household notes. */
export function builtInExample(): ToolpostConfig {
  return { documents: join(packageRoot(), 'example', 'notes') }
}
