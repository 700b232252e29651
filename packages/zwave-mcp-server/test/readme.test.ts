import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { describeDevices } from '../src/home/index.ts'
import { DEFINITIONS } from '../src/server.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const source = ['config', 'main']
  .map(name => readFileSync(new URL(`../src/${name}.ts`, import.meta.url), 'utf8'))
  .join()

describe('the README', () => {
  it('names every tool and every argument', () => {
    for (const definition of DEFINITIONS) {
      const row = readme.split('\n').find(line => line.startsWith(`| \`${definition.name}\``))
      for (const argument of Object.keys(definition.inputSchema.properties))
        expect(row).toContain(`\`${argument}`)
    }
  })

  it('names every variable of the environment', () => {
    const variables = new Set(source.match(/\b(?:ZWAVE|MQTT)_[A-Z_]+\b/g))
    for (const variable of variables) expect(readme).toContain(`\`${variable}\``)
  })

  it('describes devices that can be used as they stand', () => {
    const blocks = [...readme.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => JSON.parse(json ?? ''))
    const devices = blocks.filter(block => 'devices' in block)
    expect(devices).toHaveLength(1)
    expect(describeDevices(devices[0])).toHaveLength(6)
  })
})
