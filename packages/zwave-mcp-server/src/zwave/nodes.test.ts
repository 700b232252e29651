import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseNodes, parseStatus } from './nodes.ts'

const answer = (...result: unknown[]) => result

describe('reading the list of nodes', () => {
  it('reads name, location, status and values', () => {
    const value = {
      commandClass: 49,
      endpoint: 0,
      property: 'Air temperature',
      propertyName: 'Air temperature',
      unit: '°F',
      value: 70,
      lastUpdate: 5,
      label: 'Air temperature',
    }
    const nodes = parseNodes(
      answer({
        id: 5,
        name: 'Thermo',
        loc: 'Hall',
        status: 'Asleep',
        values: { '49-0-Air temperature': value },
      }),
    )
    expect(nodes).toEqual([
      {
        id: 5,
        name: 'Thermo',
        location: 'Hall',
        status: 'Asleep',
        values: [
          {
            commandClass: 'sensor_multilevel',
            endpoint: 0,
            property: 'Air temperature',
            unit: '°F',
            value: 70,
            time: 5,
            label: 'Air temperature',
          },
        ],
      },
    ])
  })

  it('marks the controller, leaves virtual nodes and nonsense out', () => {
    const nodes = parseNodes(
      answer(
        { id: 1, isControllerNode: true },
        { id: 255, virtual: true },
        null,
        {},
        { id: 2, values: [null] },
      ),
    )
    expect(nodes).toEqual([
      { id: 1, isController: true, status: 'Unknown', values: [] },
      { id: 2, status: 'Unknown', values: [] },
    ])
  })

  it('accepts a value not yet reported, and skips one without a class', () => {
    const nodes = parseNodes(
      answer({
        id: 2,
        values: { a: { commandClass: 37, property: 'currentValue' }, b: { property: 'x' }, c: 1 },
      }),
    )
    expect(nodes?.[0]?.values).toEqual([
      { commandClass: 'switch_binary', endpoint: 0, property: 'currentValue' },
    ])
  })

  it.each([undefined, null, {}, 'x'])('refuses %j', json => {
    expect(parseNodes(json)).toBeUndefined()
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.jsonValue(), json => void parseNodes(answer(json))))
  })
})

describe('the status of a node', () => {
  it.each([
    ['Dead', false, 'Dead'],
    ['Asleep', true, 'Asleep'],
    [undefined, true, 'Alive'],
    [undefined, false, 'Dead'],
    ['Unknown', false, 'Unknown'],
    [undefined, undefined, 'Unknown'],
  ])('reads %s, available %s as %s', (status, available, expected) => {
    expect(parseStatus(status, available)).toBe(expected)
  })
})
