import type { Device } from './device.ts'
import { addressKey, type NodeName, nodePath, topicPart } from './topics.ts'
import type { DeviceValue, Node, Payload, ValueAddress } from './values.ts'
import { cleanText, hasRightType, parseStatus } from './values.ts'

type Described = Omit<Device, 'values' | 'isFollowed'>

/** A device as it is assembled. */
type Entry = { -readonly [Key in keyof Described]: Described[Key] } & {
  readonly values: Map<string, DeviceValue>
  /** The stick itself. */
  isController: boolean
}

/** A message about a device: its status, or with an address one of its values. `topic` is below the prefix. */
interface NodeMessage {
  readonly node: string
  readonly topic: string
  readonly payload: Payload
  readonly retained: boolean
  readonly address?: ValueAddress | undefined
}

/** Whose message it was; `isMoved`: a listed device has a new path. Otherwise why it was ignored. */
type Taken =
  | { readonly deviceId: number; readonly isController: boolean; readonly isMoved: boolean }
  | { readonly ignored: string }

export const UNLISTED = 'the gateway lists no such device'
/** Z-Wave Long Range allows 4,000 nodes; a hostile broker could send many more. */
const MAX_DEVICES = 4_500
const MAX_VALUES = 2_000

/**
 * The devices, assembled from topics and the gateway's node list, in any order.
 * At first topics alone make a device known; once the gateway has listed its nodes, only those count.
 */
export class DeviceRegistry {
  readonly #entries = new Set<Entry>()
  /** Which device a topic path belongs to; `null`: several could have it, so it belongs to none. */
  readonly #owners = new Map<string, Entry | null>()
  #isListed = false
  #lastId = 0

