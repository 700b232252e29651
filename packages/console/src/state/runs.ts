import type { Run } from 'toolpost/project'
import { getRun, listRuns, runsIn } from '../api/runs-api.ts'
import type { RunFilter } from '../routing/route.ts'
import { messageOf } from '../text/message-of.ts'
import { coalesced } from './coalesced.ts'
import { Store } from './store.ts'

const PAGE = 50

interface RunsState {
  /** Newest first; `undefined` until first read. */
  list: Run[] | undefined
  filter: RunFilter
  /** Whether the gateway has durable runs; `undefined` until known. */
  isOn: boolean | undefined
  hasMore: boolean
  problem: string | undefined
  isShown: boolean
}

/** The durable runs loaded so far. */
class Runs extends Store<RunsState> {
  readonly refresh = coalesced(() => this.#read())

  constructor() {
    super({
      list: undefined,
      filter: {},
      isOn: undefined,
      hasMore: false,
      problem: undefined,
      isShown: false,
    })
  }

  /** Runs are requested only once somebody looks at them: most gateways have none. */
  show(filter: RunFilter): void {
    const { filter: before, list } = this.get()
    const isSame = before.state === filter.state && before.tool === filter.tool
    this.update({ filter, list: isSame ? list : undefined, isShown: true })
    void this.refresh()
  }

  hide(): void {
    this.update({ isShown: false })
  }

  /** The gateway is reachable again. */
  reconnected(): void {
    if (this.get().isShown) void this.refresh()
  }

  /** A run started, progressed or ended. */
  take(data: Record<string, unknown>): void {
    const [run] = runsIn([data.run ?? data])
    if (!run) return void this.refresh()
    const { list = [], filter } = this.get()
    const others = list.filter(one => one.id !== run.id)
    const fits =
      (filter.state === undefined || run.state === filter.state) &&
      (filter.tool === undefined || run.tool === filter.tool)
    this.update({ isOn: true, list: fits ? inOrder([run, ...others]) : others })
  }

  async more(): Promise<void> {
    const { list = [], filter } = this.get()
    const found = await listRuns({ ...filter, before: list.at(-1)?.id, limit: PAGE }).catch(() => undefined)
    const known = new Set(list.map(run => run.id))
    const fresh = (found ?? []).filter(run => !known.has(run.id))
    this.update({ list: [...list, ...fresh], hasMore: fresh.length === PAGE })
  }

  /** Loads a run that is not in the list, or whose steps the list does not include. Never rejects. */
  async load(id: string): Promise<void> {
    const run = await getRun(id).catch(() => undefined)
    if (run) this.take({ run })
  }

  async #read(): Promise<void> {
    try {
      const list = await listRuns({ ...this.get().filter, limit: PAGE })
      this.update({ list, isOn: list !== undefined, hasMore: list?.length === PAGE, problem: undefined })
    } catch (error) {
      this.update({ problem: messageOf(error) })
    }
  }
}

function inOrder(runs: Run[]): Run[] {
  return runs.sort((a, b) => b.created_at.localeCompare(a.created_at) || b.id.localeCompare(a.id))
}

export const runs = new Runs()
