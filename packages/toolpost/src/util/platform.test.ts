import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const packages = join(import.meta.dirname, '../../..')

describe('platforms', () => {
  it.each(['durable', 'toolpost', 'voice-gateway', 'zwave-mcp-server'])(
    'differ in one module of %s: nothing else asks which one it is',
    name => {
      const sources = join(packages, name, 'src')
      const askers = readdirSync(sources, { recursive: true, encoding: 'utf8' })
        .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts'))
        .filter(file => basename(file) !== 'platform.ts')
        .filter(file =>
          /process\.platform|\bplatform\(\)|\{[^}\n]*\bplatform\b[^}\n]*\} = process\b/.test(
            readFileSync(join(sources, file), 'utf8'),
          ),
        )
      expect(askers).toEqual([])
    },
  )
})
