import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandLine } from '../../test/command.ts'
import { RememberedDecisions } from './remembered-decisions.ts'

const { folder, configFile } = commandLine()

describe('decisions that were made for good', () => {
  it('stand beside the configuration, with the server of the tool; what stands there now counts', () => {
    const config = configFile({})
    const file = join(folder, 'toolpost.approvals.json')
    const one = new RememberedDecisions(config)
    const other = new RememberedDecisions(config)
    one.add({ tool: 'pay', server: 'bank', origin: 'mcp', caller: 'ann', then: 'allow', because: 'approved' })
    other.add({ tool: 'rm', then: 'deny', because: 'denied' })
    expect(one.decisions).toEqual([
      {
        tool: 'rm',
        server: undefined,
        origin: undefined,
        caller: undefined,
        then: 'deny',
        because: 'denied',
      },
      { tool: 'pay', server: 'bank', origin: 'mcp', caller: 'ann', then: 'allow', because: 'approved' },
    ])
    const { rules } = JSON.parse(readFileSync(file, 'utf8'))
    writeFileSync(file, JSON.stringify({ rules: rules.slice(0, 1) }))
    one.add({ tool: 'ls', then: 'allow', because: 'approved' })
    expect(one.decisions.map(({ tool }) => tool)).toEqual(['ls', 'rm'])
  })
})