  /** All devices with at least one value, sorted by name. */
  devices(): Device[] {
    return [...this.#entries]
      .filter(({ values, isController }) => values.size > 0 && !isController)
      .map(toDevice)
      .sort((a, b) => a.name.localeCompare(b.name) || a.path.localeCompare(b.path))
  }

  /** Records a value or a status. */
  apply(message: NodeMessage): Taken {
    const { address, payload, retained, topic, node } = message
    const { nodeId, status, ...reported } = payload
    if (address && reported.value !== undefined && !hasRightType(address, reported.value))
      return { ignored: 'its value has the wrong type' }
    const found = this.#find(message)
    if (!found) return { ignored: UNLISTED }
    const { entry, isMoved } = found
    if (!address) {
      entry.status = parseStatus(status, reported.value)
      if (nodeId !== undefined) entry.nodeId ??= nodeId
    } else if (!putValue(entry, { ...address, topic, ...reported }, { past: retained }))
      return { ignored: 'its device has too many values' }
    if (!isMoved) entry.path = node
    return { deviceId: entry.id, isController: entry.isController, isMoved }
  }

  /** Records the gateway's node list: which devices there are, names as people wrote them, units. */
  applyNodes(nodes: readonly Node[]): void {
    const known = [...this.#entries].filter(({ isListed }) => isListed)
    const byId = new Map(known.map(entry => [entry.nodeId, entry]))
    const listed = new Set<Entry>()
    for (const node of nodes.slice(0, MAX_DEVICES)) {
      const { values, ...described } = node
      const entry = byId.get(node.nodeId) ?? this.#heardAs(node) ?? this.#create(node.name)
      Object.assign(entry, described, { isListed: true })
      for (const value of values) putValue(entry, value, { past: true })
      listed.add(entry)
    }
    for (const entry of this.#entries) if (!listed.has(entry)) this.#entries.delete(entry)
    this.#isListed = true
    this.#indexPaths()
    for (const entry of listed) this.#forgetForeignTopics(entry)
  }

  /** The device as known from its topics. If it was heard on several paths, some are leftovers, so none is trusted. */
  #heardAs(node: Node): Entry | undefined {
    const heard = [...usualPaths(node), ...shortPaths(node)].flatMap(path => this.#owners.get(path) ?? [])
    const own = heard.filter(item => !item.isListed && (item.nodeId ?? node.nodeId) === node.nodeId)
    const [entry, ...others] = new Set(own)
    if (others.length > 0) entry?.values.clear()
    return entry
  }

  /** Gateways can be configured to omit locations; such a path counts only if no device has it in full. */
  #indexPaths(): void {
    this.#owners.clear()
    for (const pathsOf of [usualPaths, shortPaths]) {
      const taken = new Set(this.#owners.keys())
      for (const entry of this.#entries)
        for (const path of pathsOf(entry).filter(each => !taken.has(each))) {
          const owner = this.#owners.get(path)
          this.#owners.set(path, owner === undefined || owner === entry ? entry : null)
        }
    }
  }

  /** After a rename, or if nodes share a path, a topic may belong to another device: nothing is sent there. */
  #forgetForeignTopics(entry: Entry): void {
    const all = [...usualPaths(entry), ...shortPaths(entry)]
    const paths = all.filter(path => this.#owners.get(path) === entry)
    for (const [key, { topic, ...value }] of entry.values)
      if (topic !== undefined && !paths.some(path => topic.startsWith(`${path}/`)))
        entry.values.set(key, value)
  }

  #find({ node, payload, retained }: NodeMessage): { entry: Entry; isMoved: boolean } | undefined {
    const { nodeId } = payload
    const atPath = this.#owners.get(node)
    if (atPath && (nodeId === undefined || (atPath.nodeId ?? nodeId) === nodeId))
      return { entry: atPath, isMoved: false }
    // Leftovers of a former name are retained; a live message with a node id comes from the device itself.
    const isOwner = (entry: Entry) => entry.isListed && entry.nodeId === nodeId
    const owner = retained || nodeId === undefined ? undefined : [...this.#entries].find(isOwner)
    if (owner) return { entry: owner, isMoved: !this.#owners.has(node) }
    if (this.#isListed || this.#owners.has(node) || this.#entries.size >= MAX_DEVICES) return undefined
    const entry = this.#create(node)
    this.#owners.set(node, entry)
    return { entry, isMoved: false }
  }

  /** A device known only by its path: `Kitchen/Ceiling_Light` becomes Ceiling Light in Kitchen. */
  #create(path: string): Entry {
    const parts = path.replaceAll('_', ' ').split('/')
    const last = parts.at(-1) ?? path
    const [, number] = /^(?:nodeID )?(\d+)$/.exec(last) ?? []
    const entry: Entry = {
      id: ++this.#lastId,
      path,
      name: number ? '' : last,
      location: parts.slice(0, -1).join('/'),
      nodeId: number ? Number(number) : undefined,
      status: 'Unknown',
      isListed: false,
      isController: false,
      values: new Map(),
    }
    this.#entries.add(entry)
    return entry
  }
}

/** The paths that a node can have, most likely first; which one it is depends on the gateway's settings. */
function usualPaths(node: NodeName): string[] {
  return [nodePath(node), nodePath(node, 'valueid')]
}

function shortPaths({ location, ...node }: NodeName): string[] {
  return location ? usualPaths(node) : []
}

function toDevice({ values, location, isController: _, ...entry }: Entry): Device {
  const list = [...values.values()]
  return {
    ...entry,
    name: cleanText(entry.name) || `Node ${entry.nodeId ?? '?'}`,
    location: location ? cleanText(location) : undefined,
    values: list,
    isFollowed: list.some(({ topic }) => topic !== undefined),
  }
}

/** A past value never replaces a newer one; known unit, bounds and topic are kept. False: no room. */
function putValue(entry: Entry, report: DeviceValue, { past }: { past: boolean }): boolean {
  const value = { ...report, property: topicPart(report.property) }
  const key = addressKey(value)
  const known = entry.values.get(key)
  if (!known && entry.values.size >= MAX_VALUES) return false
  const isOlder =
    known?.value !== undefined && (value.value === undefined || (value.time ?? 0) < (known.time ?? 0))
  const { value: _value, time: _time, ...described } = known ?? value
  entry.values.set(key, past && isOlder ? { ...value, ...known } : { ...described, ...value })
  return true
}
