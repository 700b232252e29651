import { describe, expect, it } from 'vitest'
import { COTTAGE, HOME, household, OTHER_HOMES, SCENES, table } from './household.ts'

const home = household(HOME, { scenes: SCENES })
type Household = typeof home

/** The lines that are understood differently from what they mean. */
async function missed(lines: readonly [said: string, expected: string][], { converse }: Household = home) {
  const wrong: string[] = []
  for (const [said, expected] of lines) {
    const { calls } = await converse(...said.split(' / '))
    if (calls !== expected) wrong.push(`${said} => ${calls}`)
  }
  return wrong
}

describe('what people say at home, and the calls it means', { timeout: 180_000 }, () => {
  it.each([
    ['phrasings.txt', 0.95],
    ['own-phrasings.txt', 0.95],
    ['more-phrasings.txt', 0.95],
    ['conversations.txt', 0.9],
    ['typed-phrasings.txt', 0.93],
    ['german.txt', 0.95],
  ])('%s', async (file, share) => {
    const lines = table(file)
    const wrong = await missed(lines)
    expect(1 - wrong.length / lines.length, wrong.join('\n')).toBeGreaterThanOrEqual(share)
  })

  it.each(Object.entries(OTHER_HOMES))('in the %s', async (name, { devices, scenes }) => {
    const lines = ['other-homes.txt', 'more-homes.txt'].flatMap(table)
    const after = lines.slice(lines.findIndex(([said]) => said === `${name}:`) + 1)
    const end = after.findIndex(([said]) => said.endsWith(':'))
    const own = end < 0 ? after : after.slice(0, end)
    const wrong = await missed(own, household(devices, { scenes }))
    expect(1 - wrong.length / own.length, wrong.join('\n')).toBeGreaterThanOrEqual(0.9)
  })

  it('in the cottage: rooms, floors, here, sensors and timers', async () => {
    const args = ['action', 'name', 'seconds', 'calls'].map(name => [name, {}])
    const timer = { name: 'timer', schema: { type: 'object', properties: Object.fromEntries(args) } }
    const { devices, ...rooms } = COTTAGE
    const options = { ...rooms, tools: [timer] }
    const wrong: string[] = []
    for (const area of ['', 'Snug', 'Bedroom']) {
      const lines = table('rooms.txt').filter(([said]) =>
        area === '' ? !said.startsWith('@') : said.startsWith(`@${area} `),
      )
      const own = lines.map(([said, calls]): [string, string] => [said.replace(/^@\w+ /, ''), calls])
      wrong.push(...(await missed(own, household(devices, { ...options, ...(area && { area }) }))))
    }
    expect(wrong).toEqual([])
  })
})

describe('[F61] what must do nothing', { timeout: 180_000 }, () => {
  it.each(['nothing.txt', 'more-nothing.txt', 'typed-nothing.txt', 'talk-in-the-room.txt'])(
    '%s',
    async file => {
      const lines = table(file).flatMap(([said]): [string, string][] => [
        [said, ''],
        ...(file === 'nothing.txt' ? [[`Please ${said}.`, ''] as [string, string]] : []),
        ...(file === 'typed-nothing.txt' ? [[`${said} / yes`, ''] as [string, string]] : []),
      ])
      expect(await missed(lines)).toEqual([])
    },
  )

  it.each([
    'turn on the light '.repeat(6_000),
    'x'.repeat(100_000),
    `turn on ${'1,000,'.repeat(15_000)}`,
    `turn ${'the '.repeat(120)}`,
    `what is ${'1 plus '.repeat(60)}`,
  ])('[F47] is found out however long it is (%#)', async said => {
    expect((await home.converse(said)).calls).toBe('')
  })
})
