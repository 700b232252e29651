import { describe, expect, it } from 'vitest'
import { DeviceRegistry } from './device-registry.ts'
import type { Node } from './nodes.ts'
import type { Primitive } from './payload.ts'

const CURRENT = { commandClass: 'switch_binary', endpoint: 0, property: 'currentValue' }

function registryWith(...nodes: Node[]) {
  const registry = new DeviceRegistry()
  if (nodes.length > 0) registry.applyNodes(nodes, { gateway: 'G', complete: true })
  const hear = (node: string, value: Primitive, { time = 1, retained = false } = {}) =>
    registry.applyValue({
      node,
      address: CURRENT,
      payload: { value, time },
      retained,
      topic: `${node}/switch_binary/endpoint_0/currentValue`,
    })
  const currentOf = (path: string) =>
    registry.devices().find(device => device.path === path)?.values[0]?.value
  return { registry, hear, currentOf }
}

const lamp: Node = { id: 2, name: 'Lamp', status: 'Alive', values: [{ ...CURRENT, value: false, time: 5 }] }

describe('devices from topics alone', () => {
  it('reads name and location from the path', () => {
    const { registry, hear } = registryWith()
    hear('Living_Room/Ceiling_Light', true)
    expect(registry.devices()).toMatchObject([
      {
        path: 'Living_Room/Ceiling_Light',
        name: 'Ceiling Light',
        location: 'Living Room',
        status: 'Unknown',
      },
    ])
  })

  it('accepts the status in any order, and hides a node that has no values', () => {
    const { registry, hear } = registryWith()
    registry.applyStatus({
      node: 'Lamp',
      payload: { value: true, status: 'Dead', nodeId: 7 },
      retained: true,
    })
    expect(registry.devices()).toEqual([])
    hear('Lamp', true)
    expect(registry.devices()).toMatchObject([{ nodeId: 7, status: 'Dead' }])
  })

  it('forgets a value whose retained message was deleted', () => {
    const { registry, hear } = registryWith()
    hear('Lamp', true)
    registry.removeValue('Lamp', CURRENT)
    expect(registry.devices()).toEqual([])
  })
})

describe('old and new values', () => {
  it('keeps the newer value when an older retained one comes in', () => {
    const { hear, currentOf } = registryWith()
    hear('Lamp', true, { time: 10 })
    hear('Lamp', false, { time: 5, retained: true })
    expect(currentOf('Lamp')).toBe(true)
    hear('Lamp', false, { time: 11, retained: true })
    expect(currentOf('Lamp')).toBe(false)
  })

  it('believes a live value even when the clock of the gateway was set back', () => {
    const { hear, currentOf } = registryWith()
    hear('Lamp', true, { time: 10 })
    hear('Lamp', false, { time: 5 })
    expect(currentOf('Lamp')).toBe(false)
  })

  it('does not let an old list undo what a device reported since', () => {
    const { registry, hear, currentOf } = registryWith(lamp)
    hear('Lamp', true, { time: 10 })
    registry.applyNodes([lamp], { gateway: 'G', complete: true })
    expect(currentOf('Lamp')).toBe(true)
  })

  it('keeps the unit of the list when a report without one comes in', () => {
    const address = { commandClass: 'sensor_multilevel', endpoint: 0, property: 'Air temperature' }
    const node: Node = {
      id: 3,
      name: 'T',
      status: 'Alive',
      values: [{ ...address, unit: '°F', value: 70, time: 1 }],
    }
    const { registry } = registryWith(node)
    registry.applyValue({
      node: 'T',
      address: { ...address, property: 'Air_temperature' },
      payload: { value: 71, time: 2 },
      retained: false,
      topic: 'T/sensor_multilevel/endpoint_0/Air_temperature',
    })
    expect(registry.devices()[0]?.values).toMatchObject([{ unit: '°F', value: 71 }])
  })
})

