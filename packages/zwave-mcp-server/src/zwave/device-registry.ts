import type { Device, DeviceValue, NodeStatus } from './device.ts'
import type { Node } from './nodes.ts'
import { parseStatus } from './nodes.ts'
import type { Payload } from './payload.ts'
import { addressKey, nodePath, sanitizeTopic, type ValueAddress } from './topics.ts'

interface Entry {
  nodeId?: number
  name: string
  location?: string
  status: NodeStatus
  /** Whether a topic has named its path; until then the path is a guess from the gateway's list. */
  heard: boolean
  readonly values: Map<string, DeviceValue>
}

/** A message of the broker about one value. `retained`: it is from the past, sent because we subscribed. */
export interface ValueMessage {
  readonly node: string
  readonly address: ValueAddress
  readonly payload: Payload
  readonly retained: boolean
}

/**
 * The devices, put together from topics and from the gateway's list of nodes, in any order.
 * A device is known from its topics alone; once the gateway has listed its nodes, only those count.
 */
export class DeviceRegistry {
  readonly #entries = new Map<string, Entry>()
  #listed = false

  /** All devices that have shown something of themselves, in the order of their names. */
  devices(): Device[] {
    const devices = [...this.#entries].map(([path, { heard: _, ...entry }]) => ({
      ...entry,
      path,
      values: [...entry.values.values()],
    }))
    return devices
      .filter(device => device.values.length > 0)
      .sort((a, b) => a.name.localeCompare(b.name) || a.path.localeCompare(b.path))
  }

  /** Takes a value in. False: the gateway lists no such device, and the value was ignored. */
  applyValue({ node, address, payload, retained }: ValueMessage): boolean {
    const entry = this.#entry(node)
    if (!entry) return false
    const { value, time, unit, label } = payload
    const report = {
      ...address,
      ...(value !== undefined && { value }),
      ...(time !== undefined && { time }),
      ...(unit !== undefined && { unit }),
      ...(label !== undefined && { label }),
    }
    putValue(entry, report, { past: retained })
    return true
  }

  /** A retained value was deleted. */
  removeValue(node: string, address: ValueAddress): void {
    this.#entries.get(node)?.values.delete(addressKey(address))
  }

  /** Takes a node's status in. False: the gateway lists no such device. */
  applyStatus(node: string, payload: Payload): boolean {
    const entry = this.#entry(node)
    if (!entry) return false
    entry.status = parseStatus(payload.fields.status, payload.value)
    if (typeof payload.fields.nodeId === 'number') entry.nodeId = payload.fields.nodeId
    return true
  }

  /**
   * Takes a gateway's list in: names as people wrote them, units, and, where it is the only gateway
   * (`complete`), which devices there are at all.
   */
  applyNodes(nodes: readonly Node[], { complete }: { complete: boolean }): void {
    const kept = new Set(nodes.map(node => this.#applyNode(node)))
    if (!complete) return
    for (const path of this.#entries.keys()) if (!kept.has(path)) this.#entries.delete(path)
    this.#listed = true
  }

  #applyNode(node: Node): string {
    const path = this.#pathOf(node)
    const entry = this.#entries.get(path) ?? newEntry(path)
    this.#entries.set(path, entry)
    entry.nodeId = node.id
    entry.name = node.name ?? `Node ${node.id}`
    if (node.location) entry.location = node.location
    else delete entry.location
    entry.status = node.status
    for (const value of node.values) putValue(entry, value, { past: true })
    return path
  }

  /** Where the node publishes: a gateway can be set to leave the location out of its topics. */
  #pathOf(node: Node): string {
    const path = nodePath(node)
    const short = nodePath({ id: node.id, name: node.name })
    const atShort = this.#entries.get(short)
    const isOurs = atShort !== undefined && (atShort.nodeId ?? node.id) === node.id
    return !this.#entries.get(path)?.heard && isOurs ? short : path
  }

  /** The entry that a topic names; a new one as long as the gateway has not said which there are. */
  #entry(path: string): Entry | undefined {
    const entry = this.#entries.get(path) ?? (this.#listed ? this.#adopt(path) : newEntry(path))
    if (!entry) return undefined
    entry.heard = true
    this.#entries.set(path, entry)
    return entry
  }

  /** A listed device whose topics turn out to have no location moves to the path that it really has. */
  #adopt(path: string): Entry | undefined {
    const found = [...this.#entries].find(
      ([, { heard, nodeId, name }]) =>
        !heard && nodeId !== undefined && nodePath({ id: nodeId, name }) === path,
    )
    if (found) this.#entries.delete(found[0])
    return found?.[1]
  }
}

/** A device of which only the path is known: `Kitchen/Ceiling_Light` reads as Ceiling Light in Kitchen. */
function newEntry(path: string): Entry {
  const parts = path.replaceAll('_', ' ').split('/')
  const name = parts.at(-1) ?? path
  const location = parts.slice(0, -1).join('/')
  return { name, status: 'Unknown', heard: false, values: new Map(), ...(location && { location }) }
}

/** A past value never replaces a newer one; what is known of unit and label stays. */
function putValue(entry: Entry, report: DeviceValue, { past }: { past: boolean }): void {
  const value = { ...report, property: sanitizeTopic(report.property.replaceAll('/', '-')) }
  const key = addressKey(value)
  const known = entry.values.get(key)
  if (!known) entry.values.set(key, value)
  else if (past && isOlder(value, known)) entry.values.set(key, { ...describing(value), ...known })
  else entry.values.set(key, { ...describing(known), ...value })
}

function isOlder(value: DeviceValue, known: DeviceValue): boolean {
  if (known.value === undefined) return false
  return value.value === undefined || (value.time ?? 0) < (known.time ?? 0)
}

function describing({ unit, label }: DeviceValue): Pick<DeviceValue, 'unit' | 'label'> {
  return { ...(unit !== undefined && { unit }), ...(label !== undefined && { label }) }
}
