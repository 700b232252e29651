import { type NodeName, nodePath } from './topics.ts'

interface Named {
  readonly gateway?: string
  readonly nodeId?: number
  readonly name: string
  readonly location?: string
  readonly path: string
}

/** The paths a node can have in topics; which one it is depends on the gateway's settings. */
interface Paths {
  readonly usual: string[]
  /** Gateways can be configured to omit locations. */
  readonly withoutLocation: string[]
}

/** Which device a topic path belongs to. A path that several devices could have belongs to none of them. */
export class NodePaths<Entry extends Named> {
  readonly #owners = new Map<string, Entry | null>()

  /** All paths that a listed node can have, most likely first. */
  static of(node: NodeName): string[] {
    const { usual, withoutLocation } = pathsOf(node)
    return [...usual, ...withoutLocation]
  }

  /** Replaces the index with the paths of these devices. */
  index(entries: Iterable<Entry>): void {
    this.#owners.clear()
    const all = [...entries].map(entry => ({ entry, ...entryPaths(entry) }))
    for (const { entry, usual } of all) this.add(entry, usual)
    const taken = new Set(this.#owners.keys())
    for (const { entry, withoutLocation } of all)
      this.add(
        entry,
        withoutLocation.filter(path => !taken.has(path)),
      )
  }

  /** Adds paths to a device. */
  add(entry: Entry, paths: Iterable<string>): void {
    for (const path of new Set(paths)) {
      const owner = this.#owners.get(path)
      this.#owners.set(path, owner === undefined || owner === entry ? entry : null)
    }
  }

  at(path: string): Entry | undefined {
    return this.#owners.get(path) ?? undefined
  }

  has(path: string): boolean {
    return this.#owners.has(path)
  }

  /** Whether a topic is below a path that only this device has. */
  owns(entry: Entry, topic: string): boolean {
    const { usual, withoutLocation } = entryPaths(entry)
    return [...usual, ...withoutLocation].some(
      path => topic.startsWith(`${path}/`) && this.at(path) === entry,
    )
  }
}

function entryPaths(entry: Named): Paths {
  const { gateway, nodeId, name, location, path } = entry
  if (gateway === undefined || nodeId === undefined) return { usual: [path], withoutLocation: [] }
  const isNamed = name !== `Node ${nodeId}`
  return pathsOf({ id: nodeId, ...(isNamed && { name }), ...(location && { location }) })
}

function pathsOf(node: NodeName): Paths {
  const { location: _, ...short } = node
  return {
    usual: [nodePath(node), nodePath(node, 'valueid')],
    withoutLocation: node.location ? [nodePath(short), nodePath(short, 'valueid')] : [],
  }
}