describe('devices that the gateway lists', () => {
  it('uses names as people wrote them', () => {
    const { registry, hear } = registryWith()
    hear('Hall/Bobs_Lamp', true)
    registry.applyNodes([{ id: 2, name: "Bob's Lamp", location: 'Hall', status: 'Alive', values: [] }], {
      gateway: 'G',
      complete: true,
    })
    expect(registry.devices()).toMatchObject([{ name: "Bob's Lamp", path: 'Hall/Bobs_Lamp', nodeId: 2 }])
  })

  it('drops what the gateway does not list, and ignores it from then on', () => {
    const { registry, hear } = registryWith()
    hear('Ghost', true)
    registry.applyNodes([lamp], { gateway: 'G', complete: true })
    expect(registry.devices().map(({ name }) => name)).toEqual(['Lamp'])
    expect(hear('Ghost', true)).toEqual({ kind: 'unknown' })
    expect(registry.applyStatus({ node: 'Ghost', payload: { value: true }, retained: false })).toEqual({
      kind: 'unknown',
    })
    expect(registry.devices()).toHaveLength(1)
  })

  it('keeps the devices of other gateways', () => {
    const { registry, hear } = registryWith()
    hear('Other', true)
    registry.applyNodes([lamp], { gateway: 'G', complete: false })
    expect(registry.devices().map(({ name }) => name)).toEqual(['Lamp', 'Other'])
    expect(hear('Third', true)).toMatchObject({ kind: 'taken' })
  })

  it.each(['before', 'after'])(
    'finds a gateway that leaves locations out of its topics, heard %s the list',
    order => {
      const { registry, hear } = registryWith()
      const node: Node = { ...lamp, location: 'Hall' }
      if (order === 'before') hear('Lamp', true, { time: 10 })
      registry.applyNodes([node], { gateway: 'G', complete: true })
      if (order === 'after') hear('Lamp', true, { time: 10 })
      registry.applyNodes([node], { gateway: 'G', complete: true })
      expect(registry.devices()).toMatchObject([
        { path: 'Lamp', location: 'Hall', values: [{ value: true }] },
      ])
    },
  )

  it('forgets the topics of a former name, so that no command goes there', () => {
    const { registry, hear } = registryWith(lamp)
    hear('Lamp', true, { time: 10 })
    expect(registry.devices()).toMatchObject([{ isFollowed: true }])
    registry.applyNodes([{ ...lamp, name: 'Desk Lamp' }], { gateway: 'G', complete: true })
    expect(registry.devices()).toMatchObject([
      { name: 'Desk Lamp', isFollowed: false, values: [{ value: true }] },
    ])
    expect(hear('Lamp', false, { retained: true })).toEqual({ kind: 'unknown' })
    expect(hear('Desk_Lamp', false, { time: 11 })).toMatchObject({ kind: 'taken' })
  })

  it('notices a new path by the node id of a live message, and not by that of a leftover', () => {
    const { registry } = registryWith(lamp)
    const status = (retained: boolean) =>
      registry.applyStatus({
        node: 'Desk_Lamp',
        payload: { value: true, status: 'Dead', nodeId: 2 },
        retained,
      })
    expect(status(true)).toEqual({ kind: 'unknown' })
    expect(registry.devices()).toMatchObject([{ status: 'Alive' }])
    expect(status(false)).toMatchObject({ kind: 'moved' })
    expect(registry.devices()).toMatchObject([{ status: 'Dead' }])
  })

  it('believes nothing on a path that two devices could have', () => {
    const { registry, hear, currentOf } = registryWith(lamp, { ...lamp, id: 3 })
    expect(hear('Lamp', true, { time: 10 })).toEqual({ kind: 'unknown' })
    expect(registry.devices()).toMatchObject([{ isFollowed: false }, { isFollowed: false }])
    expect(currentOf('3')).toBeUndefined()
  })

  it('finds a device by its number, as ValueID topics name it', () => {
    const { registry } = registryWith({ ...lamp, location: 'Hall' })
    const take = (node: string) =>
      registry.applyValue({
        node,
        address: CURRENT,
        payload: { value: true, time: 10 },
        retained: false,
        topic: `${node}/37/0/currentValue`,
      })
    expect(take('Hall/2')).toMatchObject({ kind: 'taken' })
    expect(take('2')).toMatchObject({ kind: 'taken' })
    expect(registry.devices()).toMatchObject([
      { name: 'Lamp', values: [{ topic: '2/37/0/currentValue', value: true }] },
    ])
  })
})
