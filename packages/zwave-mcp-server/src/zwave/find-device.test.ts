import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Device } from './device.ts'
import { findDevice } from './find-device.ts'

function device(name: string, location?: string, endpoints: number[] = [0]): Device {
  const values = endpoints.map(endpoint => ({
    commandClass: 'switch_binary',
    endpoint,
    property: 'currentValue',
  }))
  return {
    id: 1,
    isFollowed: true,
    name,
    status: 'Alive',
    values,
    path: `${location ?? ''}/${name}`,
    ...(location && { location }),
  }
}

const home = [
  device('Switch One'),
  device('Light', 'Kitchen'),
  device('Light', 'Bedroom'),
  device('Living Room Light'),
  { ...device("Bob's Lamp", 'First Floor'), nodeId: 12 },
  device('Double Switch', undefined, [1, 2]),
]

const found = (said: string) => {
  const result = findDevice(home, said)
  return result.kind === 'found'
    ? `${result.device.location ?? ''} ${result.device.name}`.trim()
    : result.kind
}

describe('finding a device by name', () => {
  it.each([
    ['Switch One', 'Switch One'],
    ['switch one', 'Switch One'],
    ['SWITCH_ONE', 'Switch One'],
    ['  switch   one ', 'Switch One'],
    ['the switch one', 'Switch One'],
    ['kitchen light', 'Kitchen Light'],
    ['Light (Kitchen)', 'Kitchen Light'],
    ['Kitchen/Light', 'Kitchen Light'],
    ['light in the bedroom', 'Bedroom Light'],
    ['bobs lamp', "First Floor Bob's Lamp"],
    ['first_floor bob’s lamp', "First Floor Bob's Lamp"],
    ['node 12', "First Floor Bob's Lamp"],
    ['nodeID_12', "First Floor Bob's Lamp"],
  ])('takes "%s" for %s', (said, name) => {
    expect(found(said)).toBe(name)
  })

  it('lists the candidates if a name is not enough', () => {
    const result = findDevice(home, 'light')
    expect(result.kind === 'ambiguous' && result.candidates.map(({ location }) => location)).toEqual([
      'Kitchen',
      'Bedroom',
    ])
  })

  it.each([
    ['swich one', 'Switch One'],
    ['living room', 'Living Room Light'],
    ['living rom ligt', 'Living Room Light'],
  ])('does not act on the near miss "%s", but suggests %s', (said, name) => {
    const result = findDevice(home, said)
    expect(result.kind === 'missing' && result.suggestions[0]?.name).toBe(name)
  })

  it.each(['', '  ', '!!!', 'zzzzzzzzzzzz'])('suggests nothing for "%s"', said => {
    expect(findDevice(home, said)).toEqual({ kind: 'missing', suggestions: [] })
  })

  it.each(['Double Switch endpoint 2', 'double switch 2', 'double_switch outlet 2'])(
    'reads the endpoint in "%s"',
    said => {
      expect(findDevice(home, said)).toMatchObject({
        kind: 'found',
        endpoint: 2,
        device: { name: 'Double Switch' },
      })
    },
  )

  it('does not find an endpoint that the device does not have', () => {
    expect(findDevice(home, 'double switch 3').kind).toBe('missing')
  })

  it('finds every device by its own name, however it is written', () => {
    const name = fc.stringMatching(/^[a-zà-öø-ÿ]{1,6}( [a-z0-9]{1,6}){0,3}$/)
    const written = fc.constantFrom<(text: string) => string>(
      text => text.toUpperCase(),
      text => text.replaceAll(' ', '_'),
      text => ` ${text.replaceAll(' ', '   ')} `,
    )
    fc.assert(
      fc.property(name, written, (text, write) => {
        expect(findDevice([device(text)], write(text)).kind).toBe('found')
      }),
    )
  })
})
